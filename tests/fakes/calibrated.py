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
    weights: Sequence[float | None] = (),
    min_kappa: float = 0.6,
    level: float = 0.95,
) -> CalibrationFigures:
    """Calibrate rows of (scores by dimension, labels by dimension), with their sampling weights where there are any."""
    shape = plan(of, repeats)
    outcomes = [item(shape, index, scores) for index, (scores, _) in enumerate(rows)]
    reducer = Reducer(of, shape, reading=reading)
    labelled = [(labels, weight) for (_, labels), weight in zip(rows, weights or [None] * len(rows), strict=True)]
    return _finished(reducer, outcomes, labelled, groups, (level, min_kappa))


def calibrated_pairs(
    of: Rubric,
    pairs: Sequence[Pair],
    *,
    orders: OrderMode = "fixed",
    reading: Reading = "verdict",
    weights: Sequence[float | None] = (),
) -> CalibrationFigures:
    """Calibrate pairs, which bring their labels, with their sampling weights where there are any."""
    shape = plan(of, 1, orders)
    outcomes = [compare(shape, index, pair) for index, pair in enumerate(pairs)]
    labelled = [(pair.labels, weight) for pair, weight in zip(pairs, weights or [None] * len(pairs), strict=True)]
    return _finished(Reducer(of, shape, reading=reading), outcomes, labelled, (), (0.95, 0.6))


def _finished(
    reducer: Reducer,
    outcomes: Sequence[ItemOutcomes],
    labelled: Sequence[tuple[Labels, float | None]],
    groups: Sequence[str | None],
    asked: tuple[float, float],
) -> CalibrationFigures:
    named = any(isinstance(given, Mapping) for each, _ in labelled for given in each.values())
    tally = CalibrationTally(reducer.frame, named=named, group_field="meta.task" if groups else None)
    for place, (row, (given, weight)) in enumerate(zip(outcomes, labelled, strict=True)):
        ratings = {name: _ratings(each) for name, each in given.items()}
        tally.add(reducer.reduce(row), ratings, weight, groups[place] if groups else None)
    return tally.finish(7, *asked)


def _ratings(given: Sequence[float] | Mapping[str, float]) -> tuple[tuple[str, float], ...]:
    if isinstance(given, Mapping):
        return tuple(sorted(given.items()))
    return tuple((str(place), label) for place, label in enumerate(given, 1))
