"""How far a judge's scores lie from a person's on the same items, in points of the scale.

Pairs in which either value is None are left out (pairwise deletion); n counts the pairs that remain.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal

from agentanvil.stats.estimate import Estimate, Interval
from agentanvil.stats.interval import RESAMPLES, cluster_bootstrap_mean
from agentanvil.stats.spread import mean_of_drawn
from agentanvil.stats.weighting import kept_items

ErrorMeasure = Literal["mean_absolute_error", "signed_bias"]
Pair = tuple[float, float]

_HUGE = 1e150
_NOT_SUMMABLE = "a value is not a finite number, or too large to be summed"


def mean_absolute_error(judge: Sequence[float | None], human: Sequence[float | None]) -> Estimate:
    """Return the mean of |judge − human|; 0 where they agree throughout, undefined without pairs."""
    return mean_error([[pair] for pair in _pairs(judge, human)], "mean_absolute_error")


def signed_bias(judge: Sequence[float | None], human: Sequence[float | None]) -> Estimate:
    """Return the mean of judge − human: above 0 for a lenient judge; undefined without pairs."""
    return mean_error([[pair] for pair in _pairs(judge, human)], "signed_bias")


def mean_error(
    clusters: Sequence[Sequence[Pair]],
    measure: ErrorMeasure,
    multiplicity: Sequence[int] | None = None,
    weights: Sequence[float] | None = None,
) -> Estimate:
    """Return the measure over items that hold several (judge, human) pairs each, in which every item weighs the same.

    `multiplicity[i]` says how many items have exactly the pairs `clusters[i]`, `weights[i]` is the sampling weight of
    each. n counts items; those without a pair are left out.
    """
    kept, times, w = kept_items(clusters, multiplicity, weights)
    n = sum(times)
    if not n:
        return Estimate(None, 0, "no pairs")
    if not _summable(kept):
        return Estimate(None, n, _NOT_SUMMABLE)
    return mean_of_drawn([_of_item(pairs, measure) for pairs in kept], times, w)


def mean_error_interval(
    clusters: Sequence[Sequence[Pair]],
    measure: ErrorMeasure,
    multiplicity: Sequence[int] | None = None,
    weights: Sequence[float] | None = None,
    *,
    seed: int,
    resamples: int = RESAMPLES,
    level: float = 0.95,
) -> Interval:
    """Return the interval of `mean_error` by the bootstrap of items.

    Undefined below two items, and where all have one and the same error, which shows no spread to judge it by.
    """
    kept, times, w = kept_items(clusters, multiplicity, weights)
    if not _summable(kept):
        return Interval(None, None, level, "cluster bootstrap percentile", _NOT_SUMMABLE)
    rows = [[_of_item(pairs, measure)] for pairs in kept]
    interval = cluster_bootstrap_mean(rows, times, weights=w, seed=seed, resamples=resamples, level=level)
    if interval.low is not None and interval.low == interval.high:
        return Interval(None, None, level, interval.method, "all items have the same error: there is no spread")
    return interval


def _summable(kept: Sequence[Sequence[Pair]]) -> bool:
    return all(abs(value) < _HUGE for pairs in kept for pair in pairs for value in pair)


def _of_item(pairs: Sequence[Pair], measure: ErrorMeasure) -> float:
    """Return an item's own mean error."""
    errors = [judge - human for judge, human in pairs]
    if measure == "mean_absolute_error":
        errors = [abs(error) for error in errors]
    return math.fsum(errors) / len(errors)


def _pairs(judge: Sequence[float | None], human: Sequence[float | None]) -> list[Pair]:
    return [(one, other) for one, other in zip(judge, human, strict=True) if one is not None and other is not None]
