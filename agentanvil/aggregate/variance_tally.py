"""Collects the readings of every item, in memory that does not grow with the rows."""

from __future__ import annotations

import math
from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from agentanvil.aggregate.frame import Frame
from agentanvil.aggregate.item import ItemResult
from agentanvil.aggregate.variance import Variance, variance_of
from agentanvil.hashing import derive_seed
from agentanvil.plan import Plan
from agentanvil.rubric import OVERALL
from agentanvil.stats import FEATURES, nested_features, nested_variance
from agentanvil.verdict import Scored

# Up to so many items are resampled one by one. More are drawn into groups at random, since sums of many items tell of
# the whole as well as its single items do.
_SINGLY = 2_000
_GROUPS = 500
_CHUNK = 4_096
_METHOD = "nested random effects, by moments of unweighted means; intervals over {}"


@dataclass(frozen=True, slots=True)
class Design:
    """How an item is read: by so many judges, in so many orders, so many times in each.

    Repeats that were only asked because the first ones disagree are left out: what they are asked of was not chosen by
    chance, so that with them items would seem to be read less well than they are.
    `drawn`: the order of a pair is drawn for each call, so that a repeat brings one of the two. `a_repeat` is how many
    readings one repeat of an item takes.
    """

    judges: int
    orders: int
    repeats: int
    drawn: bool
    a_repeat: int

    @classmethod
    def of(cls, plan: Plan) -> Design:
        """Return the design of a plan."""
        jurors = 1 + sum(seat.role == "jury" for seat in plan.others)
        both, drawn = plan.orders == "both", plan.orders == "random"
        return cls(
            judges=len(plan.judges),
            orders=2 if both or drawn else 1,
            repeats=plan.certain,
            drawn=drawn,
            a_repeat=jurors * (2 if both else 1),
        )

    @property
    def calls(self) -> int:
        """How many readings of one judge there are at most."""
        return self.repeats * (1 if self.drawn else self.orders)

    @property
    def reads_again(self) -> bool:
        """Whether any item is read more than once."""
        return self.judges * self.calls > 1


class VarianceTally:
    """`add` every item once, then `result`."""

    def __init__(self, frame: Frame, plan: Plan) -> None:
        self._design = Design.of(plan)
        self._scale = frame.scale
        self._places = [place for place, layout in enumerate(frame.dimensions) if layout.kind == "judged"]
        self._names = [*(frame.dimensions[place].id for place in self._places), OVERALL]
        self._readings = array("d")
        self._groups = array("H")
        self._items = 0
        self._folded: NDArray[np.float64] | None = None

    @classmethod
    def where_due(cls, frame: Frame, plan: Plan) -> VarianceTally | None:
        """Return a tally, None where no judge reads any item twice: such a run has no variance to speak of."""
        judged = any(layout.kind == "judged" for layout in frame.dimensions)
        return cls(frame, plan) if judged and Design.of(plan).reads_again else None

    def add(self, item: ItemResult) -> None:
        """Count one item: what each of its judges said by itself."""
        singles: Sequence[ItemResult | None] = item.singles or (item,)
        for place in (*self._places, None):
            for single in singles:
                self._readings.extend(self._row(single, place))
        self._groups.append(derive_seed("group", item.id) % _GROUPS)
        if len(self._groups) == _CHUNK:
            self._fold()

    def result(self, seed: int) -> Mapping[str, Variance]:
        """Return the variance of each judged dimension, and of the overall; `seed` drives the resampling."""
        if self._items or len(self._groups) > _SINGLY:
            self._fold()
            rows, clusters = self._folded, f"{_GROUPS} random groups of items"
        else:
            rows, clusters = self._features(), "items"
        if rows is None:
            return {}
        low, high = self._scale.min, self._scale.max
        found = {}
        for number, name in enumerate(self._names):
            told = nested_variance(rows[:, number], high - low, seed=derive_seed(seed, "variance", name))
            found[name] = variance_of(told, high - low, self._design.a_repeat, _METHOD.format(clusters))
        return found

    def _row(self, single: ItemResult | None, place: int | None) -> Sequence[float]:
        """Return one judge's readings, repeat by repeat and order by order, NaN for each that is missing."""
        design = self._design
        if single is None:
            return [math.nan] * (design.repeats * design.orders)
        if place is not None:
            cells = single.dimensions[place].cells
            values = [cell.score if isinstance(cell, Scored) else math.nan for cell in cells[: design.calls]]
        elif single.pair is not None:
            values = [math.nan if call.delta is None else call.delta for call in single.pair.calls[: design.calls]]
        else:
            values = [math.nan if value is None else value for value in single.overall_by_repeat[: design.calls]]
        if not design.drawn or single.pair is None:
            return values
        pairs = zip(values, single.pair.calls, strict=False)
        return [value for x, call in pairs for value in ((math.nan, x) if call.order == "ba" else (x, math.nan))]

    def _features(self) -> NDArray[np.float64]:
        """Return (items, names, features) of what is buffered."""
        design, items, names = self._design, len(self._groups), len(self._names)
        shape = items * names, design.judges, design.repeats, design.orders
        readings = np.array(self._readings, dtype=np.float64).reshape(shape).swapaxes(-1, -2)
        low, high = self._scale.min, self._scale.max
        return nested_features(readings, (low + high) / 2, high - low).reshape(items, names, FEATURES)

    def _fold(self) -> None:
        """Add what is buffered to the groups."""
        features = self._features()
        if self._folded is None:
            self._folded = np.zeros((_GROUPS, *features.shape[1:]))
        np.add.at(self._folded, np.array(self._groups), features)
        self._items += len(features)
        self._readings, self._groups = array("d"), array("H")
