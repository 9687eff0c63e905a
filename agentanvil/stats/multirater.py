"""Agreement of two or more raters on categories, corrected for chance: Fleiss' kappa and Gwet's AC1 and AC2.

With r(c) of an item's r raters on category c of q, and p(c) the mean over items of r(c) / r:

    Fleiss   observed  mean over items of Σ r(c) · (r(c) − 1) / (r · (r − 1)),  expected  Σ p(c)²
    Gwet     observed  mean over items with r ≥ 2 of Σ r(c) · (r*(c) − 1) / (r · (r − 1)),  r*(c) = Σ w(c, k) · r(k)
             expected  Σ w(c, k) · Σ p(c) · (1 − p(c)) / (q · (q − 1))

and both are (observed − expected) / (1 − expected). Fleiss (1971); Gwet (2014), Handbook of Inter-Rater Reliability,
4th edition, chapters 4 and 5.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

from agentanvil.stats.estimate import Estimate
from agentanvil.stats.weighting import scaled_weights

GwetWeights = Literal["identity", "linear", "quadratic", "ordinal"]
Floats = NDArray[np.float64]
Label = TypeVar("Label", float, str)

_DUST = 1e-12
_DECIMALS = 12


def category_counts(ratings: Sequence[Sequence[Label | None]], categories: Sequence[Label]) -> list[list[int]]:
    """Return for each item how many raters chose each category, from `ratings[rater][item]`; None is a missing one.

    Raises ValueError for a rating that is none of the categories.
    """
    position = {category: index for index, category in enumerate(categories)}
    counts: list[list[int]] = []
    for item in zip(*ratings, strict=True):
        row = [0] * len(categories)
        for rating in item:
            if rating is None:
                continue
            if rating not in position:
                raise ValueError(f"rating {rating!r} is none of the categories {list(categories)!r}")
            row[position[rating]] += 1
        counts.append(row)
    return counts


def fleiss_kappa(counts: Sequence[Sequence[int]], weights: Sequence[float] | None = None) -> Estimate:
    """Return Fleiss' kappa of `counts[item][category]`, over items with sampling weights; n counts items.

    Undefined without items, unless all have the same number of ratings, two or more, and where all ratings fall into
    one category.
    """
    n = len(counts)
    if n == 0:
        return Estimate(None, 0, "no items")
    table = np.array(counts, dtype=np.float64)
    raters = table.sum(axis=1)
    if raters.min() != raters.max():
        return Estimate(None, n, "items have unequal numbers of ratings")
    if raters[0] < 2:
        return Estimate(None, n, "fewer than two ratings an item")
    w = scaled_weights(weights, [1] * n)
    observed = (w * (table * (table - 1)).sum(axis=1)).mean() / (raters[0] * (raters[0] - 1))
    chosen = w @ table
    expected = float(((chosen / chosen.sum()) ** 2).sum())
    return _corrected(float(observed), expected, n, "all ratings are in one category")


def gwet_ac(counts: Sequence[Sequence[int]], weights: GwetWeights = "identity") -> Estimate:
    """Return Gwet's AC1 (`identity`) or AC2 (other weights) of `counts[item][category]`, over declared categories.

    How many categories were declared matters, not only which of them occur. An item with one rating counts for the
    categories' shares alone, an item without any for nothing; n counts items with two or more. `ordinal` weights are
    1 − C(|i − j| + 1, 2) / C(q, 2). Undefined unless an item has two ratings and there are two categories.
    """
    table = np.array([row for row in counts if sum(row) > 0], dtype=np.float64)
    pairable = table[table.sum(axis=1) > 1] if len(table) else table
    if not len(pairable):
        return Estimate(None, 0, "no item has two ratings")
    size = table.shape[1]
    if size < 2:
        return Estimate(None, len(pairable), "fewer than two categories were declared")
    alike = _alike(size, weights)
    raters = pairable.sum(axis=1)
    observed = ((pairable * (pairable @ alike - 1)).sum(axis=1) / (raters * (raters - 1))).mean()
    shares = (table / table.sum(axis=1, keepdims=True)).mean(axis=0)
    expected = float(alike.sum() * (shares * (1 - shares)).sum() / (size * (size - 1)))
    return _corrected(float(observed), expected, len(pairable), "agreement by chance would be complete")


def _alike(size: int, weights: GwetWeights) -> Floats:
    """Return the weight of each pair of categories, from 0 (as far apart as can be) to 1 (the same)."""
    apart = np.abs(np.subtract.outer(np.arange(size), np.arange(size))).astype(np.float64)
    if weights == "identity":
        return np.equal(apart, 0).astype(np.float64)
    if weights == "ordinal":
        apart = apart * (apart + 1) / (size * (size - 1))
    else:
        apart = (apart / (size - 1)) ** (1.0 if weights == "linear" else 2.0)
    return np.asarray(1 - apart, dtype=np.float64)


def _corrected(observed: float, expected: float, n: int, reason: str) -> Estimate:
    if 1 - expected < _DUST:
        return Estimate(None, n, reason)
    return Estimate(round((observed - expected) / (1 - expected), _DECIMALS) + 0.0, n)
