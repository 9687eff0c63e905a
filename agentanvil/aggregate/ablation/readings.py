"""What one arm of a study said of each item, kept in a few numbers so that arms can be held against each other."""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from agentanvil.aggregate.calibration.targets import Ratings, Sides, Target, targets_of
from agentanvil.aggregate.frame import Frame
from agentanvil.aggregate.item import ItemResult
from agentanvil.aggregate.measure import Measure
from agentanvil.rubric import OVERALL
from agentanvil.verdict import Exchange

Scores = tuple[float, ...]
UNDECIDED = -9
"""Stands in `ArmReadings.decided` for an item of which neither a gate nor a comparison says anything."""
_WINNERS = {"a": 1, "tie": 0, "b": -1}


class ScoreCodes:
    """Numbers for the patterns of scores and labels that occur; there are few, however many items there are."""

    def __init__(self) -> None:
        self._codes: dict[Scores, int] = {(): 0}
        self.patterns: list[Scores] = [()]
        """The pattern of each code; code 0 is that of no score."""

    def of(self, scores: Sequence[float]) -> int:
        """Return the code of scores in ascending order."""
        pattern = tuple(scores)
        code = self._codes.setdefault(pattern, len(self.patterns))
        if code == len(self.patterns):
            self.patterns.append(pattern)
        return code

    def means(self) -> list[float | None]:
        """Return the mean of each code's pattern."""
        return [math.fsum(pattern) / len(pattern) if pattern else None for pattern in self.patterns]


def _codes() -> array[int]:
    return array("l")


@dataclass(slots=True)
class Column:
    """One dimension, or the overall, item by item, as codes.

    `scores` are those of the repeats; `compared` are what is held against `labels`, both as categories of `measure`.
    """

    measure: Measure
    scores: array[int] = field(default_factory=_codes)
    compared: array[int] = field(default_factory=_codes)
    labels: array[int] = field(default_factory=_codes)


class ArmReadings:
    """Collects an arm's item results, which are to be added in row order. Arms that are compared share `codes`.

    `columns` has the judged dimensions in their order and then the overall. `decided` is 1 for a pass and 0 for none,
    in pairs 1, 0 or -1 for response_a, a tie or response_b. Tokens and US dollars are of all calls of an item, NaN
    where one of them did not state it.
    """

    def __init__(self, frame: Frame, codes: ScoreCodes) -> None:
        self.frame = frame
        self.codes = codes
        targets = targets_of(frame)
        self._dimensions = [target for target in targets if target.kind == "judged"]
        self._overall = [target for target in targets if target.kind in ("overall", "winner")]
        self.columns = {target.id: Column(target.measure) for target in self._dimensions}
        self.columns[OVERALL] = Column(Measure.of_overall(frame))
        self.decided = array("b")
        self.input_tokens = array("d")
        self.output_tokens = array("d")
        self.cost = array("d")

    @property
    def items(self) -> int:
        """How many items were added."""
        return len(self.decided)

    def add(self, result: ItemResult) -> None:
        """Keep what one item came to."""
        ratings = {
            name: tuple((str(n), label) for n, label in enumerate(given)) for name, given in result.labels.items()
        }
        for target, column in zip(self._dimensions, self.columns.values(), strict=False):
            dimension = None if target.place is None else result.dimensions[target.place].spread
            self._append(column, () if dimension is None else dimension.scores, target.sides(result, ratings))
        overall = () if result.overall is None else (result.overall,)
        self._append(self.columns[OVERALL], overall, _first(self._overall, result, ratings))
        self.decided.append(_decided(result))
        exchanges = [exchange for outcome in result.asked for exchange in outcome.exchanges]
        self.input_tokens.append(_total(exchange.input_tokens for exchange in _answered(exchanges)))
        self.output_tokens.append(_total(exchange.output_tokens for exchange in _answered(exchanges)))
        self.cost.append(_total(exchange.cost for exchange in _answered(exchanges)))

    def _append(self, column: Column, scores: Sequence[float], sides: Sides | None) -> None:
        measure = column.measure
        column.scores.append(self.codes.of(scores))
        labels = (
            ()
            if sides is None
            else [found for _, label in sides.ratings if (found := measure.label(label)) is not None]
        )
        compared = sorted(map(measure.read, sides.scores)) if sides is not None and labels else ()
        column.compared.append(self.codes.of(compared))
        column.labels.append(self.codes.of(sorted(labels)))


def _first(targets: Sequence[Target], result: ItemResult, ratings: Ratings) -> Sides | None:
    """Return the overall as people gave it themselves, else as it follows from what they gave the dimensions."""
    found = (target.sides(result, ratings) for target in targets)
    return next((sides for sides in found if sides is not None), None)


def _decided(result: ItemResult) -> int:
    if result.pair is not None:
        return UNDECIDED if result.pair.result is None else _WINNERS[result.pair.result]
    return UNDECIDED if result.passed is None else int(result.passed)


def _answered(exchanges: Sequence[Exchange]) -> Sequence[Exchange]:
    return [exchange for exchange in exchanges if exchange.error is None]


def _total(amounts: Iterable[float | None]) -> float:
    """Return the sum, NaN where a part of it is unknown or there is nothing to be summed."""
    known = list(amounts)
    stated = [amount for amount in known if amount is not None]
    return math.fsum(stated) if stated and len(stated) == len(known) else math.nan
