"""`scores.csv` has every judge's own verdict, `items.csv` what they came to together."""

from __future__ import annotations

from pathlib import Path

from agentanvil.aggregate import ItemOutcomes, Summariser
from agentanvil.report import ReportWriters
from agentanvil.verdict import Scored
from tests.fakes.graded import Pair, plan, rubric
from tests.fakes.runs import read_table
from tests.fakes.seated import because, said, seated, told

FIRST, SECOND, THIRD = "compat:m@http://127.0.0.1:1/v1", "openai:two", "gemini:three"


def written(folder: Path, summariser: Summariser, *rows: ItemOutcomes) -> None:
    with ReportWriters(folder, summariser.frame, junit=True) as writers:
        for row in rows:
            writers.add(summariser.add(row))
        writers.finish(summariser.finish())


def test_each_judge_has_its_rows_in_the_order_of_the_seats(tmp_path: Path) -> None:
    of = rubric("a", "b", checks=["c"])
    shape = seated(plan(of, 2), SECOND, THIRD)
    row = said(
        shape,
        0,
        {"a": [5, 4], "b": [3, 3]},
        {"a": [3, 4], "b": [1, 1]},
        {"a": [1, None], "b": [2, 2]},
        checks={"c": 5},
    )
    written(tmp_path, Summariser(of, shape, seed=7), row)
    scores = [(r["judge"], r["dimension"], r["repeat"], r["score"]) for r in read_table(tmp_path, "scores.csv")]
    assert scores == [
        ("check", "c", "0", "5"),
        (FIRST, "a", "0", "5"),
        (FIRST, "b", "0", "3"),
        (SECOND, "a", "0", "3"),
        (SECOND, "b", "0", "1"),
        (THIRD, "a", "0", "1"),
        (THIRD, "b", "0", "2"),
        (FIRST, "a", "1", "4"),
        (FIRST, "b", "1", "3"),
        (SECOND, "a", "1", "4"),
        (SECOND, "b", "1", "1"),
        (THIRD, "a", "1", ""),
        (THIRD, "b", "1", "2"),
    ]
    (item,) = read_table(tmp_path, "items.csv")
    assert (item["a"], item["b"], item["c"], item["overall"]) == ("3.5", "2", "5", "2")
    assert list(item)[:4] == ["id", "state", "overall", "pass"]


def test_why_a_judge_was_asked_is_a_flag(tmp_path: Path) -> None:
    of = rubric("a")
    shape = seated(plan(of), SECOND, role="escalation")
    rows = [
        because(said(shape, 0, {"a": 4}, {"a": Scored(2, flags=("reasked",))}), SECOND, "unsure"),
        because(said(shape, 1, {"a": 4}, {"a": 2}), SECOND, "share"),
        said(shape, 2, {"a": 4}, None),
    ]
    written(tmp_path, Summariser(of, shape, seed=7), *rows)
    assert [(r["id"], r["judge"], r["flags"]) for r in read_table(tmp_path, "scores.csv")] == [
        ("item-0", FIRST, ""),
        ("item-0", SECOND, "reasked asked_unsure"),
        ("item-1", FIRST, ""),
        ("item-1", SECOND, "asked_share"),
        ("item-2", FIRST, ""),
    ]
    assert [r["overall"] for r in read_table(tmp_path, "items.csv")] == ["2", "4", "4"]


def test_probabilities_stand_beside_the_score_in_every_mode(tmp_path: Path) -> None:
    of = rubric("a")
    cell = Scored(4, expected_score=3.75, entropy=0.5, label_mass=0.98)
    written(tmp_path, Summariser(of, plan(of), seed=7), said(plan(of), 0, {"a": cell}))
    (row,) = read_table(tmp_path, "scores.csv")
    assert (row["score"], row["expected_score"], row["entropy"], row["label_mass"]) == ("4", "3.75", "0.5", "0.98")
    assert (row["slot"], row["preference"]) == ("", "")


def test_each_judge_of_a_pair_has_its_slot(tmp_path: Path) -> None:
    of = rubric("a", mode="pairwise")
    shape = seated(plan(of), SECOND)
    row = told(shape, 0, Pair({"a": [2, 2]}), Pair({"a": [1, -1]}))
    written(tmp_path, Summariser(of, shape, seed=7), row)
    assert [(r["judge"], r["order"], r["slot"]) for r in read_table(tmp_path, "scores.csv")] == [
        (FIRST, "ab", "A"),
        (SECOND, "ab", "A"),
        (FIRST, "ba", "B"),
        (SECOND, "ba", "A"),
    ]
    (item,) = read_table(tmp_path, "items.csv")
    assert item["winner"] == "a"
