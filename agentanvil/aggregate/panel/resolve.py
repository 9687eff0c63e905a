"""The outcomes of several judges → exactly one for each place of the plan, as if one judge had brought them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace

from agentanvil.aggregate.item import ItemOutcomes
from agentanvil.aggregate.jury import JuryTerms, stated_by
from agentanvil.plan import Plan
from agentanvil.rubric import Mode
from agentanvil.verdict import Cell, NotApplicable, Outcome, Scored

JURY = "jury"
"""Who decides where several judges do together."""
Due = tuple[Outcome | None, ...]
Seats = tuple[tuple[Outcome, ...], tuple[Due, ...]]
"""The first judge's outcomes in the plan's order, and those of each judge beside it, None where it was not due."""


class Panel:
    """The judges of a plan with `others`.

    A jury's cells are combined. A cross judge decides nothing. Where the first judge was unsure or brought no verdict,
    the second judge's is taken if there is one, in every order that a repeat was asked in; its share of all rows only
    measures agreement.
    """

    def __init__(self, plan: Plan, mode: Mode, jury: JuryTerms | None) -> None:
        self.plan = plan
        self._mode = mode
        slots = plan.first.slots()
        self._places = {slot.key: place for place, slot in enumerate(slots)}
        self._certain = sum(slot.repeat < plan.certain for slot in slots)
        self._numbers = {judge: number for number, judge in enumerate(plan.judges)}
        self._asked_of_all = frozenset(i for i, slot in enumerate(slots) if slot.call.judged and not slot.call.compared)
        roles = [seat.role for seat in plan.others]
        self._jurors = [number for number, role in enumerate(roles) if role == "jury"]
        self._deciders = [number for number, role in enumerate(roles) if role == "escalation"]
        self.terms = (jury or JuryTerms.of(len(self._jurors) + 1)) if self._jurors else None
        repeats: dict[tuple[str, int], list[int]] = defaultdict(list)
        for place in sorted(self._asked_of_all):
            repeats[slots[place].call.name, slots[place].repeat].append(place)
        self._repeats = tuple(repeats.values())

    def seats(self, item: ItemOutcomes) -> Seats:
        """Sort outcomes by judge and place. Raises ValueError if they are not those of the plan."""
        more = any(outcome.repeat >= self.plan.certain for outcome in item.outcomes)
        size = len(self._places) if more else self._certain
        found: list[list[Outcome | None]] = [[None] * size for _ in self.plan.judges]
        for outcome in item.outcomes:
            # Code and a judge of another name sit with the first, as in the journal.
            number = self._numbers.get(outcome.judge, 0)
            place = self._places.get((outcome.call, outcome.repeat, self.plan.place_of(outcome.order)))
            if place is None or found[number][place] is not None or (number and place not in self._asked_of_all):
                raise ValueError(f"item {item.item_id!r} has an outcome of {outcome.judge} that the plan has not")
            found[number][place] = outcome
        firsts = tuple([outcome for outcome in found[0] if outcome is not None])
        if len(firsts) < size:
            raise ValueError(f"item {item.item_id!r} lacks an outcome of the first judge")
        return firsts, tuple([tuple(seat) for seat in found[1:]])

    def resolve(self, seats: Seats) -> tuple[Outcome, ...]:
        """Return one outcome a place. One that several judges made holds no exchange: those stay with the judges."""
        firsts, others = seats
        found = list(firsts)
        if self.terms is not None:
            for place in self._asked_of_all.intersection(range(len(firsts))):
                found[place] = self._combined(self.terms, firsts[place], [others[n][place] for n in self._jurors])
        for number in self._deciders:
            for places in self._repeats:
                self._take_over(found, others[number], places)
        return tuple(found)

    def is_judged(self, place: int) -> bool:
        """Tell whether every judge may be asked about a place of the plan."""
        return place in self._asked_of_all

    def _combined(self, terms: JuryTerms, first: Outcome, others: Sequence[Outcome | None]) -> Outcome:
        votes = [first, *(outcome for outcome in others if outcome is not None)]
        if len(votes) <= len(others):
            raise ValueError(f"item {first.item_id!r} lacks an outcome of its jury")
        cells = {
            name: terms.decide(self._mode, [(outcome.judge, outcome.cells[name]) for outcome in votes])
            for name in first.cells
        }
        stated = stated_by([outcome.stated for outcome in votes])
        return replace(first, judge=JURY, cells=cells, exchanges=(), flags=_flags(votes), stated=stated)

    def _take_over(self, found: list[Outcome], second: Due, places: Sequence[int]) -> None:
        """Replace the first judge's verdicts on each dimension that the second one decided in every order."""
        asked = [outcome for place in places if (outcome := second[place]) is not None and decides(outcome)]
        if len(asked) < len(places):
            return
        taken = [name for name in asked[0].cells if all(is_verdict(outcome.cells[name]) for outcome in asked)]
        for place, outcome in zip(places, asked, strict=True) if taken else ():
            first = found[place]
            whole = len(taken) == len(first.cells)
            found[place] = replace(
                outcome,
                cells={name: outcome.cells[name] if name in taken else cell for name, cell in first.cells.items()},
                exchanges=(),
                flags=_flags((first, outcome)),
                stated=outcome.stated if whole else first.stated,
            )


def is_verdict(cell: Cell) -> bool:
    """Tell whether a judge decided: scored, or found not applicable."""
    return isinstance(cell, Scored | NotApplicable)


def decides(outcome: Outcome) -> bool:
    """Tell whether a judge was asked because the first one's verdict is not enough."""
    return outcome.because in ("unsure", "missing")


def _flags(outcomes: Sequence[Outcome]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(flag for outcome in outcomes for flag in outcome.flags))
