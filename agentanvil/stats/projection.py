"""How much more of something an interval needs, if all stays as it looks now."""

from __future__ import annotations

from collections.abc import Callable


def least_deciding(decides: Callable[[int], bool], start: int, most: int) -> int | None:
    """Return the smallest number above `start` that decides, None where none up to `most` does.

    `decides` is asked some 2·log2(most) times and taken to stay true once it is.
    """
    low, high = start, start + 1
    while not decides(high):
        if high >= most:
            return None
        low, high = high, min(most, 2 * high)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if decides(middle) else (middle, high)
    return high
