from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentanvil.aggregate import Frame, ItemResult, Summariser
from agentanvil.report import ITEM_COLUMNS, PAIR_COLUMNS, SCORE_COLUMNS, ReportWriters
from agentanvil.report.cells import text_cell
from agentanvil.rubric import Rubric
from agentanvil.verdict import InputFault, JudgeError, NotApplicable, NotRun, Scored
from tests.fakes.graded import NA, Pair, Score, columns, compared, grade, item, plan, rubric

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)


def written(folder: Path, of: Rubric, results: list[ItemResult], repeats: int = 1) -> None:
    with ReportWriters(folder, Frame.of(of, plan(of, repeats))) as writers:
        for result in results:
            writers.add(result)
        writers.finish(Summariser(of, plan(of, repeats), seed=1).finish())


def rows(path: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(path.read_bytes().decode(), newline="")))


def test_columns_are_those_of_the_manual(tmp_path: Path) -> None:
    of = rubric("tone", checks=["ticket"])
    written(tmp_path, of, grade(of, columns(of, tone=[5], ticket=[1]))[0])
    items = (tmp_path / "items.csv").read_text(encoding="utf-8").splitlines()[0]
    assert items == ("id,state,overall,pass,tone,tone_sd,tone_n,tone_state,ticket,ticket_sd,ticket_n,ticket_state")
    scores = (tmp_path / "scores.csv").read_text(encoding="utf-8").splitlines()[0]
    assert scores == (
        "id,dimension,judge,repeat,order,state,score,normalised,expected_score,entropy,"
        "evidence,evidence_found,reason,code,flags,call,slot,rival_evidence,preference,label_mass"
    )
    assert items.startswith(",".join(ITEM_COLUMNS))
    assert scores == ",".join(SCORE_COLUMNS)


def test_items_by_hand(tmp_path: Path) -> None:
    of = rubric("a", "b", gate={"overall": 4})
    results, _ = grade(of, columns(of, 2, a=[[5, 4], [None, None], [NA, NA]], b=[[5, 5], [3, 4], [NA, NA]]), 2)
    written(tmp_path, of, results, 2)
    lines = (tmp_path / "items.csv").read_bytes().decode().split("\n")
    assert lines[1:] == [
        "item-0,scored,4.5,true,4.5,0.7071067811865476,2,scored,5,0,2,scored",
        "item-1,judge_error,,,,,0,judge_error,3.5,0.7071067811865476,2,scored",
        "item-2,not_applicable,,,,,0,not_applicable,,,0,not_applicable",
        "",
    ]


@pytest.mark.parametrize(
    ("cell", "expected"),
    [
        pytest.param(
            Scored(4, ("one", "two"), True, "since", ("reasked",)),
            {
                "state": "scored",
                "score": "4",
                "normalised": "0.75",
                "evidence": "one | two",
                "evidence_found": "true",
                "reason": "since",
                "code": "",
                "flags": "reasked",
            },
            id="scored",
        ),
        pytest.param(
            Scored(1, (), None, "", ("no_evidence",)),
            {"score": "1", "normalised": "0", "evidence": "", "evidence_found": "", "flags": "no_evidence"},
            id="no-evidence",
        ),
        pytest.param(
            NotApplicable("no claim", ("none",)),
            {"state": "not_applicable", "score": "", "normalised": "", "evidence": "none", "reason": "no claim"},
            id="not-applicable",
        ),
        pytest.param(
            JudgeError("unparseable", "no object in the reply"),
            {"state": "judge_error", "score": "", "code": "unparseable", "reason": "no object in the reply"},
            id="O-E18-an-error-holds-no-number",
        ),
        pytest.param(
            InputFault("too_long", "does not fit"),
            {"state": "input_error", "score": "", "code": "too_long"},
            id="input",
        ),
        pytest.param(NotRun(), {"state": "not_run", "score": "", "code": "not_reached", "reason": ""}, id="not-run"),
    ],
)
def test_a_cell_in_long_form(tmp_path: Path, cell: Score, expected: dict[str, str]) -> None:
    of = rubric("a")
    written(tmp_path, of, grade(of, columns(of, a=[cell]))[0])
    row = rows(tmp_path / "scores.csv")[0]
    assert {key: row[key] for key in expected} == expected
    assert (row["order"], row["repeat"], row["expected_score"], row["entropy"]) == ("", "0", "", "")


def test_checks_name_no_judge(tmp_path: Path) -> None:
    of = rubric("a", checks=["c"])
    written(tmp_path, of, grade(of, columns(of, a=[5], c=[1]))[0])
    judges = {row["dimension"]: row["judge"] for row in rows(tmp_path / "scores.csv")}
    assert judges == {"a": "compat:m@http://127.0.0.1:1/v1", "c": "check"}


def test_ids_are_neutralised_too(tmp_path: Path) -> None:
    of = rubric("a")
    results, _ = grade(of, [item(plan(of), 0, {"a": 5}, name="=cmd|' /C calc'!A0")])
    written(tmp_path, of, results)
    for name in ("items.csv", "scores.csv"):
        assert rows(tmp_path / name)[0]["id"] == "'=cmd|' /C calc'!A0", "O-F07"


@pytest.mark.parametrize(
    "text",
    [
        pytest.param('he said "no", then {"a": "b"}', id="O-F08"),
        pytest.param("lone\rreturn", id="lone-cr"),
        pytest.param("two\r\nlines\n", id="crlf"),
        pytest.param('"', id="one-quote"),
        pytest.param("a;b\tc", id="other-separators"),
        pytest.param("nul\x00inside", id="null"),
        pytest.param("\u2028\u0085\x0b\x0c", id="exotic-line-ends"),
    ],
)
def test_quoted_text_comes_back_whole(tmp_path: Path, text: str) -> None:
    of = rubric("a")
    cell = Scored(5, (text,), True, text)
    written(tmp_path, of, grade(of, columns(of, a=[cell, 4]))[0])
    found = rows(tmp_path / "scores.csv")
    assert len(found) == 2
    assert (found[0]["evidence"], found[0]["reason"]) == (text_cell(text), text_cell(text))


@given(st.lists(st.tuples(TEXT, TEXT, TEXT), min_size=1, max_size=4))
def test_round_trip_of_any_text(tmp_path_factory: pytest.TempPathFactory, texts: list[tuple[str, str, str]]) -> None:
    folder = tmp_path_factory.mktemp("run")
    of = rubric("a")
    shape = plan(of)
    items = [
        item(shape, i, {"a": Scored(3, (quote,), False, reason)}, name=name)
        for i, (name, quote, reason) in enumerate(texts)
    ]
    written(folder, of, grade(of, items)[0])
    found = rows(folder / "scores.csv")
    assert [(r["id"], r["evidence"], r["reason"]) for r in found] == [
        (text_cell(name), text_cell(quote), text_cell(reason)) for name, quote, reason in texts
    ]


def test_pairs_by_hand(tmp_path: Path) -> None:
    of = rubric("a", checks=["c"], mode="pairwise")
    results, _ = compared(
        of,
        Pair({"a": [2, 1], "c": [0]}, preferences=[0.8, 0.8], stated=["a", "a"]),
        Pair({"a": [1, -1], "c": [4]}),
        Pair({"a": [None, 1], "c": [0]}),
    )
    written(tmp_path, of, results)
    lines = (tmp_path / "items.csv").read_text(encoding="utf-8").splitlines()
    assert lines[0].endswith(",".join(PAIR_COLUMNS))
    assert lines[1:] == [
        "item-0,scored,0.75,,1.5,,1,scored,0,,1,scored,a,0.8,consistent,a,0.8,0.8",
        "item-1,scored,2,,0,,1,scored,4,,1,scored,a,,consistent,,,",
        "item-2,judge_error,,,,,0,judge_error,0,,1,scored,,,,,,",
    ]


def test_the_raw_slot_and_the_mapped_score_are_both_stored(tmp_path: Path) -> None:
    of = rubric("a", checks=["c"], mode="pairwise")
    cell = Scored(3, ("from a",), True, "since", (), ("=from b", "again"), 0.9, 0.75)
    results, _ = compared(of, Pair({"a": [cell, 3], "c": [-4]}), Pair({"a": [-1, 0], "c": [0]}))
    written(tmp_path, of, results)
    found = rows(tmp_path / "scores.csv")
    assert [(r["dimension"], r["order"], r["score"], r["slot"], r["call"]) for r in found] == [
        ("c", "", "-4", "", "checks"),
        ("a", "ab", "3", "A", "joint"),
        ("a", "ba", "3", "B", "joint"),  # O-E07: shown second, and still the winner
        ("c", "", "0", "", "checks"),
        ("a", "ab", "-1", "B", "joint"),
        ("a", "ba", "0", "tie", "joint"),
    ]
    assert found[1]["rival_evidence"] == "'=from b | again"
    assert (found[1]["preference"], found[1]["label_mass"], found[1]["normalised"]) == ("0.9", "0.75", "0.875")
    assert (found[5]["preference"], found[5]["normalised"]) == ("", "0.5")


def test_both_ways_of_asking_are_told_apart(tmp_path: Path) -> None:
    of = rubric("a", "b")
    shape = plan(of, ways="both")
    summariser = Summariser(of, shape, seed=1)
    results = [summariser.add(item(shape, 0, {"a": 5, "b": 4}))]
    with ReportWriters(tmp_path, summariser.frame) as writers:
        writers.add(results[0])
        writers.finish(summariser.finish())
    found = [(r["dimension"], r["call"], r["slot"]) for r in rows(tmp_path / "scores.csv")]
    assert found == [("a", "joint", ""), ("b", "joint", ""), ("a", "a", ""), ("b", "b", "")]


def test_a_gates_verdicts_are_one_and_zero(tmp_path: Path) -> None:
    of = rubric("a", mode="gate")
    written(tmp_path, of, grade(of, columns(of, a=[1, 0]))[0])
    lines = (tmp_path / "items.csv").read_text(encoding="utf-8").splitlines()
    assert lines[1:] == ["item-0,scored,1,true,1,,1,scored", "item-1,scored,0,false,0,,1,scored"]
    assert [(r["score"], r["normalised"]) for r in rows(tmp_path / "scores.csv")] == [("1", "1"), ("0", "0")]


def test_long_reasons_are_cut_and_the_row_is_kept(tmp_path: Path) -> None:
    of = rubric("a")
    written(tmp_path, of, grade(of, columns(of, a=[Scored(5, (), None, "x" * 40_000), 4]))[0])
    found = rows(tmp_path / "scores.csv")
    assert len(found[0]["reason"]) == 32_767, "O-F09"
    assert found[1]["score"] == "4"


def test_many_rows_leave_no_blank_line(tmp_path: Path) -> None:
    of = rubric("a")
    written(tmp_path, of, grade(of, columns(of, a=[5] * 1_001))[0])
    for name in ("items.csv", "scores.csv"):
        assert len((tmp_path / name).read_bytes().split(b"\n")) == 1_003
        assert b"\r" not in (tmp_path / name).read_bytes()
