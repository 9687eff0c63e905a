"""The lines of a labels file as they stand, so that it can be extended without losing what it says beside labels."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from agentanvil.dataset.files import READERS, is_regular
from agentanvil.dataset.labels_file import KINDS
from agentanvil.dataset.lines import Tally, read_lines
from agentanvil.errors import DatasetError, Where
from agentanvil.strict_json import JsonValue


@dataclass(frozen=True, slots=True)
class LabelLines:
    """The lines of one file with their numbers; of a CSV file the cells by their columns."""

    kind: str
    lines: tuple[tuple[int, Mapping[str, JsonValue]], ...]


def read_label_lines(path: Path) -> LabelLines:
    """Return the lines of a labels file, none where there is no such file.

    Raises DatasetError where it cannot be read, and where its ending names no format.
    """
    kind = KINDS.get(path.suffix.casefold())
    file = str(path)
    if kind is None:
        hint = "name a file that ends in .csv or .jsonl"
        raise DatasetError(f"the ending {path.suffix!r} names no format of labels", where=Where(file), hint=hint)
    try:
        if not is_regular(path):
            raise DatasetError("is no regular file", where=Where(file))
        stream = path.open("rb")
    except FileNotFoundError:
        return LabelLines(kind, ())
    except OSError as error:
        raise DatasetError(f"cannot be opened: {error.strerror}", where=Where(file)) from None
    with stream:
        lines = read_lines(stream, path.stat().st_size, file, Tally())
        records = READERS[kind](lines, file, Tally())
        found = [(each.line, each.fields if kind == "jsonl" else _cells(each.fields)) for each in records]
    return LabelLines(kind, tuple(found))


def _cells(fields: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    """Return a CSV row's cells by the header's names: `labels.NAME` columns were gathered into one object."""
    cells: dict[str, JsonValue] = {}
    for name, value in fields.items():
        if isinstance(value, dict):
            cells.update({f"{name}.{inner}": cell for inner, cell in value.items()})
        else:
            cells[name] = "" if value is None else value
    return cells
