"""How much a row's label would help: from what its judges said, streamed into a few numbers a row."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from agentanvil.aggregate.as_read import nearest
from agentanvil.aggregate.frame import Frame, FrameDimension
from agentanvil.aggregate.item import ItemResult
from agentanvil.aggregate.measure import Measure
from agentanvil.aggregate.pair import POINTS
from agentanvil.verdict import Cell, NotApplicable, Scored

Reason = Literal["random", "disagreement", "uncertainty", "gate", "coverage"]
"""Why a row was drawn: what made up most of its probability."""
REASONS: tuple[Reason, ...] = ("random", "disagreement", "uncertainty", "gate", "coverage")

_UNKNOWN = -1
_Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Chances:
    """Rows that may be drawn: their `indices` in the data, what their probabilities are proportional to, and why."""

    indices: NDArray[np.int64]
    sizes: _Floats
    reasons: tuple[Reason, ...]


class LabelPriority:
    """Takes the items of a run in row order. Each of four signals is a number in 0..1.

    A signal's part of the draw is in proportion to its greatest value, and shared out in proportion to its values: many
    rows with a middling signal leave room for a few that stand out by another.

    `disagreement`: how far verdicts on the row lie apart, over repeats, orders and judges, as a share of the scale.
    `uncertainty`: entropy of the judge's probabilities, or how far their expected score is from a whole one.
    `gate`: how near a gated score is to where passing begins, 1 there and 0 a whole score away.
    `coverage`: how much a random draw would fall short of an equal number of labels in the category that the judge
    puts the row in. The first two and the last are means over the judged dimensions, of which there is one at least.
    """

    def __init__(self, frame: Frame) -> None:
        self._frame = frame
        self._judged = [(place, layout) for place, layout in enumerate(frame.dimensions) if layout.kind == "judged"]
        self._measures = [Measure.of(frame, layout.threshold) for _, layout in self._judged]
        self._pairs = frame.mode == "pairwise"
        # On the scale of verdicts passing begins half a step below the least whole score that passes.
        self._gated = [(p, t - 0.5) for _, p, t in frame.gated if frame.mode == "absolute" and t > frame.scale.min]
        self._signals = array("d")
        self._categories = array("b")
        self._labelled = bytearray()

    def add(self, result: ItemResult, *, labelled: bool) -> None:
        """Take one item; a `labelled` one is not drawn, and counts as a label that is there."""
        self._labelled.append(labelled)
        if self._pairs:
            self._signals.extend(_pair_signals(result))
            winner = None if result.pair is None else result.pair.result
            self._categories.append(_UNKNOWN if winner is None else round(2 * POINTS[winner]))
            return
        cells = [self._cells(result, layout) for _, layout in self._judged]
        span = self._frame.scale.max - self._frame.scale.min
        self._signals.append(_mean(_apart(each, span) for each in cells))
        self._signals.append(_mean(map(_unsure, cells)))
        self._signals.append(max((self._nearness(result, place, start) for place, start in self._gated), default=0.0))
        for (place, _), measure in zip(self._judged, self._measures, strict=True):
            score = result.dimensions[place].score
            self._categories.append(_UNKNOWN if score is None else measure.values.index(round(measure.read(score))))

    def chances(self, n: int, random: float) -> Chances:
        """Return the sizes for a draw of n rows, the share `random` of which is spread evenly over all rows."""
        left = np.flatnonzero(np.frombuffer(self._labelled, dtype=np.uint8) == 0)
        signals = np.asarray(self._signals).reshape(-1, 3)[left]
        parts = np.column_stack([signals, self._shortfalls(left, n)])
        sums, most = parts.sum(axis=0), parts.max(axis=0, initial=0.0)
        if not sums.any():
            return even_chances(left)
        parts *= (1 - random) * most / (np.where(sums > 0, sums, 1.0) * most.sum())
        even = random / len(left)
        chosen = np.where(parts.sum(axis=1) > even, parts.argmax(axis=1) + 1, 0)
        return Chances(left, parts.sum(axis=1) + even, tuple([REASONS[place] for place in chosen]))

    def _shortfalls(self, left: NDArray[np.int64], n: int) -> _Floats:
        """Return how far each row's categories fall short of an equal share of labels, were n rows drawn evenly."""
        columns = 1 if self._pairs else len(self._judged)
        categories = np.asarray(self._categories, dtype=np.int64).reshape(-1, columns)
        labelled = np.frombuffer(self._labelled, dtype=np.uint8) == 1
        short = np.zeros(len(left))
        for column in categories.T:
            known = column[left] != _UNKNOWN
            ahead = np.bincount(column[left][known], minlength=128)
            there = np.bincount(column[labelled & (column != _UNKNOWN)], minlength=128)
            kinds = int(np.count_nonzero(ahead + there))
            if not kinds or not ahead.sum():
                continue
            even = (n + there.sum()) / kinds
            need = np.clip(1 - (there + n * ahead / ahead.sum()) / even, 0.0, 1.0)
            short[known] += need[column[left][known]] / columns
        return short

    def _cells(self, result: ItemResult, layout: FrameDimension) -> list[Cell]:
        return [outcome.cells[layout.id] for outcome in result.asked if layout.id in outcome.cells]

    def _nearness(self, result: ItemResult, place: int | None, start: float) -> float:
        value = result.overall if place is None else result.dimensions[place].score
        return 0.0 if value is None else max(0.0, 1.0 - abs(value - start))


def even_chances(indices: NDArray[np.int64]) -> Chances:
    """Return equal chances for rows of which nothing is known."""
    at_random: Reason = "random"
    return Chances(indices, np.ones(len(indices)), (at_random,) * len(indices))


def _apart(cells: list[Cell], span: int) -> float:
    scores = [cell.score for cell in cells if isinstance(cell, Scored)]
    if not scores:
        return 0.0
    return 1.0 if any(isinstance(cell, NotApplicable) for cell in cells) else (max(scores) - min(scores)) / span


def _unsure(cells: list[Cell]) -> float:
    return _mean(_doubt(cell) for cell in cells if isinstance(cell, Scored))


def _doubt(cell: Scored) -> float:
    expected = cell.expected_score
    between = 0.0 if expected is None else 2 * abs(expected - nearest(expected))
    return min(1.0, max(cell.entropy or 0.0, between))


def _pair_signals(result: ItemResult) -> Iterator[float]:
    pair = result.pair
    winners = [call.winner for call in pair.calls] if pair is not None else []
    winners += [single.pair.result for single in result.singles if single is not None and single.pair is not None]
    points = [POINTS[winner] for winner in winners if winner is not None]
    yield max(points) - min(points) if points else 0.0
    preference = None if pair is None else pair.preference
    yield 0.0 if preference is None else 1 - abs(2 * preference - 1)
    yield 0.0


def _mean(values: Iterable[float]) -> float:
    every = list(values)
    return sum(every) / len(every) if every else 0.0
