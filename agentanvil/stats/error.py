"""How far a judge's scores lie from a person's on the same items, in points of the scale.

Pairs in which either value is None are left out (pairwise deletion); n counts the pairs that remain.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal

from agentanvil.stats.estimate import Estimate, Interval
from agentanvil.stats.interval import RESAMPLES, cluster_bootstrap_mean
from agentanvil.stats.spread import mean

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
    clusters: Sequence[Sequence[Pair]], measure: ErrorMeasure, multiplicity: Sequence[int] | None = None
) -> Estimate:
    """Return the measure over items that hold several (judge, human) pairs each, in which every item weighs the same.

    `multiplicity[i]` says how many items have exactly the pairs `clusters[i]`. n counts items; those without a pair
    are left out.
    """
    kept = _kept(clusters, multiplicity)
    n = sum(times for _, times in kept)
    if not n:
        return Estimate(None, 0, "no pairs")
    if not _summable(kept):
        return Estimate(None, n, _NOT_SUMMABLE)
    return mean([_of_item(pairs, measure) for pairs, _ in kept], [times for _, times in kept])


def mean_error_interval(
    clusters: Sequence[Sequence[Pair]],
    measure: ErrorMeasure,
    multiplicity: Sequence[int] | None = None,
    *,
    seed: int,
    resamples: int = RESAMPLES,
    level: float = 0.95,
) -> Interval:
    """Return the interval of `mean_error` by the bootstrap of items.

    Undefined below two items, and where all have one and the same error, which shows no spread to judge it by.
    """
    kept = _kept(clusters, multiplicity)
    if not _summable(kept):
        return Interval(None, None, level, "cluster bootstrap percentile", _NOT_SUMMABLE)
    rows, counts = [[_of_item(pairs, measure)] for pairs, _ in kept], [times for _, times in kept]
    interval = cluster_bootstrap_mean(rows, counts, seed=seed, resamples=resamples, level=level)
    if interval.low is not None and interval.low == interval.high:
        return Interval(None, None, level, interval.method, "all items have the same error: there is no spread")
    return interval


def _kept(clusters: Sequence[Sequence[Pair]], multiplicity: Sequence[int] | None) -> list[tuple[Sequence[Pair], int]]:
    counted = zip(clusters, [1] * len(clusters) if multiplicity is None else multiplicity, strict=True)
    return [(pairs, times) for pairs, times in counted if pairs and times]


def _summable(kept: Sequence[tuple[Sequence[Pair], int]]) -> bool:
    return all(abs(value) < _HUGE for pairs, _ in kept for pair in pairs for value in pair)


def _of_item(pairs: Sequence[Pair], measure: ErrorMeasure) -> float:
    """Return an item's own mean error."""
    errors = [judge - human for judge, human in pairs]
    if measure == "mean_absolute_error":
        errors = [abs(error) for error in errors]
    return math.fsum(errors) / len(errors)


def _pairs(judge: Sequence[float | None], human: Sequence[float | None]) -> list[Pair]:
    return [(one, other) for one, other in zip(judge, human, strict=True) if one is not None and other is not None]
