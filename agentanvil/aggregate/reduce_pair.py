"""One pair's cells → its winner, in either reading."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from fractions import Fraction
from functools import lru_cache

from agentanvil.aggregate.frame import Frame, Rule
from agentanvil.aggregate.item import DimensionResult
from agentanvil.aggregate.pair import POINTS, Consistency, PairCall, PairRepeat, PairResult, winner_of
from agentanvil.aggregate.preference import odds_of, preference_of
from agentanvil.plan import UNORDERED
from agentanvil.verdict import Cell, NotApplicable, Outcome, Scored, State, Winner

_WORST: tuple[Consistency, ...] = ("inconsistent", "partial", "consistent", "single")
MISSING: tuple[State, ...] = ("judge_error", "input_error", "not_run")
"""What kept a verdict away, most telling first."""


def reduce_pair(frame: Frame, dimensions: Sequence[DimensionResult], outcomes: Sequence[Outcome]) -> PairResult:
    """Reduce one pair; `outcomes` stand in the plan's order."""
    judged = [layout for layout in frame.dimensions if layout.kind == "judged"]
    calls = tuple(
        [
            _call(frame, dimensions, outcomes[judged[0].slots[place]].order if judged else UNORDERED, place, outcomes)
            for place in range(sum(slot < len(outcomes) for slot in judged[0].slots) if judged else 1)
        ]
    )
    size = frame.orders if judged else 1
    groups = [calls[start : start + size] for start in range(0, len(calls), size)]
    repeats = tuple([found for group in groups if (found := _repeat(group)) is not None])
    odds = [[call.log_odds for call in group] for group in groups]
    combined = _mean([value for group in odds if None not in group for value in group])
    stated = [combined_winner([call.stated for call in group]) for group in groups]
    return PairResult(
        reading=frame.reading,
        calls=calls,
        repeats=repeats,
        winner=_over_repeats([repeat.winner for repeat in repeats]),
        preference=preference_of(combined),
        expected=None if combined is None else winner_of(combined),
        p_ab=preference_of(_mean([call.log_odds for call in calls if call.order == "ab"])),
        p_ba=preference_of(_mean([call.log_odds for call in calls if call.order == "ba"])),
        stated=_over_repeats([found[0] for found in stated if found is not None]),
        consistency=next((kind for kind in _WORST if any(r.consistency == kind for r in repeats)), None),
        models=next((outcome.models for outcome in outcomes if outcome.models), ()),
        group=next((outcome.group for outcome in outcomes if outcome.group), ""),
    )


def pair_state(pair: PairResult) -> tuple[State, float | None]:
    """Return the state of a pair's overall, and its mean delta over the repeats that have all their orders."""
    if pair.repeats:
        return "scored", math.fsum(repeat.delta for repeat in pair.repeats) / len(pair.repeats)
    return most_telling({call.state for call in pair.calls}), None


def pair_overalls(frame: Frame, pair: PairResult) -> tuple[float | None, ...]:
    """Return the mean delta of each repeat over its orders, None where one of them lacks its winner."""
    size = frame.orders if len(pair.calls) > 1 else 1
    deltas = [[call.delta for call in pair.calls[at : at + size]] for at in range(0, len(pair.calls), size)]
    return tuple([None if None in found else math.fsum(d or 0.0 for d in found) / len(found) for found in deltas])


def most_telling(states: Collection[State]) -> State:
    """Return what kept a verdict away, `not_applicable` where nothing did."""
    return next((state for state in MISSING if state in states), "not_applicable")


def _call(
    frame: Frame, dimensions: Sequence[DimensionResult], order: str, place: int, outcomes: Sequence[Outcome]
) -> PairCall:
    """Apply the rubric's rule to the cells of one repeat in one order. A check counts in every call."""
    deltas: list[tuple[int, float]] = []
    odds: list[tuple[int, float | None]] = []
    missing: set[State] = set()
    for layout, result in zip(frame.dimensions, dimensions, strict=True):
        cell: Cell = result.cells[place if layout.kind == "judged" else 0]
        if not layout.weight or isinstance(cell, NotApplicable):
            continue
        if not isinstance(cell, Scored):
            missing.add(cell.state)
            continue
        deltas.append((layout.weight, cell.score))
        if layout.kind == "judged":
            odds.append((layout.weight, odds_of(cell.preference)))
    stated = outcomes[frame.joint[place]].stated if frame.joint else None
    if missing or not deltas:
        return PairCall(order, most_telling(missing), None, None, None, stated)
    delta = overall_delta(frame.rule, tuple(deltas))
    return PairCall(order, "scored", delta, winner_of(delta), _overall_odds(frame.rule, odds), stated)


# Few patterns occur, since deltas are few: rows look theirs up instead of computing it again.
@lru_cache(maxsize=65_536)
def overall_delta(rule: Rule, deltas: tuple[tuple[int, float], ...]) -> float:
    """Apply the overall's rule to the dimensions' (weight, delta), one or more.

    `min`: the mean of the lowest and the highest delta, which sets each side's worst defeat against the other's: the
    minimum as both sides see it. `weighted`: Σ wᵢ·dᵢ / Σ wᵢ, exact and rounded once.
    """
    if rule == "min":
        return (min(delta for _, delta in deltas) + max(delta for _, delta in deltas)) / 2
    total = sum((weight * Fraction(delta) for weight, delta in deltas), Fraction(0))
    return float(total / sum(weight for weight, _ in deltas))


def _overall_odds(rule: Rule, odds: Sequence[tuple[int, float | None]]) -> float | None:
    """Apply the same rule to log-odds; None where a judged dimension has none, or nothing was judged."""
    present = [(weight, value) for weight, value in odds if value is not None]
    if not present or len(present) < len(odds):
        return None
    if rule == "min":
        return (min(value for _, value in present) + max(value for _, value in present)) / 2
    return math.fsum(weight * value for weight, value in present) / sum(weight for weight, _ in present)


def _repeat(calls: Sequence[PairCall]) -> PairRepeat | None:
    found = combined_winner([call.winner for call in calls])
    if found is None:
        return None
    return PairRepeat(math.fsum(call.delta or 0.0 for call in calls) / len(calls), *found)


def combined_winner(winners: Sequence[Winner | None]) -> tuple[Winner, Consistency] | None:
    """Combine the winners of one repeat's orders, each as told of the responses; None where one is missing."""
    present = [winner for winner in winners if winner is not None]
    if len(present) < len(winners):
        return None
    if len(present) == 1:
        return present[0], "single"
    distinct = set(present)
    if len(distinct) == 1:
        return present[0], "consistent"
    if "tie" in distinct:
        return next(winner for winner in present if winner != "tie"), "partial"
    return "tie", "inconsistent"


def _over_repeats(winners: Sequence[Winner]) -> Winner | None:
    if not winners:
        return None
    return winner_of(math.fsum(POINTS[winner] - 0.5 for winner in winners))


def _mean(values: Sequence[float | None]) -> float | None:
    present = [value for value in values if value is not None]
    return math.fsum(present) / len(present) if present else None
