"""What a run's reports say, that they say the same, and that any reader can read them."""

from __future__ import annotations

import csv
import json
import re
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import pytest

from agentanvil.errors import DatasetError, InputError, RubricError
from agentanvil.runner.exits import Exit
from agentanvil.runner.grade import GradeResult
from tests.fakes.runs import REPORTS, Runs, read_journal, read_table, recording, rows, verdict
from tests.fakes.server import FakeServer, chat, unused_port
from tests.fakes.verdicts import graded


def replayed(
    folder: Path, *scores: object, gate: str = "", repeats: int = 1, **changes: Any
) -> tuple[Runs, GradeResult]:
    """Grade one row for each score, given as the judge's number or its whole reply; a list holds the repeats'."""
    lines = [
        {"id": f"item-{row}", "repeat": repeat, "reply": score if isinstance(score, str) else verdict(score)}
        for row, each in enumerate(scores)
        for repeat, score in enumerate(each if isinstance(each, list) else [each])
    ]
    runs = Runs(folder, recording(folder, *lines), *rows(len(scores)))
    if gate:
        with runs.rubric.open("a", encoding="utf-8") as file:
            file.write(f"gate: {gate}\n")
    return runs, runs.grade(repeats=repeats, **changes)


def summary_of(runs: Runs) -> Any:
    def never(constant: str) -> None:
        pytest.fail(f"{constant} in summary.json")

    return json.loads((runs.out / "summary.json").read_text(encoding="utf-8"), parse_constant=never)


def junit_of(runs: Runs) -> dict[str, int]:
    suite = next(ET.parse(runs.out / "junit.xml").iter("testsuite"))
    cases = suite.findall("testcase")
    counts = {name: int(suite.attrib[name]) for name in ("tests", "failures", "errors", "skipped")}
    found = [[child.tag for child in case] for case in cases]
    assert counts["tests"] == len(cases)
    assert counts["failures"] == found.count(["failure"])
    assert counts["errors"] == found.count(["error"])
    return counts


ERROR = "no verdict here"
HIGH, LOW = 5, 1


@pytest.mark.parametrize(
    ("scores", "mean", "n", "errors"),
    [
        pytest.param([4, ERROR, 5], 4.5, 2, 1, id="O-E01"),
        pytest.param([5] * 5 + [ERROR] * 5, 5.0, 5, 5, id="O-E03"),
        pytest.param([ERROR, 2, 5], 3.5, 2, 1, id="O-E04"),
        pytest.param([ERROR, ERROR], None, 0, 2, id="O-E18"),
        pytest.param([4], 4.0, 1, 0, id="O-E12"),
    ],
)
def test_aggregates_follow_from_the_row_files_alone(
    tmp_path: Path, scores: list[object], mean: float | None, n: int, errors: int
) -> None:
    runs, result = replayed(tmp_path, *scores)
    items, cells = read_table(runs.out, "items.csv"), read_table(runs.out, "scores.csv")
    overalls = [float(item["overall"]) for item in items if item["overall"]]
    found = summary_of(runs)["overall"]
    assert (found["mean"]["value"], found["mean"]["n"], found["states"]["judge_error"]) == (mean, n, errors)
    assert (sum(overalls) / len(overalls) if overalls else None) == mean
    assert summary_of(runs)["coverage"]["states"]["judge_error"] == 2 * errors
    for item in items:
        assert (item["state"] == "scored") == bool(item["overall"]) == bool(item["accuracy"])
        assert item["accuracy_sd"] == ""
    for cell in cells:
        assert (cell["state"] == "scored") == bool(cell["score"]) == bool(cell["normalised"])
        assert bool(cell["code"]) == (cell["state"] != "scored")
    assert result.exit is (Exit.MISSING if errors else Exit.OK)


@pytest.mark.parametrize(
    ("scores", "gate", "code", "verdict_", "junit"),
    [
        pytest.param([5, 5], "{overall: 4}", Exit.OK, "pass", (2, 0, 0), id="all-pass"),
        pytest.param([LOW, LOW], "{overall: 4}", Exit.GATE_FAILED, "fail", (2, 2, 0), id="O-F01"),
        pytest.param([5, 5, 3], "{overall: 4}", Exit.GATE_FAILED, "fail", (3, 1, 0), id="O-E15-one-short-of-the-mean"),
        pytest.param([4, 4], "{overall: 4}", Exit.OK, "pass", (2, 0, 0), id="on-the-threshold"),
        pytest.param([1, 1], "{overall: 1}", Exit.OK, "pass", (2, 0, 0), id="O-E14-the-lowest-threshold"),
        pytest.param([5, ERROR], "{overall: 4}", Exit.MISSING, "undecided", (2, 0, 1), id="undecided"),
        pytest.param([1, ERROR], "{overall: 4}", Exit.GATE_FAILED, "fail", (2, 1, 1), id="failed-and-undecided"),
        pytest.param([5, ERROR], "", Exit.MISSING, "none", (2, 0, 1), id="no-gate"),
        pytest.param([LOW, HIGH], "", Exit.OK, "none", (2, 0, 0), id="no-gate-no-failure"),
    ],
)
def test_rows_summary_junit_and_exit_code_agree(
    tmp_path: Path, scores: list[object], gate: str, code: Exit, verdict_: str, junit: tuple[int, int, int]
) -> None:
    runs, result = replayed(tmp_path, *scores, gate=gate)
    found = summary_of(runs)["gate"]
    assert (result.exit, found["verdict"]) == (code, verdict_)
    counts = junit_of(runs)
    assert (counts["tests"], counts["failures"], counts["errors"]) == junit
    passes = [item["pass"] for item in read_table(runs.out, "items.csv")]
    assert passes.count("false") == counts["failures"] == found["failed"]
    assert passes.count("true") == found["passed"]
    assert runs.manifest()["exit_code"] == code


def test_o_e13_a_near_miss_is_shown_with_the_digits_that_tell(tmp_path: Path) -> None:
    runs, result = replayed(tmp_path, [5, 5, 4], repeats=3, gate="{accuracy: 4.67}")
    assert result.exit is Exit.GATE_FAILED
    message = ET.parse(runs.out / "junit.xml").find(".//failure").attrib["message"]  # type: ignore[union-attr]
    assert message == "accuracy 4.667 is below 4.67"


def test_o_f02_each_reason_to_fail_has_its_code(tmp_path: Path) -> None:
    _, low = replayed(tmp_path, 1, gate="{overall: 4}")
    assert low.exit == 1
    runs = Runs(tmp_path, f"compat:m@http://127.0.0.1:{unused_port()}/v1")
    with pytest.raises(InputError):
        runs.grade(out=tmp_path / "unreachable")
    runs.rubric.write_text("version: [", encoding="utf-8")
    with pytest.raises(RubricError):
        runs.grade(out=tmp_path / "broken")
    with FakeServer(lambda request: chat("?") if request.index else graded(request)) as server:
        assert Runs(tmp_path, server).grade(out=tmp_path / "missing", concurrency=1).exit == 3


@pytest.mark.parametrize("data", [b"", b"\n\n", b"\xef\xbb\xbf", b"\xef\xbb\xbf\n"])
def test_o_f05_no_rows_are_no_success(tmp_path: Path, data: bytes) -> None:
    runs = Runs(tmp_path, recording(tmp_path))
    runs.data.write_bytes(data)
    with pytest.raises(DatasetError, match="0 rows"):
        runs.grade()
    assert not runs.out.exists()


HOSTILE = [
    pytest.param('=HYPERLINK("http://x.test","go")', id="O-F06"),
    *(
        pytest.param(text, id="O-F07")
        for text in ("+1", "-1 day", "@SUM(A1)", "\t=1+1", "\u200b=1+1", " =1", "\r=1", "＝1")
    ),
    pytest.param('he said "no", then {"a": "b"}', id="O-F08"),
    pytest.param("a\nb,c;d\r\ne", id="O-F08-breaks"),
    pytest.param("x" * 40_000, id="O-F09"),
    pytest.param("\x1b[31mbad\x1b[0m", id="O-F10"),
    pytest.param("x\x1by \ufffe \x00 z ]]> & <", id="O-F11"),
    pytest.param("</failure><testcase/>\"'>", id="O-F11-markup"),
]


@pytest.mark.parametrize("text", HOSTILE)
@pytest.mark.parametrize("place", ["words", "id"])
def test_hostile_text_leaves_files_that_parse(tmp_path: Path, text: str, place: str) -> None:
    scores = {
        name: {"evidence": [text] if place == "words" else ["r"], "reason": text, "score": 1}
        for name in ("accuracy", "coverage")
    }
    name = "item" if place == "words" else text
    runs = Runs(
        tmp_path,
        recording(tmp_path, {"id": name, "reply": scores}),
        {"id": name, "request": "q", "response": f"r {text}"},
    )
    with runs.rubric.open("a", encoding="utf-8") as file:
        file.write("gate: {overall: 4}\n")
    assert runs.grade().exit is Exit.GATE_FAILED
    assert read_journal(runs.out)[0]["cells"]["accuracy"]["reason"] == text.strip()
    assert read_journal(runs.out)[0]["id"] == name
    assert junit_of(runs)["failures"] == 1
    with (runs.out / "scores.csv").open(encoding="utf-8", newline="") as file:
        cells = list(csv.DictReader(file))
    assert len(cells) == 2
    for cell in cells:
        for column in ("id", "evidence", "reason"):
            value = cell[column]
            assert len(value) <= 32_767
            assert value.lstrip("\u200b\u00a0\ufeff \t\r\n")[:1] not in tuple("=+-@＝")
    assert cells[0]["reason"].removeprefix("'")[:1000] == text.strip()[:1000]
    assert summary_of(runs)["worst"][0]["id"] == name


def test_o_f14_what_is_undefined_is_null(tmp_path: Path) -> None:
    runs, _ = replayed(tmp_path, 4)
    found = summary_of(runs)
    assert found["overall"]["repeat_sd"]["value"] is None
    assert found["overall"]["repeat_sd"]["reason"]
    for name in REPORTS:
        assert not re.search(r"(?i)\b(nan|infinity|inf)\b", (runs.out / name).read_text(encoding="utf-8"))


@pytest.mark.parametrize("second", ["ok", "fail"])
def test_o_g04_every_attempt_is_counted(tmp_path: Path, second: str) -> None:
    def usage(tokens_in: int) -> dict[str, Any]:
        return {"usage": {"prompt_tokens": tokens_in, "completion_tokens": 20}}

    texts = ["not json", json.dumps(verdict(4)) if second == "ok" else "not json either"]
    bodies = [json.loads(chat(text).body) | usage(100 + 20 * n) for n, text in enumerate(texts)]
    answers = [chat(None).but(body=json.dumps(body).encode()) for body in bodies]
    with FakeServer(answers) as server:
        runs = Runs(tmp_path, server, *rows(1))
        result = runs.grade()
    assert len(server.requests) == 2
    assert (result.tally.calls, result.tally.input_tokens, result.tally.output_tokens) == (2, 220, 40)
    used = result.summary.usage
    assert (used.exchanges, used.input_tokens, used.output_tokens) == (2, 220, 40)
    assert (used.cost, used.without_price) == (None, 2)  # O-G06: an unknown price is not 0.00
    assert result.exit is (Exit.OK if second == "ok" else Exit.MISSING)


@pytest.mark.parametrize(
    "name", ["some/dir/x", "../../up", "CON", "..", ".", "/etc/x", "a\\b", "nul\x00", "-rf", "~", "a" * 300]
)
def test_o_h10_an_id_is_no_path(tmp_path: Path, name: str) -> None:
    home = tmp_path / "a" / "b"
    home.mkdir(parents=True)
    row = {"id": name, "request": "q", "response": "It is the number", "file_name": "../../x"}
    runs = Runs(home, recording(home, {"id": name, "reply": verdict(4)}), row)
    before = set(tmp_path.rglob("*"))
    assert runs.grade().exit is Exit.OK
    written = set(tmp_path.rglob("*")) - before - {runs.out}
    assert {path.parent for path in written} == {runs.out}
    assert {path.name for path in written} == {*REPORTS, "journal.jsonl", "manifest.json"}
    assert read_journal(runs.out)[0]["id"] == name
