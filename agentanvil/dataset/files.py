"""A file of rows: one pass that validates everything, then as many lazy passes as a run needs."""

from __future__ import annotations

import hashlib
import os
import stat
from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import BinaryIO

from agentanvil.dataset.candidates import Candidates
from agentanvil.dataset.csvfile import read_csv
from agentanvil.dataset.jsonl import read_jsonl
from agentanvil.dataset.lines import Record, Tally, read_lines
from agentanvil.dataset.records import DatasetInfo, Row
from agentanvil.dataset.rows import RowBuilder, RowShape
from agentanvil.errors import DatasetError, Where, quoted
from agentanvil.hashing import digest

Reader = Callable[[Iterable[tuple[int, str]], str, Tally], Iterator[Record]]

READERS: dict[str, Reader] = {"jsonl": read_jsonl, "csv": read_csv}


@dataclass(frozen=True, slots=True)
class _Seen:
    """What the validated bytes were: enough to notice that the file is another one now."""

    size: int
    modified_ns: int
    content: str


class FileDataset:
    """Rows of one regular file, read in order and never held in memory. See the Dataset protocol."""

    def __init__(self, opened: Path, kind: str, shape: RowShape, *, name: str, path: str) -> None:
        self._opened = opened
        self._kind = kind
        self._shape = shape
        self._file = path if path != "-" else name
        self._builder = RowBuilder(shape, self._file)
        self._name = name
        self._path = path
        self._seen: _Seen | None = None

    @property
    def name(self) -> str:
        return self._name

    @property
    def path(self) -> str:
        return self._path

    def scan(self) -> DatasetInfo:
        """Read every row once and return what the file holds.

        Keeps 8 bytes per row. Raises DatasetError naming file, line and field on the first row that is not
        as declared, on an id that stands twice, and on a file without rows.
        """
        content = hashlib.blake2b(digest_size=16)
        tally = Tally(content.update)
        count = _RowCount()
        with self._open() as (stream, status):
            for row in self._read(stream, status.st_size, tally):
                count.add(row)
        if not count.rows:
            raise DatasetError("0 rows", where=Where(self._file), hint="give at least one row to judge")
        count.ids.refuse_duplicates(self.rows, self._file)
        self._seen = _Seen(status.st_size, status.st_mtime_ns, content.hexdigest())
        return DatasetInfo(
            name=self._name,
            rows=count.rows,
            hash=digest(self._kind, content.hexdigest(), self._shape.mapping.digest),
            blank_lines=tally.blank_lines,
            labelled=dict(count.labelled),
            hidden_fields=tuple(sorted(count.hidden)),
            models=count.candidates.models,
            candidates=count.candidates.rows,
            candidates_beyond=count.candidates.beyond,
            flagged=dict(count.flagged),
        )

    def rows(self) -> Iterator[Row]:
        """Yield the rows lazily. After `scan`, yields the scanned ones: lines that were appended since are
        left out. Raises DatasetError where the file was changed in another way, or a row is wrong.
        """
        with self._open() as (stream, status):
            size = status.st_size
            if self._seen is not None:
                self._refuse_change(stream, status, self._seen)
                size = self._seen.size
            yield from self._read(stream, size, Tally())

    def _read(self, stream: BinaryIO, size: int, tally: Tally) -> Iterator[Row]:
        lines = read_lines(stream, size, self._file, tally)
        build = self._builder.build
        for index, record in enumerate(READERS[self._kind](lines, self._file, tally)):
            yield build(index, record)

    @contextmanager
    def _open(self) -> Iterator[tuple[BinaryIO, os.stat_result]]:
        try:
            stream = self._opened.open("rb", buffering=1 << 18)
        except OSError as error:
            hint = "give a file, or `-` for standard input"
            raise DatasetError(f"cannot be opened: {error.strerror}", where=Where(self._file), hint=hint) from error
        with stream:
            yield stream, os.fstat(stream.fileno())

    def _refuse_change(self, stream: BinaryIO, status: os.stat_result, seen: _Seen) -> None:
        if (status.st_size, status.st_mtime_ns) == (seen.size, seen.modified_ns):
            return
        content, left = hashlib.blake2b(digest_size=16), seen.size
        while left and (block := stream.read(min(left, 1 << 20))):
            content.update(block)
            left -= len(block)
        if content.hexdigest() != seen.content:
            raise DatasetError(
                "the file was changed after it was validated",
                where=Where(self._file),
                hint="let nothing write to it during a run, and start again",
            )
        stream.seek(0)


class RowIds:
    """The ids of a file, 8 bytes each: enough to find the ones that stand twice."""

    def __init__(self) -> None:
        self._hashes = array("q")

    def add(self, row_id: str) -> None:
        """Note one id."""
        self._hashes.append(hash(row_id))

    def refuse_duplicates(self, rows: Callable[[], Iterable[Row]], file: str) -> None:
        """Look again where two ids share a hash; only that second pass holds ids, and only the suspects.

        Raises DatasetError naming both lines.
        """
        suspects = _repeated(self._hashes)
        if not suspects:
            return
        first: dict[str, int] = {}
        for row in rows():
            if hash(row.id) not in suspects:
                continue
            if row.id in first:
                raise DatasetError(
                    f"the id {quoted(row.id)} stands on line {first[row.id]} already",
                    where=Where(file, row.line, "id"),
                    hint='ids must differ as text: the number 1 and "1" are the same id',
                )
            first[row.id] = row.line


class _RowCount:
    """The running totals of a scan."""

    def __init__(self) -> None:
        self.rows = 0
        self.ids = RowIds()
        self.labelled: Counter[str] = Counter()
        self.flagged: Counter[str] = Counter()
        self.hidden: set[str] = set()
        self.candidates = Candidates()

    def add(self, row: Row) -> None:
        self.rows += 1
        self.ids.add(row.id)
        if row.labels:
            self.labelled.update(row.labels.keys())
        if row.flags:
            self.flagged.update(row.flags)
        if row.hidden:
            self.hidden.update(row.hidden)
        self.candidates.add(row)


def _repeated(hashes: array[int]) -> set[int]:
    ordered = sorted(hashes)
    return {left for left, right in pairwise(ordered) if left == right}


def is_regular(path: Path) -> bool:
    """Say whether `path` is a file that can be read more than once. Raises OSError where there is none."""
    return stat.S_ISREG(path.stat().st_mode)
