"""What pairs and gates come to: ties, flips, missing verdicts, exit codes, and reports that any reader can read."""

from __future__ import annotations

import csv
import json
import re
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import pytest

from agentanvil.aggregate import Pairwise
from agentanvil.errors import DatasetError, InputError
from agentanvil.runner.exits import Exit
from agentanvil.runner.grade import GradeResult
from tests.fakes.pairs import pair_rubric
from tests.fakes.runs import REPORTS, Collected, Runs, read_table, recording, rows
from tests.fakes.server import Answer, FakeServer, chat, error, unused_port
from tests.fakes.verdicts import graded

ERROR = "no verdict"


def pair(name: str, **more: Any) -> dict[str, Any]:
    return {"id": name, "request": "q", "response_a": "the base", "response_b": "the candidate", **more}


def slot(better: str, margin: int = 1) -> Any:
    """What a judge says of the two slots: the same on both dimensions, or nothing that can be read."""
    if better == ERROR:
        return ERROR
    each = {"better": better, "margin": margin}
    return {"accuracy": each, "coverage": each, "winner": better}


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


MODES = ("absolute", "pairwise", "gate")


def row_in(mode: str, name: str = "a") -> dict[str, Any]:
    return pair(name) if mode == "pairwise" else {"id": name, "request": "q", "response": "the words"}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    ("answer", "code"),
    [
        pytest.param(chat("?"), Exit.MISSING, id="O-F03-nothing-can-be-read"),
        pytest.param(error(500, "no"), Exit.MISSING, id="every-call-fails"),
        pytest.param(error(401, "bad key"), None, id="O-F03-a-wrong-key"),
    ],
)
def test_no_mode_is_green_when_nobody_judged(tmp_path: Path, mode: str, answer: Answer, code: Exit | None) -> None:
    with FakeServer(answer) as server:
        runs = Runs(tmp_path, server, *(row_in(mode, f"r{n}") for n in range(4)))
        if code is None:
            with pytest.raises(InputError, match="key"):
                runs.grade(mode=mode, concurrency=1)
            assert len(server.requests) == 1
        else:
            assert runs.grade(mode=mode).exit is code


@pytest.mark.parametrize("mode", MODES)
def test_o_f02_a_judge_that_is_not_there_is_no_failed_row(tmp_path: Path, mode: str) -> None:
    runs = Runs(tmp_path, f"compat:m@http://127.0.0.1:{unused_port()}/v1", row_in(mode))
    with pytest.raises(InputError):
        runs.grade(mode=mode)
    assert not runs.out.exists()


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("data", [b"", b"\n\n", b"\xef\xbb\xbf"])
def test_o_f05_no_rows_are_no_success_in_any_mode(tmp_path: Path, mode: str, data: bytes) -> None:
    runs = Runs(tmp_path, recording(tmp_path))
    runs.data.write_bytes(data)
    with pytest.raises(DatasetError, match="0 rows"):
        runs.grade(mode=mode)
    (other := tmp_path / "other.jsonl").write_text(json.dumps(row_in("absolute")), encoding="utf-8")
    if mode == "pairwise":
        with pytest.raises(DatasetError, match="0 rows"):
            runs.grade(mode=mode, vs=(str(other),))
    assert not runs.out.exists()


HOSTILE = [
    '=HYPERLINK("http://x.test","go")',
    *("+1", "-1 day", "@SUM(A1)", "\t=1+1", "\u200b=1+1", " =1", "\r=1", "＝1"),
    'he said "no", then {"a": "b"}',
    "a\nb,c;d\r\ne",
    "x" * 40_000,
    "\x1b[31mbad\x1b[0m",
    "x\x1by \ufffe \x00 z ]]> & <",
    "</failure><testcase/>\"'>",
    "\u202etxet\u2028next",
]


@pytest.mark.parametrize("text", HOSTILE)
@pytest.mark.parametrize("mode", ["pairwise", "gate"])
def test_o_f06_to_f11_hostile_words_of_a_judge_leave_files_that_parse(tmp_path: Path, text: str, mode: str) -> None:
    words = {"reason": text, "evidence": [text], "evidence_a": [text], "evidence_b": [text]}
    verdict = {"better": "A", "margin": 1, "pass": False}
    reply = {name: {**words, **verdict} for name in ("accuracy", "coverage")} | {"winner": "A"}
    row = {**row_in(mode, f"id {text}"), "response_a": f"r {text}", "response_b": f"s {text}", "response": f"r {text}"}
    orders = ("ab", "ba") if mode == "pairwise" else ("-",)
    judge = recording(tmp_path, *({"id": row["id"], "order": order, "reply": reply} for order in orders))
    runs, listener = Runs(tmp_path, judge, row), Collected()
    result = runs.grade(listener, mode=mode)
    assert result.exit is (Exit.GATE_FAILED if mode == "gate" else Exit.OK)
    suite = next(ET.parse(runs.out / "junit.xml").iter("testsuite"))
    assert suite.attrib["failures"] == ("1" if mode == "gate" else "0")
    with (runs.out / "scores.csv").open(encoding="utf-8", newline="") as file:
        cells = list(csv.DictReader(file))
    assert len(cells) == 2
    for cell in cells:
        assert cell["evidence_found"] == "true"
        for column in ("id", "evidence", "reason", *(["rival_evidence"] if mode == "pairwise" else [])):
            assert 0 < len(cell[column]) <= 32_767
            assert cell[column].lstrip("\u200b\u00a0\ufeff \t\r\n")[:1] not in tuple("=+-@＝")
    for line in listener.failures:
        assert len(line) < 1_000
        assert len(line.splitlines()) == 1


@pytest.mark.parametrize("mode", MODES)
def test_o_f14_what_is_undefined_is_null_in_every_mode(tmp_path: Path, mode: str) -> None:
    with FakeServer(graded) as server:
        runs = Runs(tmp_path, server, row_in(mode))
        runs.grade(mode=mode)

    def never(constant: str) -> None:
        pytest.fail(f"{constant} in summary.json")

    json.loads((runs.out / "summary.json").read_text(encoding="utf-8"), parse_constant=never)
    for name in REPORTS:
        assert not re.search(rb"(?i)\b(nan|infinity|inf)\b", (runs.out / name).read_bytes())


def test_a_reply_that_had_to_be_asked_for_twice_keeps_the_judges_own_winner(tmp_path: Path) -> None:
    replies = iter(["Both are good, but", json.dumps(slot("B"))])
    with FakeServer(lambda _: chat(next(replies))) as server:
        runs = Runs(tmp_path, server, pair("p"))
        runs.rubric = pair_rubric(tmp_path)
        runs.grade(order="fixed")
    (item,) = read_table(runs.out, "items.csv")
    assert (item["winner"], item["stated_winner"]) == ("b", "b")
