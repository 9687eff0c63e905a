"""Two runs' numbers, item by item, joined by id: a few bytes an item and figure, no text."""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from dataclasses import dataclass

from agentanvil.aggregate.comparison.tally import FigureKind
from agentanvil.aggregate.frame import Frame
from agentanvil.aggregate.item import ItemResult
from agentanvil.aggregate.pair import POINTS
from agentanvil.aggregate.wins import group_key
from agentanvil.rubric import OVERALL
from agentanvil.verdict import State

SCORED, NOT_APPLICABLE, MISSING = 0, 1, 2
PASS_RATE, PREFERENCE = "pass rate", "preference"


@dataclass(frozen=True, slots=True)
class FigureSpec:
    """One number of an item: its name and kind, and the lowest and highest that it can be."""

    id: str
    kind: FigureKind
    low: float
    high: float

    @property
    def tested(self) -> bool:
        """Whether it is one of those that decide; a pass rate or preference only retells the overall."""
        return self.kind in {"overall", "dimension"}


@dataclass(frozen=True, slots=True)
class Shape:
    """The numbers that two runs of one mode have in common."""

    specs: tuple[FigureSpec, ...]
    normalised: bool

    @classmethod
    def of(cls, a: Frame, b: Frame) -> Shape:
        """Return what can be compared of two runs whose mode is the same."""
        normalised = a.scale != b.scale
        low, high = (0.0, 1.0) if normalised else (float(a.scale.min), float(a.scale.max))
        theirs = {layout.id for layout in b.dimensions}
        dimensions = [FigureSpec(d.id, "dimension", low, high) for d in a.dimensions if d.id in theirs]
        overall = FigureSpec(OVERALL, "overall", *((low, high) if a.mode == "absolute" else (0.0, 1.0)))
        more: list[FigureSpec] = []
        if a.mode == "absolute" and a.gated and b.gated:
            more.append(FigureSpec(PASS_RATE, "pass_rate", 0.0, 1.0))
        if a.mode == "pairwise":
            more.append(FigureSpec(PREFERENCE, "preference", 0.0, 1.0))
        return cls((overall, *dimensions, *more), normalised)


class RunColumns:
    """What every item of one run came to, figure by figure, in row order."""

    def __init__(self, frame: Frame, shape: Shape) -> None:
        self._frame = frame
        self._shape = shape
        self._places = {layout.id: place for place, layout in enumerate(frame.dimensions)}
        self.ids: dict[str, int] = {}
        self.rows = array("q")
        self.groups = array("q")
        self.values = [array("d") for _ in shape.specs]
        self.states = [bytearray() for _ in shape.specs]

    def add(self, item: ItemResult) -> None:
        """Note one item; of several under one id, which only a damaged run has, the first counts."""
        if item.id in self.ids:
            return
        self.ids[item.id] = len(self.ids)
        self.rows.append(item.index)
        self.groups.append(group_key("" if item.pair is None else item.pair.group, item.id))
        for place, spec in enumerate(self._shape.specs):
            value, state = self._read(spec, item)
            self.values[place].append(0.0 if value is None else value)
            self.states[place].append(SCORED if value is not None else _code(state))

    def overall(self, place: int) -> float | None:
        """Return one item's overall, None where it has none."""
        return self.values[0][place] if self.states[0][place] == SCORED else None

    def _read(self, spec: FigureSpec, item: ItemResult) -> tuple[float | None, State]:
        if spec.kind == "dimension":
            dimension = item.dimensions[self._places[spec.id]]
            return self._on_shared_scale(dimension.score), dimension.state
        pair = item.pair
        if pair is not None:
            if spec.kind == "preference":
                return pair.preference, item.state
            return None if pair.result is None else POINTS[pair.result], item.state
        if spec.kind == "pass_rate" or self._frame.mode == "gate":
            return None if item.passed is None else float(item.passed), item.state
        return self._on_shared_scale(item.overall), item.state

    def _on_shared_scale(self, score: float | None) -> float | None:
        return score if score is None or not self._shape.normalised else self._frame.normalise(score)


PairedRow = tuple[float, int, float, int, int]
"""One figure of one item: its value and state in A, those in B, and its request."""


class JoinedColumns:
    """Both runs' columns by item id, in A's row order."""

    def __init__(self, a: RunColumns, b: RunColumns, shape: Shape) -> None:
        self.a, self.b, self.shape = a, b, shape
        self.places = [(place, b.ids[name]) for name, place in a.ids.items() if name in b.ids]

    def figure(self, number: int) -> Iterator[PairedRow]:
        """Yield one figure of the items that both runs have."""
        value_a, state_a = self.a.values[number], self.a.states[number]
        value_b, state_b = self.b.values[number], self.b.states[number]
        groups = self.a.groups
        return ((value_a[i], state_a[i], value_b[j], state_b[j], groups[i]) for i, j in self.places)

    def only_a(self) -> list[str]:
        """Return the ids that only A has, in its row order."""
        return [name for name in self.a.ids if name not in self.b.ids]

    def only_b(self) -> list[str]:
        """Return the ids that only B has, in its row order."""
        return [name for name in self.b.ids if name not in self.a.ids]

    def drops(self) -> Iterator[tuple[float | None, float, int, int]]:
        """Yield for each item how far the overall and all dimensions together fell, and its places in both runs."""
        dimensions = [number for number, spec in enumerate(self.shape.specs) if spec.kind == "dimension"]
        for i, j in self.places:
            overall = self._drop(0, i, j)
            yield overall, sum(self._drop(number, i, j) or 0.0 for number in dimensions), i, j

    def _drop(self, number: int, i: int, j: int) -> float | None:
        if self.a.states[number][i] != SCORED or self.b.states[number][j] != SCORED:
            return None
        return self.a.values[number][i] - self.b.values[number][j]


def _code(state: State) -> int:
    return NOT_APPLICABLE if state == "not_applicable" else MISSING
