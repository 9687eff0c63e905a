"""How far one reading can be trusted: where readings differ, and what follows. Field order is as in `summary.json`."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from agentanvil.stats import (
    Component,
    Estimate,
    Figure,
    Interval,
    NestedVariance,
    least_detectable_difference,
    repeats_needed,
)

HALF_WIDTHS = (1 / 16, 1 / 8)
"""How precise an item's mean is to be, in ranges of the scale: 0.25 and 0.5 of a point on 1 to 5."""

_LEVEL = 0.95


@dataclass(frozen=True, slots=True)
class RepeatsNeeded:
    """The least number of repeats that bring an item's mean within ± `half_width` of what endlessly many would give.

    `low` and `high` are those of the interval's ends. All are None where no repeat is told apart, as `reason` says.
    """

    half_width: float
    repeats: int | None
    low: int | None
    high: int | None
    n: int
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Variance:
    """The readings of one dimension or of the overall. A reading is one verdict of one judge in one order.

    `components` are the item's, judge's, order's and repeat's, each within the one before, with their shares of the
    variance of a reading. `icc_single` is the reliability of one reading, ICC(1,1) where there are only repeats, and
    `icc_mean` that of the items' means of all their readings, ICC(1,k). `sd_single` is the standard deviation of one
    reading of an unchanging item (the standard error of measurement), `sd_mean` that of an item's mean.
    `least_detectable_single` is how far two readings, and `least_detectable_mean` how far the means of two items, must
    lie apart before that error alone is unlikely (5 %) to be the reason. `repeats_needed` speak of the very judges and
    orders of this run. `items` counts those with a reading, `readings` what they have together.
    """

    items: int
    readings: int
    components: tuple[Component, ...]
    icc_single: Figure
    icc_mean: Figure
    sd_single: Figure
    sd_mean: Figure
    least_detectable_single: Figure
    least_detectable_mean: Figure
    repeats_needed: tuple[RepeatsNeeded, ...]
    method: str


def variance_of(found: NestedVariance, span: float, a_repeat: int, method: str) -> Variance:
    """Return the summary of components on a scale of so wide a `span`.

    `a_repeat` is how many readings one repeat of an item takes: one for each judge who is asked of every item, in each
    order.
    """
    repeat = next(component for component in found.components if component.source == "repeat").variance
    return Variance(
        items=found.items,
        readings=found.readings,
        components=found.components,
        icc_single=found.icc_single,
        icc_mean=found.icc_mean,
        sd_single=found.sd_single,
        sd_mean=found.sd_mean,
        least_detectable_single=_mapped(found.sd_single, least_detectable_difference),
        least_detectable_mean=_mapped(found.sd_mean, least_detectable_difference),
        repeats_needed=tuple(_needed(repeat, part * span, a_repeat) for part in HALF_WIDTHS),
        method=method,
    )


def _mapped(figure: Figure, change: Callable[[float], float]) -> Figure:
    """Return a figure whose value and ends are changed alike, by something that grows with them."""
    estimate, interval = figure.estimate, figure.interval
    value = None if estimate.value is None else change(estimate.value)
    low = None if interval.low is None else change(interval.low)
    high = None if interval.high is None else change(interval.high)
    return Figure(
        Estimate(value, estimate.n, estimate.reason),
        Interval(low, high, interval.level, interval.method, interval.reason),
    )


def _needed(repeat: Figure, half_width: float, a_repeat: int) -> RepeatsNeeded:
    def needed(variance: float | None) -> int | None:
        return None if variance is None else repeats_needed(math.sqrt(variance / a_repeat), half_width, _LEVEL)

    estimate, interval = repeat.estimate, repeat.interval
    return RepeatsNeeded(
        half_width, needed(estimate.value), needed(interval.low), needed(interval.high), estimate.n, estimate.reason
    )
