"""The items on which judge and people lie furthest apart, with what the judge said of them."""

from __future__ import annotations

from collections.abc import Iterable

from agentanvil.aggregate.calibration.report import LabelDisagreement, Rating
from agentanvil.aggregate.calibration.targets import Sides, Target
from agentanvil.aggregate.item import ItemResult
from agentanvil.verdict import Scored

_KEPT = 10


class WorstDisagreements:
    """Keeps ten items, each with the target on which it is worst; of equals, the earlier row and target."""

    def __init__(self) -> None:
        self._kept: list[LabelDisagreement] = []

    @property
    def items(self) -> tuple[LabelDisagreement, ...]:
        """Furthest apart first."""
        return tuple(self._kept)

    def add(self, result: ItemResult, met: Iterable[tuple[Target, Sides]]) -> None:
        """Consider one labelled item on all its targets."""
        worst: tuple[float, Target, Sides] | None = None
        for target, sides in met:
            score, label = sides.score, sides.label
            if score is None or label is None:
                continue
            distance = abs(score - label) / target.span
            if worst is None or distance > worst[0]:
                worst = distance, target, sides
        if worst is None or not worst[0] or not self._is_bad_enough(worst[0], result.index):
            return
        self._kept.append(_told(result, *worst))
        self._kept.sort(key=lambda kept: (-kept.distance, kept.index))
        del self._kept[_KEPT:]

    def _is_bad_enough(self, distance: float, index: int) -> bool:
        if len(self._kept) < _KEPT:
            return True
        last = self._kept[-1]
        return (-distance, index) < (-last.distance, last.index)


def _told(result: ItemResult, distance: float, target: Target, sides: Sides) -> LabelDisagreement:
    label = sides.label or 0.0
    cell = _furthest(result, target, label)
    return LabelDisagreement(
        index=result.index,
        id=result.id,
        dimension=target.id,
        distance=distance,
        score=sides.score or 0.0,
        scores=tuple(float(score) for score in sides.scores),
        label=label,
        labels=tuple(Rating(rater, float(given)) for rater, given in sides.ratings),
        evidence=cell.evidence if cell is not None else (),
        rival_evidence=cell.rival_evidence if cell is not None else (),
        evidence_found=cell.evidence_found if cell is not None else None,
        reason=cell.reason if cell is not None else "",
    )


def _furthest(result: ItemResult, target: Target, label: float) -> Scored | None:
    """Return the cell furthest from the labels: the dimension's own, else, for all of them together, of any."""
    dimensions = result.dimensions if target.place is None else (result.dimensions[target.place],)
    cells = [cell for dimension in dimensions for cell in dimension.cells if isinstance(cell, Scored)]
    return max(cells, key=lambda cell: abs(cell.score - label), default=None)
