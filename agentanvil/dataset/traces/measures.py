"""Times, token counts and costs, as each format spells them → one unit; what cannot be read is not recorded."""

from __future__ import annotations

import math
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from decimal import Decimal, InvalidOperation

from agentanvil.strict_json import JsonValue

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
# Anything longer is no count and no time, and int() would be slow on it.
_MOST_DIGITS = 20


def whole(value: JsonValue) -> int | None:
    """Return a count: an integer that is not negative, also written as text or as a float."""
    if isinstance(value, bool):
        return None
    if isinstance(value, str):
        return int(value) if value.isascii() and value.isdigit() and len(value) <= _MOST_DIGITS else None
    if isinstance(value, float):
        return int(value) if value.is_integer() and 0 <= value < 1e20 else None
    return value if isinstance(value, int) and 0 <= value < 10**_MOST_DIGITS else None


def amount(value: JsonValue) -> Decimal | None:
    """Return an amount that is finite and not negative, also written as decimal text."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    text = value if isinstance(value, str) else repr(value) if isinstance(value, float) else f"{whole(value)}"
    try:
        found = Decimal(text) if len(text) <= 40 else Decimal("NaN")
    except InvalidOperation:
        return None
    return found if found.is_finite() and 0 <= found < 10**_MOST_DIGITS else None


def total(counts: Iterable[int | None]) -> int | None:
    """Return the sum of what is recorded, None where nothing is."""
    known = [count for count in counts if count is not None]
    return sum(known) if known else None


def total_amount(amounts: Iterable[Decimal | None]) -> float | None:
    """Return the exact decimal sum of what is recorded, None where nothing is."""
    known = [each for each in amounts if each is not None]
    return float(sum(known, Decimal(0))) if known else None


def seconds(value: JsonValue, *, per_second: int = 1) -> float | None:
    """Return a duration in seconds from a number of units, of which a second has `per_second`."""
    found = amount(value)
    return None if found is None else float(found / per_second)


def clock(value: JsonValue) -> int | None:
    """Return a moment in nanoseconds since 1970: ISO text (UTC where it names no zone), or a number of
    seconds, milliseconds, microseconds or nanoseconds, told apart by size.
    """
    if isinstance(value, str) and not (value.isascii() and value.isdigit()):
        return _iso(value)
    found = amount(value)
    if found is None:
        return None
    # Seconds reach 1e11 in the year 5138; milliseconds, microseconds and nanoseconds follow, 1000 times each.
    for factor, limit in ((10**9, 10**11), (10**6, 10**14), (10**3, 10**17)):
        if found < limit:
            return int(found * factor)
    return int(found)


def nanoseconds(value: JsonValue) -> int | None:
    """Return a moment that is given in nanoseconds, as a number or as text; 0 means: not set."""
    return whole(value) or None


def between(start: int | None, end: int | None) -> float | None:
    """Return the seconds from one moment to another, both in nanoseconds."""
    if start is None or end is None or end < start:
        return None
    found = (end - start) / 1e9
    return found if math.isfinite(found) else None


def _iso(text: str) -> int | None:
    try:
        found = datetime.fromisoformat(text.strip())
        moment = found if found.tzinfo else found.replace(tzinfo=UTC)
        return (moment - _EPOCH) // _MICROSECOND * 1000
    except (ValueError, OverflowError):
        return None
