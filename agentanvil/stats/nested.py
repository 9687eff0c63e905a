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
from typing import Literal

import numpy as np

from agentanvil.stats.estimate import Estimate, Interval
from agentanvil.stats.interval import RESAMPLES
from agentanvil.stats.nested_features import (
    DUST,
    ERROR,
    JUDGE,
    MEAN,
    ORDER,
    READINGS,
    REPEAT,
    SEEN,
    SQUARE,
    Floats,
    N,
)
from agentanvil.stats.resample import percentile_ends, resampled_totals

Source = Literal["item", "judge", "order", "repeat"]
SOURCES: tuple[Source, ...] = ("item", "judge", "order", "repeat")

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
    """Return the components of clusters of items, given the features of each as a row, and their percentile intervals.

    Whole rows are resampled. A source that no reading tells apart is None, and so is an interval of fewer than two rows
    or with more than 5 % of the resamples undefined. The result does not depend on the order of the rows, on which
    judge or order comes first, or on the sign of the readings.
    """
    totals = features.sum(axis=0, keepdims=True)
    seen = _Seen.of(totals[0])
    rows = _canonical(features[features[:, N] > 0])
    spread = None
    if len(rows) > 1:
        drawn = resampled_totals(rows, np.ones(len(rows), dtype=np.int64), seed=seed, resamples=resamples)
        spread = np.concatenate([_figured(chunk, seen) for chunk in drawn])
    method = f"cluster bootstrap percentile, {resamples} resamples"
    told = _Figures(_figured(totals, seen)[0], spread, span, level, method)
    reread = max(seen.judge, seen.order, seen.repeat)
    return NestedVariance(
        items=round(float(totals[0, N])),
        readings=seen.readings,
        components=tuple(told.component(place, source, seen.count(source)) for place, source in enumerate(SOURCES)),
        icc_single=told.figure(_ICC_SINGLE, seen.item),
        icc_mean=told.figure(_ICC_MEAN, seen.item),
        sd_single=told.figure(_SD_SINGLE, reread, span),
        sd_mean=told.figure(_SD_MEAN, reread, span),
    )


@dataclass(frozen=True, slots=True)
class _Seen:
    """In how many items each source is told apart, and of how many readings; 0 where the readings do not tell it."""

    item: int
    judge: int
    order: int
    repeat: int
    readings: int

    @classmethod
    def of(cls, total: Floats) -> _Seen:
        judge, order, repeat = (round(float(n)) for n in total[SEEN])
        items = round(float(total[N]))
        # One item has no variance between items; read once each, items are not told from their readings.
        told = items if items > 1 and judge + order + repeat else 0
        return cls(told, judge, order, repeat, round(float(total[READINGS])))

    def count(self, source: Source) -> int:
        return {"item": self.item, "judge": self.judge, "order": self.order, "repeat": self.repeat}[source]


# Columns of what is figured out for each row of totals.
_RAW, _CUT, _SHARE = slice(0, 4), slice(4, 8), slice(8, 12)
_ICC_SINGLE, _ICC_MEAN, _SD_SINGLE, _SD_MEAN = 12, 13, 14, 15


def _figured(totals: Floats, seen: _Seen) -> Floats:
    """Return (B, 16) figures of (B, F) totals in units of the span, NaN where they are undefined."""
    n = np.where(totals[:, N] > 0, totals[:, N], np.nan)
    ss_repeat, free_repeat = totals[:, REPEAT].T
    repeat = _solved(ss_repeat, free_repeat, seen.repeat)
    ss_order, free_order, order_repeat = totals[:, ORDER].T
    order = _solved(ss_order - order_repeat * repeat, free_order, seen.order)
    ss_judge, free_judge, judge_order, judge_repeat = totals[:, JUDGE].T
    judge = _solved(ss_judge - judge_order * order - judge_repeat * repeat, free_judge, seen.judge)
    weights = totals[:, ERROR] / n[:, np.newaxis]
    below = np.stack([judge, order, repeat], axis=-1)
    squares = totals[:, SQUARE] - totals[:, MEAN] ** 2 / n
    means = np.where(n > 1, squares / np.where(n > 1, n - 1, 1.0), np.nan)
    means = np.where(means < DUST, np.where(np.isnan(means), np.nan, 0.0), means)
    item = means - (weights * below).sum(axis=-1)
    raw = np.concatenate([item[:, np.newaxis], below], axis=-1)
    cut = np.maximum(raw, 0.0)
    total, whole = raw.sum(axis=-1), cut.sum(axis=-1)
    sd_single = np.sqrt(cut[:, 1:].sum(axis=-1))
    sd_mean = np.sqrt((weights * cut[:, 1:]).sum(axis=-1))
    shares = cut / _above_dust(whole)[:, np.newaxis]
    last = [item / _above_dust(total), item / _above_dust(means), sd_single, sd_mean]
    return np.concatenate([raw, cut, shares, np.stack(last, axis=-1)], axis=-1)


def _solved(rest: Floats, freedom: Floats, seen: int) -> Floats:
    """Return a component from its sum of squares less the other components' part; 0 where it is not told apart."""
    if not seen:
        return np.zeros_like(rest)
    return np.where(freedom > 0, rest / np.where(freedom > 0, freedom, 1.0), np.nan)


def _above_dust(values: Floats) -> Floats:
    return np.where(values > DUST, values, np.nan)


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
    span: float
    level: float
    method: str

    def component(self, place: int, source: Source, n: int) -> Component:
        if not n:
            untold = self._none(0, _UNTOLD[source])
            return Component(source, untold, None, untold)
        variance = self.figure(_CUT.start + place, n, self.span**2)
        share = self.figure(_SHARE.start + place, n)
        raw = None if variance.estimate.value is None else _rounded(self.point[_RAW.start + place]) * self.span**2
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
        if self.spread is None:
            return Interval(None, None, self.level, self.method, "fewer than two items")
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
