"""The few items that a summary names: the worst, those that lack a verdict, and those the repeats disagree on."""

from __future__ import annotations

from agentanvil.aggregate.item import DimensionResult, ItemResult
from agentanvil.aggregate.spread import Spread
from agentanvil.aggregate.summary import MissingItem, WideItem, WorstItem
from agentanvil.rubric import Mode
from agentanvil.verdict import Scored

_KEPT = 5
_WIDEST = 3


class WidestItems:
    """Keeps the items whose repeats have the largest standard deviation; of equals, the earlier rows."""

    def __init__(self) -> None:
        self._kept: list[WideItem] = []

    @property
    def items(self) -> tuple[WideItem, ...]:
        """Widest first."""
        return tuple(self._kept)

    def add(self, item: ItemResult, spread: Spread) -> None:
        """Consider one item whose repeats are not all equal."""
        width = spread.population_sd
        if not width or (len(self._kept) == _WIDEST and width < self._kept[-1].population_sd):
            return
        self._kept.append(
            WideItem(
                index=item.index,
                id=item.id,
                scores=tuple([float(score) for score in spread.scores]),
                mean=spread.mean,
                population_sd=width,
                sample_sd=spread.sample_sd,
                range=float(spread.range),
                modal_agreement=spread.modal_agreement,
                straddles=spread.straddles,
            )
        )
        self._kept.sort(key=lambda kept: (-kept.population_sd, kept.index))
        del self._kept[_WIDEST:]


class Examples:
    """Keeps the five items with the lowest overall, and the first five with a missing verdict, in row order.

    No pair is among the worst: what is bad for one side is good for the other. Nor is an item that holds a gate.
    """

    def __init__(self, mode: Mode) -> None:
        self._mode = mode
        self._worst: list[WorstItem] = []
        self._missing: list[MissingItem] = []

    @property
    def worst(self) -> tuple[WorstItem, ...]:
        """Lowest overall first; of equals, the earlier row first."""
        return tuple(self._worst)

    @property
    def missing(self) -> tuple[MissingItem, ...]:
        """In row order."""
        return tuple(self._missing)

    def add(self, item: ItemResult) -> None:
        """Consider one item."""
        if item.overall is not None and self._has_worse(item) and self._is_bad_enough(item.overall, item.index):
            self._worst.append(_worst(item, item.overall))
            self._worst.sort(key=lambda kept: (kept.overall, kept.index))
            del self._worst[_KEPT:]
        gap = item.gap
        if gap is not None and (len(self._missing) < _KEPT or item.index < self._missing[-1].index):
            found = MissingItem(item.index, item.id, gap.dimension, gap.state, gap.code, gap.message)
            self._missing.append(found)
            self._missing.sort(key=lambda kept: kept.index)
            del self._missing[_KEPT:]

    def _has_worse(self, item: ItemResult) -> bool:
        return self._mode == "absolute" or (self._mode == "gate" and bool(item.shortfalls))

    def _is_bad_enough(self, overall: float, index: int) -> bool:
        if len(self._worst) < _KEPT:
            return True
        last = self._worst[-1]
        return (overall, index) < (last.overall, last.index)


def lowest_dimension(item: ItemResult) -> tuple[DimensionResult, Scored] | None:
    """Return the dimension with the lowest item score and its lowest repeat, the first of equals each time."""
    scored = [(d.spread.mean, place, d) for place, d in enumerate(item.dimensions) if d.spread is not None]
    if not scored:
        return None
    dimension = min(scored, key=lambda entry: entry[:2])[2]
    cells = [cell for cell in dimension.cells if isinstance(cell, Scored)]
    return dimension, min(cells, key=lambda cell: cell.score)


def _worst(item: ItemResult, overall: float) -> WorstItem:
    found = lowest_dimension(item)
    if found is None:
        raise ValueError(f"item {item.id!r} has an overall and no scored dimension")
    dimension, cell = found
    return WorstItem(
        index=item.index,
        id=item.id,
        overall=overall,
        dimension=dimension.id,
        score=float(cell.score),
        evidence=cell.evidence,
        evidence_found=cell.evidence_found,
        reason=cell.reason,
    )
