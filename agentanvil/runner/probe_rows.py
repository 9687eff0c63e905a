"""The rows of a probe's arms: which are drawn, and the files that hold them."""

from __future__ import annotations

import hashlib
import heapq
import json
from collections import Counter
from collections.abc import Iterable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

from agentanvil.dataset import Row
from agentanvil.dataset.perturb import row_record
from agentanvil.errors import RunFolderError, Where
from agentanvil.hashing import derive_seed
from agentanvil.report import AtomicText
from agentanvil.runner.probe_changes import Change, IsDrawn, why_unplantable

ROWS = "rows.jsonl"


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


def drawn_for_planting(rows: Iterable[Row], most: int, seed: int) -> IsDrawn:
    """Return what tells the rows in which instructions are planted, the same for every kind.

    Rows that cannot be changed are not drawn.
    """
    draw = Draw(most, "planted", seed)
    for row in rows:
        if why_unplantable(row) is None:
            draw.show(row)
    return draw.drawn()


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
                "this folder holds a probe of other rows, or with another seed",
                where=Where(str(self._path)),
                hint="Choose another --out folder.",
            )

    def commit(self) -> None:
        self._file.commit()
