"""The value that a check reads: `response`, `request`, `source`, or a path into the rest of the row."""

from __future__ import annotations

from collections.abc import Callable

from agentanvil.checks.finding import CheckFaultError, ParameterError, ResponseLacksError
from agentanvil.dataset import (
    FieldPath,
    JsonValue,
    PathAbsentError,
    Row,
    canonical_text,
    is_blank,
    normal_form,
    parse_path,
)
from agentanvil.errors import UsageError
from agentanvil.strict_json import JsonError, parse_json, replace_surrogates

MISSING_FIELD = "missing_field"
RESPONSE = "response"

# Everything else is looked up among the row's own further fields. The human labels are not on offer.
_ROOTS: dict[str, Callable[[Row], JsonValue]] = {
    "id": lambda row: row.id,
    "request": lambda row: row.request,
    RESPONSE: lambda row: row.response,
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

    A path that goes on below `response` leads into the JSON that the response is: `response.total`.

    Raises CheckFaultError `missing_field` where there is nothing: an absent path, null, or blank text,
    which every limit would keep and every comparison would break; ResponseLacksError where it is the
    response's JSON that has nothing there, or where it is no JSON.
    """
    name = path.steps[0].key
    if name == RESPONSE and len(path.steps) > 1 and not is_blank(row.response):
        return _read_inside(row.response, path)
    root: JsonValue = {name: _ROOTS[name](row)} if name in _ROOTS else dict(row.extra)
    try:
        value = path.find(root)
    except PathAbsentError as absent:
        raise CheckFaultError(MISSING_FIELD, f"{path.text}: {absent}") from None
    if name == "source" and len(path.steps) == 1:
        value = "\n\n".join(row.source)
    if nothing := _nothing(value):
        raise CheckFaultError(MISSING_FIELD, f"{path.text}: is {nothing}")
    return value


def as_text(value: JsonValue) -> str:
    """Return text as it is, and any other value as canonical JSON."""
    return value if isinstance(value, str) else canonical_text(value)


def plain_text(value: JsonValue) -> str:
    """Return the text as it is compared: in Unicode NFC, since é has two spellings, and with lines that end in \\n."""
    return normal_form(as_text(value).replace("\r\n", "\n"), "NFC")


def _read_inside(response: str, path: FieldPath) -> JsonValue:
    try:
        parsed, _ = replace_surrogates(response, parse_json(response))
        value = path.find({RESPONSE: parsed})
    except JsonError as fault:
        raise ResponseLacksError(f"{path.text}: the response is {_no_json(fault)}") from None
    except PathAbsentError as absent:
        raise ResponseLacksError(f"{path.text}: {absent}") from None
    if nothing := _nothing(value):
        raise ResponseLacksError(f"{path.text}: is {nothing}")
    return value


def _nothing(value: JsonValue) -> str:
    if value is None:
        return "null"
    return "empty" if isinstance(value, str) and is_blank(value) else ""


def _no_json(fault: JsonError) -> str:
    return fault.message if fault.message.startswith("not JSON") else f"not JSON: {fault.message}"
