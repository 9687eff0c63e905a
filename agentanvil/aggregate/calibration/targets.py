"""What is held against people: each dimension, the overall and, in pairs, the winner, as both sides gave it."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

from agentanvil.aggregate.agreement import judged_minimums
from agentanvil.aggregate.calibration.summary import TargetKind
from agentanvil.aggregate.frame import Frame, FrameDimension
from agentanvil.aggregate.item import DimensionResult, ItemResult
from agentanvil.aggregate.measure import Measure
from agentanvil.dataset import WINNER
from agentanvil.rubric import OVERALL
from agentanvil.verdict import Scored, State

Ratings = Mapping[str, tuple[tuple[str, float], ...]]
"""Labels by dimension, `overall` or `winner`: (rater, label)."""
Source = Literal["own", "minimum"]
_SIGNS = {"a": 1.0, "tie": 0.0, "b": -1.0}


@dataclass(frozen=True, slots=True)
class Sides:
    """One labelled item on one target. `scores` are the judge's repeats, ascending, none where `state` says why.

    `ratings` are (rater, label) in the measure's numbers: 0 and 1 in a gate, signs for a winner, else as they were
    given. `off_scale` labels have no such number. `expected` is the mean of the scores that the judge's probabilities
    expect, None where one of them did not come. `repeats` are the scores in the order of the repeats, None for one that
    is missing, where that order is known.
    """

    scores: tuple[float, ...]
    state: State
    ratings: tuple[tuple[str, float], ...]
    off_scale: int = 0
    expected: float | None = None
    repeats: tuple[float | None, ...] = ()

    @property
    def score(self) -> float | None:
        """The judge's item score: the mean of its repeats."""
        return math.fsum(self.scores) / len(self.scores) if self.scores else None

    @property
    def label(self) -> float | None:
        """The mean of the labels."""
        labels = [label for _, label in self.ratings]
        return math.fsum(labels) / len(labels) if labels else None


@dataclass(frozen=True, slots=True)
class Target:
    """One thing that is calibrated. `measure` is that of the numbers in `Sides`; `place` its dimension's, if it is one.

    `source` tells an overall that people gave themselves from the minimum over the judged dimensions.
    """

    id: str
    kind: TargetKind
    measure: Measure
    place: int | None
    source: Source
    sides: Callable[[ItemResult, Ratings], Sides | None]

    @property
    def span(self) -> float:
        """The largest distance that a score and a label on the scale can have."""
        if self.kind == "winner":
            return 2.0
        return float(self.measure.scale.max - self.measure.scale.min)


def targets_of(frame: Frame) -> tuple[Target, ...]:
    """Return every target of a run's frame: dimensions in their order, then the overall or the winner."""
    found = [_dimension(frame, place) for place in range(len(frame.dimensions))]
    if frame.mode == "pairwise":
        return (*found, _winner(frame))
    found.append(_own_overall(frame))
    if frame.rule == "min":
        found.append(_minimum(frame))
    return tuple(found)


def _dimension(frame: Frame, place: int) -> Target:
    layout = frame.dimensions[place]
    numbers = _Numbers.of(frame, layout.threshold)

    def sides(result: ItemResult, ratings: Ratings) -> Sides | None:
        given = ratings.get(layout.id)
        if not given:
            return None
        dimension = result.dimensions[place]
        labels = numbers.labels(given)
        spread = dimension.spread
        scores = spread.scores if spread is not None else ()
        expected = _expected(result, layout) if _reads_beside(frame, layout) else None
        repeats = tuple([cell.score if isinstance(cell, Scored) else None for cell in dimension.cells])
        return Sides(scores, dimension.state, labels, len(given) - len(labels), expected, repeats)

    return Target(layout.id, layout.kind, numbers.measure, place, "own", sides)


def _own_overall(frame: Frame) -> Target:
    numbers = _Numbers.of(frame, frame.thresholds.get(OVERALL, frame.labelled.max))

    def sides(result: ItemResult, ratings: Ratings) -> Sides | None:
        given = ratings.get(OVERALL)
        if not given:
            return None
        labels = numbers.labels(given)
        repeats = (result.overall,) if frame.repeats == 1 else ()
        return Sides(result.repeat_overalls, result.state, labels, len(given) - len(labels), repeats=repeats)

    return Target(OVERALL, "overall", numbers.measure, None, "own", sides)


def _minimum(frame: Frame) -> Target:
    """The minimum over the judged dimensions on both sides, as `comparable_overalls` has it, but by rater."""
    judged = [(place, layout) for place, layout in enumerate(frame.dimensions) if layout.kind == "judged"]
    numbers = {layout.id: _Numbers.of(frame, layout.threshold) for _, layout in judged}
    measure = Measure.of_overall(frame)

    def sides(result: ItemResult, ratings: Ratings) -> Sides | None:
        columns: list[dict[str, float]] = []
        for _, layout in judged:
            given = ratings.get(layout.id)
            if given:
                columns.append(dict(numbers[layout.id].labels(given)))
            elif not layout.allow_na:
                return None
        if not columns or not (raters := set(columns[0]).intersection(*columns[1:])):
            return None
        labels = tuple((rater, min(column[rater] for column in columns)) for rater in sorted(raters))
        repeats = tuple(judged_minimums(frame, result))
        scores = tuple(sorted([score for score in repeats if score is not None]))
        state: State = "scored" if scores else _missing([result.dimensions[place] for place, _ in judged])
        return Sides(scores, state, labels, repeats=repeats)

    return Target(OVERALL, "overall", measure, None, "minimum", sides)


def _winner(frame: Frame) -> Target:
    measure = Measure.of_overall(frame)

    def sides(result: ItemResult, ratings: Ratings) -> Sides | None:
        given = ratings.get(WINNER)
        if not given or result.pair is None:
            return None
        labels = tuple([(who, number) for who, label in given if (number := measure.label(label)) is not None])
        winner = result.pair.result
        scores = () if winner is None else (_SIGNS[winner],)
        return Sides(scores, "scored" if scores else _missing(result.dimensions), labels, len(given) - len(labels))

    return Target(WINNER, "winner", measure, None, "own", sides)


@dataclass(frozen=True, slots=True)
class _Numbers:
    """Turns labels into the numbers that are compared, and holds the measure of those."""

    given: Measure
    measure: Measure

    @classmethod
    def of(cls, frame: Frame, threshold: float) -> _Numbers:
        given = Measure.of(frame, threshold)
        return cls(given, Measure.of_overall(frame) if frame.mode == "gate" else given)

    def labels(self, given: tuple[tuple[str, float], ...]) -> tuple[tuple[str, float], ...]:
        if self.given.mode != "gate":
            return given
        return tuple([(who, number) for who, label in given if (number := self.given.label(label)) is not None])


def _reads_beside(frame: Frame, layout: FrameDimension) -> bool:
    return frame.reading == "verdict" and frame.mode != "pairwise" and layout.kind == "judged"


def _expected(result: ItemResult, layout: FrameDimension) -> float | None:
    found = [cell.expected_score for cell in result.cells_of(layout) if isinstance(cell, Scored)]
    known = [score for score in found if score is not None]
    return math.fsum(known) / len(known) if known and len(known) == len(found) else None


def _missing(dimensions: list[DimensionResult] | tuple[DimensionResult, ...]) -> State:
    """Return what kept a verdict away: the first state of a dimension that has none, else what a repeat lacks."""
    for dimension in dimensions:
        if dimension.state not in ("scored", "not_applicable"):
            return dimension.state
    for dimension in dimensions:
        for cell in dimension.cells:
            if cell.state not in ("scored", "not_applicable"):
                return cell.state
    return "not_applicable"
