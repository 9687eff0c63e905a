"""The value that a check reads: `response`, `request`, `source`, or a path into the rest of the row."""

from __future__ import annotations

from collections.abc import Callable

from agentanvil.checks.finding import CheckFaultError, ParameterError
from agentanvil.dataset import FieldPath, JsonValue, PathAbsentError, Row, canonical_text, is_blank, parse_path
from agentanvil.errors import UsageError

MISSING_FIELD = "missing_field"

# Everything else is looked up among the row's own further fields. The human labels are not on offer.
_ROOTS: dict[str, Callable[[Row], JsonValue]] = {
    "id": lambda row: row.id,
    "request": lambda row: row.request,
    "response": lambda row: row.response,
    "source": lambda row: list(row.source),
    "model": lambda row: row.model,
    "meta": lambda row: dict(row.meta),
    "expected": lambda row: row.expected,
}


def parse_field(text: str, key: str) -> FieldPath:
    """Return the path that the rubric's `key` spells, such as `meta.ticket`. Raises ParameterError."""
    try:
        return parse_path(text, key)
    except UsageError as error:
        raise ParameterError(key, error.message) from None


def read_field(row: Row, path: FieldPath) -> JsonValue:
    """Return the value at `path`; several passages of a source are one text, a blank line between them.

    Raises CheckFaultError `missing_field` where there is nothing: an absent path, null, or blank text,
    which every limit would keep and every comparison would break.
    """
    name = path.steps[0].key
    root: JsonValue = {name: _ROOTS[name](row)} if name in _ROOTS else dict(row.extra)
    try:
        value = path.find(root)
    except PathAbsentError as absent:
        raise CheckFaultError(MISSING_FIELD, f"{path.text}: {absent}") from None
    if name == "source" and len(path.steps) == 1:
        value = "\n\n".join(row.source)
    if value is None or (isinstance(value, str) and is_blank(value)):
        raise CheckFaultError(MISSING_FIELD, f"{path.text}: is {'null' if value is None else 'empty'}")
    return value


def as_text(value: JsonValue) -> str:
    """Return text as it is, and any other value as canonical JSON."""
    return value if isinstance(value, str) else canonical_text(value)
