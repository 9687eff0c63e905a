"""One row's outcomes → its scores, overall and pass. Code decides here; the judge's own totals are never read."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache

from agentanvil.aggregate.as_read import as_expected
from agentanvil.aggregate.frame import Frame, FrameDimension, Rule
from agentanvil.aggregate.item import DimensionResult, Gap, ItemOutcomes, ItemResult, Shortfall
from agentanvil.aggregate.reduce_pair import MISSING, pair_overalls, pair_state, reduce_pair
from agentanvil.aggregate.spread import spread_of
from agentanvil.verdict import Cell, InputFault, JudgeError, NotApplicable, NotRun, Outcome, Scored, State

Share = tuple[int, tuple[float, ...]]


def reduce_item(frame: Frame, item: ItemOutcomes) -> ItemResult:
    """Reduce one row.

    The overall follows from the dimensions' item scores by the rubric's rule. A dimension that is not
    applicable drops out (weights are renormalised); one whose verdict is missing leaves the overall missing.
    Raises ValueError if the outcomes are not exactly those of the plan.
    """
    outcomes = _arranged(frame, item)
    dimensions = tuple([_reduce_dimension(frame, layout, outcomes) for layout in frame.dimensions])
    if frame.mode == "pairwise":
        pair = reduce_pair(frame, dimensions, outcomes)
        state, overall = pair_state(pair)
        repeats = pair_overalls(frame, pair)
    else:
        pair = None
        state, overall = _overall(frame, dimensions)
        repeats = _repeat_overalls(frame, dimensions, overall)
    shortfalls, recovered, passed = _gate(frame, item.item_id, state, overall, dimensions)
    return ItemResult(
        index=item.index,
        id=item.item_id,
        state=state,
        overall=overall,
        passed=passed,
        shortfalls=shortfalls,
        recovered=recovered,
        gap=_gap(dimensions),
        dimensions=dimensions,
        overall_by_repeat=repeats,
        outcomes=outcomes,
        firsts=outcomes,
        pair=pair,
    )


def _arranged(frame: Frame, item: ItemOutcomes) -> tuple[Outcome, ...]:
    outcomes = tuple(item.outcomes)
    keys = [(outcome.call, outcome.repeat, frame.plan.place_of(outcome.order)) for outcome in outcomes]
    planned = frame.keys[: frame.certain] if len(keys) == frame.certain else frame.keys
    if keys == list(planned):
        return outcomes
    by_key = dict(zip(keys, outcomes, strict=True))
    if len(by_key) != len(keys) or by_key.keys() != set(planned):
        raise ValueError(f"item {item.item_id!r} has outcomes for {sorted(keys)}, the plan has {list(planned)}")
    return tuple([by_key[key] for key in planned])


def _reduce_dimension(frame: Frame, dimension: FrameDimension, outcomes: tuple[Outcome, ...]) -> DimensionResult:
    name = dimension.id
    cells = tuple([outcomes[slot].cells[name] for slot in dimension.slots if slot < len(outcomes)])
    if frame.expects and dimension.kind == "judged":
        cells = tuple([as_expected(cell) for cell in cells])
    scores = scores_of(frame, dimension, cells)
    if scores:
        return DimensionResult(name, "scored", cells, spread_of(scores, dimension.points))
    return DimensionResult(name, _state_without_score([cell.state for cell in cells]), cells, None)


def scores_of(frame: Frame, dimension: FrameDimension, cells: tuple[Cell, ...]) -> tuple[float, ...]:
    """Return the scores of the repeats whose `cells` these are, ascending: each a mean where both orders are asked."""
    if frame.orders == 1 or dimension.kind == "check":
        scores = [cell.score for cell in cells if isinstance(cell, Scored)]
    else:
        scores = _both_orders(cells)
    if len(scores) > 1:
        scores.sort()
    return tuple(scores)


def _both_orders(cells: tuple[Cell, ...]) -> list[float]:
    """Return the mean of each repeat's two orders: one of them alone would measure the place as well."""
    return [
        (first.score + second.score) / 2
        for first, second in zip(cells[::2], cells[1::2], strict=True)
        if isinstance(first, Scored) and isinstance(second, Scored)
    ]


def _state_without_score(states: Sequence[State]) -> State:
    return next(state for state in ("not_applicable", *MISSING) if state in states)


def _overall(frame: Frame, dimensions: tuple[DimensionResult, ...]) -> tuple[State, float | None]:
    shares: list[Share] = []
    missing: set[State] = set()
    for layout, result in zip(frame.dimensions, dimensions, strict=True):
        if layout.weight == 0:
            continue
        if result.spread is not None:
            shares.append((layout.weight, result.spread.scores))
        elif result.state != "not_applicable":
            missing.add(result.state)
    if missing:
        return next(state for state in MISSING if state in missing), None
    if not shares:
        return "not_applicable", None
    return "scored", apply_rule(frame.rule, tuple(shares))


# Few patterns occur, since scores are few: rows look theirs up instead of computing it again.
@lru_cache(maxsize=65_536)
def apply_rule(rule: Rule, shares: tuple[Share, ...]) -> float:
    """Apply the overall's rule to the dimensions' (weight, scores of the repeats), one or more.

    `min`: the lowest mean. `weighted`: Σ wᵢ·mean(scoresᵢ) / Σ wᵢ, exact and rounded once, so that all fours make
    exactly 4 whatever the weights.
    """
    if rule == "min":
        return min(math.fsum(scores) / len(scores) for _, scores in shares)
    total = sum((weight * Fraction(sum(map(Fraction, scores)), len(scores)) for weight, scores in shares), Fraction(0))
    return float(total / sum(weight for weight, _ in shares))


def _repeat_overalls(
    frame: Frame, dimensions: tuple[DimensionResult, ...], overall: float | None
) -> tuple[float | None, ...]:
    """Return the overall of each repeat taken alone, None where it has none."""
    if frame.repeats == 1:
        return (overall,)
    judged = next((place for place, layout in enumerate(frame.dimensions) if layout.kind == "judged"), None)
    repeats = frame.repeats if judged is None else len(dimensions[judged].cells)
    shares = [_repeat_shares(frame, dimensions, repeat) for repeat in range(repeats)]
    return tuple([apply_rule(frame.rule, found) if found else None for found in shares])


def _repeat_shares(frame: Frame, dimensions: tuple[DimensionResult, ...], repeat: int) -> tuple[Share, ...] | None:
    """Return what one repeat brings to the overall, None where a verdict is missing. A check counts in every repeat."""
    shares: list[Share] = []
    for layout, result in zip(frame.dimensions, dimensions, strict=True):
        cell = result.cells[repeat if layout.kind == "judged" else 0]
        if isinstance(cell, Scored):
            if layout.weight:
                shares.append((layout.weight, (cell.score,)))
        elif layout.weight and not isinstance(cell, NotApplicable):
            return None
    return tuple(shares)


def _gate(
    frame: Frame, item_id: str, state: State, overall: float | None, dimensions: tuple[DimensionResult, ...]
) -> tuple[tuple[Shortfall, ...], tuple[str, ...], bool | None]:
    """Hold the gated values against their thresholds: a shortfall fails whatever else is missing.

    One that the baseline knows fails nothing. A value that is not applicable is left out; if all are, the item has
    neither passed nor failed.
    """
    if not frame.gated:
        return (), (), None
    failed = frame.known.failed if frame.known is not None else frozenset()
    shortfalls: list[Shortfall] = []
    recovered: list[str] = []
    met = missing = False
    for name, place, threshold in frame.gated:
        value = overall if place is None else dimensions[place].score
        known = (item_id, name) in failed
        if value is None:
            reached = state if place is None else dimensions[place].state
            missing |= reached != "not_applicable"
        elif value >= threshold:
            met = True
            if known:
                recovered.append(name)
        else:
            boolean = frame.mode == "gate" and not frame.expects
            shortfalls.append(Shortfall(name, value, threshold, boolean=boolean, known=known))
    if any(not shortfall.known for shortfall in shortfalls):
        passed: bool | None = False
    else:
        passed = None if missing or not (met or shortfalls) else True
    return tuple(shortfalls), tuple(recovered), passed


def _gap(dimensions: tuple[DimensionResult, ...]) -> Gap | None:
    cells = [(result.id, cell) for result in dimensions for cell in result.cells if type(cell) is not Scored]
    if not cells:
        return None
    for state in MISSING:
        for name, cell in cells:
            if cell.state == state:
                return _gap_of(name, cell)
    return None


def _gap_of(name: str, cell: Cell) -> Gap | None:
    if isinstance(cell, JudgeError | InputFault):
        return Gap(name, cell.state, cell.code, cell.message)
    return Gap(name, cell.state, cell.code) if isinstance(cell, NotRun) else None
