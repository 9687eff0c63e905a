"""A labels file: the lines that were there, with their weights, and new ones after them."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from agentanvil.dataset.label_columns import RATER, WEIGHT
from agentanvil.dataset.records import WINNER
from agentanvil.errors import DatasetError, Where, quoted
from agentanvil.report.atomic import AtomicText
from agentanvil.report.cells import number_cell, text_cell
from agentanvil.strict_json import JsonValue

COMMENT = "comment"
_WORDS = {1.0: "a", -1.0: "b", 0.0: "tie"}
_DIGITS = 12


@dataclass(frozen=True, slots=True)
class NewLine:
    """What one rater says of one item. In `labels` a winner is 1, -1 or 0."""

    id: str
    rater: str
    labels: Mapping[str, float]
    comment: str = ""


def new_lines(kind: str, lines: Iterable[NewLine], file: str) -> list[dict[str, JsonValue]]:
    """Return lines as they are to stand in `file`, which is of that kind.

    Raises DatasetError for an id or a rater that no spreadsheet could leave as it is, in a CSV file.
    """
    return [_line(kind, line, Where(file)) for line in lines]


def write_labels(
    file: AtomicText, kind: str, lines: Iterable[Mapping[str, JsonValue]], weights: Mapping[str, float]
) -> None:
    """Write all lines with the weight of their item, without committing them; an item without labels weighs one.

    CSV: the first line's columns first, then others as they come. UTF-8 without a byte order mark.
    """
    weighed = [{**line, WEIGHT: _rounded(weights.get(str(line["id"]), 1.0))} for line in lines]
    if kind == "jsonl":
        file.write("".join([f"{json.dumps(line, ensure_ascii=False)}\n" for line in weighed]))
        return
    columns = dict.fromkeys(["id", RATER, WEIGHT, *(name for line in weighed for name in line)])
    # The csv writer quotes a lone CR only where its own line end holds one.
    rows = csv.DictWriter(file, list(columns), restval="", lineterminator="\r\n")
    rows.writeheader()
    rows.writerows(weighed)


def _line(kind: str, line: NewLine, where: Where) -> dict[str, JsonValue]:
    labels = {name: _label(name, label) for name, label in line.labels.items()}
    if kind == "jsonl":
        comment = {COMMENT: line.comment} if line.comment else {}
        return {"id": line.id, RATER: line.rater, **labels, **comment}
    for name in (line.id, line.rater):
        if text_cell(name) != name:
            raise DatasetError(
                f"{quoted(name)} cannot stand in a CSV file: a spreadsheet would read it as a formula, or cut it",
                where=where,
                hint="keep the labels in a file that ends in .jsonl",
            )
    cells: dict[str, JsonValue] = {name: _cell(label) for name, label in labels.items()}
    return {"id": line.id, RATER: line.rater, WEIGHT: "", **cells, COMMENT: text_cell(line.comment)}


def _label(name: str, label: float) -> JsonValue:
    if isinstance(label, bool):
        return label
    return _WORDS[label] if name == WINNER else number_cell(label)


def _cell(label: JsonValue) -> JsonValue:
    return ("true" if label else "false") if isinstance(label, bool) else label


def _rounded(weight: float) -> float | int | str:
    """Return a weight with as many digits as any estimate could need, alike on every machine."""
    return number_cell(float(f"{weight:.{_DIGITS}g}"))
