"""Calibrations made by hand: scores and labels in, figures out, through the same reducer as a run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from agentanvil.aggregate import CalibrationFigures, CalibrationTally, ItemOutcomes, Reading, Reducer
from agentanvil.plan import OrderMode
from agentanvil.rubric import Rubric
from tests.fakes.graded import Pair, Score, compare, item, plan

Labels = Mapping[str, Sequence[float]] | Mapping[str, Mapping[str, float]]
"""Labels of one item by dimension: one a rater, by place or by name."""


def calibrated(
    of: Rubric,
    rows: Sequence[tuple[Mapping[str, Sequence[Score] | Score], Labels]],
    *,
    repeats: int = 1,
    reading: Reading = "verdict",
    groups: Sequence[str | None] = (),
    min_kappa: float = 0.6,
    level: float = 0.95,
) -> CalibrationFigures:
    """Calibrate rows of (scores by dimension, labels by dimension)."""
    shape = plan(of, repeats)
    outcomes = [item(shape, index, scores) for index, (scores, _) in enumerate(rows)]
    reducer = Reducer(of, shape, reading=reading)
    return _finished(reducer, outcomes, [labels for _, labels in rows], groups, (level, min_kappa))


def calibrated_pairs(
    of: Rubric, pairs: Sequence[Pair], *, orders: OrderMode = "fixed", reading: Reading = "verdict"
) -> CalibrationFigures:
    """Calibrate pairs, which bring their labels."""
    shape = plan(of, 1, orders)
    outcomes = [compare(shape, index, pair) for index, pair in enumerate(pairs)]
    return _finished(Reducer(of, shape, reading=reading), outcomes, [pair.labels for pair in pairs], (), (0.95, 0.6))


def _finished(
    reducer: Reducer,
    outcomes: Sequence[ItemOutcomes],
    labels: Sequence[Labels],
    groups: Sequence[str | None],
    asked: tuple[float, float],
) -> CalibrationFigures:
    named = any(isinstance(given, Mapping) for each in labels for given in each.values())
    tally = CalibrationTally(reducer.frame, named=named, group_field="meta.task" if groups else None)
    for place, (row, given) in enumerate(zip(outcomes, labels, strict=True)):
        ratings = {name: _ratings(each) for name, each in given.items()}
        tally.add(reducer.reduce(row), ratings, None, groups[place] if groups else None)
    return tally.finish(7, *asked)


def _ratings(given: Sequence[float] | Mapping[str, float]) -> tuple[tuple[str, float], ...]:
    if isinstance(given, Mapping):
        return tuple(sorted(given.items()))
    return tuple((str(place), label) for place, label in enumerate(given, 1))
