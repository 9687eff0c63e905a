"""The second phase of a run: what the first judge said is read back, and a second one is asked where it was unsure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import get_args

from agentanvil.engine import JournalReader, Stop, read_index
from agentanvil.plan import Escalation, Slot, Task, idle_terms
from agentanvil.runner.job import Job
from agentanvil.verdict import Because

_REASONS: tuple[Because, ...] = get_args(Because)


@dataclass(slots=True)
class Escalated:
    """What the second judge is to be asked about: one byte for each of its places, `_REASONS` by number.

    `open` counts the places without a verdict yet by reason. `unread` names the measures of the condition that no
    verdict of the first judge had.
    """

    slots: tuple[Slot, ...]
    reasons: bytearray
    open: Counter[Because] = field(default_factory=Counter)
    unread: frozenset[str] = frozenset()

    def tasks(self, job: Job) -> Iterator[Task]:
        """Yield the open tasks in the order of the rows; no row behind the last of them is read."""
        width = len(self.slots)
        rows = len(self.reasons.rstrip(b"\0")) // width + 1
        for row in islice(job.read_rows(), rows):
            for place, slot in enumerate(self.slots):
                reason = self.reasons[row.index * width + place]
                if reason:
                    yield job.plan.task(row, slot, _REASONS[reason])


def read_escalated(job: Job, escalation: Escalation, journal: Path, stop: Stop) -> Escalated:
    """Read a run's journal once and hold the first judge's verdicts against the condition; ends early on `stop`.

    Raises RunFolderError for a damaged line.
    """
    plan, seat = job.plan, escalation.seat
    slots = tuple(slot for slot in plan.slots() if slot.seat == seat)
    found = Escalated(slots, bytearray(job.rows * len(slots)))
    index = read_index(journal, plan, job.rows, job.fingerprint)
    judge = plan.judges[seat]
    with closing(JournalReader(journal, index)) as reader:
        for number in range(job.rows):
            if stop.requested:
                break
            outcomes = reader.row(number)
            due = escalation.due(outcomes[0].item_id, (o for o in outcomes if o.judge != judge)) if outcomes else {}
            second = (outcome for outcome in outcomes if outcome.judge == judge)
            done = {(o.call, o.repeat, plan.place_of(o.order)) for o in second if not o.failed}
            for place, slot in enumerate(slots):
                because = due.get(slot.key, "")
                if because and slot.key not in done:
                    found.reasons[number * len(slots) + place] = _REASONS.index(because)
                    found.open[because] += 1
    found.unread = frozenset(escalation.unread) - idle_terms(escalation.condition, job.rubric).keys()
    return found


def escalation_notices(job: Job, found: Escalated) -> Iterator[str]:
    """Yield what a person should know of a condition that cannot do all that it says."""
    condition = job.panel.condition
    if condition is None:
        return
    if job.settings.panel.escalate_when is not None:
        for name, reason in idle_terms(condition, job.rubric).items():
            yield f"--escalate-when: {name} says nothing in this run: {reason}"
    for name in sorted(found.unread):
        yield f"--escalate-when: no verdict of {job.plan.judge} came with its {name}, so nothing is unsure by that"
