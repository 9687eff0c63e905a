"""What one item came to: the records that the row reports are written from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from agentanvil.aggregate.frame import FrameDimension
from agentanvil.aggregate.pair import PairResult
from agentanvil.aggregate.spread import Spread
from agentanvil.aggregate.wording import plain, telling
from agentanvil.verdict import Cell, Outcome, State


@dataclass(frozen=True, slots=True)
class ItemOutcomes:
    """All outcomes of one row, in any order: exactly one for each judge that was due at a place of the plan.

    Where more repeats are only for items whose first ones disagree, all of them are there or none.
    The first judge and a jury are due everywhere; who else is due may be missing where it was not. `Outcome.judge`
    tells the judges apart. A task that was due and never run has an outcome too, whose cells are NotRun (and whose
    `because` says why it was due).
    """

    index: int
    item_id: str
    outcomes: Sequence[Outcome]


@dataclass(frozen=True, slots=True)
class Gap:
    """A verdict that is missing: where, in which state, and what the judge or reader said about it."""

    dimension: str
    state: State
    code: str
    message: str = ""


@dataclass(frozen=True, slots=True)
class Shortfall:
    """A gated value below its threshold.

    `boolean`: what is gated is a verdict of true or false, and `value` the share of the repeats that said true.
    `known`: it fell short in the baseline too, so it does not fail this run.
    """

    name: str
    value: float
    threshold: float
    boolean: bool = False
    known: bool = False

    @property
    def text(self) -> str:
        """The comparison in words, with enough digits to see it."""
        if self.boolean:
            return f"{self.name} is false" + (f" in {1 - self.value:.0%} of the repeats" if self.value else "")
        return f"{self.name} {telling(self.value, self.threshold)} is below {plain(self.threshold)}"


@dataclass(frozen=True, slots=True)
class DimensionResult:
    """One dimension of one item. `cells` stand in the order of the repeats.

    `state` is `scored` if any repeat scored, else `not_applicable` if any said so, else what kept the
    verdict away. `spread` is there exactly when it is `scored`. Where both orders of a pair are asked, each repeat has
    two cells, and its score is their mean; a repeat that lacks one of them has none.
    """

    id: str
    state: State
    cells: tuple[Cell, ...]
    spread: Spread | None

    @property
    def score(self) -> float | None:
        """The item's score: the mean over the repeats that scored."""
        return None if self.spread is None else self.spread.mean


@dataclass(frozen=True, slots=True)
class ItemResult:
    """One item. `state` is the overall's: there is a number in `overall` exactly when it is `scored`.

    `passed` is None where the rubric has no gate, and where what the gate needs is missing or not applicable;
    shortfalls that the baseline knows do not count against it. `recovered` names what fell short in the baseline
    and does so no longer. `overall_by_repeat` holds the overall of each repeat taken alone, None where it lacks one.
    `gap` is the first missing verdict of the most telling kind among all cells. `outcomes` are those that decided, in
    the plan's order; `firsts` are the first judge's own, in the same order, and `others` those of each judge beside it,
    None where it was not due. `singles` are what each of several judges alone makes of the item, the first one's first:
    None where it was not due, or asked about the item because of what another one said. `pair` is there in pairwise.
    """

    index: int
    id: str
    state: State
    overall: float | None
    passed: bool | None
    shortfalls: tuple[Shortfall, ...]
    recovered: tuple[str, ...]
    gap: Gap | None
    dimensions: tuple[DimensionResult, ...]
    overall_by_repeat: tuple[float | None, ...]
    outcomes: tuple[Outcome, ...]
    firsts: tuple[Outcome, ...]
    others: tuple[tuple[Outcome | None, ...], ...] = ()
    pair: PairResult | None = None
    singles: tuple[ItemResult | None, ...] = ()

    def cells_of(self, layout: FrameDimension) -> list[Cell]:
        """Return a dimension's cells as they were given, repeat by repeat, whatever is read from them."""
        return [self.outcomes[slot].cells[layout.id] for slot in layout.slots if slot < len(self.outcomes)]

    @property
    def repeat_overalls(self) -> tuple[float, ...]:
        """The overall of each repeat taken alone, ascending, where it has one."""
        return self.first_overalls(len(self.overall_by_repeat))

    def first_overalls(self, repeats: int) -> tuple[float, ...]:
        """Return the same of the first so many repeats."""
        return tuple(sorted([value for value in self.overall_by_repeat[:repeats] if value is not None]))

    @property
    def asked(self) -> Sequence[Outcome]:
        """What every judge said, judge by judge."""
        if not self.others:
            return self.firsts
        return [*self.firsts, *(outcome for seat in self.others for outcome in seat if outcome is not None)]

    @property
    def labels(self) -> Mapping[str, tuple[float, ...]]:
        """Human scores by dimension, one per rater; the same in every outcome of a row."""
        return self.outcomes[0].labels if self.outcomes else {}
