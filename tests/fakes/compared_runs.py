"""Two runs side by side: by hand from plain scores, or made for real from recorded grades."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from agentanvil.aggregate import Frame, ItemOutcomes, ItemResult, Reading, reduce_item
from agentanvil.aggregate.comparison.columns import JoinedColumns, RunColumns, Shape
from agentanvil.aggregate.comparison.figure import FigureTerms, adjusted, compare_figure, finding
from agentanvil.aggregate.comparison.tally import ComparedFigure
from agentanvil.rubric import Rubric
from agentanvil.runner.comparison.compare import Compared, CompareSettings, compare
from tests.fakes.graded import Pair, Score, item, plan
from tests.fakes.graded import compare as compare_pair
from tests.fakes.runs import Collected, Runs, recording, verdict

Rows = Mapping[str, Mapping[str, Sequence[Score] | Score]]
"""Scores by item id and dimension."""


@dataclass
class Side:
    """One run by hand."""

    frame: Frame
    rows: Sequence[ItemOutcomes]

    @classmethod
    def of(cls, rubric: Rubric, rows: Rows, repeats: int = 1) -> Side:
        shape = plan(rubric, repeats)
        outcomes = [item(shape, index, scores, name=name) for index, (name, scores) in enumerate(rows.items())]
        return cls(Frame.of(rubric, shape), outcomes)

    @classmethod
    def of_pairs(cls, rubric: Rubric, pairs: Mapping[str, Pair], reading: Reading = "verdict") -> Side:
        shape = plan(rubric)
        outcomes = [compare_pair(shape, index, pair, name) for index, (name, pair) in enumerate(pairs.items())]
        return cls(Frame.of(rubric, shape, reading=reading), outcomes)

    def results(self) -> list[ItemResult]:
        return [reduce_item(self.frame, row) for row in self.rows]


def joined(a: Side, b: Side) -> JoinedColumns:
    shape = Shape.of(a.frame, b.frame)
    columns = []
    for side in (a, b):
        found = RunColumns(side.frame, shape)
        for result in side.results():
            found.add(result)
        columns.append(found)
    return JoinedColumns(columns[0], columns[1], shape)


def figures(a: Side, b: Side, margin: float = 0.0, seed: int = 7) -> dict[str, ComparedFigure]:
    """Every figure of two runs by its id, decided."""
    both = joined(a, b)
    found = [
        compare_figure(spec, both.figure(number), FigureTerms(seed, margin))
        for number, spec in enumerate(both.shape.specs)
    ]
    return {
        figure.id: replace(
            figure, adjusted_p=p_value, finding=finding(figure.interval, p_value, margin, figure.clusters)
        )
        for figure, p_value in zip(found, adjusted(found), strict=True)
    }


@dataclass
class Graded:
    """One run for real, in a folder of its own: `scores` gives accuracy and coverage, None for no usable verdict.

    Responses are the system's own, so that two systems' data differ.
    """

    folder: Path
    scores: Mapping[str, tuple[object, object] | None]
    system: str = "one"
    request: str = "What is {id}?"
    rubric: str | None = None

    def run(self) -> Path:
        """Make the run and return its folder."""
        self.folder.mkdir()
        rows = [
            {"id": name, "request": self.request.format(id=name), "response": f"It is the number of {self.system}."}
            for name in self.scores
        ]
        said = [
            {"id": name, "reply": "no idea" if found is None else verdict(*found)}
            for name, found in self.scores.items()
        ]
        runs = Runs(self.folder, recording(self.folder, *said), *rows)
        if self.rubric is not None:
            runs.rubric.write_text(self.rubric, encoding="utf-8")
        runs.grade()
        return runs.out


def side_by_side(a: Path, b: Path, listener: Collected | None = None, **changes: Any) -> Compared:
    return compare(CompareSettings(a, b, **changes), listener or Collected())
