"""CSV → records: a header, then cells of text; `labels.NAME` and `meta.NAME` columns become objects."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterable, Iterator

from agentanvil.dataset.faults import listed
from agentanvil.dataset.fieldmap import OBJECT_FIELDS
from agentanvil.dataset.lines import Record, Tally
from agentanvil.errors import DatasetError, Where, quoted
from agentanvil.strict_json import JsonValue

# In characters. The csv module's own limit of 131,072 is below a long document; none at all would let one
# quote that is never closed swallow the file.
MAX_CELL = 1 << 27

_OPTIONAL = frozenset({"source", "model", *OBJECT_FIELDS})


class _Feed:
    """The lines for the csv module; `number` is the physical line it was given last."""

    def __init__(self, lines: Iterable[tuple[int, str]]) -> None:
        self._lines = iter(lines)
        self.number = 0

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        self.number, text = next(self._lines)
        return text


def read_csv(lines: Iterable[tuple[int, str]], file: str, tally: Tally, delimiter: str = ",") -> Iterator[Record]:
    """Yield one record per row; blank lines between rows count in `tally`. `delimiter` parts the cells.

    An empty cell of an optional column is null. Raises DatasetError on a header that is missing
    or has empty or repeated names, on rows with more or fewer cells, and on broken quoting.
    """
    feed = _Feed(lines)
    header: list[str] | None = None
    for line, cells in _cells(feed, file, delimiter):
        if not cells or (len(cells) == 1 and not cells[0].strip() and len(header or ()) != 1):
            tally.blank_lines += 1
        elif header is None:
            header = _checked_header(cells, file, line)
        elif len(cells) != len(header):
            raise DatasetError(
                f"the row has {len(cells)} cells, the header {len(header)}",
                where=Where(file, line),
                hint="a cell that holds a comma, a quote or a line break must stand in double quotes",
            )
        else:
            yield Record(line, _fields(header, cells))
    if header is None:
        raise DatasetError("the file has no header and no rows", where=Where(file))


def _cells(feed: _Feed, file: str, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    csv.field_size_limit(MAX_CELL)  # the module knows no limit per reader
    reader = csv.reader(feed, strict=True, delimiter=delimiter)
    while True:
        start = feed.number + 1
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            reason = str(error)
            hint = "inside a quoted cell, a double quote is written twice"
            if reason == "unexpected end of data":
                reason, hint = "a quoted cell of this row is never closed", "close it with a double quote"
            raise DatasetError(f"not CSV: {reason}", where=Where(file, start), hint=hint) from None
        yield start, cells


def _checked_header(names: list[str], file: str, line: int) -> list[str]:
    where = Where(file, line)
    if any(not name.strip() for name in names):
        column = next(place for place, name in enumerate(names, 1) if not name.strip())
        raise DatasetError(f"column {column} of the header has no name", where=where)
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        raise DatasetError(f"the header names {listed(twice)} more than once", where=where)
    for name in OBJECT_FIELDS:
        if name in names and any(other.startswith(f"{name}.") for other in names):
            raise DatasetError(f"the header has {quoted(name)} and {name}.NAME columns", where=where, hint="keep one")
    if len(names) == 1 and any(mark in names[0] for mark in ";\t|"):
        raise DatasetError("the header is one column", where=where, hint="cells are separated by commas here")
    return names


def _fields(header: list[str], cells: list[str]) -> dict[str, JsonValue]:
    fields: dict[str, JsonValue] = {}
    for name, cell in zip(header, cells, strict=True):
        head, dot, rest = name.partition(".")
        if dot and head in OBJECT_FIELDS and rest:
            inner = fields.setdefault(head, {})
            if isinstance(inner, dict):
                inner[rest] = cell
        else:
            fields[name] = cell if cell or name not in _OPTIONAL else None
    return fields
