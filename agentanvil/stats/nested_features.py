"""What each item brings to the components of `nested`: a row of numbers that add up over items."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

FEATURES = 19
# Columns of a row of features. Items, and the mean of each with its square:
N, MEAN, SQUARE = 0, 1, 2
# what the other components bring to the error of an item's mean (judge, order, repeat);
ERROR = slice(3, 6)
# each level's sum of squares, its degrees of freedom, and what the components below bring to it;
JUDGE, ORDER, REPEAT = slice(6, 10), slice(10, 13), slice(13, 15)
# how many items each level is seen in, and how many readings there are.
SEEN, READINGS = slice(15, 18), 18
DUST = 1e-18
"""Squares, in spans of the scale, below which they are rounding."""


def nested_features(readings: Floats, centre: float, span: float) -> Floats:
    """Return a row of `FEATURES` numbers for each item of `readings` (items, judges, orders, repeats).

    NaN stands for a missing reading; an item without any brings nothing. `centre` and `span` are those of the scale:
    features are in spans from the centre, so that sums of squares lose no digits.
    """
    x = (readings - centre) / span
    size, cell, ss_repeat = _averaged(x)
    inverse = np.where(size > 0, 1 / np.maximum(size, 1), 0.0)
    orders, judge, ss_order = _averaged(cell)
    # The error of a judge's mean on an item, in σ²order and σ²repeat.
    by_order = np.where(orders > 0, 1 / np.maximum(orders, 1), 0.0)
    by_repeat = inverse.sum(axis=-1) * by_order**2
    judges, item, ss_judge = _averaged(judge)
    there = judges > 0
    by_judge = np.where(there, 1 / np.maximum(judges, 1), 0.0)
    mean = np.where(there, item, 0.0)
    free_judge, free_order, free_repeat = (np.maximum(levels - 1, 0) for levels in (judges, orders, size))
    columns = [
        there,
        mean,
        mean * mean,
        by_judge,
        by_order.sum(axis=-1) * by_judge**2,
        by_repeat.sum(axis=-1) * by_judge**2,
        ss_judge,
        free_judge,
        free_judge * by_judge * by_order.sum(axis=-1),
        free_judge * by_judge * by_repeat.sum(axis=-1),
        ss_order.sum(axis=-1),
        free_order.sum(axis=-1),
        (free_order * by_order * inverse.sum(axis=-1)).sum(axis=-1),
        ss_repeat.sum(axis=(-2, -1)),
        free_repeat.sum(axis=(-2, -1)),
        free_judge > 0,
        (free_order > 0).any(axis=-1),
        (free_repeat > 0).any(axis=(-2, -1)),
        size.sum(axis=(-2, -1)),
    ]
    return np.stack([np.asarray(column, dtype=np.float64) for column in columns], axis=-1)


def _averaged(values: Floats) -> tuple[Floats, Floats, Floats]:
    """Return how many values the last axis holds, their mean (NaN without any), and Σ(x − mean)²."""
    there = ~np.isnan(values)
    count = there.sum(axis=-1).astype(np.float64)
    mean = np.where(count > 0, np.where(there, values, 0.0).sum(axis=-1) / np.maximum(count, 1), np.nan)
    deviation = np.where(there, values - mean[..., np.newaxis], 0.0)
    squares = (deviation * deviation).sum(axis=-1)
    # A rounded mean leaves dust where all values are equal.
    return count, mean, np.where(squares < DUST, 0.0, squares)
