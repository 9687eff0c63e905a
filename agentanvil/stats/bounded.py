"""The mean of scores on a scale that ends: an interval that is honest for three items, and for equal ones.

A resampled mean knows no score that did not occur: of three equal scores it says that all others would be the same.
Gaffke's bound weighs the scores by a flat Dirichlet distribution in which one more, unseen score stands at the end of
the scale: at the lower one for the lower bound, at the upper one for the upper bound. For scores that are only ever at
the two ends it is the exact interval of Clopper and Pearson; with many scores it becomes the usual one.

N. Gaffke (2005), "Three test statistics for a nonparametric one-sided hypothesis on the mean of a nonnegative
variable", Mathematical Methods of Statistics 14; E. Learned-Miller and P. S. Thomas (2019), "A new confidence interval
for the mean of a bounded random variable", arXiv:1905.06208. That it covers for every distribution is conjectured, not
proven; the slow tests simulate it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from agentanvil.stats.estimate import Interval

Floats = NDArray[np.float64]

DRAWS = 50_000
_DRAWS_IN_A_TAIL = 50
_CHUNK_CELLS = 2_000_000
_MAX_VALUES = 1_000
_DECIMALS = 9


@dataclass(frozen=True, slots=True)
class BoundedScores:
    """How many items have each score, on a scale from `low` to `high`; `missing` items have a score nobody knows.

    Raises ValueError for a score that is not on the scale. Multiplicities may be fractions, for items yet to come.
    """

    counts: Mapping[float, float]
    low: float
    high: float
    missing: float = 0

    def __post_init__(self) -> None:
        """Hold the scores to the scale."""
        if not self.low < self.high or any(not self.low <= score <= self.high for score in self.counts):
            raise ValueError(f"scores lie between {self.low!r} and {self.high!r}, two different ends")

    @property
    def n(self) -> float:
        """How many items have a known score."""
        return math.fsum(self.counts.values())


def bounded_mean_interval(scores: BoundedScores, *, seed: int, draws: int = DRAWS, level: float = 0.95) -> Interval:
    """Return Gaffke's interval of the mean; items without a score count at the lower, then at the upper end.

    The result depends on the counts and the seed alone. It has some width whatever the scores are. Undefined without a
    score. More than 1,000 different scores are told apart to a thousandth of the scale.
    """
    tail = (1 - level) / 2
    draws = max(draws, math.ceil(_DRAWS_IN_A_TAIL / tail))
    method = f"gaffke bound of a mean on a scale, {draws} draws"
    if not scores.n:
        return Interval(None, None, level, method, "no item has a score")
    span = scores.high - scores.low
    places, shapes = _places(scores)
    seen, unseen = _weighed(places, shapes, 1 + scores.missing, np.random.default_rng(seed), draws)
    low, high = float(np.quantile(seen, tail)), float(np.quantile(seen + unseen, 1 - tail))
    low, high = (round(scores.low + span * end, _DECIMALS) for end in (low, min(high, 1.0)))
    return Interval(low, high, level, method)


def _places(scores: BoundedScores) -> tuple[Floats, Floats]:
    """Return the scores' places in 0..1, ascending, and how many items are at each."""
    span = scores.high - scores.low
    found = {(score - scores.low) / span: times for score, times in sorted(scores.counts.items()) if times}
    if len(found) > _MAX_VALUES:
        merged: dict[float, float] = {}
        for place, times in found.items():
            near = round(place * _MAX_VALUES) / _MAX_VALUES
            merged[near] = merged.get(near, 0) + times
        found = merged
    return np.array(list(found)), np.array(list(found.values()), dtype=np.float64)


def _weighed(
    places: Floats, shapes: Floats, unseen: float, rng: np.random.Generator, draws: int
) -> tuple[Floats, Floats]:
    """Return for each draw the weighted mean place of the seen scores, and the weight of the unseen ones.

    Gamma variates over their sum are a Dirichlet draw, and equal scores share one whose shape is their number.
    """
    step = max(1, _CHUNK_CELLS // (len(shapes) + 1))
    means: list[Floats] = []
    weights: list[Floats] = []
    for start in range(0, draws, step):
        size = min(step, draws - start)
        known = rng.standard_gamma(shapes, size=(size, len(shapes)))
        other = rng.standard_gamma(unseen, size=size)
        total = known.sum(axis=1) + other
        means.append((known * places).sum(axis=1) / total)
        weights.append(other / total)
    return np.concatenate(means), np.concatenate(weights)
