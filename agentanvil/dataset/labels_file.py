"""A file of human labels: CSV or JSON lines, a line an item or a line an item and rater, read strictly.

Labels are few numbers an item, so that all of them are held; equal ones are held once.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from agentanvil.dataset.faults import FieldError
from agentanvil.dataset.files import READERS, is_regular
from agentanvil.dataset.label_columns import RATER, WEIGHT, LabelColumns, LabelsAsked, Ratings
from agentanvil.dataset.lines import Record, Tally, read_lines
from agentanvil.dataset.values import read_id
from agentanvil.errors import DatasetError, Where, quoted
from agentanvil.hashing import digest, well_formed

KINDS = {".jsonl": "jsonl", ".ndjson": "jsonl", ".json": "jsonl", ".csv": "csv"}
_HINT = "give a CSV or JSON lines file with the columns id, rater (if there are several), and one a dimension"


@dataclass(frozen=True, slots=True)
class ItemLabels:
    """What people said of one item: per dimension (rater, label) by the raters' names.

    `weight` is the sampling weight, 1 / the probability with which the item was drawn to be labelled; None where the
    file has none.
    """

    ratings: Ratings
    weight: float | None = None


@dataclass(frozen=True, slots=True)
class LabelsFile:
    """One labels file. `items` holds what has a label at all, by id; `blank` counts lines without one.

    `raters` are the names, ascending; a rater without a name is the empty one. `counts` says how many labels each
    dimension has. `hash` covers the bytes.
    """

    file: str
    hash: str
    items: Mapping[str, ItemLabels]
    raters: tuple[str, ...]
    counts: Mapping[str, int]
    blank: int

    @property
    def weighted(self) -> bool:
        """Whether the lines bring sampling weights."""
        return any(item.weight is not None for item in self.items.values())


def read_labels(path: Path, asked: LabelsAsked) -> LabelsFile:
    """Read every label of a file.

    Raises DatasetError, naming file, line and field, where it cannot be read, a column is no dimension, a label is no
    number or not on the scale, a rater labels an item twice, a weight is missing or is not one for all lines of an
    item, and where the file holds no label at all.
    """
    shown = well_formed(str(path))
    kind = _kind(path, shown)
    content = hashlib.blake2b(digest_size=16)
    tally = Tally(content.update)
    gathered = _Gathered(shown, LabelColumns(asked, cells=kind == "csv"))
    for record in _records(path, shown, kind, tally):
        gathered.add(record)
    return gathered.result(digest(kind, content.hexdigest()))


class _Gathered:
    """The labels read so far; `_lines` remembers where each item and rater stood, to name both of a duplicate."""

    def __init__(self, file: str, columns: LabelColumns) -> None:
        self._file = file
        self._columns = columns
        self._items: dict[str, ItemLabels] = {}
        self._lines: dict[tuple[str, str], int] = {}
        self._seen: dict[str, Ratings] = {}
        self._raters: set[str] = set()
        self._counts: Counter[str] = Counter()
        self._blank = 0
        self._first: tuple[int, bool] | None = None

    def add(self, record: Record) -> None:
        """Read one line."""
        try:
            self._add(record)
        except FieldError as fault:
            where = Where(self._file, record.line, fault.field)
            raise DatasetError(fault.message, where=where, hint=fault.hint) from None

    def result(self, content: str) -> LabelsFile:
        """Return what the whole file holds."""
        if not self._items:
            many = f"{self._blank} line(s), none of them with a label" if self._blank else "no line with a label"
            raise DatasetError(many, where=Where(self._file), hint=_HINT)
        return LabelsFile(
            file=self._file,
            hash=content,
            items=self._items,
            raters=tuple(sorted(self._raters)),
            counts=dict(sorted(self._counts.items())),
            blank=self._blank,
        )

    def _add(self, record: Record) -> None:
        if "id" not in record.fields:
            raise FieldError("id", "missing; a label needs the id of the row that it is about")
        item_id = read_id(record.fields["id"])
        found = self._columns.read(record.fields)
        self._refuse_second(item_id, found.rater, record.line)
        self._hold_weights(record.line, found.weight is not None)
        before = self._items.get(item_id)
        if before is not None and before.weight != found.weight:
            raise FieldError(
                WEIGHT, f"is {found.weight:g}, on an earlier line of this item {before.weight:g}", "an item has one"
            )
        if not found.ratings:
            self._blank += 1
            return
        ratings = found.ratings if before is None else self._merged(item_id, before.ratings, found.ratings)
        self._items[item_id] = ItemLabels(self._shared(ratings), found.weight)
        for name, given in found.ratings.items():
            self._counts[name] += len(given)
            self._raters.update(rater for rater, _ in given)

    def _merged(self, item_id: str, before: Ratings, more: Ratings) -> Ratings:
        merged = {name: tuple(sorted((*before.get(name, ()), *more.get(name, ())))) for name in {**before, **more}}
        for name, given in merged.items():
            if len({rater for rater, _ in given}) < len(given):
                raise FieldError(name, f"one rater labels {quoted(item_id)} twice")
        return merged

    def _refuse_second(self, item_id: str, rater: str, line: int) -> None:
        first = self._lines.setdefault((item_id, rater), line)
        if first == line:
            return
        by = f" by {quoted(rater)}" if rater else ""
        hint = "keep one of them" if rater else f"where several people labelled, name each in a column `{RATER}`"
        raise FieldError("id", f"{quoted(item_id)} is labelled{by} on line {first} already", hint)

    def _hold_weights(self, line: int, weighted: bool) -> None:
        if self._first is None:
            self._first = line, weighted
        elif self._first[1] != weighted:
            told = "has a weight, line {} none" if weighted else "has no weight, line {} has one"
            raise FieldError(WEIGHT, f"this line {told.format(self._first[0])}", "weigh every line or none")

    def _shared(self, ratings: Ratings) -> Ratings:
        # By their text, since 1.0 and true are equal, and a gate tells them apart.
        return self._seen.setdefault(repr(ratings), ratings)


def _kind(path: Path, shown: str) -> str:
    try:
        regular = is_regular(path)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise DatasetError(f"cannot be opened: {reason}", where=Where(shown), hint=_HINT) from None
    if not regular:
        raise DatasetError("is no regular file", where=Where(shown), hint=_HINT)
    kind = KINDS.get(path.suffix.casefold())
    if kind is None:
        raise DatasetError(f"the ending {path.suffix!r} names no format of labels", where=Where(shown), hint=_HINT)
    return kind


def _records(path: Path, shown: str, kind: str, tally: Tally) -> Iterator[Record]:
    try:
        stream = path.open("rb", buffering=1 << 18)
    except OSError as error:
        raise DatasetError(f"cannot be opened: {error.strerror}", where=Where(shown), hint=_HINT) from None
    with stream:
        size = path.stat().st_size
        if not size:
            raise DatasetError("the file is empty", where=Where(shown), hint=_HINT)
        yield from READERS[kind](read_lines(stream, size, shown, tally), shown, tally)
