"""The journal read back: which tasks have a line, and the outcomes of one row at a time.

Later lines win over earlier ones for the same task: a failed task that is asked again is simply appended again.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

import orjson

from agentanvil.engine.codec import decode
from agentanvil.engine.journal_writer import FORMAT
from agentanvil.errors import RunFolderError, Where
from agentanvil.plan import Plan, Slot, Task
from agentanvil.verdict import JudgeError, Outcome

# What reading a line raises that is no outcome as `codec` writes it.
_DAMAGE = (ValueError, KeyError, TypeError, AttributeError)


@dataclass(slots=True)
class JournalIndex:
    """Where the latest line of every planned task stands: one signed byte offset a task, nothing else in memory.

    `offsets[row * slots + slot]` is 0 for a task without a line, the offset of its line if it is done, and the
    negated offset if its latest line holds a judge error and the task should be asked again. `spent` are the US dollars
    that each seat's calls have cost, as far as their prices are known: also those that were asked again since.
    `waited` are the seconds that its calls on the wire took, and how many they were.
    """

    plan: Plan
    rows: int
    offsets: array[int] = field(init=False)
    spent: list[float] = field(init=False)
    waited: list[tuple[float, int]] = field(init=False)
    _slots: dict[tuple[int, str, int, int], int] = field(init=False)
    _seats: dict[str, int] = field(init=False)

    def __post_init__(self) -> None:
        self._slots = {(slot.seat, *slot.key): i for i, slot in enumerate(self.plan.slots())}
        self._seats = {judge: seat for seat, judge in enumerate(self.plan.judges)}
        self.offsets = array("q", bytes(8 * self.rows * len(self._slots)))
        self.spent = [0.0] * len(self._seats)
        self.waited = [(0.0, 0)] * len(self._seats)

    def place(self, line: Mapping[str, Any], offset: int) -> None:
        """Note a line; tasks outside the plan (rows past a limit, repeats no longer wanted) are passed over.

        Reads only what it needs: a long journal is indexed before a resumed run can begin.
        """
        row = line["row"]
        seat = self._seats.get(line["judge"], 0)
        slot = self._slots.get((seat, line["call"], line["repeat"], self.plan.place_of(line["order"])))
        failed = any(cell["state"] == JudgeError.state for cell in line["cells"].values())
        for exchange in line["exchanges"]:
            if not exchange.get("cached"):
                self.spent[seat] += exchange.get("cost") or 0.0
                if exchange.get("latency_s"):
                    seconds, calls = self.waited[seat]
                    self.waited[seat] = (seconds + exchange["latency_s"], calls + 1)
        if slot is not None and 0 <= row < self.rows:
            self.offsets[row * len(self._slots) + slot] = -offset if failed else offset

    def done(self, task: Task) -> bool:
        """Tell whether the task has a line that need not be asked again."""
        return self.offsets[task.row.index * len(self._slots) + self._slot(task)] > 0

    def holds(self, row: int, slot: Slot) -> bool:
        """Tell the same of a place of a row."""
        return self.offsets[row * len(self._slots) + self._slots[slot.seat, *slot.key]] > 0

    def _slot(self, task: Task) -> int:
        return self._slots[task.seat, task.call.name, task.repeat, self.plan.place_of(task.order)]

    def has(self, task: Task) -> bool:
        """Tell whether the task has any line, be it one that is to be asked again."""
        return self.offsets[task.row.index * len(self._slots) + self._slot(task)] != 0

    def open_rows(self, slot: Slot) -> int:
        """Return in how many rows a place has no line that need not be asked again."""
        places = self.offsets[self._slots[slot.seat, *slot.key] :: len(self._slots)]
        return sum(1 for offset in places if offset <= 0)

    @property
    def done_count(self) -> int:
        return sum(1 for offset in self.offsets if offset > 0)

    def row_offsets(self, row: int) -> tuple[int, ...]:
        """The offsets of the lines of one row, in slot order, failed ones included."""
        width = len(self._slots)
        return tuple(abs(o) for o in self.offsets[row * width : (row + 1) * width] if o)


def read_index(path: Path, plan: Plan, rows: int, fingerprint: str) -> JournalIndex:
    """Read a journal once. A missing file gives an empty index; a half-written last line is passed over.

    Raises RunFolderError for a damaged line in the middle or a journal of another run.
    """
    index = JournalIndex(plan, rows)
    if not path.exists():
        return index
    with path.open("rb") as file:
        for number, offset, line in _lines(file):
            if number == 1:
                _check_header(path, line, fingerprint)
            else:
                _place(index, path, number, line, offset)
    return index


def _lines(file: BinaryIO) -> Iterator[tuple[int, int, bytes]]:
    offset = 0
    for number, line in enumerate(file, start=1):
        if line.endswith(b"\n"):
            yield number, offset, line
        offset += len(line)


def _check_header(path: Path, line: bytes, fingerprint: str) -> None:
    try:
        header = orjson.loads(line)
    except orjson.JSONDecodeError:
        header = None
    if not isinstance(header, dict) or header.get("journal") != FORMAT:
        raise RunFolderError("not a journal that this version reads", where=Where(str(path), 1))
    if header.get("run") != fingerprint:
        raise RunFolderError(
            "the journal belongs to another run than the manifest beside it",
            where=Where(str(path), 1),
            hint="Choose another --out folder.",
        )


def _place(index: JournalIndex, path: Path, number: int, line: bytes, offset: int) -> None:
    try:
        index.place(orjson.loads(line), offset)
    except _DAMAGE as error:
        raise _damaged(path, number, error) from error


def _damaged(path: Path, number: int, error: Exception) -> RunFolderError:
    return RunFolderError(
        f"damaged line ({type(error).__name__}: {error})",
        where=Where(str(path), number),
        hint="Delete this line: its task will be asked again, nothing else is lost.",
    )


class JournalReader:
    """Reads the outcomes of one row at a time through an index."""

    def __init__(self, path: Path, index: JournalIndex) -> None:
        self._path = path
        self._index = index
        self._file: BinaryIO | None = path.open("rb") if path.exists() else None

    def row(self, row: int) -> list[Outcome]:
        """Return the latest outcome of each task of a row that has one, in slot order.

        Raises RunFolderError for a line that indexing, which reads little of it, did not see to be damaged.
        """
        file = self._file
        if file is None:
            return []
        outcomes = []
        for offset in self._index.row_offsets(row):
            file.seek(offset)
            try:
                outcomes.append(decode(orjson.loads(file.readline())))
            except _DAMAGE as error:
                file.seek(0)
                raise _damaged(self._path, file.read(offset).count(b"\n") + 1, error) from error
        return outcomes

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            self._file.close()
