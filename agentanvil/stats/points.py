"""Weighted pairs of numbers, gathered by distinct pair: what the measures of association are computed from."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_DECIMALS = 9
# From here on neighbouring floating-point numbers lie further apart than the decimals kept.
_COARSE = 1e6


@dataclass(frozen=True, slots=True)
class Points:
    """P distinct pairs, ascending by x, then y.

    `x[p]` and `y[p]` are positions in the ascending `x_values` and `y_values`; `weight[p]` is the weight of all rows
    that are this pair, and `of_row[r]` says which pair row r is.
    """

    x: Ints
    y: Ints
    x_values: Floats
    y_values: Floats
    weight: Floats
    of_row: Ints

    @property
    def x_weight(self) -> Floats:
        """The weight of each of `x_values`."""
        return sums(self.x, self.weight, len(self.x_values))

    @property
    def y_weight(self) -> Floats:
        """The weight of each of `y_values`."""
        return sums(self.y, self.weight, len(self.y_values))


def gather(x: Floats, y: Floats, weight: Floats) -> Points:
    """Return the distinct pairs of finite numbers (n,), with their weights (n,)."""
    x_values, x_at = np.unique(x, return_inverse=True)
    y_values, y_at = np.unique(y, return_inverse=True)
    keys, of_row = np.unique(x_at * len(y_values) + y_at, return_inverse=True)
    total = sums(of_row, weight, len(keys))
    return Points(keys // len(y_values), keys % len(y_values), x_values, y_values, total, of_row)


def sums(place: Ints, amounts: Floats, size: int) -> Floats:
    """Return the sum of the amounts at each of `size` places."""
    return np.bincount(place, amounts, size).astype(np.float64)


def without_dust(values: Floats) -> Floats:
    """Round to 9 decimals, so that 0.1 + 0.2 and 0.3 are a tie."""
    fine = np.abs(values) < _COARSE
    rounded = np.round(np.where(fine, values, 0.0), _DECIMALS)
    return np.where(fine, rounded, values) + 0.0


def concordance(points: Points) -> Floats:
    """Return for each point Σ w[q] · sign(x[p] − x[q]) · sign(y[p] − y[q]) over all points q, in O(P log² P)."""
    w, x_weight, y_weight = points.weight, points.x_weight, points.y_weight
    total = float(w.sum())
    left = (np.cumsum(x_weight) - x_weight)[points.x]
    below = (np.cumsum(y_weight) - y_weight)[points.y]
    left_below = _dominated(points)
    left_level = _before(points.y, points.x, w)
    same_below = _before(points.x, points.y, w)
    left_above = left - left_below - left_level
    right_below = below - left_below - same_below
    at_most = left_below + left_level + same_below + w
    right_above = total - (left + x_weight[points.x]) - (below + y_weight[points.y]) + at_most
    return np.asarray(left_below + right_above - left_above - right_below, dtype=np.float64)


def _before(group: Ints, place: Ints, weight: Floats) -> Floats:
    """Return for each point the weight of those in its group that have a smaller place."""
    order = np.lexsort((place, group))
    running = np.concatenate(([0.0], np.cumsum(weight[order])))[:-1]
    first = np.searchsorted(group[order], group[order])
    found = np.empty_like(weight)
    found[order] = running - running[first]
    return found


def _dominated(points: Points) -> Floats:
    """Return for each point the weight of those with a smaller x and a smaller y.

    Merge sort from the bottom up: at each width every point of a right block meets the left block beside it. Equal x
    are sorted by falling y, so that none of them counts as smaller.
    """
    order = np.lexsort((-points.y, points.x))
    y, w = points.y[order], points.weight[order]
    place = np.arange(len(y))
    levels = int(y.max()) + 1
    found = np.zeros(len(y))
    width = 1
    while width < len(y):
        block = place // (2 * width)
        right = (place // width) % 2 == 1
        key = block * levels + y
        sort = np.argsort(key, kind="stable")
        running = np.concatenate(([0.0], np.cumsum(np.where(right, 0.0, w)[sort])))
        smaller = np.searchsorted(key[sort], key)
        start = np.searchsorted(key[sort], block * levels)
        found += np.where(right, running[smaller] - running[start], 0.0)
        width *= 2
    result = np.empty(len(y))
    result[order] = found
    return result
