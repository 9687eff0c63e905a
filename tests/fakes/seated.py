"""Rows that several judges graded, made by hand from what each of them said."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from agentanvil.aggregate import ItemOutcomes
from agentanvil.plan import Plan, Role, Seat
from agentanvil.verdict import Because, Exchange, Outcome
from tests.fakes.graded import Pair, Score, compare, item

Said = Mapping[str, Sequence[Score] | Score]
"""What one judge said: a score a dimension, or a list of them for its repeats."""


def seated(first: Plan, *others: str, role: Role = "jury", share: float = 1.0) -> Plan:
    """The same plan with more judges."""
    return replace(first, others=tuple(Seat(name, role, share) for name in others))


def said(of: Plan, index: int, *judges: Said | None, checks: Said | None = None, **more: object) -> ItemOutcomes:
    """One row; `judges` say what each seat said, None where it was not due."""
    return _row(of, index, judges, checks or {}, more)


def told(of: Plan, index: int, *judges: Pair | None) -> ItemOutcomes:
    """One row of a pairwise run."""
    outcomes: list[Outcome] = []
    for seat, pair in enumerate(judges):
        if pair is not None:
            outcomes += _of(of, seat, compare(replace(of.first, judge=of.judges[seat]), index, pair))
    return ItemOutcomes(index, f"item-{index}", outcomes)


def because(row: ItemOutcomes, judge: str, reason: Because, *exchanges: Exchange) -> ItemOutcomes:
    """The same row, one judge asked for a reason, and what each of its calls took."""
    outcomes = [
        replace(outcome, because=reason, exchanges=exchanges) if outcome.judge == judge else outcome
        for outcome in row.outcomes
    ]
    return replace(row, outcomes=outcomes)


def _row(of: Plan, index: int, judges: Sequence[Said | None], checks: Said, more: Mapping[str, object]) -> ItemOutcomes:
    outcomes: list[Outcome] = []
    for seat, scores in enumerate(judges):
        if scores is not None:
            single = replace(of.first, judge=of.judges[seat])
            outcomes += _of(of, seat, item(single, index, {**scores, **checks}, **more))  # type: ignore[arg-type]
    return ItemOutcomes(index, f"item-{index}", outcomes)


def _of(of: Plan, seat: int, row: ItemOutcomes) -> list[Outcome]:
    judged = {call.name for call in of.calls if call.judged and not call.compared}
    return [outcome for outcome in row.outcomes if not seat or outcome.call in judged]
