"""A corrected mean or pass rate from its rows, with what to know before believing it."""

from __future__ import annotations

from dataclasses import replace

from agentanvil.aggregate.corrected.rows import Columns
from agentanvil.aggregate.corrected.summary import Caution, CorrectedFigure
from agentanvil.rubric import Scale
from agentanvil.stats import (
    Corrected,
    CorrectedPair,
    Estimate,
    Interval,
    Shift,
    corrected_mean,
    corrected_pass_rate,
    mean_interval,
    mean_shift,
    share_interval,
    weighted_corrected_mean,
    weighted_mean,
    weighted_shift,
)

_REMEDY = "label a random share of the rows, or give the sampling weights by which they were drawn"
_BREAKS = f"a mean corrected by them is off; {_REMEDY}"
_SURVIVES = f"the corrected rate holds only if the judge errs alike on both; {_REMEDY} to be sure"


def mean_figure(rows: Columns, scale: Scale, level: float) -> CorrectedFigure:
    """Return the corrected mean; the ends of the scale bound it."""
    if rows.weights is None:
        found = corrected_mean(rows.human, rows.judge, rows.rest, level=level)
    else:
        found = weighted_corrected_mean(rows.human, rows.judge, rows.weights, rows.rest, level=level)
    cautions = _doubts(rows, found, level)
    value = found.population.estimate.value
    if value is not None and not scale.min <= value <= scale.max:
        text = f"the correction comes to {value:.2f}, outside the scale: labelled and unlabelled rows do not match"
        cautions.append(Caution("outside_scale", text))
    bounded = CorrectedPair(_bounded(found.population, scale), _bounded(found.items, scale))
    labels = mean_interval(rows.human, rows.weights, level=level)
    if labels.low is not None and labels.low == labels.high:
        labels = Interval(None, None, level, labels.method, "the labels are all alike")
    return _figure(rows, bounded, labels, cautions, _BREAKS)


def pass_figure(rows: Columns, level: float) -> CorrectedFigure:
    """Return the corrected pass rate; the rows' columns hold 0 and 1, and shares of raters."""
    found = corrected_pass_rate(rows.human, rows.judge, rows.rest, rows.weights, level=level)
    labels = share_interval(rows.human, rows.weights, level=level)
    return _figure(rows, found, labels, _doubts(rows, found, level), _SURVIVES)


def _figure(
    rows: Columns, found: CorrectedPair, labels: Interval, cautions: list[Caution], because: str
) -> CorrectedFigure:
    level = labels.level
    if rows.weights is None:
        shift = mean_shift(rows.judge, rows.rest, level=level)
    else:
        shift = weighted_shift(rows.judge, rows.weights, rows.rest, level=level)
    return CorrectedFigure(
        labelled=len(rows.human),
        unlabelled=len(rows.rest),
        judge=weighted_mean(rows.rest if rows.weights is None else [*rows.judge, *rows.rest]),
        labels=weighted_mean(rows.human, rows.weights),
        labels_interval=labels,
        population=found.population.estimate,
        population_interval=found.population.interval,
        items=found.items.estimate,
        items_interval=found.items.interval,
        shift=shift.difference,
        shift_interval=shift.interval,
        cautions=(*cautions, *_shifted(shift, because, weighted=rows.weights is not None)),
    )


def _doubts(rows: Columns, found: CorrectedPair, level: float) -> list[Caution]:
    if not rows.rest and rows.weights is None:
        # Said once for the dimension.
        return []
    of_population, of_items = _doubt(found.population, level), _doubt(found.items, level)
    if of_population == of_items:
        return [] if of_population is None else [of_population]
    both = (("the population", of_population), ("these very rows", of_items))
    return [Caution(doubt.code, f"of {whose}: {doubt.text}") for whose, doubt in both if doubt is not None]


def _doubt(found: Corrected, level: float) -> Caution | None:
    if found.interval.low is None:
        return Caution("no_interval", f"no interval: {found.interval.reason}")
    if found.doubt is None:
        return None
    text = f"the interval may hold the true value less often than {level * 100:g} %: {found.doubt}"
    return Caution("few_labels", text)


def _shifted(shift: Shift, consequence: str, *, weighted: bool) -> list[Caution]:
    if not shift.found or shift.difference.value is None:
        return []
    span = f"[{shift.interval.low:+.2f}, {shift.interval.high:+.2f}]"
    by = f"in the judge's own figure by {shift.difference.value:+.2f} {span}"
    if weighted:
        text = f"the weighted labelled rows differ from all rows {by}: the weights do not say how labels were drawn"
        return [Caution("weights_do_not_fit", text)]
    text = f"the labelled rows differ from the others {by}: they are no random sample, and {consequence}"
    return [Caution("shift", text)]


def _bounded(found: Corrected, scale: Scale) -> Corrected:
    def bound(value: float | None) -> float | None:
        return None if value is None else min(float(scale.max), max(float(scale.min), value))

    estimate: Estimate = replace(found.estimate, value=bound(found.estimate.value))
    interval: Interval = replace(found.interval, low=bound(found.interval.low), high=bound(found.interval.high))
    return replace(found, estimate=estimate, interval=interval)
