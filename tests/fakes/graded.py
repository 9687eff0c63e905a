"""Graded rows made by hand: rubric, plan and outcomes from plain scores."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, TypeVar

from agentanvil.aggregate import ItemOutcomes, ItemResult, Reading, Summariser, Summary
from agentanvil.plan import OrderMode, Plan, plan_calls
from agentanvil.rubric import Mode, Overall, Rubric
from agentanvil.verdict import Cell, Exchange, JudgeError, NotApplicable, Scored, Winner
from tests.fakes.records import outcome
from tests.fakes.records import rubric as make_rubric

NA = NotApplicable("nothing to judge")
ERROR = JudgeError("timeout", "no answer within 120 s")
Score = float | Cell | None
Item = TypeVar("Item")


def rubric(
    *dimensions: str,
    checks: Sequence[str] = (),
    gate: Mapping[str, float] | None = None,
    weights: Mapping[str, float] | None = None,
    calls: str = "joint",
    allow_na: bool = True,
    mode: Mode = "absolute",
) -> Rubric:
    """A rubric on 1..5 with anchors at 5, 3 and 1."""
    return make_rubric(
        *dimensions,
        checks=checks,
        allow_na=allow_na,
        id="test",
        calls=calls,
        overall=Overall("weighted", dict(weights)) if weights else Overall(),
        gate=dict(gate or {}),
        mode=mode,
    )


def plan(of: Rubric, repeats: int = 1, orders: OrderMode | None = None, ways: Literal["both"] | None = None) -> Plan:
    if of.mode == "pairwise" and orders is None:
        orders = "both"
    return Plan(plan_calls(of, ways), repeats, "compat:m@http://127.0.0.1:1/v1", orders)


def cell(score: Score) -> Cell:
    """A number is a grade, None a missing verdict; cells stand for themselves."""
    if score is None:
        return ERROR
    return Scored(float(score), ("a quote",), True, "because") if isinstance(score, int | float) else score


def item(
    of: Plan,
    index: int,
    scores: Mapping[str, Sequence[Score] | Score],
    *,
    name: str | None = None,
    labels: Mapping[str, tuple[float, ...]] | None = None,
    exchanges: Sequence[Exchange] = (),
) -> ItemOutcomes:
    """One row; `scores` by dimension, a list for repeats."""
    name = f"item-{index}" if name is None else name
    columns = {key: value if isinstance(value, list | tuple) else [value] for key, value in scores.items()}
    outcomes = [
        outcome(
            index,
            {dimension: cell(columns[dimension][slot.repeat]) for dimension in slot.call.dimensions},
            repeat=slot.repeat,
            call=slot.call.name,
            task_id=f"{name}/{slot.call.name}/{slot.repeat}",
            item_id=name,
            judge=of.judge,
            exchanges=tuple(exchanges) if slot.call.judged else (),
            labels=labels or {},
        )
        for slot in of.slots()
    ]
    return ItemOutcomes(index, name, outcomes)


@dataclass(frozen=True)
class Pair:
    """One comparison: deltas by dimension, one for each call (repeat by repeat, under `both` first `ab`, then `ba`).

    `preferences` are P(response_a is better) in the same order, of every dimension. `orders` are those of the calls.
    """

    scores: Mapping[str, Sequence[Score]]
    orders: Sequence[str] = ()
    preferences: Sequence[float | None] = ()
    stated: Sequence[Winner | None] = ()
    models: tuple[str | None, ...] = ()
    group: str = ""
    labels: Mapping[str, tuple[float, ...]] = field(default_factory=dict)

    def turned(self, *, swap: bool) -> Pair:
        """The same comparison, its two responses exchanged; `swap`: a pair's two orders change places with that."""

        def placed(calls: Sequence[Item]) -> list[Item]:
            if not swap or len(calls) < 2:
                return list(calls)
            return [call for two in zip(calls[1::2], calls[::2], strict=True) for call in two]

        orders = [{"ab": "ba", "ba": "ab"}.get(order, order) for order in self.orders]
        return Pair(
            {name: [_turned(score) for score in placed(scores)] for name, scores in self.scores.items()},
            placed(orders),
            placed([None if p is None else 1 - p for p in self.preferences]),
            placed([_TURNED[winner] for winner in self.stated]),
            self.models[::-1],
            self.group,
            {name: tuple(-label for label in labels) for name, labels in self.labels.items()},
        )


_TURNED: dict[Winner | None, Winner | None] = {"a": "b", "b": "a", "tie": "tie", None: None}


def _turned(score: Score) -> Score:
    return -score if isinstance(score, int | float) else score


def compare(of: Plan, index: int, pair: Pair, name: str | None = None) -> ItemOutcomes:
    """One row of a pairwise run."""
    name = f"item-{index}" if name is None else name
    outcomes = []
    for slot in of.slots():
        number = slot.repeat * (2 if of.orders == "both" else 1) + slot.place
        order = (pair.orders[number] if pair.orders else of.order_of(slot, None)) if slot.call.judged else "-"
        read = pair.preferences[number] if slot.call.judged and pair.preferences else None
        cells = {d: cell(pair.scores[d][number if slot.call.judged else 0]) for d in slot.call.dimensions}
        for dimension, found in cells.items():
            if isinstance(found, Scored) and read is not None:
                cells[dimension] = replace(found, preference=read, label_mass=0.9)
        outcomes.append(
            outcome(
                index,
                cells,
                repeat=slot.repeat,
                call=slot.call.name,
                task_id=f"{name}/{slot.call.name}/{slot.repeat}/{order}",
                item_id=name,
                judge=of.judge,
                order=order,
                labels=pair.labels,
                stated=pair.stated[number] if slot.call.judged and pair.stated else None,
                models=pair.models,
                group=pair.group,
            )
        )
    return ItemOutcomes(index, name, outcomes)


def grade(of: Rubric, rows: Sequence[ItemOutcomes], repeats: int = 1) -> tuple[list[ItemResult], Summary]:
    """Run rows through a summariser."""
    return grade_by(Summariser(of, plan(of, repeats), seed=7), rows)


def grade_by(summariser: Summariser, rows: Sequence[ItemOutcomes]) -> tuple[list[ItemResult], Summary]:
    results = [summariser.add(row) for row in rows]
    return results, summariser.finish()


def compared(
    of: Rubric,
    *pairs: Pair,
    repeats: int = 1,
    orders: OrderMode = "both",
    reading: Reading = "verdict",
    ways: Literal["both"] | None = None,
) -> tuple[list[ItemResult], Summary]:
    """Run pairs through a summariser."""
    shape = plan(of, repeats, orders, ways)
    rows = [compare(shape, index, pair) for index, pair in enumerate(pairs)]
    return grade_by(Summariser(of, shape, seed=7, reading=reading), rows)


def columns(of: Rubric, repeats: int = 1, **scores: Sequence[Sequence[Score] | Score]) -> list[ItemOutcomes]:
    """One row for each position of the columns, `columns(rubric, tone=[5, 4, None])`."""
    shape = plan(of, repeats)
    return [
        item(shape, index, dict(zip(scores, values, strict=True)))
        for index, values in enumerate(zip(*scores.values(), strict=True))
    ]


def shuffled(row: ItemOutcomes, seed: int) -> ItemOutcomes:
    """The same row, its outcomes in another order of arrival."""
    outcomes = list(row.outcomes)
    random.Random(seed).shuffle(outcomes)
    return ItemOutcomes(row.index, row.item_id, outcomes)
