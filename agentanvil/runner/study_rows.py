"""The rows of a study's arms: which are drawn, and the files that hold them."""

from __future__ import annotations

import hashlib
import heapq
import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

from agentanvil.dataset import Row
from agentanvil.dataset.perturb import Unchangeable, row_record
from agentanvil.errors import RunFolderError, UsageError, Where
from agentanvil.hashing import derive_seed
from agentanvil.report import AtomicText
from agentanvil.runner.job import Job

ROWS = "rows.jsonl"
IsDrawn = Callable[[Row], bool]
Change = Callable[[Row], Row | Unchangeable | None]
"""A row → the changed row, why it cannot be changed, or None where it was not drawn."""


@dataclass(slots=True)
class ArmRows:
    """What was written for one arm. `skipped` counts the rows that could not be changed, by why."""

    written: int = 0
    skipped: Counter[str] = field(default_factory=Counter)


class Draw:
    """Draws at most `most` of the rows it is shown, by a key of each row's own: another row changes no other's luck."""

    def __init__(self, most: int, *salt: str | int) -> None:
        self._most = most
        self._salt = salt
        self._kept: list[tuple[int, int]] = []

    def show(self, row: Row) -> None:
        """Offer one row."""
        entry = (-derive_seed(*self._salt, row.id), row.index)
        if len(self._kept) < self._most:
            heapq.heappush(self._kept, entry)
        else:
            heapq.heappushpop(self._kept, entry)

    def drawn(self) -> IsDrawn:
        """Return what tells a drawn row."""
        indexes = frozenset(index for _, index in self._kept)
        return lambda row: row.index in indexes


def drawn_rows(job: Job, sample: int | None, seed: int) -> IsDrawn:
    """Return what tells the rows of a study, all of a run's where `sample` is None."""
    if sample is None:
        return _every
    draw = Draw(sample, "sample", seed)
    for row in job.read_rows():
        draw.show(row)
    return draw.drawn()


def rows_of(job: Job, is_drawn: IsDrawn, *, anew: bool) -> Iterator[Row]:
    """Yield the rows that were drawn. Raises UsageError for an agent's run, which cannot be written down `anew`."""
    for row in filter(is_drawn, job.read_rows()):
        if anew and (row.trace is not None or (row.rival is not None and row.rival.trace is not None)):
            raise UsageError(
                f"the row {row.id!r} holds an agent's run, and such rows are graded from their own file alone",
                hint="Leave --sample away, or take the first rows with --limit; give a file, not standard input.",
            )
        yield row


def write_rows(folders: Mapping[str, Path], rows: Iterable[Row], changed: Mapping[str, Change]) -> dict[str, ArmRows]:
    """Write the rows of every arm in `folders`, in one pass. An arm without a change has the rows as they are.

    Raises RunFolderError where a folder holds other rows already, or cannot be written; then nothing is replaced.
    """
    counts = {name: ArmRows() for name in folders}
    with ExitStack() as opened:
        try:
            files = {name: _RowsFile(opened, folder) for name, folder in folders.items()}
            for row in rows:
                for name, file in files.items():
                    change = changed.get(name)
                    _write(file, row if change is None else change(row), counts[name])
            for file in files.values():
                file.refuse_other_rows()
            for file in files.values():
                file.commit()
        except OSError as error:
            place = Where(error.filename or str(next(iter(folders.values()))))
            raise RunFolderError(f"cannot be written: {error.strerror}", where=place) from None
    return counts


def _write(file: _RowsFile, found: Row | str | None, count: ArmRows) -> None:
    if isinstance(found, str):
        count.skipped[found] += 1
    elif found is not None:
        count.written += 1
        file.write(f"{json.dumps(row_record(found), ensure_ascii=False, allow_nan=False)}\n")


class _RowsFile:
    """One arm's file, not in its place before `commit`."""

    def __init__(self, opened: ExitStack, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._path = folder / ROWS
        self._file = AtomicText(self._path)
        self._content = hashlib.blake2b()
        opened.callback(self._file.discard)

    def write(self, line: str) -> None:
        self._file.write(line)
        self._content.update(line.encode(errors="replace"))

    def refuse_other_rows(self) -> None:
        """Raise RunFolderError where the place holds anything else: an arm that was run goes by it."""
        if not self._path.exists():
            return
        with self._path.open("rb") as file:
            before = hashlib.file_digest(file, hashlib.blake2b).digest()
        if before != self._content.digest():
            raise RunFolderError(
                "this folder holds a study of other rows, or that changed them otherwise",
                where=Where(str(self._path)),
                hint="Choose another --out folder.",
            )

    def commit(self) -> None:
        self._file.commit()


def _every(_row: Row) -> bool:
    return True
