"""The items that got worse by most, told from both runs' results."""

from __future__ import annotations

import heapq
from dataclasses import dataclass

from agentanvil.aggregate.comparison.columns import JoinedColumns
from agentanvil.aggregate.comparison.tally import RegressedSide, Regression
from agentanvil.aggregate.frame import Frame
from agentanvil.aggregate.item import DimensionResult, ItemResult
from agentanvil.verdict import Scored

KEPT = 10


@dataclass(frozen=True, slots=True)
class Fallen:
    """An item that got worse: its row numbers, and its overalls as they were compared, None where one is missing."""

    row_a: int
    row_b: int
    overall_a: float | None
    overall_b: float | None

    @property
    def drop(self) -> float | None:
        """By how much the overall fell."""
        return None if self.overall_a is None or self.overall_b is None else self.overall_a - self.overall_b


def worst_fallen(joined: JoinedColumns) -> list[Fallen]:
    """Return the ten items whose overall fell furthest.

    Of equals, the one whose dimensions fell further together, then A's earlier row. An item without a pair of overalls
    stands where its dimensions fell, behind all whose overall did.
    """
    fallen = (
        (-(drop or 0.0), -total, i, j)
        for drop, total, i, j in joined.drops()
        if (drop or 0.0) > 0 or (not drop and total > 0)
    )
    return [
        Fallen(joined.a.rows[i], joined.b.rows[j], joined.a.overall(i), joined.b.overall(j))
        for _, _, i, j in heapq.nsmallest(KEPT, fallen)
    ]


def regression(fallen: Fallen, a: ItemResult, b: ItemResult, frames: tuple[Frame, Frame]) -> Regression:
    """Tell one item's regression, on the dimension that fell furthest, the first of equals."""
    theirs = {dimension.id: dimension for dimension in b.dimensions}
    falls = [
        (frames[0].normalise(mine.score) - frames[1].normalise(other.score), -place, mine, other)
        for place, mine in enumerate(a.dimensions)
        if (other := theirs.get(mine.id)) is not None and mine.score is not None and other.score is not None
    ]
    best = max(falls, key=lambda fall: fall[:2], default=None)
    worst = best if best is not None and best[0] > 0 else None
    return Regression(
        id=a.id,
        drop=fallen.drop,
        dimension=None if worst is None else worst[2].id,
        a=_side(fallen.overall_a, None if worst is None else worst[2]),
        b=_side(fallen.overall_b, None if worst is None else worst[3]),
    )


def _side(overall: float | None, dimension: DimensionResult | None) -> RegressedSide:
    cell = None if dimension is None else _typical(dimension)
    if dimension is None or cell is None:
        return RegressedSide(overall, None, (), None, "")
    return RegressedSide(
        overall=overall,
        score=dimension.score,
        evidence=cell.evidence,
        evidence_found=cell.evidence_found,
        reason=cell.reason,
        rival_evidence=cell.rival_evidence,
    )


def _typical(dimension: DimensionResult) -> Scored | None:
    """Return the repeat nearest to the item's score, the first of equals."""
    cells = [cell for cell in dimension.cells if isinstance(cell, Scored)]
    score = dimension.score or 0.0
    return min(cells, key=lambda cell: abs(cell.score - score), default=None)
