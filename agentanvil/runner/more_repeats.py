"""The second phase of a run with `--repeats auto`: where the first repeats of an item disagree, more are asked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

from agentanvil.aggregate import Dispute
from agentanvil.engine import JournalIndex, JournalReader, Stop, read_index
from agentanvil.plan import Slot, Task
from agentanvil.runner.job import Job


@dataclass(slots=True)
class MoreRepeats:
    """Which rows get more repeats, one byte for each; `open` counts their tasks without a verdict yet, by seat."""

    slots: tuple[Slot, ...]
    index: JournalIndex
    rows: bytearray
    open: Counter[int] = field(default_factory=Counter)

    def tasks(self, job: Job) -> Iterator[Task]:
        """Yield the open tasks in the order of the rows; no row behind the last of them is read."""
        for row in islice(job.read_rows(), len(self.rows.rstrip(b"\0"))):
            if self.rows[row.index]:
                for slot in self.slots:
                    if job.plan.is_planned(slot.seat, row.id):
                        task = job.plan.task(row, slot)
                        if not self.index.done(task):
                            yield task


def read_more_repeats(job: Job, journal: Path, stop: Stop) -> MoreRepeats:
    """Read a run's journal once and hold the first repeats of each item against each other; ends early on `stop`.

    Raises RunFolderError for a damaged line.
    """
    plan, dispute = job.plan, Dispute(job.rubric, job.plan)
    index = read_index(journal, plan, job.rows, job.fingerprint)
    found = MoreRepeats(tuple(slot for slot in plan.slots() if slot.repeat >= plan.certain), index, bytearray(job.rows))
    with closing(JournalReader(journal, index)) as reader:
        for number in range(job.rows):
            if stop.requested:
                break
            outcomes = reader.row(number)
            if not dispute.arises(outcomes):
                continue
            item_id = outcomes[0].item_id
            for slot in found.slots:
                if plan.is_planned(slot.seat, item_id) and not index.holds(number, slot):
                    found.rows[number] = 1
                    found.open[slot.seat] += 1
    return found
