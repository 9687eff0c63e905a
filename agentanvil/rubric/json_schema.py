"""An inline JSON Schema → a validator, if it is sound and stays inside the file.

`jsonschema-rs` rather than `jsonschema`: its patterns are matched in linear time or under a fixed step limit, and its
depth is not the interpreter's, so that no judged text can hang or crash a run. It names the place of a pattern that
it cannot read, and resolves every reference before the first row.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NoReturn

from jsonschema_rs import ReferencingError, Registry, ValidationError, ValidationErrorKind, Validator, validator_for

SchemaPath = tuple[str | int, ...]

REFERENCES = ("$ref", "$dynamicRef", "$recursiveRef")
_ROOT = "urn:schema"


class SchemaFaultError(Exception):
    """The schema cannot be used; `path` is the place in it."""

    def __init__(self, path: SchemaPath, message: str) -> None:
        super().__init__(message)
        self.path = path
        self.message = message


def compile_schema(schema: dict[str, object]) -> Validator:
    """Return the validator, of draft 2020-12 unless the schema says another; `format` asserts nothing.

    References may only point into the schema itself, so that no file or address is ever opened. Raises
    SchemaFaultError.
    """
    _refuse_outside(schema)
    if "$schema" in schema:
        try:
            _validator({"$schema": schema["$schema"]})
        except ValidationError:
            raise SchemaFaultError(("$schema",), "this dialect of JSON Schema is not known") from None
    try:
        return _validator(schema)
    except ValidationError as error:
        _refuse_dangling(schema)
        what = "this is not a valid JSON Schema"
        if isinstance(error.kind, ValidationErrorKind.Referencing):
            what = "a reference points at no schema in here"
        raise SchemaFaultError(tuple(error.instance_path), f"{what}: {error.message[:200]}") from None


def _validator(schema: dict[str, object]) -> Validator:
    return validator_for(schema, validate_formats=False, retriever=_refuse_to_fetch)


def _refuse_to_fetch(uri: str) -> NoReturn:
    raise ValueError(f"{uri} lies outside the schema, and nothing is fetched")


def _refuse_outside(schema: dict[str, object]) -> None:
    for path, value in _walk(schema, ()):
        if isinstance(value, dict) and not all(isinstance(key, str) for key in value):
            raise SchemaFaultError(path, "the keys of a JSON Schema are text: put the numbers in quotes")
    for path, reference in _references(schema):
        if not reference.startswith("#"):
            raise SchemaFaultError(path, f"`{reference[:80]}` points outside the schema: copy that part under `$defs`")


def _refuse_dangling(schema: dict[str, object]) -> None:
    """Name the reference that is at fault, which the library's own error does not."""
    if any(path[-1:] == ("$id",) and len(path) > 1 for path, _ in _walk(schema, ())):
        return  # a reference may start from there
    resolver = Registry([(_ROOT, schema)], retriever=_refuse_to_fetch).resolver(_ROOT)
    for path, reference in _references(schema):
        try:
            reached = isinstance(resolver.lookup(reference).contents, dict | bool)
        except ReferencingError:
            reached = False
        if not reached:
            raise SchemaFaultError(path, f"`{reference[:80]}` points at no schema in here")


def _references(schema: dict[str, object]) -> Iterator[tuple[SchemaPath, str]]:
    for path, value in _walk(schema, ()):
        if path and path[-1] in REFERENCES and isinstance(value, str):
            yield path, value


def _walk(value: object, path: SchemaPath) -> Iterator[tuple[SchemaPath, object]]:
    yield path, value
    if isinstance(value, dict):
        for key, child in value.items():
            yield from _walk(child, (*path, key))
    elif isinstance(value, list):
        for index, child in enumerate(value):
            yield from _walk(child, (*path, index))
