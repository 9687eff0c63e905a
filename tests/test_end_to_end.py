"""`anvil grade` and `anvil report` as a person runs them: a process of its own, an empty home, a live endpoint."""

from __future__ import annotations

import json
import random
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.fakes.command import ROOT, Ended, anvil, begun, end_of
from tests.fakes.runs import REPORTS, Runs, asked_about, read_table, recording, rows, verdict
from tests.fakes.server import Answer, FakeServer, Recorded, chat, error
from tests.fakes.verdicts import graded

DEMO = (ROOT / "datasets" / "demo.jsonl", "--rubric", ROOT / "rubrics" / "calibrated.yaml")
FAULTS = (
    error(500, "injected"),
    error(503, "injected"),
    error(529, "injected"),
    Answer(reset=True),
    chat('{"score": 4}', cut_at=20),
    Answer(200, b"<html>bad gateway</html>", {"Content-Type": "text/html"}),
)


@pytest.fixture
def server() -> Iterator[FakeServer]:
    with FakeServer(graded) as server:
        yield server


def grade(runs: Runs, *arguments: str | Path, judge: bool = True, stdin: bytes = b"", **environ: str) -> Ended:
    named = ("--judge", runs.judge) if judge else ()
    usual = (runs.data, "--rubric", runs.rubric, "--out", runs.out, *named)
    return anvil("grade", *usual, *arguments, cwd=runs.folder, environ=environ, stdin=stdin)


def reports(folder: Path) -> dict[str, bytes]:
    return {name: (folder / name).read_bytes() for name in REPORTS}


def test_the_demo_thrice_then_from_its_journal_alone(tmp_path: Path, server: FakeServer) -> None:
    command = ("grade", *DEMO, "--judge", f"compat:m@{server.url}", "--repeats", "3", "--out", "R")
    first = anvil(*command, cwd=tmp_path)
    assert (first.code, first.out) == (0, b"")
    assert len(server.requests) == 72
    folder = tmp_path / "R"
    assert {path.name for path in folder.iterdir()} == {*REPORTS, "journal.jsonl", "manifest.json"}
    assert len(read_table(folder, "items.csv")) == 24
    assert len(read_table(folder, "scores.csv")) == 24 * 3 * 4
    before = reports(folder)
    again = anvil(*command, cwd=tmp_path)
    assert (again.code, len(server.requests)) == (0, 72)
    assert reports(folder) == before
    rebuilt = anvil("report", "R", cwd=tmp_path)
    assert rebuilt.code == 0
    assert reports(folder) == before


def test_with_a_fifth_of_the_answers_broken_every_cell_is_scored(tmp_path: Path) -> None:
    dice = random.Random(7)

    def answer(request: Recorded) -> Answer:
        return dice.choice(FAULTS) if dice.random() < 0.2 else graded(request)

    with FakeServer(answer) as server:
        ended = anvil("grade", *DEMO, "--judge", f"compat:m@{server.url}", "--out", "R", cwd=tmp_path)
    assert ended.code == 0
    assert len(server.requests) > 24
    assert {cell["state"] for cell in read_table(tmp_path / "R", "scores.csv")} == {"scored"}


def test_a_gate_decides_the_exit_code_and_junit_says_the_same(tmp_path: Path) -> None:
    def answer(request: Recorded) -> Answer:
        return graded(request, 2 if asked_about(request) == "1" else 5)

    with FakeServer(answer) as server:
        runs = Runs(tmp_path, server)
        with runs.rubric.open("a", encoding="utf-8") as file:
            file.write("gate: {overall: 4}\n")
        ended = grade(runs)
    assert ended.code == 1
    assert "FAIL" in ended.err
    suite = next(ET.parse(runs.out / "junit.xml").iter("testsuite"))
    assert (suite.get("tests"), suite.get("failures"), suite.get("errors")) == ("3", "1", "0")
    assert [item["pass"] for item in read_table(runs.out, "items.csv")] == ["true", "false", "true"]
    assert anvil("report", runs.out, "-q", cwd=tmp_path).code == 1


def test_a_missing_verdict_exits_3_unless_it_may_be_missing(tmp_path: Path) -> None:
    def answer(request: Recorded) -> Answer:
        return chat("no verdict") if asked_about(request) == "1" else graded(request)

    with FakeServer(answer) as server:
        runs = Runs(tmp_path, server)
        ended = grade(runs)
        assert ended.code == 3
        assert "unparseable" in ended.err
        assert "the same command resumes" in ended.err
        allowed = grade(runs, "--min-coverage", "0.66")
    assert allowed.code == 0
    assert [item["state"] for item in read_table(runs.out, "items.csv")] == ["scored", "judge_error", "scored"]
    assert len(server.requests) == 3 + 1 + 2  # each failed row is asked again once within the call


def test_a_budget_stops_and_the_next_command_goes_on(tmp_path: Path, server: FakeServer) -> None:
    runs = Runs(tmp_path, server, *rows(5))
    prices = "prices: {m: {input: 10000, output: 50000}}\n"  # 100 in and 20 out: two dollars a call
    (tmp_path / "anvil.yaml").write_text(f"cache: off\nconcurrency: 1\n{prices}", encoding="utf-8")
    calls = grade(runs, "--max-calls", "2")
    assert (calls.code, len(server.requests)) == (3, 2)
    assert "--max-calls 2 reached" in calls.err
    spent = grade(runs, "--max-cost", "3")  # the run has cost more than that already
    assert (spent.code, len(server.requests)) == (3, 2)
    assert "--max-cost 3 reached: $4.0000 spent" in spent.err
    cost = grade(runs, "--max-cost", "7")
    assert (cost.code, len(server.requests)) == (3, 4)
    assert "--max-cost 7 reached: $8.0000 spent" in cost.err
    assert "cost $4.0000" in cost.err
    done = grade(runs, "--max-cost", "100")
    assert (done.code, len(server.requests)) == (0, 5)
    assert json.loads((runs.out / "summary.json").read_bytes())["usage"]["cost"] == pytest.approx(10.0)


def test_a_longer_run_asks_only_for_what_is_new(tmp_path: Path, server: FakeServer) -> None:
    runs = Runs(tmp_path, server)
    grade(runs, "--limit", "2", "-q")
    assert len(server.requests) == 2
    assert grade(runs, "--repeats", "3", "-q").code == 0
    assert len(server.requests) == 9
    other = grade(runs, "--seed", "1")
    assert (other.code, len(server.requests)) == (2, 9)
    assert "seed was 0, is now 1" in other.err


@pytest.mark.parametrize("kind", ["stdin", "csv"])
def test_other_peoples_rows_are_read_as_they_are(tmp_path: Path, server: FakeServer, kind: str) -> None:
    runs = Runs(tmp_path, server)
    if kind == "csv":
        (tmp_path / "rows.csv").write_text('key,ask,answer\nx,"a ""b""","c,\nd"\n', encoding="utf-8")
        data, maps = "rows.csv", ["id=key", "request=ask", "response=answer"]
    else:
        data, maps = "-", ["id=meta.n", "request=input.0.content", "response=output.text"]
    line = {"meta": {"n": 7}, "input": [{"role": "user", "content": 'a "b"'}], "output": {"text": "c,\nd"}}
    options = [option for each in maps for option in ("--map", each)]
    ended = anvil(
        "grade", data, "--rubric", runs.rubric, "--judge", runs.judge, "--out", "R", *options,
        cwd=tmp_path, stdin=json.dumps(line).encode(),
    )  # fmt: skip
    assert ended.code == 0
    sent = server.bodies[0]["messages"][1]["content"]
    assert '\na "b"\n' in sent
    assert "\nc,\nd\n" in sent
    assert [item["id"] for item in read_table(tmp_path / "R", "items.csv")] == ["x" if kind == "csv" else "7"]


def test_o_f15_json_stands_alone_on_standard_output(tmp_path: Path, server: FakeServer) -> None:
    runs = Runs(tmp_path, server)
    cache = tmp_path / "cache"
    cache.write_text("not a cache, so that the run has something to warn about\n" * 20, encoding="utf-8")
    ended = grade(runs, "--format", "json", "--cache", str(cache))
    assert ended.code == 0
    assert ended.out == (runs.out / "summary.json").read_bytes()
    assert json.loads(ended.out)["items"] == 3
    assert "the reply cache" in ended.err
    estimate = grade(runs, "--format", "json", "--dry-run", "--repeats", "2")
    assert json.loads(estimate.out)["calls"] == 3
    assert len(server.requests) == 3


def test_quiet_says_nothing(tmp_path: Path, server: FakeServer) -> None:
    ended = grade(Runs(tmp_path, server), "--quiet")
    assert (ended.code, ended.out, ended.err) == (0, b"", "")


def test_recorded_replies_need_no_endpoint(tmp_path: Path) -> None:
    judge = recording(tmp_path, *({"id": f"item-{n}", "reply": verdict(5 - n)} for n in range(3)))
    runs = Runs(tmp_path, judge)
    ended = grade(runs)
    assert ended.code == 0
    assert "calls 0" in ended.err
    assert "cost $0.0000" in ended.err
    assert [item["overall"] for item in read_table(runs.out, "items.csv")] == ["5", "4", "3"]


def test_two_processes_may_share_a_cache(tmp_path: Path, server: FakeServer) -> None:
    runs = Runs(tmp_path, server, *rows(12))
    command = ("grade", runs.data, "--rubric", runs.rubric, "--judge", runs.judge, "--cache", "shared", "-q", "--out")
    with begun(*command, "a", cwd=tmp_path) as one, begun(*command, "b", cwd=tmp_path) as two:
        assert [(end.code, end.err) for end in (end_of(one), end_of(two))] == [(0, ""), (0, "")]
    assert reports(tmp_path / "a") == reports(tmp_path / "b")
    asked = len(server.requests)
    assert 12 <= asked <= 24
    assert anvil(*command, "c", cwd=tmp_path).code == 0
    assert len(server.requests) == asked
    assert reports(tmp_path / "c") == reports(tmp_path / "a")
