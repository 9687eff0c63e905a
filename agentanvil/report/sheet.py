"""A labelling sheet: CSV that a spreadsheet opens, with what a rater has to see and nothing that could sway them."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from tempfile import TemporaryFile
from typing import BinaryIO

from agentanvil.dataset.sheet import CODE, NOTE, SheetForm
from agentanvil.report.atomic import AtomicText
from agentanvil.report.cells import text_cell

# Spreadsheets take a CSV file without it for one in the machine's own old character set.
_BOM = "\ufeff"
_OPTIONAL = ("source", "expected")


@dataclass(frozen=True, slots=True)
class SheetTexts:
    """What is shown of one row, which comes `place`-th in the sheet, counted from 0.

    `responses` are one, or the two sides of a pair in the order in which they are shown. Empty texts are not there.
    """

    place: int
    request: str
    source: str
    expected: str
    responses: tuple[str, ...]


def write_sheet(file: AtomicText, form: SheetForm, codes: Sequence[str], texts: Iterable[SheetTexts]) -> None:
    """Write the sheet of rows that come in any order, without committing it.

    Texts wait on the disk for their place, and none of them is held. Columns of source and expected answer are there
    where any row has one. UTF-8 with a byte order mark; lines end in CR LF; every text is escaped by `text_cell`.
    """
    with TemporaryFile() as kept:
        places, used = _keep(kept, texts)
        responses = ("response_a", "response_b") if form.mode == "pairwise" else ("response",)
        optional = [name for name in _OPTIONAL if name in used]
        # The csv writer quotes a lone CR only where its own line end holds one.
        rows = csv.writer(file, lineterminator="\r\n")
        file.write(_BOM)
        rows.writerow((CODE, "request", *optional, *responses, *form.columns.values(), NOTE))
        blanks = [""] * (len(form.labels) + 1)
        for code, place in zip(codes, places, strict=True):
            kept.seek(place)
            request, source, expected, shown = json.loads(kept.readline())
            more = [text for name, text in zip(_OPTIONAL, (source, expected), strict=True) if name in used]
            rows.writerow([code, *map(text_cell, (request, *more, *shown)), *blanks])


def _keep(kept: BinaryIO, texts: Iterable[SheetTexts]) -> tuple[list[int], set[str]]:
    """Write the texts down; return where each row's begin, by its place in the sheet, and which columns are used."""
    places: dict[int, int] = {}
    used: set[str] = set()
    for row in texts:
        used.update(name for name, text in zip(_OPTIONAL, (row.source, row.expected), strict=True) if text)
        places[row.place] = kept.tell()
        kept.write(json.dumps((row.request, row.source, row.expected, row.responses)).encode() + b"\n")
    return [places[place] for place in range(len(places))], used
