"""The tables of datasets/README.md, so that the reasons that people read cannot drift from the labels."""

from __future__ import annotations

from pathlib import Path

README = Path(__file__).parents[2] / "datasets" / "README.md"


def reasons_by_id(file: str) -> dict[str, dict[str, str]]:
    """Return the cells of the table on one data file by row id and column title."""
    section = README.read_text(encoding="utf-8").split(f"\n## `{file}`", maxsplit=1)[1].split("\n## ")[0]
    lines = [line for line in section.splitlines() if line.startswith("|")]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    titles, body = cells[0], cells[2:]
    table = {line[0]: dict(zip(titles, line, strict=True)) for line in body}
    assert len(table) == len(body), "an id stands twice in the table"
    return table


def contents() -> dict[str, str]:
    """Return the rubric of each data file, as the table at the top of the README has it."""
    head = README.read_text(encoding="utf-8").split("\n## ")[0]
    cells = [line.strip("|").split("|") for line in head.splitlines() if line.startswith("| `")]
    return {file.strip().strip("`"): rubric.strip().strip("`") for file, _, rubric, _ in cells}
