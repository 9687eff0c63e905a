"""Reading the JSON that batch APIs have in common: ids, counts, times, and result lines as they were written. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime

from agentanvil.client.adapter import WireReply
from agentanvil.client.envelope import Written, read_as_written, write_as_written
from agentanvil.errors import MalformedBodyError

OK = 200
MOST_PAGES = 1000
"""Of a list; a server that always has more would never be done."""
_ID = re.compile(r"[A-Za-z0-9_.:-]{1,200}")
_SHORT = 300


def named_id(value: object, what: str) -> str:
    """Return an id that may stand in a path. Raises MalformedBodyError."""
    if isinstance(value, str) and _ID.fullmatch(value) and not value.startswith("."):
        return value
    raise MalformedBodyError(f"the batch API gave no usable {what}")


def text_of(value: object) -> str:
    """Return text on one line, cut where it is long; nothing for anything else."""
    return " ".join(value[:_SHORT].split()) if isinstance(value, str) else ""


def count_of(holder: object, name: str) -> int:
    """Return a count, 0 where there is none."""
    value = holder.get(name) if isinstance(holder, Mapping) else None
    return value if type(value) is int and 0 <= value < 2**53 else 0


def moment_of(value: object) -> float | None:
    """Return Unix time from a number of seconds or an RFC 3339 text."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return float(value) if 0 <= value < 2**53 else None
    try:
        return datetime.fromisoformat(value).timestamp() if isinstance(value, str) else None
    except (ValueError, OverflowError):
        return None


def items_of(page: Mapping[str, object]) -> list[Mapping[str, object]]:
    """Return the objects of a list's page."""
    data = page.get("data")
    return [item for item in data if isinstance(item, dict)] if isinstance(data, list) else []


def read_result(line: bytes) -> tuple[str, Written] | None:
    """Return the custom id of a result line, and the line; None where it is not one."""
    try:
        result = read_as_written(line)
    except MalformedBodyError:
        return None
    custom_id = result.get("custom_id") if isinstance(result, Written) else None
    return (custom_id, result) if isinstance(result, Written) and isinstance(custom_id, str) else None


def as_reply(body: object, status: int = OK, headers: Mapping[str, str] | None = None) -> WireReply | None:
    """Return a body inside a result line as the HTTP answer that a live call would have had, or None."""
    try:
        return WireReply(status, write_as_written(body).encode(), headers or {})
    except (RecursionError, ValueError):
        return None
