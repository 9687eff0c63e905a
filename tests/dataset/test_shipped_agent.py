"""The shipped agent traces keep their promise: one planted fault each, in a shape that the readers know."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from agentanvil.dataset import Row, open_dataset
from agentanvil.dataset.traces import Trace, read_trace
from agentanvil.rubric import Rubric, load_rubric

ROOT = Path(__file__).parents[2]
DATA = ROOT / "datasets" / "agent_demo.jsonl"
README = ROOT / "datasets" / "README.md"
TOP = 3
KEYS = ["id", "request", "response", "labels", "meta"]


@pytest.fixture(scope="module")
def rubric() -> Rubric:
    return load_rubric(ROOT / "rubrics" / "agent.yaml")


@pytest.fixture(scope="module")
def rows() -> list[Row]:
    dataset = open_dataset(DATA)
    assert dataset.scan().hidden_fields == ()
    return list(dataset.rows())


def written() -> list[dict[str, Any]]:
    """Return the rows as they stand in the file."""
    return [json.loads(line) for line in DATA.read_text(encoding="utf-8").removesuffix("\n").split("\n")]


def traces() -> dict[str, Trace]:
    found = {row["id"]: read_trace(row["response"]) for row in written()}
    return {name: trace for name, trace in found.items() if trace is not None}


def readme_table() -> dict[str, list[str]]:
    """Return the cells of the README's table on these rows by row id."""
    section = README.read_text(encoding="utf-8").split("\n## `agent_demo.jsonl`", maxsplit=1)[1].split("\n## ")[0]
    lines = [line for line in section.splitlines() if line.startswith("| ")]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return {line[0]: line for line in cells[2:]}


def test_there_are_twelve_traces_from_twelve_domains_in_at_least_four_formats(rows: list[Row]) -> None:
    assert len(rows) == 12
    assert len({row.id for row in rows}) == 12
    assert len({row.meta["domain"] for row in rows}) == 12
    assert len({row.meta["format"] for row in rows}) >= 4
    assert all(not row.flags for row in rows)


def test_each_row_is_graded_on_the_anchors_of_all_seven_dimensions(rows: list[Row], rubric: Rubric) -> None:
    anchored = {dimension.id: set(dimension.anchors) for dimension in rubric.judged}

    for row in rows:
        assert list(row.labels) == list(anchored), row.id
        assert all(len(given) == 1 and given[0] in anchored[name] for name, given in row.labels.items()), row.id


def test_exactly_the_planted_dimension_is_below_the_top(rows: list[Row]) -> None:
    for row in rows:
        below = [name for name, (grade,) in row.labels.items() if grade < TOP]
        assert below == [row.meta["planted"]], row.id


def test_every_dimension_is_planted_and_both_lower_anchors_occur(rows: list[Row], rubric: Rubric) -> None:
    planted = Counter(row.meta["planted"] for row in rows)
    grades = Counter(min(grade for (grade,) in row.labels.values()) for row in rows)

    assert planted.keys() == {dimension.id for dimension in rubric.judged}
    assert sum(count == 2 for count in planted.values()) == 5
    assert grades.keys() == {2, 0}
    assert min(grades.values()) >= 5


def test_each_response_is_a_trace_that_the_readers_know_in_full() -> None:
    found = traces()

    assert list(found) == [row["id"] for row in written()]
    for row in written():
        trace = found[row["id"]]
        assert trace.request == row["request"], row["id"]
        assert trace.plan, row["id"]
        assert trace.final_answer, row["id"]
        assert 4 <= len(trace.steps) <= 12, row["id"]
        assert trace.calls, row["id"]
        assert all(call.args is not None and call.result is not None for call in trace.calls), row["id"]
        assert (trace.error, trace.warnings) == (None, ()), row["id"]


def test_no_trace_holds_a_verdict_of_its_own() -> None:
    def keys(value: object) -> set[str]:
        if isinstance(value, dict):
            return set(value) | {key for each in value.values() for key in keys(each)}
        return {key for each in value for key in keys(each)} if isinstance(value, list) else set()

    for row in written():
        assert not keys(row["response"]) & {"score", "scores", "reward", "reward_info", "expected", "target", "gold"}


def test_what_makes_the_fault_can_be_seen_in_what_was_read() -> None:
    """The planted words must survive the reading, or the grade has nothing to stand on."""
    found = traces()

    assert any("hall 3 by 100 kWh" in getattr(step, "text", "") for step in found["hall-power"].steps)
    assert any("nothing for the postcodes" in getattr(step, "text", "") for step in found["member-table"].steps)
    assert "postcode" not in (found["member-table"].plan or "")
    assert "Save the definition" in (found["unused-index"].plan or "")
    assert [call.tool for call in found["rota-meeting"].calls] == [*["list_events"] * 3, "create_event"]
    assert found["fire-inspections"].final_answer is not None
    assert "None is overdue" in found["fire-inspections"].final_answer


def test_the_readme_names_fault_and_reason_of_each_row(rows: list[Row]) -> None:
    table = readme_table()

    assert list(table) == [row.id for row in rows]
    for row in rows:
        _, form, planted, grade, fault, siblings = table[row.id]
        assert (form, planted) == (row.meta["format"], row.meta["planted"])
        assert float(grade) == row.labels[planted][0], row.id
        assert fault, row.id
        assert siblings, row.id


def test_the_file_is_plain_utf8_lines_with_keys_in_one_order() -> None:
    data = DATA.read_bytes()

    assert data.endswith(b"\n")
    assert b"\r" not in data
    assert b"\\u" not in data
    for row in written():
        assert list(row) == KEYS
        assert list(row["meta"]) == ["domain", "format", "planted"]
        assert all(type(grade) is int for grade in row["labels"].values())
