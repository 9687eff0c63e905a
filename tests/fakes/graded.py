"""Graded rows made by hand: rubric, plan and outcomes from plain scores."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence

from agentanvil.aggregate import ItemOutcomes, ItemResult, Summariser, Summary
from agentanvil.plan import Plan, plan_calls
from agentanvil.rubric import Overall, Rubric
from agentanvil.verdict import Cell, Exchange, JudgeError, NotApplicable, Scored
from tests.fakes.records import outcome
from tests.fakes.records import rubric as make_rubric

NA = NotApplicable("nothing to judge")
ERROR = JudgeError("timeout", "no answer within 120 s")
Score = float | Cell | None


def rubric(
    *dimensions: str,
    checks: Sequence[str] = (),
    gate: Mapping[str, float] | None = None,
    weights: Mapping[str, float] | None = None,
    calls: str = "joint",
    allow_na: bool = True,
) -> Rubric:
    """A rubric on 1..5 with anchors at 5, 3 and 1."""
    overall = Overall("weighted", dict(weights)) if weights else Overall()
    return make_rubric(
        *dimensions, checks=checks, allow_na=allow_na, id="test", calls=calls, overall=overall, gate=dict(gate or {})
    )


def plan(of: Rubric, repeats: int = 1) -> Plan:
    return Plan(plan_calls(of), repeats, "compat:m@http://127.0.0.1:1/v1")


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


def grade(of: Rubric, rows: Sequence[ItemOutcomes], repeats: int = 1) -> tuple[list[ItemResult], Summary]:
    """Run rows through a summariser."""
    summariser = Summariser(of, plan(of, repeats), seed=7)
    results = [summariser.add(row) for row in rows]
    return results, summariser.finish()


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
