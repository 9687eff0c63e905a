"""Is an inline JSON Schema sound, and does it stay inside the file? Apart from the wire models: slow to import."""

from __future__ import annotations

from collections.abc import Iterator

from jsonschema.exceptions import SchemaError
from jsonschema.validators import Draft202012Validator, validator_for
from referencing import Registry
from referencing.exceptions import Unresolvable
from referencing.jsonschema import DRAFT202012, specification_with

SchemaPath = tuple[str | int, ...]

REFERENCES = ("$ref", "$dynamicRef", "$recursiveRef")


def fault_in_schema(schema: dict[str, object]) -> tuple[SchemaPath, str] | None:
    """Return the path and a description of the first fault, or None for a sound schema.

    References may only point into the schema itself, so that no validator ever opens a file or an address.
    """
    for path, value in _walk(schema, ()):
        if isinstance(value, dict) and not all(isinstance(key, str) for key in value):
            return path, "the keys of a JSON Schema are text: put the numbers in quotes"
    kind = validator_for(schema, default=Draft202012Validator)
    try:
        kind.check_schema(schema)
    except SchemaError as error:
        return tuple(error.absolute_path), f"this is not a valid JSON Schema: {error.message[:200]}"
    return _fault_in_references(schema)


def _fault_in_references(schema: dict[str, object]) -> tuple[SchemaPath, str] | None:
    dialect = schema.get("$schema")
    spec = specification_with(dialect, default=DRAFT202012) if isinstance(dialect, str) else DRAFT202012
    resolver = Registry().with_resource("", spec.create_resource(schema)).resolver("")
    for path, value in _walk(schema, ()):
        if not path or path[-1] not in REFERENCES or not isinstance(value, str):
            continue
        if not value.startswith("#"):
            return path, f"`{value[:80]}` points outside the schema: copy that part under `$defs`"
        try:
            resolver.lookup(value)
        except Unresolvable:
            return path, f"`{value[:80]}` points at nothing in this schema"
    return None


def _walk(value: object, path: SchemaPath) -> Iterator[tuple[SchemaPath, object]]:
    yield path, value
    if isinstance(value, dict):
        for key, child in value.items():
            yield from _walk(child, (*path, key))
    elif isinstance(value, list):
        for index, child in enumerate(value):
            yield from _walk(child, (*path, index))
