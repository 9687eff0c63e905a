"""The shipped demo data keeps its promises: grades on the anchors, a wide spread, reasons beside them."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import pytest

from agentanvil.dataset import Asked, Row, open_dataset
from agentanvil.rubric.load import load_rubric
from agentanvil.rubric.model import Rubric
from tests.fakes.readme_tables import contents, reasons_by_id

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True, slots=True)
class Shipped:
    """A data file, the rubric its labels stand on, and what the README promises of it.

    `least` is how many rows each dimension must have below 5, at exactly 3, and at exactly 1.
    """

    file: str
    rubric: str
    rows: int
    not_english: int
    least: tuple[int, int, int] = (2, 1, 1)

    @property
    def path(self) -> Path:
        return ROOT / "datasets" / self.file


DEMO = Shipped("demo.jsonl", "calibrated.yaml", rows=24, not_english=6, least=(6, 3, 3))
GROUNDED = Shipped("grounded_demo.jsonl", "grounded.yaml", rows=12, not_english=2, least=(3, 1, 1))

RAG = Shipped("rag_demo.jsonl", "rag.yaml", rows=10, not_english=1, least=(3, 1, 1))
SUMMARY = Shipped("summary_demo.jsonl", "summary.yaml", rows=10, not_english=2, least=(3, 1, 1))
SUPPORT = Shipped("support_reply_demo.jsonl", "support_reply.yaml", rows=10, not_english=1)
TASKS = (
    RAG,
    SUMMARY,
    SUPPORT,
    Shipped("code_review_demo.jsonl", "code_review.yaml", rows=10, not_english=1),
    Shipped("translation_demo.jsonl", "translation.yaml", rows=10, not_english=6),
)

each_file = pytest.mark.parametrize("shipped", [DEMO, GROUNDED, *TASKS], ids=lambda s: s.file)


def read(shipped: Shipped) -> tuple[Rubric, list[Row]]:
    rubric = load_rubric(ROOT / "rubrics" / shipped.rubric)
    dataset = open_dataset(shipped.path, asked=Asked(needs_source=rubric.needs_source))
    assert dataset.scan().rows == shipped.rows
    return rubric, list(dataset.rows())


def grades(row: Row) -> dict[str, float]:
    assert all(len(raters) == 1 for raters in row.labels.values())
    return {dimension: raters[0] for dimension, raters in row.labels.items()}


@each_file
def test_the_files_have_the_promised_rows_and_languages(shipped: Shipped) -> None:
    _, rows = read(shipped)

    assert len(rows) == shipped.rows
    assert sum(row.meta["language"] != "en" for row in rows) == shipped.not_english
    assert all(isinstance(row.meta["domain"], str) and row.meta["domain"] for row in rows)
    assert all(not row.flags for row in rows)


def test_the_six_rows_that_are_not_english_are_in_six_languages() -> None:
    _, rows = read(DEMO)

    assert {row.meta["language"] for row in rows} == {"en", "ar", "de", "es", "fr", "ja", "pl"}


@each_file
def test_every_dimension_of_a_row_has_a_grade_that_the_rubric_anchors(shipped: Shipped) -> None:
    rubric, rows = read(shipped)
    anchored = {dimension.id: set(dimension.anchors) for dimension in rubric.judged}

    for row in rows:
        given = grades(row)
        assert given.keys() == anchored.keys(), row.id
        assert all(grade in anchored[dimension] for dimension, grade in given.items()), row.id


@each_file
def test_every_dimension_is_spread_over_the_anchors(shipped: Shipped) -> None:
    rubric, rows = read(shipped)
    faulty, middle, lowest = shipped.least

    for dimension in rubric.judged:
        counts = Counter(grades(row)[dimension.id] for row in rows)
        assert len(rows) - counts[5] >= faulty, dimension.id
        assert counts[3] >= middle, dimension.id
        assert counts[1] >= lowest, dimension.id


@each_file
def test_the_lowest_grades_of_the_rows_cover_every_anchor(shipped: Shipped) -> None:
    _, rows = read(shipped)
    overall = Counter(min(grades(row).values()) for row in rows)

    assert overall.keys() == {1, 3, 5}
    assert min(overall.values()) >= (2 if shipped in TASKS else 3)


@each_file
def test_the_readme_gives_the_same_grades_and_a_reason_for_each_below_five(shipped: Shipped) -> None:
    rubric, rows = read(shipped)
    table = reasons_by_id(shipped.file)

    assert list(table) == [row.id for row in rows]
    for row in rows:
        line, given = table[row.id], grades(row)
        assert {d.id: int(line[d.id]) for d in rubric.judged} == given, row.id
        assert int(line["overall"]) == min(given.values()), row.id
        assert line["language"] == row.meta["language"], row.id
        explained = {d.id for d in rubric.judged if f"**{d.id}**" in line["why"]}
        assert explained == {dimension for dimension, grade in given.items() if grade < 5}, row.id


def test_every_grounded_row_has_a_source_and_two_have_several_passages() -> None:
    _, rows = read(GROUNDED)

    assert all(all(passage.strip() for passage in row.source) and row.source for row in rows)
    assert sum(len(row.source) > 1 for row in rows) == 2
    assert all(60 <= sum(len(passage.split()) for passage in row.source) <= 140 for row in rows)


@pytest.mark.parametrize("shipped", [RAG, SUMMARY, SUPPORT], ids=lambda s: s.file)
def test_every_row_of_a_task_with_a_source_has_a_short_one(shipped: Shipped) -> None:
    rubric, rows = read(shipped)

    assert rubric.needs_source
    assert all(row.source and sum(len(passage.split()) for passage in row.source) <= 90 for row in rows)


def test_the_retrieved_passages_come_as_lists() -> None:
    _, rows = read(RAG)

    assert Counter(len(row.source) for row in rows) == {1: 1, 2: 7, 3: 2}
    lines = RAG.path.read_text(encoding="utf-8").splitlines()
    assert all(isinstance(json.loads(line)["source"], list) for line in lines)


def test_the_readme_names_each_shipped_file_and_the_rubric_that_its_labels_stand_on() -> None:
    shipped = {path.name for path in (ROOT / "datasets").glob("*.jsonl")}
    rubrics = {f"rubrics/{path.name}" for path in (ROOT / "rubrics").glob("*.yaml")}

    assert contents().keys() == shipped
    assert set(contents().values()) == rubrics


@each_file
def test_rows_stay_short_enough_for_a_small_judge(shipped: Shipped) -> None:
    _, rows = read(shipped)

    assert all(len(row.response.split()) <= 90 and len(row.response) <= 600 for row in rows)
    assert all(len(row.request.split()) <= 45 and len(row.request) <= 300 for row in rows)


@each_file
def test_the_files_are_plain_utf8_lines_with_keys_in_one_order(shipped: Shipped) -> None:
    judged = [dimension.id for dimension in load_rubric(ROOT / "rubrics" / shipped.rubric).judged]
    data = shipped.path.read_bytes()
    lines = data.decode("utf-8").removesuffix("\n").split("\n")
    order = ["id", "request", "source", "response", "labels", "meta"]

    assert data.endswith(b"\n")
    assert b"\r" not in data
    assert b"\\u" not in data, "characters stand as themselves"
    assert len(lines) == shipped.rows
    for line in lines:
        row = json.loads(line)
        places = [order.index(key) for key in row]
        assert all(left < right for left, right in pairwise(places)), row["id"]
        assert list(row["meta"]) == ["domain", "language"], row["id"]
        assert list(row["labels"]) == judged
        assert all(type(grade) is int for grade in row["labels"].values()), row["id"]
