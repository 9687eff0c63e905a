"""Where readings of items differ: between items, judges, orders and repeats, each within the one before.

A reading is x = item + judge within item + order within item and judge + repeat, four independent random parts with the
variances σ²item … σ²repeat; so what judges differ by, in general and on one item, is the judges' part. The components
are estimated by the method of moments from unweighted means (Searle, Casella, McCulloch 1992, Variance components, 5.2;
for a single level it is the analysis of variance where no reading is missing): readings are averaged within order,
orders within judge, judges within item, and each level's sum of squares is set equal to what it is expected to be. That
needs no balance. With k readings in each of an item-judge's o orders, and j judges:

    E[SS repeat] = σ²repeat · (readings − cells)
    E[SS order]  = (o − 1) · (σ²order + σ²repeat · mean(1/k))
    E[SS judge]  = (j − 1) · (σ²judge + mean(σ²order / o + σ²repeat · Σ(1/k) / o²))
    E[variance of the items' means] = σ²item + mean error of an item's mean,

where that error is σ²judge / j + Σ(σ²order / o + σ²repeat · Σ(1/k) / o²) / j², averaged over the items.

All that is needed of an item adds up: its `nested_features` are a row of numbers, and so is a cluster of items.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from agentanvil.stats.estimate import Estimate, Interval
from agentanvil.stats.interval import RESAMPLES
from agentanvil.stats.nested_features import DUST, MEAN, Floats, N
from agentanvil.stats.nested_figures import (
    CUT,
    ICC_MEAN,
    ICC_SINGLE,
    RAW,
    SD_MEAN,
    SD_SINGLE,
    SHARE,
    SOURCES,
    Seen,
    Source,
    figured,
)
from agentanvil.stats.nested_jackknife import jackknifed
from agentanvil.stats.resample import percentile_ends, resampled_totals

_DECIMALS = 12
_MAX_UNDEFINED_SHARE = 0.05


@dataclass(frozen=True, slots=True)
class Figure:
    """An estimate and its interval."""

    estimate: Estimate
    interval: Interval


@dataclass(frozen=True, slots=True)
class Component:
    """One source of variance. `share` is that of all four together.

    `raw` may be negative, where the source brings less than chance would; `variance` and `share` are of what is cut
    at 0. All are None where the readings do not tell the source apart; what it brings is in the source above it then.
    """

    source: Source
    variance: Figure
    raw: float | None
    share: Figure


@dataclass(frozen=True, slots=True)
class NestedVariance:
    """Four components and what they come to; n counts items that tell of each, `items` those with any reading.

    `icc_single` is the reliability of one reading, σ²item / total: ICC(1,1) where there are only repeats. `icc_mean` is
    that of the items' means as they were taken, ICC(1,k) there. Neither is cut at 0. `sd_single` and `sd_mean` are the
    standard errors of measurement of one reading and of an item's mean.
    """

    items: int
    readings: int
    components: tuple[Component, ...]
    icc_single: Figure
    icc_mean: Figure
    sd_single: Figure
    sd_mean: Figure


def nested_variance(
    features: Floats, span: float, *, seed: int, level: float = 0.95, resamples: int = RESAMPLES
) -> NestedVariance:
    """Return the components of clusters of items, given the features of each as a row, and intervals over whole rows.

    Reliability, the error of a reading and the variance of repeats have those of `nested_jackknife`; all else, and
    these where there is none, has percentile intervals. A source that no reading tells apart is None, and so is an
    interval of fewer than two rows or with more than 5 % of the resamples undefined. The result does not depend on
    the order of the rows, on which judge or order comes first, or on the sign of the readings.
    """
    totals = features.sum(axis=0, keepdims=True)
    seen = Seen.of(totals[0])
    rows = _canonical(features[features[:, N] > 0])
    spread = left = None
    if len(rows) > 1:
        drawn = resampled_totals(rows, np.ones(len(rows), dtype=np.int64), seed=seed, resamples=resamples)
        spread = np.concatenate([figured(chunk, seen) for chunk in drawn])
        left = figured(rows.sum(axis=0, keepdims=True) - rows, seen)
    method = f"cluster bootstrap percentile, {resamples} resamples"
    told = _Figures(figured(totals, seen)[0], spread, left, span, level, method)
    reread = max(seen.judge, seen.order, seen.repeat)
    return NestedVariance(
        items=round(float(totals[0, N])),
        readings=seen.readings,
        components=tuple(told.component(place, source, seen.count(source)) for place, source in enumerate(SOURCES)),
        icc_single=told.figure(ICC_SINGLE, seen.item),
        icc_mean=told.figure(ICC_MEAN, seen.item),
        sd_single=told.figure(SD_SINGLE, reread, span),
        sd_mean=told.figure(SD_MEAN, reread, span),
    )


def _canonical(rows: Floats) -> Floats:
    """Return rows in an order, and with a sign of the means, that do not depend on how they came."""
    negated = rows.copy()
    negated[:, MEAN] *= -1
    one, other = _ascending(rows), _ascending(negated)
    return min(one, other, key=lambda found: tuple(found[:, MEAN].tolist()))


def _ascending(rows: Floats) -> Floats:
    return rows[np.lexsort(rows.round(_DECIMALS).T)]


@dataclass(frozen=True, slots=True)
class _Figures:
    """Turns figures in spans into figures on the scale, each with a reason where it has no value."""

    point: Floats
    spread: Floats | None
    left: Floats | None
    span: float
    level: float
    method: str

    def component(self, place: int, source: Source, n: int) -> Component:
        if not n:
            untold = self._none(0, _UNTOLD[source])
            return Component(source, untold, None, untold)
        variance = self.figure(CUT.start + place, n, self.span**2)
        share = self.figure(SHARE.start + place, n)
        raw = None if variance.estimate.value is None else _rounded(self.point[RAW.start + place]) * self.span**2
        return Component(source, variance, raw, share)

    def figure(self, column: int, n: int, unit: float = 1.0) -> Figure:
        value = float(self.point[column])
        if not n:
            return self._none(0, _ONCE)
        if np.isnan(value):
            return self._none(n, "no variance at all")
        return Figure(Estimate(_rounded(value) * unit, n), self._interval(column, unit))

    def _none(self, n: int, reason: str) -> Figure:
        return Figure(Estimate(None, n, reason), Interval(None, None, self.level, self.method, reason))

    def _interval(self, column: int, unit: float) -> Interval:
        if self.spread is None or self.left is None:
            return Interval(None, None, self.level, self.method, "fewer than two items")
        ends = jackknifed(column, self.point, self.left, self.level)
        if ends is not None:
            low, high, method = ends
            return Interval(low * unit, high * unit, self.level, method)
        values = self.spread[:, column]
        defined = values[~np.isnan(values)]
        if len(defined) < (1 - _MAX_UNDEFINED_SHARE) * len(values):
            reason = f"undefined in {len(values) - len(defined)} of {len(values)} resamples"
            return Interval(None, None, self.level, self.method, reason)
        if np.ptp(defined) <= DUST and abs(defined[0] - self.point[column]) <= DUST:
            return Interval(None, None, self.level, self.method, "all items are alike in it, so resampling cannot tell")
        low, high = percentile_ends(defined * unit, self.level)
        return Interval(low, high, self.level, self.method)


_ONCE = "no item was read twice"
_UNTOLD: Mapping[Source, str] = {
    "item": "fewer than two items, or none of them was read twice",
    "judge": "no item was read by two judges",
    "order": "no judge read an item in both orders",
    "repeat": "no judge read an item twice in one order",
}


def _rounded(value: float) -> float:
    """Sums leave dust in the last bits, which must not depend on how the items are ordered."""
    return round(float(value), _DECIMALS) + 0.0
