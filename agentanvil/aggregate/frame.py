"""What aggregation needs of a rubric and a plan, laid out once so that each row costs only look-ups."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from agentanvil.plan import Plan
from agentanvil.rubric import OVERALL, Dimension, Overall, Rubric, Scale

Kind = Literal["judged", "check"]
Rule = Literal["min", "weighted"]
Gated = tuple[str, int | None, float]
"""A threshold: its name, the place of its dimension (None for the overall), and the least value that passes."""


@dataclass(frozen=True, slots=True)
class FrameDimension:
    """One dimension: `slots` are the places of its cells among a row's outcomes, one per repeat.

    `points` are the scores that have a meaning of their own, ascending: the anchors and the scale's ends.
    `weight` is a whole number in proportion to the rubric's weight, 0 where the overall leaves it out.
    """

    id: str
    kind: Kind
    slots: tuple[int, ...]
    points: tuple[int, ...]
    weight: int
    allow_na: bool


@dataclass(frozen=True, slots=True)
class Frame:
    """The shape of a run's results. `keys` are the slots of a row in the plan's order."""

    rubric_id: str
    rubric_hash: str
    judge: str
    repeats: int
    scale: Scale
    dimensions: tuple[FrameDimension, ...]
    keys: tuple[tuple[str, int, int], ...]
    rule: Rule
    weights: Mapping[str, float]
    gated: tuple[Gated, ...]
    plan: Plan

    @classmethod
    def of(cls, rubric: Rubric, plan: Plan) -> Frame:
        """Lay out a rubric's dimensions over a plan's calls."""
        slots = plan.slots()
        weights = _whole_weights(rubric)
        return cls(
            rubric_id=rubric.id,
            rubric_hash=rubric.hash,
            judge=plan.judge,
            repeats=plan.repeats,
            scale=rubric.scale,
            dimensions=tuple(
                FrameDimension(
                    id=dimension.id,
                    kind="judged" if isinstance(dimension, Dimension) else "check",
                    slots=tuple(
                        i
                        for i, slot in enumerate(slots)
                        if dimension.id in slot.call.dimensions and not slot.call.compared
                    ),
                    points=_points(dimension.anchors if isinstance(dimension, Dimension) else {}, rubric.scale),
                    weight=weights[dimension.id],
                    allow_na=isinstance(dimension, Dimension) and dimension.allow_na,
                )
                for dimension in rubric.dimensions
            ),
            keys=tuple(slot.key for slot in slots),
            plan=plan,
            rule=rubric.overall.rule,
            weights=dict(rubric.overall.weights),
            gated=_gated(rubric),
        )

    def normalise(self, score: float) -> float:
        """Return the score's place on the scale, in 0..1."""
        return self.scale.normalise(score)


def _gated(rubric: Rubric) -> tuple[Gated, ...]:
    places: dict[str, int | None] = {dimension.id: place for place, dimension in enumerate(rubric.dimensions)}
    places[OVERALL] = None
    return tuple((name, places[name], threshold) for name, threshold in rubric.gate.items())


def _points(anchors: Mapping[int, str], scale: Scale) -> tuple[int, ...]:
    return tuple(sorted({scale.min, scale.max, *anchors}))


def _whole_weights(rubric: Rubric) -> dict[str, int]:
    """Scale the weights, read as the decimals that were written, to whole numbers: 0.1 and 0.25 become 2 and 5."""
    ids = [dimension.id for dimension in rubric.dimensions]
    if rubric.overall.rule == "min":
        return dict.fromkeys(ids, 1)
    exact = {name: _written(rubric.overall, name) for name in ids}
    common = math.lcm(*(weight.denominator for weight in exact.values()))
    return {name: int(weight * common) for name, weight in exact.items()}


def _written(overall: Overall, name: str) -> Fraction:
    return Fraction(repr(overall.weights.get(name, 0)))
