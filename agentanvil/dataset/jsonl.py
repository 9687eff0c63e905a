"""JSON lines → records."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from agentanvil.dataset.faults import json_type
from agentanvil.dataset.lines import Record, Tally
from agentanvil.errors import DatasetError, Where
from agentanvil.strict_json import (
    SURROGATES_REPLACED,
    JsonError,
    JsonValue,
    non_finite_path,
    parse_json,
    replace_surrogates,
)

_ONE_A_LINE = "JSON lines hold one object a line: "


def read_jsonl(lines: Iterable[tuple[int, str]], file: str, tally: Tally) -> Iterator[Record]:
    """Yield the object of every line; blank lines count in `tally`. Raises DatasetError naming the line."""
    for number, text in lines:
        if not text.strip(" \t\r\n"):
            tally.blank_lines += 1
            continue
        try:
            value = parse_json(text)
            value, replaced = replace_surrogates(text, value)
        except JsonError as fault:
            place = "" if fault.column is None else f" (column {fault.column})"
            field = non_finite_path(text) if fault.fault == "non_finite" else None
            raise DatasetError(f"{fault}{place}", where=Where(file, number, field), hint=_hint(text, fault)) from None
        if not isinstance(value, dict):
            raise DatasetError(
                f"the line holds {json_type(value)} instead of an object",
                where=Where(file, number),
                hint=_array_hint(value),
            )
        yield Record(number, value, (SURROGATES_REPLACED,) if replaced else ())


def _array_hint(value: JsonValue) -> str | None:
    return f"{_ONE_A_LINE}jq -c '.[]' IN > OUT.jsonl" if isinstance(value, list) else None


def _hint(text: str, fault: JsonError) -> str | None:
    start = text.strip()
    if start.startswith("\ufeff"):
        return "a byte order mark stands in the middle: joined files? Only one at the very start is dropped"
    if start.startswith("[") and fault.column is not None:
        return f"{_ONE_A_LINE}jq -c '.[]' IN > OUT.jsonl"
    if start in ("{", "}"):
        return f"{_ONE_A_LINE}jq -c . IN > OUT.jsonl"
    if fault.fault == "trailing_text":
        return f"{_ONE_A_LINE}break the line between the objects"
    if fault.fault == "non_finite":
        return "write null, or leave the field out"
    return None
