"""An item's result → the numbers that probes compare: one a repeat, for each dimension, or for the winner."""

from __future__ import annotations

import math
from collections.abc import Sequence

from agentanvil.aggregate.frame import Frame
from agentanvil.aggregate.item import ItemResult
from agentanvil.aggregate.measure import Measure
from agentanvil.aggregate.pair import PairCall
from agentanvil.aggregate.reduce_pair import combined_winner
from agentanvil.dataset import WINNER
from agentanvil.verdict import Scored, Winner

Values = tuple[float | None, ...]
"""One number a repeat, None where it brought none."""
SIDES: dict[Winner, float] = {"a": 1.0, "tie": 0.0, "b": -1.0}
"""Whose favour a winner is in."""


class ProbeValues:
    """Reads items of one run. `targets` are the judged dimensions; in pairwise the winner alone."""

    def __init__(self, frame: Frame) -> None:
        self._pairs = frame.mode == "pairwise"
        self._orders = frame.orders
        self._judged = [place for place, layout in enumerate(frame.dimensions) if layout.kind == "judged"]
        layouts = [frame.dimensions[place] for place in self._judged]
        self.targets: tuple[str, ...] = (WINNER,) if self._pairs else tuple(layout.id for layout in layouts)
        self._measures = (
            [Measure.of_overall(frame)] if self._pairs else [Measure.of(frame, layout.threshold) for layout in layouts]
        )

    def of(self, item: ItemResult) -> tuple[Values, ...]:
        """Return each target's values, repeat by repeat; a winner is 1, 0 or -1, whose favour it is in."""
        if item.pair is not None:
            calls = item.pair.calls
            groups = [calls[start : start + self._orders] for start in range(0, len(calls), self._orders)]
            return (tuple(map(_winner, groups)),)
        return tuple(
            tuple([cell.score if isinstance(cell, Scored) else None for cell in item.dimensions[place].cells])
            for place in self._judged
        )

    def labels(self, item: ItemResult) -> Values:
        """Return each target's mean human label on the measure of the verdicts, None where nobody gave one."""
        return tuple(
            _label(measure, item.labels.get(target, ()))
            for target, measure in zip(self.targets, self._measures, strict=True)
        )


def mean_of(values: Values, repeats: int) -> float | None:
    """Return the mean of the first `repeats` values, None unless all of them are there."""
    present = [value for value in values[:repeats] if value is not None]
    return math.fsum(present) / repeats if len(present) == repeats else None


def _winner(calls: Sequence[PairCall]) -> float | None:
    found = combined_winner([call.winner for call in calls])
    return None if found is None else SIDES[found[0]]


def _label(measure: Measure, given: Sequence[float]) -> float | None:
    read = [found for label in given if (found := measure.label(label)) is not None]
    return math.fsum(read) / len(read) if read else None
