"""What people say of a row, on the measure that the judge is corrected on: per dimension, and for the overall."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from agentanvil.aggregate.corrected.rows import Human
from agentanvil.aggregate.frame import Frame, FrameDimension
from agentanvil.aggregate.item import ItemResult
from agentanvil.aggregate.measure import Measure
from agentanvil.aggregate.reduce import apply_rule
from agentanvil.rubric import OVERALL
from agentanvil.verdict import State

Labels = Mapping[str, Sequence[float | None]]


class People:
    """Reads the labels of a run's rows."""

    def __init__(self, frame: Frame) -> None:
        self._frame = frame
        self._measures = [Measure.of(frame, layout.threshold) for layout in frame.dimensions]
        gated = {place for _, place, _ in frame.gated}
        self._needed = [
            (place, layout) for place, layout in enumerate(frame.dimensions) if layout.weight or place in gated
        ]
        self._names = tuple(layout.id for _, layout in self._needed)

    def label(self, place: int, label: float) -> float | None:
        """Return a label as the dimension's score: 0 or 1 in a gate, None outside the scale."""
        if self._frame.mode == "gate":
            return self._measures[place].label(label)
        return float(label) if self._on_scale(label) else None

    def of_dimension(self, place: int, labels: Sequence[float]) -> Human | None:
        """Return the mean over a dimension's labels on the scale, None without any."""
        if not labels:
            return None
        holds = self._frame.dimensions[place].threshold if self._frame.mode == "absolute" else 1.0
        return Human(math.fsum(labels) / len(labels), sum(label >= holds for label in labels) / len(labels))

    def of_overall(self, result: ItemResult, labels: Labels, *, own: bool) -> Human | None:
        """Return the mean over the raters who labelled all that the overall needs.

        A rater's overall is their `own` label of it, or follows from their labels by the rubric's rule, with the scores
        of checks, on which code is right. A dimension that may be not applicable, and has no label, drops out.
        Columns of labels hold one place a rater.
        """
        named = {name: labels[name] for name in (OVERALL, *self._names) if labels.get(name)}
        if not named or len({len(column) for column in named.values()}) != 1:
            return None
        raters = range(len(next(iter(named.values()))))
        found = [self._rated(result, named, rater, own=own) for rater in raters]
        complete = [(score, passes) for score, passes in found if score is not None]
        if not complete:
            return None
        decided = [passes for _, passes in complete if passes is not None]
        return Human(
            math.fsum(score for score, _ in complete) / len(complete),
            sum(decided) / len(decided) if len(decided) == len(complete) else None,
        )

    def _rated(self, result: ItemResult, labels: Labels, rater: int, *, own: bool) -> tuple[float | None, bool | None]:
        """Return one rater's overall, and whether the item passes the gate by their labels."""
        values = self._values(result, labels, rater)
        overall = self._own(labels, rater) if own else self._derived(values or {})
        return overall, None if overall is None else self._passes(overall, values)

    def _own(self, labels: Labels, rater: int) -> float | None:
        column = labels.get(OVERALL)
        label = column[rater] if column else None
        return float(label) if label is not None and self._on_scale(label) else None

    def _derived(self, values: Mapping[int, float]) -> float | None:
        shares = [(layout.weight, (values[p],)) for p, layout in self._needed if layout.weight and p in values]
        return apply_rule(self._frame.rule, tuple(shares)) if shares else None

    def _passes(self, overall: float, values: Mapping[int, float] | None) -> bool | None:
        if not values and any(place is not None for _, place, _ in self._frame.gated):
            return None
        known = values or {}
        held = [
            (overall if place is None else known[place]) >= threshold
            for _, place, threshold in self._frame.gated
            if place is None or place in known
        ]
        return all(held) if held else None

    def _values(self, result: ItemResult, labels: Labels, rater: int) -> dict[int, float] | None:
        values: dict[int, float] = {}
        for place, layout in self._needed:
            value, absent = self._value(result, place, layout, labels.get(layout.id, ()), rater)
            if value is not None:
                values[place] = value
            elif not absent:
                return None
        return values

    def _value(
        self, result: ItemResult, place: int, layout: FrameDimension, column: Sequence[float | None], rater: int
    ) -> tuple[float | None, bool]:
        """Return what a rater says of a dimension, or code of a check; and whether it may be absent."""
        if layout.kind == "check":
            return result.dimensions[place].score, result.dimensions[place].state == "not_applicable"
        if not column:
            return None, layout.allow_na
        label = column[rater]
        return None if label is None else self.label(place, label), False

    def _on_scale(self, label: float) -> bool:
        return self._frame.scale.min <= label <= self._frame.scale.max


def gated_state(frame: Frame, result: ItemResult) -> State:
    """Return `scored` where the overall and all that the gate needs are there; else what is missing.

    An item that already fails is left out as well while something is missing: counting it would count failures more
    readily than passes.
    """
    if result.state != "scored":
        return result.state
    states = [result.dimensions[place].state for _, place, _ in frame.gated if place is not None]
    return next((state for state in states if state not in ("scored", "not_applicable")), "scored")


def gate_holds(frame: Frame, result: ItemResult) -> bool:
    """Return whether an item with a `gated_state` of scored meets each threshold, by its scores."""
    for _, place, threshold in frame.gated:
        value = result.overall if place is None else result.dimensions[place].score
        if value is not None and value < threshold:
            return False
    return True
