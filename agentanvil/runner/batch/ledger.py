"""batches.jsonl: which of a run's tasks were handed over in which batch, written down before it happens and after.

Each line is on the disk before the next step is taken. A process that is killed between two of them leaves an intent
without an end, and `recovery` finds out from the provider what became of it: so no task is handed over twice, and no
batch is lost.
"""

from __future__ import annotations

import os
from array import array
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import orjson

from agentanvil.client.adapter import Shape
from agentanvil.client.batch.api import Mark
from agentanvil.errors import RunFolderError, RunWriteError, Where

FILE = "batches.jsonl"
FORMAT = 1
_DAMAGE = (ValueError, KeyError, TypeError, AttributeError)


@dataclass(frozen=True, slots=True)
class Part:
    """One batch's share of a run. `at` is Unix time, `ceiling` US dollars that it cannot pass, None where unknown.

    `spans` holds its tasks by their ordinals, in the order of its file: first, count, first, count, … `file` and
    `batch` are the provider's ids, None as long as they are not known. `closed` says how it ended, empty while open.
    """

    number: int
    token: str
    at: float
    tasks: int
    spans: array[int]
    shape: Shape
    ceiling: float | None = None
    file: str | None = None
    batch: str | None = None
    closed: str = ""
    counts: Mapping[str, int] = field(default_factory=dict)

    def mark(self, run: str) -> Mark:
        """Return what tells its batch from others."""
        return Mark(run, self.token, self.tasks, self.at)

    def ordinals(self) -> Iterator[int]:
        """Yield its tasks in the order of its file."""
        for at in range(0, len(self.spans), 2):
            yield from range(self.spans[at], self.spans[at] + self.spans[at + 1])


class Ledger:
    """What is written down about a run's batches. `settings` is how the last submission was asked for."""

    def __init__(self, path: Path, fingerprint: str) -> None:
        """Read what is there. Raises RunFolderError for a damaged file or one of another run."""
        self.path = path
        self.parts: dict[int, Part] = {}
        self.settings: dict[str, Any] | None = None
        self.shape: Shape | None = None
        self.run = fingerprint
        self._begun = False
        self._slots: object = None
        for number, line in enumerate(_lines(path), start=1):
            try:
                self._take(orjson.loads(line))
            except _DAMAGE as error:
                raise _damaged(path, number, error) from error

    @property
    def open(self) -> tuple[Part, ...]:
        """The parts whose results are not in the journal yet, or whose fate is not known."""
        return tuple(part for part in self.parts.values() if not part.closed)

    @property
    def open_tasks(self) -> int:
        return sum(part.tasks for part in self.open)

    def membership(self, tasks: int) -> array[int]:
        """Return the number of the open part that each task is in, 0 for those in none."""
        found = array("I", bytes(array("I").itemsize * tasks))
        for part in self.open:
            for ordinal in part.ordinals():
                if ordinal < tasks:
                    found[ordinal] = part.number
        return found

    def note(self, event: str, **details: object) -> None:
        """Write one event down; it is on the disk when this returns. Raises RunWriteError."""
        lines = [{"event": event, **details}]
        if not self._begun:
            lines.insert(0, {"event": "begun", "format": FORMAT, "run": self.run})
        try:
            _append(self.path, b"".join(orjson.dumps(line, option=orjson.OPT_APPEND_NEWLINE) for line in lines))
        except OSError as error:
            raise RunWriteError(
                f"cannot be written: {error.strerror or error}",
                where=Where(str(self.path)),
                hint="Mend this, then run `anvil batch submit` again: it finds what was handed over.",
            ) from error
        for line in lines:
            self._take(orjson.loads(orjson.dumps(line)))

    def note_intent(self, part: Part, slots: object) -> None:
        """Write down that a part is about to be handed over; `slots` is what its ordinals count."""
        self.note(
            "intent",
            part=part.number,
            token=part.token,
            at=part.at,
            tasks=part.tasks,
            spans=part.spans.tolist(),
            slots=slots,
            shape=shape_data(part.shape),
            ceiling=part.ceiling,
        )

    def note_closed(self, part: Part, how: str, counts: Mapping[str, int] | None = None) -> None:
        """Write down that nothing more comes of a part."""
        self.note("closed", part=part.number, how=how, counts=dict(counts or {}))

    def refuse_other_plan(self, slots: object) -> None:
        """Raise RunFolderError where open parts count other tasks than the plan at hand."""
        if self.open and self._slots != slots:
            raise RunFolderError(
                "there are open batches, and they were submitted with other rows, repeats or calls",
                where=Where(str(self.path)),
                hint="Run `anvil batch collect` first, or submit with the settings of before.",
            )

    def _take(self, line: Mapping[str, Any]) -> None:
        match line["event"]:
            case "begun":
                self._check(line)
                self._begun = True
            case "settings":
                self.settings = dict(line["settings"])
            case "shape":
                self.shape = read_shape(line["shape"])
            case "intent":
                part = _read_part(line)
                self.parts[part.number] = part
                self.shape, self._slots = part.shape, line["slots"]
            case "uploaded":
                self._change(line, file=str(line["file"]))
            case "created":
                self._change(line, batch=str(line["batch"]))
            case "closed":
                self._change(line, closed=str(line["how"]), counts=dict(line["counts"]), spans=array("q"))
            case other:
                raise ValueError(f"unknown event {other!r}")

    def _change(self, line: Mapping[str, Any], **changes: Any) -> None:
        number = line["part"]
        self.parts[number] = replace(self.parts[number], **changes)

    def _check(self, line: Mapping[str, Any]) -> None:
        if line["format"] != FORMAT:
            raise ValueError("not a format that this version reads")
        if line["run"] != self.run:
            raise RunFolderError(
                "these batches belong to another run than the manifest beside them",
                where=Where(str(self.path), 1),
                hint="Choose another --out folder.",
            )


def spans_of(ordinals: Iterable[int]) -> array[int]:
    """Return ascending ordinals as first, count, first, count, …"""
    spans = array("q")
    for ordinal in ordinals:
        add_to(spans, ordinal)
    return spans


def add_to(spans: array[int], ordinal: int) -> None:
    """Add one more ordinal behind all others."""
    if spans and spans[-2] + spans[-1] == ordinal:
        spans[-1] += 1
    else:
        spans.extend((ordinal, 1))


def shape_data(shape: Shape) -> dict[str, object]:
    """Return a shape as JSON data."""
    return {"rung": shape.rung, "dropped": sorted(shape.dropped), "cap_field": shape.cap_field}


def read_shape(data: Mapping[str, Any]) -> Shape:
    """Return a shape from JSON data; raises KeyError or TypeError for what is none."""
    return Shape(data["rung"], frozenset(map(str, data["dropped"])), str(data["cap_field"]))


def _read_part(line: Mapping[str, Any]) -> Part:
    spans = array("q", line["spans"])
    if len(spans) % 2 or any(number < 0 for number in spans) or sum(spans[1::2]) != line["tasks"]:
        raise ValueError("the spans do not add up")
    return Part(
        number=int(line["part"]),
        token=str(line["token"]),
        at=float(line["at"]),
        tasks=int(line["tasks"]),
        spans=spans,
        shape=read_shape(line["shape"]),
        ceiling=line["ceiling"],
    )


def _lines(path: Path) -> Iterator[bytes]:
    """Yield the whole lines; a last one that was cut off was never acted upon."""
    if path.exists():
        with path.open("rb") as file:
            yield from (line for line in file if line.endswith(b"\n"))


def _append(path: Path, data: bytes) -> None:
    fresh = not path.exists()
    with path.open("ab+") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - 1))
        if size and file.read(1) != b"\n":  # half a line of a process that was killed
            file.seek(0)
            file.truncate(file.read().rfind(b"\n") + 1)
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    if fresh and os.name == "posix":  # the file's name has to last as well
        folder = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


def _damaged(path: Path, number: int, error: Exception) -> RunFolderError:
    return RunFolderError(
        f"damaged line ({type(error).__name__}: {error})",
        where=Where(str(path), number),
        hint="Restore the file: it says what the provider was asked for.",
    )
