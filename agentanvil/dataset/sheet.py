"""A labelling sheet as a person filled it in, in whatever spreadsheet: read strictly, each fault with its cell."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from itertools import chain
from pathlib import Path
from typing import Literal

from agentanvil.dataset.csvfile import read_csv
from agentanvil.dataset.faults import listed
from agentanvil.dataset.files import is_regular
from agentanvil.dataset.lines import Record, Tally, read_lines
from agentanvil.dataset.records import WINNER
from agentanvil.dataset.sheet_key import SheetKey
from agentanvil.errors import DatasetError, Where, quoted

CODE, NOTE = "id", "note"
TEXTS = ("request", "source", "expected", "response", "response_a", "response_b")
_DELIMITERS = (",", ";", "\t")
_SEP = re.compile(r'"?sep=([,;\t|])"?\s*', re.IGNORECASE)
_WHOLE = re.compile(r"([+-]?[0-9]{1,9})(?:[.,]0*)?")
_WINNERS = {"a": 1.0, "b": -1.0, "tie": 0.0}
_BOOLEANS = {"true": True, "false": False}


@dataclass(frozen=True, slots=True)
class SheetForm:
    """What a sheet asks for: `labels` are the dimensions, or the winner alone, and the scale's ends are on offer."""

    mode: Literal["absolute", "pairwise", "gate"]
    labels: tuple[str, ...]
    low: int
    high: int

    @classmethod
    def of(
        cls, mode: Literal["absolute", "pairwise", "gate"], dimensions: Iterable[str], scale: tuple[int, int]
    ) -> SheetForm:
        """Return what is asked for in a mode."""
        return cls(mode, (WINNER,) if mode == "pairwise" else tuple(dimensions), *scale)

    @property
    def offered(self) -> str:
        """What may stand in a cell, in words."""
        if self.mode == "absolute":
            return f"a whole number from {self.low} to {self.high}"
        return "true or false" if self.mode == "gate" else "a, b or tie"

    @property
    def columns(self) -> Mapping[str, str]:
        """The names of the columns to fill in; one that is named like another column says that it is the label."""
        return {name: f"{name} (label)" if name in (CODE, NOTE, *TEXTS) else name for name in self.labels}


@dataclass(frozen=True, slots=True)
class SheetAnswer:
    """What stands in one row of a sheet: labels of the row `id` (in pairwise 1 for response_a), and the note."""

    id: str
    line: int
    labels: Mapping[str, float]
    note: str


@dataclass(frozen=True, slots=True)
class SheetAnswers:
    """A filled sheet. `blank` counts rows without a label, `absent` those that are not in the file any more.

    `partial` counts rows of which only some dimensions are labelled; `ignored` are columns that nobody asked for.
    """

    answers: tuple[SheetAnswer, ...]
    blank: int
    absent: int
    partial: int
    ignored: tuple[str, ...]


def read_sheet(path: Path, form: SheetForm, key: SheetKey) -> SheetAnswers:
    """Read a sheet. Raises DatasetError, naming file, line and column, for what is no label of this very sheet."""
    file = str(path)
    try:
        if not is_regular(path):
            raise DatasetError("is no regular file", where=Where(file))
        stream = path.open("rb")
    except OSError as error:
        raise DatasetError(f"cannot be opened: {error.strerror}", where=Where(file)) from None
    with stream:
        lines = read_lines(stream, path.stat().st_size, file, Tally())
        return _Sheet(file, form, key).read(_records(lines, file))


class _Sheet:
    def __init__(self, file: str, form: SheetForm, key: SheetKey) -> None:
        self._file = file
        self._form = form
        self._rows = {row.code: row for row in key.rows}
        self._lines: dict[str, int] = {}

    def read(self, records: Iterator[Record]) -> SheetAnswers:
        answers: list[SheetAnswer] = []
        blank = 0
        ignored: tuple[str, ...] = ()
        for record in records:
            fields = {
                name.strip(): value.strip() if isinstance(value, str) else "" for name, value in record.fields.items()
            }
            if not self._lines:
                ignored = self._checked_header(fields)
            if not any(fields.values()):
                continue
            answer = self._answer(fields, record.line)
            if answer.labels:
                answers.append(answer)
            else:
                blank += 1
        if not answers:
            raise DatasetError(
                "no row has a label", where=Where(self._file), hint=f"fill in {listed(self._form.columns.values())}"
            )
        partial = sum(len(answer.labels) < len(self._form.labels) for answer in answers)
        return SheetAnswers(tuple(answers), blank, len(self._rows) - len(self._lines), partial, ignored)

    def _checked_header(self, fields: Mapping[str, str]) -> tuple[str, ...]:
        asked = (CODE, *self._form.columns.values())
        for name in asked:
            if name not in fields:
                close = get_close_matches(name, fields, n=1)
                meant = f"; is it {quoted(close[0])}?" if close else ""
                hint = f"the sheet needs the columns {listed(asked)}, named as they were written"
                raise DatasetError(f"the header has no {quoted(name)}{meant}", where=Where(self._file, 1), hint=hint)
        return tuple(name for name in fields if name not in (*asked, NOTE, *TEXTS))

    def _answer(self, fields: Mapping[str, str], line: int) -> SheetAnswer:
        code = fields[CODE]
        row = self._rows.get(code)
        if row is None:
            message = f"{quoted(code)} is no row of this sheet" if code else "is empty, and the row is not"
            hint = "leave the codes as they were written, and each sheet with its own key"
            raise DatasetError(message, where=Where(self._file, line, CODE), hint=hint)
        first = self._lines.setdefault(code, line)
        if first != line:
            raise DatasetError(
                f"{quoted(code)} stands on line {first} already",
                where=Where(self._file, line, CODE),
                hint="keep one of them",
            )
        labels: dict[str, float] = {}
        for name, column in self._form.columns.items():
            if fields[column]:
                labels[name] = self._label(fields[column], Where(self._file, line, column), row.order)
        return SheetAnswer(row.id, line, labels, fields.get(NOTE, ""))

    def _label(self, cell: str, where: Where, order: str) -> float:
        form = self._form
        word = cell.casefold()
        if form.mode == "gate" and word in _BOOLEANS:
            return _BOOLEANS[word]
        if form.mode == "pairwise" and word in _WINNERS:
            # 0.0 rather than -0.0 for a tie, which a file would tell apart.
            return _WINNERS[word] * (-1 if order == "ba" else 1) + 0.0
        if form.mode == "absolute":
            found = _WHOLE.fullmatch(cell)
            if found is not None and form.low <= int(found[1]) <= form.high:
                return float(found[1])
        hint = "leave the cell empty where there is nothing to say, and write remarks under `note`"
        raise DatasetError(f"{quoted(cell)} is not {form.offered}", where=where, hint=hint)


def _records(lines: Iterator[tuple[int, str]], file: str) -> Iterator[Record]:
    """Yield the records, cells parted by whatever the spreadsheet parts them by."""
    head = next(lines, None)
    told = None if head is None else _SEP.fullmatch(head[1])
    if told is not None:
        return read_csv(lines, file, Tally(), told[1])
    if head is None:
        raise DatasetError("the file is empty", where=Where(file))
    return read_csv(chain((head,), lines), file, Tally(), _delimiter(head[1]))


def _delimiter(head: str) -> str:
    """Return what parts the header's cells: the mark that leaves most of them, with the code among them."""

    def parted(mark: str) -> int:
        cells = [cell.strip(' "') for cell in head.rstrip().split(mark)]
        return len(cells) if CODE in cells else 0

    return max(_DELIMITERS, key=parted)
