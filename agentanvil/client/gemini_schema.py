"""A reply's JSON Schema in the subset of keywords that Gemini takes. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

_TAKEN = frozenset(
    {
        "$id",
        "$defs",
        "$ref",
        "$anchor",
        "type",
        "format",
        "title",
        "description",
        "enum",
        "items",
        "prefixItems",
        "minItems",
        "maxItems",
        "minimum",
        "maximum",
        "anyOf",
        "oneOf",
        "properties",
        "additionalProperties",
        "required",
        "propertyOrdering",
    }
)
_NAMED_SCHEMAS = frozenset({"properties", "$defs"})
_LISTED_SCHEMAS = frozenset({"anyOf", "oneOf", "prefixItems"})
_ONE_SCHEMA = frozenset({"items", "additionalProperties"})


def gemini_schema(schema: Mapping[str, object]) -> dict[str, object]:
    """Return `schema` with the keywords that are taken, its keys held to the order they stand in.

    A union of types becomes an `anyOf`, each with the values of its own: an enum holds no null here.
    """
    taken = {keyword: _part(keyword, value) for keyword, value in schema.items() if keyword in _TAKEN}
    properties = schema.get("properties")
    if isinstance(properties, Mapping):
        taken["propertyOrdering"] = list(properties)
    types = schema.get("type")
    return taken if isinstance(types, str) or not isinstance(types, Sequence) else _union(taken, types)


def _part(keyword: str, value: object) -> object:
    if keyword in _NAMED_SCHEMAS and isinstance(value, Mapping):
        return {name: _one(part) for name, part in value.items()}
    if keyword in _LISTED_SCHEMAS and isinstance(value, Sequence):
        return [_one(part) for part in value]
    return _one(value) if keyword in _ONE_SCHEMA else value


def _one(schema: object) -> object:
    return gemini_schema(schema) if isinstance(schema, Mapping) else schema


def _union(taken: dict[str, object], types: Sequence[object]) -> dict[str, object]:
    enum = taken.get("enum")
    offered = [value for value in enum if value is not None] if isinstance(enum, Sequence) else None
    rest = {keyword: value for keyword, value in taken.items() if keyword not in {"type", "enum"}}
    values = {} if offered is None else {"enum": offered}
    return {"anyOf": [{"type": name} if name == "null" else {"type": name, **values, **rest} for name in types]}
