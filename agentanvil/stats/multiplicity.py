"""P-values of several tests, adjusted so that looking often does not make chance look like a finding.

A test without a p-value (None) is no member of the family and stays None.
"""

from __future__ import annotations

from collections.abc import Sequence


def holm(p_values: Sequence[float | None]) -> list[float | None]:
    """Return the adjusted p-values of Holm (1979) in input order: the family-wise error rate.

    The i-th smallest of m is multiplied by m − i + 1, never falls below a smaller one's, and is at most 1.
    """
    order = _ascending(p_values)
    adjusted: list[float | None] = [None] * len(p_values)
    highest = 0.0
    for rank, (p_value, place) in enumerate(order):
        highest = max(highest, min(1.0, (len(order) - rank) * p_value))
        adjusted[place] = highest
    return adjusted


def benjamini_hochberg(p_values: Sequence[float | None]) -> list[float | None]:
    """Return the adjusted p-values of Benjamini and Hochberg (1995) in input order: the false discovery rate.

    The i-th smallest of m is multiplied by m / i, never exceeds a larger one's, and is at most 1.
    """
    order = _ascending(p_values)
    adjusted: list[float | None] = [None] * len(p_values)
    lowest = 1.0
    for rank, (p_value, place) in reversed(list(enumerate(order, start=1))):
        lowest = min(lowest, p_value * len(order) / rank)
        adjusted[place] = lowest
    return adjusted


def _ascending(p_values: Sequence[float | None]) -> list[tuple[float, int]]:
    return sorted((p_value, place) for place, p_value in enumerate(p_values) if p_value is not None)
