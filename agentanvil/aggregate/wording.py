"""Numbers in sentences: as few digits as a person can read, as many as the comparison needs."""

from __future__ import annotations

_MAX_DECIMALS = 6


def plain(value: float) -> str:
    """Return a number in full, whole ones without `.0`."""
    whole = int(value)
    return str(whole) if whole == value else repr(value)


def telling(value: float, threshold: float) -> str:
    """Return the value with the fewest decimals, from two on, that still fall on its side of the threshold."""
    if value == int(value):
        return str(int(value))
    for decimals in range(2, _MAX_DECIMALS + 1):
        text = f"{value:.{decimals}f}"
        if (float(text) >= threshold) == (value >= threshold):
            return text
    return repr(value)
