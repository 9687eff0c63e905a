"""The pairs of each domain keep their promises: winners that follow from the labels, balance, reasons beside them."""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from agentanvil.dataset import WINNER, Asked, Row, open_dataset
from agentanvil.dataset.traces import read_trace
from agentanvil.rubric import Rubric, load_rubric
from tests.fakes.readme_tables import README

ROOT = Path(__file__).parents[2]
NAMES = {1: "a", -1: "b", 0: "tie"}
ORDER = ["id", "request", "source", "response_a", "response_b", "model_a", "model_b", "labels", "meta"]
LABEL = re.compile(r"\*\*(\w+) ([+−]\d)\*\* .+? \((\d) against (\d)\)")


@dataclass(frozen=True, slots=True)
class Shipped:
    """The pairs of one rubric; `rubric` is its file name without the ending."""

    rubric: str

    @property
    def path(self) -> Path:
        return ROOT / "datasets" / f"{self.rubric}_pairs.jsonl"

    def load(self) -> Rubric:
        return load_rubric(ROOT / "rubrics" / f"{self.rubric}.yaml")


FILES = [
    Shipped(name) for name in ("grounded", "rag", "summary", "support_reply", "code_review", "translation", "agent")
]
each_file = pytest.mark.parametrize("shipped", FILES, ids=lambda shipped: shipped.rubric)


def written(shipped: Shipped) -> list[dict[str, Any]]:
    """Return the rows as they stand in the file."""
    return [json.loads(line) for line in shipped.path.read_text(encoding="utf-8").removesuffix("\n").split("\n")]


def rows(shipped: Shipped) -> list[Row]:
    dataset = open_dataset(shipped.path, asked=Asked(needs_source=shipped.load().needs_source, pairs=True))
    info = dataset.scan()
    assert (info.hidden_fields, info.flagged) == ((), {})
    return list(dataset.rows())


def deltas(row: dict[str, Any]) -> dict[str, int]:
    return {name: label for name, label in row["labels"].items() if name != WINNER}


def length(response: str | list[dict[str, Any]]) -> int:
    """Return the characters of a response, for a trace those of its messages."""
    return len(response if isinstance(response, str) else json.dumps(response, ensure_ascii=False))


def reasons(shipped: Shipped) -> dict[str, list[str]]:
    """Return language, winner and reason in the README by row id."""
    section = README.read_text(encoding="utf-8").split("\n## The seven `*_pairs.jsonl` files")[1].split("\n## ")[0]
    cells = [[cell.strip() for cell in line.strip("|").split(" | ")] for line in section.splitlines()]
    return {line[1]: line[2:] for line in cells if line[0] == shipped.rubric}


@each_file
def test_there_are_ten_pairs_that_the_reader_takes_as_they_stand(shipped: Shipped) -> None:
    read = rows(shipped)

    assert len(read) == 10
    assert len({row.id for row in read}) == 10
    for row, raw in zip(read, written(shipped), strict=True):
        assert row.rival is not None
        assert row.labels == {
            WINNER: ({"a": 1.0, "b": -1.0, "tie": 0.0}[raw["labels"][WINNER]],),
            **{name: (float(delta),) for name, delta in deltas(raw).items()},
        }
        assert raw["response_a"] != raw["response_b"], row.id


@each_file
def test_each_dimension_has_a_label_that_is_a_difference_of_two_anchors(shipped: Shipped) -> None:
    rubric = shipped.load()
    most = rubric.scale.max - rubric.scale.min

    for row in written(shipped):
        assert list(row["labels"]) == [WINNER, *(dimension.id for dimension in rubric.judged)], row["id"]
        for dimension in rubric.judged:
            delta = row["labels"][dimension.id]
            assert type(delta) is int
            assert -most <= delta <= most, row["id"]
            assert delta in {a - b for a in dimension.anchors for b in dimension.anchors}, row["id"]


@each_file
def test_the_winner_follows_from_the_labels_by_the_rule_of_the_minimum(shipped: Shipped) -> None:
    assert shipped.load().overall.rule == "min"

    for row in written(shipped):
        overall = (min(deltas(row).values()) + max(deltas(row).values())) / 2
        assert row["labels"][WINNER] == NAMES[(overall > 0) - (overall < 0)], row["id"]


@each_file
def test_neither_place_nor_length_tells_the_winner(shipped: Shipped) -> None:
    won = Counter(row["labels"][WINNER] for row in written(shipped))
    longer_won = sum(
        (length(row["response_a"]) > length(row["response_b"])) == (row["labels"][WINNER] == "a")
        for row in written(shipped)
        if row["labels"][WINNER] != "tie"
    )

    assert won["tie"] == 1
    assert {won["a"], won["b"]} == {4, 5}
    assert 3 <= longer_won <= 7


@each_file
def test_three_systems_meet_and_each_wins_and_loses(shipped: Shipped) -> None:
    met: Counter[frozenset[str]] = Counter()
    won: Counter[str] = Counter()
    lost: Counter[str] = Counter()
    for row in written(shipped):
        a, b = row["model_a"], row["model_b"]
        met[frozenset({a, b})] += 1
        if row["labels"][WINNER] != "tie":
            better, worse = (a, b) if row["labels"][WINNER] == "a" else (b, a)
            won[better] += 1
            lost[worse] += 1

    assert sorted(met.values()) == [3, 3, 4]
    assert won.keys() == lost.keys() == {"system-1", "system-2", "system-3"}


@each_file
def test_every_dimension_that_can_differ_decides_a_pair(shipped: Shipped) -> None:
    used = {name for row in written(shipped) for name, delta in deltas(row).items() if delta}
    shared = {"context_relevance"} if shipped.rubric == "rag" else set()

    assert used == {dimension.id for dimension in shipped.load().judged} - shared


@each_file
def test_in_each_file_one_pair_is_decided_against_a_lead_in_another_dimension(shipped: Shipped) -> None:
    mixed = [row["id"] for row in written(shipped) if min(deltas(row).values()) < 0 < max(deltas(row).values())]

    assert mixed or shipped.rubric == "code_review"


@each_file
def test_the_readme_gives_the_winner_and_the_grades_behind_each_label(shipped: Shipped) -> None:
    table = reasons(shipped)

    assert list(table) == [row["id"] for row in written(shipped)]
    for row in written(shipped):
        language, winner, why = table[row["id"]]
        assert (language, winner) == (row["meta"]["language"], row["labels"][WINNER]), row["id"]
        found = {name: (int(sign.replace("−", "-")), int(a) - int(b)) for name, sign, a, b in LABEL.findall(why)}
        assert found == {name: (delta, delta) for name, delta in deltas(row).items() if delta}, row["id"]
        assert why, row["id"]


@each_file
def test_the_texts_are_short_enough_for_a_small_judge(shipped: Shipped) -> None:
    for row in written(shipped):
        source = row.get("source", "")
        passages = [source] if isinstance(source, str) else source
        assert len(row["request"].split()) <= 50, row["id"]
        assert sum(len(passage.split()) for passage in passages) <= 90, row["id"]
        if shipped.rubric != "agent":
            for side in ("response_a", "response_b"):
                assert 15 <= len(row[side].split()) <= 60, row["id"]


def test_both_traces_of_an_agent_s_pair_are_read_in_full_and_answer_the_same_request() -> None:
    for row in written(Shipped("agent")):
        for side in ("response_a", "response_b"):
            trace = read_trace(row[side])
            assert trace is not None
            assert trace.request == row["request"], row["id"]
            assert trace.plan, row["id"]
            assert trace.final_answer, row["id"]
            assert 2 <= len([*trace.steps, trace.final_answer]) <= 4, row["id"]
            assert all(call.args is not None and call.result is not None for call in trace.calls), row["id"]
            assert (trace.error, trace.warnings) == (None, ()), row["id"]


@each_file
def test_no_response_stands_in_the_file_of_single_responses(shipped: Shipped) -> None:
    demo = ROOT / "datasets" / f"{shipped.rubric}_demo.jsonl"
    single = [json.loads(line)["response"] for line in demo.read_text(encoding="utf-8").splitlines()]

    assert not [row["id"] for row in written(shipped) if row["response_a"] in single or row["response_b"] in single]


@each_file
def test_the_files_are_plain_utf8_lines_with_keys_in_one_order(shipped: Shipped) -> None:
    data = shipped.path.read_bytes()

    assert data.endswith(b"\n")
    assert b"\r" not in data
    assert not re.search(rb"(?<!\\)\\u", data), "characters stand as themselves"
    for row in written(shipped):
        places = [ORDER.index(key) for key in row]
        assert all(left < right for left, right in pairwise(places)), row["id"]
        assert ("source" in row) == shipped.load().needs_source, row["id"]
        assert list(row["meta"]) == ["domain", "language"], row["id"]
