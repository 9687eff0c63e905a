"""Is an inline JSON Schema sound, and does it stay inside the file? Apart from the wire models: slow to import."""

from __future__ import annotations

from collections.abc import Iterator

from jsonschema.exceptions import SchemaError
from jsonschema.validators import Draft202012Validator, validator_for
from referencing import Registry
from referencing.exceptions import Unresolvable
from referencing.jsonschema import DRAFT202012, UnknownDialect, specification_with

SchemaPath = tuple[str | int, ...]

REFERENCES = ("$ref", "$dynamicRef", "$recursiveRef")


def fault_in_schema(schema: dict[str, object]) -> tuple[SchemaPath, str] | None:
    """Return the path and a description of the first fault, or None for a sound schema.

    References may only point into the schema itself, so that no validator ever opens a file or an address.
    """
    for path, value in _walk(schema, ()):
        if isinstance(value, dict) and not all(isinstance(key, str) for key in value):
            return path, "the keys of a JSON Schema are text: put the numbers in quotes"
    if not _is_known_dialect(schema):
        return ("$schema",), "this dialect of JSON Schema is not known"
    try:
        validator_for(schema, default=Draft202012Validator).check_schema(schema)
    except SchemaError as error:
        return tuple(error.absolute_path), f"this is not a valid JSON Schema: {error.message[:200]}"
    return _fault_in_references(schema)


def _is_known_dialect(schema: dict[str, object]) -> bool:
    dialect = schema.get("$schema", "")
    if not isinstance(dialect, str):
        return False
    try:
        return not dialect or bool(specification_with(dialect))
    except UnknownDialect:
        return False


def _fault_in_references(schema: dict[str, object]) -> tuple[SchemaPath, str] | None:
    # With an `$id` inside, a reference may start from there; the validator will find its own way.
    rooted = not any(path[-1:] == ("$id",) and len(path) > 1 for path, _ in _walk(schema, ()))
    for path, value in _walk(schema, ()):
        if not path or path[-1] not in REFERENCES or not isinstance(value, str):
            continue
        if not value.startswith("#"):
            return path, f"`{value[:80]}` points outside the schema: copy that part under `$defs`"
        if rooted and not _reaches_a_schema(schema, value):
            return path, f"`{value[:80]}` points at no schema in here"
    return None


def _reaches_a_schema(schema: dict[str, object], reference: str) -> bool:
    spec = specification_with(str(schema.get("$schema", "")), default=DRAFT202012)
    resolver = Registry().with_resource("", spec.create_resource(schema)).resolver("")
    try:
        return isinstance(resolver.lookup(reference).contents, dict | bool)
    except (Unresolvable, ValueError, TypeError):
        # A pointer that takes a list for a mapping, or goes on below a number, fails as plain Python does.
        return False


def _walk(value: object, path: SchemaPath) -> Iterator[tuple[SchemaPath, object]]:
    yield path, value
    if isinstance(value, dict):
        for key, child in value.items():
            yield from _walk(child, (*path, key))
    elif isinstance(value, list):
        for index, child in enumerate(value):
            yield from _walk(child, (*path, index))
