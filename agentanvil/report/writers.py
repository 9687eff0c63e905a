"""All reports of one run, written side by side as its rows stream past."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Self

from agentanvil.aggregate import Frame, ItemResult, Summary
from agentanvil.report.atomic import AtomicText
from agentanvil.report.csv_files import ItemsCsv, ScoresCsv
from agentanvil.report.junit import Ended, JUnitXml
from agentanvil.report.summary_json import summary_json

ITEMS, SCORES, JUNIT, SUMMARY = "items.csv", "scores.csv", "junit.xml", "summary.json"


class ReportWriters:
    """A context: `add` every result in row order, then `finish` once; only that puts the files in place.

    Leaving without `finish`, by an error or not, leaves the older reports of the folder untouched. `junit` is
    None for "where the rubric has a gate"; `properties` are what it says of the run as a whole, by name, `lenient`
    that some verdicts may be missing.
    """

    def __init__(
        self,
        folder: Path,
        frame: Frame,
        *,
        junit: bool | None = None,
        properties: Mapping[str, str] | None = None,
        lenient: bool = False,
    ) -> None:
        self._files: list[AtomicText] = []
        self._folder = folder
        self._items = ItemsCsv(self._open(ITEMS), frame)
        self._scores = ScoresCsv(self._open(SCORES), frame)
        wanted = bool(frame.gated) if junit is None else junit
        self._junit = JUnitXml(self._open(JUNIT), frame, properties, lenient=lenient) if wanted else None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for file in self._files:
            file.discard()

    def add(self, result: ItemResult) -> None:
        """Append one item to every row report."""
        self._items.add(result)
        self._scores.add(result)
        if self._junit is not None:
            self._junit.add(result)

    def finish(self, summary: Summary, ended: Ended | None = None) -> None:
        """Write the summary and put all reports in place; `ended` is what the run lacks whatever its gate says."""
        self._items.finish()
        self._scores.finish()
        if self._junit is not None:
            self._junit.finish(summary.gate, ended)
        self._open(SUMMARY).write(summary_json(summary).decode())
        # Everything is on its way to the disk before the first file moves: a full disk leaves the old set whole.
        for file in self._files:
            file.close()
        for file in self._files:
            file.commit()
        self._files.clear()

    def _open(self, name: str) -> AtomicText:
        file = AtomicText(self._folder / name)
        self._files.append(file)
        return file
