"""What pairs and gates come to: ties, flips, missing verdicts, rates, agreement and exit codes."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import pytest

from agentanvil.aggregate import Pairwise
from agentanvil.runner.exits import Exit
from agentanvil.runner.grade import GradeResult
from tests.fakes.pairs import pair_rubric
from tests.fakes.runs import Collected, Runs, read_table, recording, rows
from tests.fakes.server import FakeServer, chat

ERROR = "no verdict"


def pair(name: str, **more: Any) -> dict[str, Any]:
    return {"id": name, "request": "q", "response_a": "the base", "response_b": "the candidate", **more}


def slot(winner: str, margin: int = 1) -> Any:
    """What a judge says of the two slots: the same on both dimensions, or nothing that can be read."""
    if winner == ERROR:
        return ERROR
    each = {"winner": winner, "margin": margin}
    return {"accuracy": each, "coverage": each, "winner": winner}


def played(folder: Path, *games: tuple[str, str], **changes: Any) -> tuple[Runs, GradeResult, Pairwise]:
    """Grade pairs in both orders: for each what the judge says of the slots with the base first, then swapped."""
    lines = [
        {"id": f"p{n}", "order": order, "reply": slot(said)}
        for n, game in enumerate(games)
        for order, said in zip(("ab", "ba"), game, strict=True)
    ]
    runs = Runs(folder, recording(folder, *lines), *(pair(f"p{n}") for n in range(len(games))))
    runs.rubric = pair_rubric(folder)
    result = runs.grade(order="both", **changes)
    assert result.summary.pairwise is not None
    return runs, result, result.summary.pairwise


def counts(found: Pairwise) -> tuple[int, int, int, int]:
    return found.result.wins, found.result.ties, found.result.losses, found.result.missing


def test_o_e05_ties_count_half_and_are_shown(tmp_path: Path) -> None:
    _, _, found = played(tmp_path, ("A", "B"), ("B", "A"), *[("tie", "tie")] * 98)
    assert counts(found) == (1, 98, 1, 0)
    assert (found.result.rate.value, found.result.rate.n) == (0.5, 100)


def test_o_e06_a_tie_is_a_zero_and_a_missing_verdict_is_nothing(tmp_path: Path) -> None:
    runs, result, found = played(tmp_path, ("A", "B"), ("B", "A"), ("tie", "tie"), (ERROR, ERROR))
    assert counts(found) == (1, 1, 1, 1)
    assert (found.result.rate.value, found.result.rate.n) == (0.5, 3)
    assert (result.summary.overall.mean.value, result.summary.overall.mean.n) == (0.0, 3)
    missing = read_table(runs.out, "items.csv")[3]
    assert (missing["winner"], missing["overall"], missing["accuracy"], missing["state"]) == ("", "", "", "judge_error")
    assert result.exit is Exit.MISSING


def test_o_e07_the_slot_and_the_response_are_both_told(tmp_path: Path) -> None:
    runs, _, found = played(tmp_path, ("B", "A"))
    assert counts(found) == (0, 0, 1, 0)
    told = {(row["order"], row["slot"], row["score"]) for row in read_table(runs.out, "scores.csv")}
    assert told == {("ab", "B", "-1"), ("ba", "A", "-1")}
    assert read_table(runs.out, "items.csv")[0]["winner"] == "b"


def test_o_e08_a_flip_is_counted_apart(tmp_path: Path) -> None:
    runs, _, found = played(tmp_path, ("A", "A"), ("B", "B"), ("tie", "tie"))
    assert (found.agreement.inconsistent, found.agreement.consistent, found.agreement.partial) == (2, 1, 0)
    assert counts(found) == (0, 3, 0, 0)
    items = read_table(runs.out, "items.csv")
    assert [item["consistency"] for item in items] == ["inconsistent", "inconsistent", "consistent"]
    assert {item["winner"] for item in items} == {"tie"}


@pytest.mark.parametrize(
    ("game", "winner"), [(("tie", "B"), "a"), (("tie", "A"), "b"), (("A", "tie"), "a"), (("B", "tie"), "b")]
)
def test_o_e09_a_win_and_a_tie_are_a_win_marked_partial(tmp_path: Path, game: tuple[str, str], winner: str) -> None:
    runs, _, found = played(tmp_path, game)
    (item,) = read_table(runs.out, "items.csv")
    assert (item["winner"], item["consistency"]) == (winner, "partial")
    assert found.agreement.partial == 1


@pytest.mark.parametrize("game", [("A", ERROR), (ERROR, "B"), ("tie", ERROR)])
def test_half_a_pair_of_orders_is_no_result(tmp_path: Path, game: tuple[str, str]) -> None:
    runs, result, found = played(tmp_path, game, ("A", "B"))
    assert counts(found) == (1, 0, 0, 1)
    item = read_table(runs.out, "items.csv")[0]
    assert (item["winner"], item["overall"], item["state"]) == ("", "", "judge_error")
    assert result.exit is Exit.MISSING


def test_o_e19_the_pairs_of_the_summary_follow_from_the_row_file(tmp_path: Path) -> None:
    games = [("A", "B"), ("A", "A"), ("tie", "B"), (ERROR, "A"), ("B", "A"), ("tie", "tie"), (ERROR, ERROR)]
    runs, result, found = played(tmp_path, *games)
    items = read_table(runs.out, "items.csv")
    winners = [item["winner"] for item in items]
    assert tuple(map(winners.count, ("a", "tie", "b", ""))) == counts(found)
    overalls = [float(item["overall"]) for item in items if item["overall"]]
    assert result.summary.overall.mean.value == pytest.approx(sum(overalls) / len(overalls))
    for cell in read_table(runs.out, "scores.csv"):
        assert (cell["state"] == "scored") == bool(cell["score"]) == (not cell["code"])
    suite = next(ET.parse(runs.out / "junit.xml").iter("testsuite"))
    assert (suite.attrib["tests"], suite.attrib["errors"], suite.attrib["failures"]) == ("7", "2", "0")


def gated(folder: Path, *verdicts: object, text: str = "the words", **changes: Any) -> tuple[Runs, GradeResult]:
    """Run a gate over one row for each verdict: true, false, what a judge said, or a list with one for each repeat."""
    lines = [
        {"id": f"item-{n}", "repeat": repeat, "reply": _said(each, text)}
        for n, verdict in enumerate(verdicts)
        for repeat, each in enumerate(verdict if isinstance(verdict, list) else [verdict])
    ]
    data = [{**row, "response": text} for row in rows(len(verdicts))]
    runs = Runs(folder, recording(folder, *lines), *data)
    return runs, runs.grade(mode="gate", **changes)


def _said(verdict: object, text: str) -> Any:
    if not isinstance(verdict, bool):
        return verdict
    each = {"evidence": [text], "reason": text, "pass": verdict}
    return {"accuracy": each, "coverage": {**each, "pass": True}}


@pytest.mark.parametrize(
    ("verdicts", "code", "junit"),
    [
        pytest.param([True, True], Exit.OK, (0, 0), id="all-true"),
        pytest.param([False, False], Exit.GATE_FAILED, (2, 0), id="O-F01"),
        pytest.param([True, True, False], Exit.GATE_FAILED, (1, 0), id="O-E15"),
        pytest.param([True, ERROR], Exit.MISSING, (0, 1), id="undecided"),
        pytest.param([False, ERROR], Exit.GATE_FAILED, (1, 1), id="failed-and-undecided"),
        pytest.param([ERROR, ERROR], Exit.MISSING, (0, 2), id="O-F03-all-fail-to-judge"),
        pytest.param([[True, False, True]], Exit.GATE_FAILED, (1, 0), id="one-repeat-false"),
    ],
)
def test_o_f01_rows_summary_junit_lines_and_exit_code_of_a_gate_agree(
    tmp_path: Path, verdicts: list[object], code: Exit, junit: tuple[int, int]
) -> None:
    repeats = max(len(verdict) if isinstance(verdict, list) else 1 for verdict in verdicts)
    listener = Collected()
    runs, result = gated(tmp_path, *verdicts, repeats=repeats, listener=listener)
    assert result.exit is code
    suite = next(ET.parse(runs.out / "junit.xml").iter("testsuite"))
    assert (int(suite.attrib["failures"]), int(suite.attrib["errors"])) == junit
    passes = [item["pass"] for item in read_table(runs.out, "items.csv")]
    assert passes.count("false") == junit[0] == len(listener.failures) == result.summary.gate.failed
    assert runs.manifest()["exit_code"] == code


def test_o_e17_booleans_have_a_rate(tmp_path: Path) -> None:
    _, result = gated(tmp_path, True, False, True)
    accuracy = result.summary.dimensions[0]
    assert (accuracy.mean.value, accuracy.mean.n) == (pytest.approx(2 / 3), 3)
    assert result.summary.gate.pass_rate.value == pytest.approx(2 / 3)


def test_o_e12_one_answer_has_no_spread(tmp_path: Path) -> None:
    runs, result = gated(tmp_path, True)
    (item,) = read_table(runs.out, "items.csv")
    assert (item["accuracy_sd"], item["accuracy_n"]) == ("", "1")
    assert result.summary.overall.repeat_sd.value is None


@pytest.mark.parametrize(
    ("human", "judged", "exact", "kappa"),
    [
        pytest.param([1, 1, 1], [True] * 3, 1.0, None, id="O-E10"),
        pytest.param([1] * 9 + [0], [True] * 10, 0.9, 0.0, id="O-E11"),
    ],
)
def test_agreement_of_a_gate_that_always_says_one_thing(
    tmp_path: Path, human: list[int], judged: list[bool], exact: float, kappa: float | None
) -> None:
    said = [{"id": f"item-{n}", "reply": _said(verdict, "It is the number")} for n, verdict in enumerate(judged)]
    data = [{**row, "labels": {"accuracy": bool(label)}} for row, label in zip(rows(len(human)), human, strict=True)]
    result = Runs(tmp_path, recording(tmp_path, *said), *data).grade(mode="gate")
    found = result.summary.dimensions[0].agreement
    assert found is not None
    assert found.exact.value == pytest.approx(exact)
    assert found.kappa.value == kappa
    assert (found.kappa.reason is None) == (kappa is not None)


def test_a_reply_that_had_to_be_asked_for_twice_keeps_the_judges_own_winner(tmp_path: Path) -> None:
    replies = iter(["Both are good, but", json.dumps(slot("B"))])
    with FakeServer(lambda _: chat(next(replies))) as server:
        runs = Runs(tmp_path, server, pair("p"))
        runs.rubric = pair_rubric(tmp_path)
        runs.grade(order="fixed")
    (item,) = read_table(runs.out, "items.csv")
    assert (item["winner"], item["stated_winner"]) == ("b", "b")
