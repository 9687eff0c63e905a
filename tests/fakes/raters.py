"""Scripted people: they fill in labelling sheets by what they think of a row."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from agentanvil.dataset.sheet_key import SheetKey, key_path, read_key

Opinion = Callable[[str, Mapping[str, str]], Mapping[str, object]]
"""A row's id (which no real rater sees) and what is shown of it → cells by column."""


def read_cells(sheet: Path) -> list[dict[str, str]]:
    """The rows of a sheet."""
    with sheet.open(encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))


def fill(sheet: Path, opinion: Opinion) -> SheetKey:
    """Fill in a sheet, and return its key."""
    key = read_key(key_path(sheet))
    ids = {row.code: row.id for row in key.rows}
    rows = read_cells(sheet)
    for row in rows:
        row.update({name: str(cell) for name, cell in opinion(ids[row["id"]], row).items()})
    with sheet.open("w", encoding="utf-8-sig", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return key


def read_weights(labels: Path) -> dict[str, float]:
    """The weight of every item of a labels file."""
    if labels.suffix == ".jsonl":
        lines: list[Any] = [json.loads(line) for line in labels.read_text(encoding="utf-8").splitlines()]
    else:
        lines = read_cells(labels)
    return {str(line["id"]): float(line["weight"]) for line in lines}
