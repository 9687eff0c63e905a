"""Numbering a run's tasks, and naming them to a provider so that its answers find their way back."""

from __future__ import annotations

import re

from agentanvil.engine import JournalIndex
from agentanvil.hashing import digest
from agentanvil.plan import Plan, Task

_CUSTOM_ID = re.compile(r"([0-9a-f]{16})-([0-9a-f]{1,12})-([0-9a-f]{16})")
_CHECK_LENGTH = 16


class Places:
    """The ordinal of each task: row by row, and within a row in the plan's order."""

    def __init__(self, plan: Plan, rows: int) -> None:
        self._plan = plan
        self._slots = {slot.key: number for number, slot in enumerate(plan.slots())}
        self.width = len(self._slots)
        self.tasks = rows * self.width

    @property
    def layout(self) -> list[object]:
        """What the ordinals count, as JSON data: two plans with the same layout number their tasks alike."""
        return [self.tasks, *(list(key) for key in self._slots)]

    def ordinal(self, task: Task) -> int:
        """Return the task's number."""
        slot = self._slots[task.call.name, task.repeat, self._plan.place_of(task.order)]
        return task.row.index * self.width + slot

    def row(self, ordinal: int) -> int:
        """Return the 1-based number of the row that a task belongs to."""
        return ordinal // self.width + 1


def custom_id(token: str, ordinal: int, task: Task) -> str:
    """Return what a task is called in a batch: the batch's token, where the task stands, and a hash of its id."""
    return f"{token}-{ordinal:x}-{digest(token, task.id)[:_CHECK_LENGTH]}"


def ordinal_in(custom_id: str, token: str) -> int | None:
    """Return the ordinal that a custom id of this batch claims, None for one of another."""
    match = _CUSTOM_ID.fullmatch(custom_id)
    return int(match[2], 16) if match is not None and match[1] == token else None


def undone(index: JournalIndex) -> bool:
    """Tell whether any task has no line in the journal at all."""
    return 0 in index.offsets
