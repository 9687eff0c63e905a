"""What aggregation needs of a rubric and a plan, laid out once so that each row costs only look-ups."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from agentanvil.aggregate.as_read import PASSES_FROM
from agentanvil.aggregate.baseline import Baseline
from agentanvil.plan import JOINT, Plan
from agentanvil.plan import Slot as PlanSlot
from agentanvil.rubric import (
    OVERALL,
    CheckDimension,
    Dimension,
    GatedFigure,
    Mode,
    Overall,
    Rubric,
    Scale,
    gated_figures,
)

Kind = Literal["judged", "check"]
Rule = Literal["min", "weighted"]
Reading = Literal["verdict", "expected"]
"""What a call's result is read from: the verdict itself, or the probabilities that stood behind it."""
Gated = tuple[str, int | None, float]
"""A threshold: its name, the place of its dimension (None for the overall), and the least value that passes."""


@dataclass(frozen=True, slots=True)
class FrameDimension:
    """One dimension: `slots` are the places of its cells among a row's outcomes, repeat by repeat.

    There is one per repeat, two where both orders of a pair are asked. `compared` are the places of the calls that ask
    in the other way than the rubric does. `points` are the scores between which repeats may fall, ascending: the
    anchors and the scale's ends; none in pairwise. `anchors` are the texts of those that have one. `weight` is a whole
    number in proportion to the rubric's weight, 0 where the overall leaves it out. `threshold` is the score from which
    on it passes, on the rubric's scale.
    """

    id: str
    kind: Kind
    slots: tuple[int, ...]
    compared: tuple[int, ...]
    points: tuple[int, ...]
    anchors: Mapping[int, str]
    weight: int
    allow_na: bool
    threshold: float


@dataclass(frozen=True, slots=True)
class Frame:
    """The shape of a run's results. `keys` are the slots of a row in the plan's order; every item has the first
    `certain` of them, and one that needs no more repeats than all items get has no others.

    `scale` holds the verdicts on offer in this mode, `labelled` is the rubric's own, on which people grade. `gated` is
    what an item must reach, on `scale`; `thresholds` says the same on the rubric's scale. `joint` are the places of the
    calls in which a judge may state a winner. `known` holds the failures of an earlier run, None without one. `figures`
    of the whole run decide its gate by their intervals at `confidence`; without any, every item does.
    """

    rubric_id: str
    rubric_hash: str
    mode: Mode
    judge: str
    repeats: int
    scale: Scale
    labelled: Scale
    dimensions: tuple[FrameDimension, ...]
    keys: tuple[tuple[str, int, int], ...]
    certain: int
    rule: Rule
    weights: Mapping[str, float]
    gated: tuple[Gated, ...]
    thresholds: Mapping[str, float]
    joint: tuple[int, ...]
    plan: Plan
    reading: Reading
    known: Baseline | None
    figures: tuple[GatedFigure, ...]
    confidence: float

    @classmethod
    def of(cls, rubric: Rubric, plan: Plan, *, reading: Reading = "verdict", baseline: Baseline | None = None) -> Frame:
        """Lay out a rubric's dimensions over a plan's calls."""
        slots = plan.slots()
        # A gate holds where every dimension does, whatever weight a mean would give it.
        overall = Overall() if rubric.mode == "gate" else rubric.overall
        weights = _whole_weights(rubric, overall)
        return cls(
            rubric_id=rubric.id,
            rubric_hash=rubric.hash,
            mode=rubric.mode,
            judge=plan.judge,
            repeats=plan.repeats,
            scale=rubric.offered,
            labelled=rubric.scale,
            dimensions=tuple(
                FrameDimension(
                    id=dimension.id,
                    kind="judged" if isinstance(dimension, Dimension) else "check",
                    slots=_places(slots, dimension.id, compared=False),
                    compared=_places(slots, dimension.id, compared=True),
                    points=_points(_anchors(dimension, rubric), rubric),
                    anchors=_anchors(dimension, rubric),
                    weight=weights[dimension.id],
                    allow_na=isinstance(dimension, Dimension) and dimension.allow_na,
                    threshold=rubric.threshold(dimension.id),
                )
                for dimension in rubric.dimensions
            ),
            keys=tuple(slot.key for slot in slots),
            certain=sum(slot.repeat < plan.certain for slot in slots),
            rule=overall.rule,
            weights=dict(overall.weights),
            gated=gated_by(rubric, reading),
            thresholds=_thresholds(rubric),
            joint=tuple(i for i, s in enumerate(slots) if s.call.name == JOINT and not s.call.compared),
            plan=plan,
            reading=reading,
            known=baseline,
            figures=gated_figures(rubric),
            confidence=rubric.terms.level,
        )

    @property
    def expects(self) -> bool:
        """Whether scores are what the judge's probabilities expect. In pairwise they decide the winner instead."""
        return self.reading == "expected" and self.mode != "pairwise"

    @property
    def orders(self) -> int:
        """How many orders of a pair each repeat asks in: 2 for both, else 1."""
        return 2 if self.plan.orders == "both" else 1

    def normalise(self, score: float) -> float:
        """Return the score's place on the scale, in 0..1."""
        return self.scale.normalise(score)


def gated_by(rubric: Rubric, reading: Reading) -> tuple[Gated, ...]:
    """Return what an item must reach to pass.

    `absolute`: the rubric's gate, in either reading. `gate`: every dimension must hold, in all repeats; by expected
    scores with a mean probability of one half or more, checks with certainty. `pairwise`: nothing, since thresholds are
    on a scale that a comparison does not have.
    """
    if rubric.mode == "pairwise":
        return ()
    places: dict[str, int | None] = {dimension.id: place for place, dimension in enumerate(rubric.dimensions)}
    if rubric.mode == "gate":
        holds = {
            d.id: PASSES_FROM if reading == "expected" and isinstance(d, Dimension) else 1.0 for d in rubric.dimensions
        }
        return tuple((name, place, holds[name]) for name, place in places.items())
    places[OVERALL] = None
    return tuple((name, places[name], threshold) for name, threshold in rubric.gate.items())


def _thresholds(rubric: Rubric) -> dict[str, float]:
    if rubric.mode == "gate":
        return {dimension.id: rubric.threshold(dimension.id) for dimension in rubric.dimensions}
    return {} if rubric.mode == "pairwise" else dict(rubric.gate)


def _places(slots: tuple[PlanSlot, ...], dimension: str, *, compared: bool) -> tuple[int, ...]:
    return tuple(
        i for i, slot in enumerate(slots) if dimension in slot.call.dimensions and slot.call.compared == compared
    )


def _points(anchors: Mapping[int, str], rubric: Rubric) -> tuple[int, ...]:
    if rubric.mode == "pairwise":
        return ()
    offered = rubric.offered
    return tuple(sorted({offered.min, offered.max, *anchors}))


def _anchors(dimension: Dimension | CheckDimension, rubric: Rubric) -> Mapping[int, str]:
    """Return the texts of a dimension's anchors; the verdicts of a gate or a comparison have none."""
    return dimension.anchors if isinstance(dimension, Dimension) and rubric.mode == "absolute" else {}


def _whole_weights(rubric: Rubric, overall: Overall) -> dict[str, int]:
    """Scale the weights, read as the decimals that were written, to whole numbers: 0.1 and 0.25 become 2 and 5."""
    ids = [dimension.id for dimension in rubric.dimensions]
    if overall.rule == "min":
        return dict.fromkeys(ids, 1)
    exact = {name: _written(overall, name) for name in ids}
    common = math.lcm(*(weight.denominator for weight in exact.values()))
    return {name: int(weight * common) for name, weight in exact.items()}


def _written(overall: Overall, name: str) -> Fraction:
    return Fraction(repr(overall.weights.get(name, 0)))
