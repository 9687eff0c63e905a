"""One outcome for each judge at each place where it was due: those of the journal, and what says that nobody asked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from agentanvil.aggregate import Dispute
from agentanvil.plan import BY_CODE, Escalation, Plan, Slot, task_id
from agentanvil.verdict import Because, NotRun, Outcome


@dataclass(frozen=True, slots=True)
class RowName:
    """What a report calls a row."""

    index: int
    item_id: str
    labels: Mapping[str, tuple[float, ...]]


class DueOutcomes:
    """Completes the outcomes of each row.

    Why a second judge or more repeats were due is told anew from what was said before: `dispute` tells the latter of a
    plan that is adaptive. Repeats that were not due are passed over, even if a journal holds some.
    """

    def __init__(self, plan: Plan, escalation: Escalation | None, dispute: Dispute | None = None) -> None:
        self._plan = plan
        self._escalation = escalation
        self._dispute = dispute
        self._slots = plan.slots()
        self._certain = tuple(slot for slot in self._slots if slot.repeat < plan.certain)
        self._seats = {BY_CODE: 0} | {judge: seat for seat, judge in enumerate(plan.judges)}

    def of(self, name: RowName, outcomes: Sequence[Outcome]) -> Sequence[Outcome]:
        """Return exactly one outcome for each judge that is due at a place, given those of the row that there are."""
        slots = self._slots
        if self._dispute is not None and not self._dispute.arises(outcomes):
            slots = self._certain
            outcomes = [outcome for outcome in outcomes if outcome.repeat < self._plan.certain]
        if not self._plan.others and len(outcomes) == len(slots):
            return outcomes
        place_of, seats = self._plan.place_of, self._seats
        have = {(seats.get(o.judge, 0), o.call, o.repeat, place_of(o.order)): o for o in outcomes}
        planned = [self._plan.is_planned(seat, name.item_id) for seat in range(len(self._plan.judges))]
        escalated: Mapping[tuple[str, int, int], Because] = {}
        if self._escalation is not None:
            firsts = (outcome for (seat, *_), outcome in have.items() if not seat)
            escalated = self._escalation.due(name.item_id, firsts)
        found: list[Outcome] = []
        for slot in slots:
            because: Because = "" if planned[slot.seat] else escalated.get(slot.key, "")
            if because or planned[slot.seat]:
                outcome = have.get((slot.seat, *slot.key)) or self._not_run(name, slot)
                found.append(outcome if outcome.because == because else replace(outcome, because=because))
        return found

    def _not_run(self, name: RowName, slot: Slot) -> Outcome:
        return Outcome(
            task_id=task_id(name.item_id, slot.call.name, slot.repeat, seat=slot.seat),
            row=name.index,
            item_id=name.item_id,
            call=slot.call.name,
            repeat=slot.repeat,
            order=self._plan.order_of(slot, None),
            judge=self._plan.judge_of(slot),
            cells=dict.fromkeys(slot.call.dimensions, NotRun()),
            labels=name.labels,
        )
