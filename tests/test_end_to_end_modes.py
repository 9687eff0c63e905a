"""`anvil` over pairs, gates and agent runs as a person or a CI job runs it: processes of their own, a live endpoint."""

from __future__ import annotations

import csv
import json
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.fakes.command import Ended, anvil, begun
from tests.fakes.pairs import by_length, judged, pair_rows, pair_rubric
from tests.fakes.runs import Runs, read_journal, read_table, rows
from tests.fakes.scored_traces import ANSWER, CANARY, FORMATS, lines
from tests.fakes.server import Answer, FakeServer, Recorded, chat
from tests.fakes.verdicts import graded


@pytest.fixture
def server() -> Iterator[FakeServer]:
    with FakeServer(graded) as server:
        yield server


def runs_of_pairs(folder: Path, server: FakeServer, count: int) -> Runs:
    runs = Runs(folder, server, *pair_rows(count))
    runs.rubric = pair_rubric(folder)
    return runs


def grade(runs: Runs, *more: str | Path, data: str | Path | None = None, stdin: bytes = b"") -> Ended:
    usual = ("--rubric", runs.rubric, "--judge", runs.judge, "--out", runs.out, "--cache", "off")
    return anvil("grade", data or runs.data, *usual, *more, cwd=runs.folder, stdin=stdin)


def rebuilt(runs: Runs, code: int) -> None:
    """Check that the reports are rebuilt to the byte from manifest and journal alone."""
    before = runs.reports()
    for name in before:
        (runs.out / name).unlink()
    assert anvil("report", runs.out, cwd=runs.folder).code == code
    assert runs.reports() == before


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="Unix signals")
def test_a_killed_run_of_pairs_asks_only_for_the_orders_that_are_missing(tmp_path: Path) -> None:
    answer = judged(by_length)

    def slow(request: Recorded) -> Answer:
        return answer(request).but(delay_s=0.1)

    with FakeServer(slow) as server:
        runs = runs_of_pairs(tmp_path, server, 12)
        asked = ("--order", "both", "--repeats", "2", "--concurrency", "3")
        usual = ("grade", runs.data, "--rubric", runs.rubric, "--judge", runs.judge, "--out", runs.out)
        with begun(*usual, "--cache", "off", *asked, cwd=tmp_path) as process:
            deadline = time.monotonic() + 60
            while len(server.requests) < 11:
                assert process.poll() is None
                assert time.monotonic() < deadline
                time.sleep(0.01)
            process.send_signal(signal.SIGKILL)
        kept, before = len(read_journal(runs.out)), len(server.requests)
        assert 0 < kept < 48
        ended = grade(runs, *asked, "--format", "json")
        assert len(server.requests) - before == 48 - kept
    assert ended.code == 0
    keys = [(line["id"], line["repeat"], line["order"]) for line in read_journal(runs.out)]
    assert len(keys) == len(set(keys)) == 48
    assert json.loads(ended.out)["pairwise"]["agreement"]["consistent"] == 24
    rebuilt(runs, 0)


def test_a_gate_tells_a_ci_job_what_failed_and_machines_read_the_rest(tmp_path: Path) -> None:
    words = "=cmd|'/c calc'!A1 \x1b[31mred\x1b[0m\nsecond line"
    sides = {"evidence": [words], "reason": words}

    def answer(request: Recorded) -> Answer:
        fails = f"{words} 1" in request.json["messages"][1]["content"]
        return chat(json.dumps({"accuracy": {**sides, "pass": not fails}, "coverage": {**sides, "pass": True}}))

    with FakeServer(answer) as server:
        runs = Runs(tmp_path, server, *({**row, "response": f"{words} {n}"} for n, row in enumerate(rows(3))))
        ended = grade(runs, "--mode", "gate", "--format", "json", "-q")
        again = grade(runs, "--mode", "gate", "--quiet")
        assert len(server.requests) == 3
    assert (ended.code, again.code) == (1, 1)
    assert json.loads(ended.out)["gate"]["verdict"] == "fail"
    assert again.out == b""
    assert again.err == ended.err
    (line,) = ended.err.splitlines()
    assert line.startswith("item-1 · accuracy: false — “=cmd|")
    assert "\x1b" not in ended.err
    rebuilt(runs, 1)


def test_three_systems_are_ranked(tmp_path: Path) -> None:
    def write(name: str, words: str) -> Path:
        path = tmp_path / f"{name}.jsonl"
        made = [{"id": f"r{n}", "request": f"q{n}", "response": words if n % 4 else "same"} for n in range(8)]
        path.write_text("".join(f"{json.dumps(row)}\n" for row in made), encoding="utf-8")
        return path

    with FakeServer(judged(by_length)) as server:
        runs = runs_of_pairs(tmp_path, server, 1)
        runs.data = write("middle", "of some length")
        ended = grade(runs, "--vs", write("short", "brief"), "--vs", write("long", "much longer than others"))
        shown = anvil("show", runs.rubric, runs.data, "--vs", tmp_path / "long.jsonl", "--id", "r1", cwd=tmp_path)
    assert ended.code == 0
    summary = json.loads((runs.out / "summary.json").read_text(encoding="utf-8"))
    assert [system["model"] for system in summary["pairwise"]["ranking"]["models"]] == ["long", "middle", "short"]
    assert len(read_table(runs.out, "items.csv")) == 16
    assert b"much longer than others" in shown.out
    rebuilt(runs, 0)


def test_pairs_come_in_a_table_and_through_a_pipe(tmp_path: Path) -> None:
    table = tmp_path / "pairs.csv"
    with table.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, ["id", "request", "response_a", "response_b"])
        writer.writeheader()
        writer.writerows(pair_rows(4))
    with FakeServer(judged(by_length)) as server:
        runs = runs_of_pairs(tmp_path, server, 4)
        assert grade(runs, "--order", "fixed").code == 0
        wanted = runs.reports()["items.csv"]
        for place, data in (("table", table), ("pipe", "-")):
            runs.out = tmp_path / place
            stdin = runs.data.read_bytes() if data == "-" else b""
            assert grade(runs, "--order", "fixed", data=data, stdin=stdin).code == 0
            assert runs.reports()["items.csv"] == wanted


def test_runs_come_through_a_pipe_and_their_verdicts_stay_behind(tmp_path: Path, server: FakeServer) -> None:
    runs = Runs(tmp_path, server)
    ended = grade(runs, data="-", stdin=lines(FORMATS["tau"]))
    assert ended.code == 0
    assert "hidden from the judge: reward, reward_info" in ended.err
    assert "the judge never saw the field(s) reward, reward_info" in ended.err
    assert ANSWER.encode() in server.requests[0].body
    everything = b"".join(path.read_bytes() for path in runs.out.iterdir())
    assert CANARY.encode() not in everything + ended.out + ended.err.encode()
    rebuilt(runs, 0)


@pytest.mark.parametrize(
    ("mode", "calls"),
    [(("--mode", "absolute"), 6), (("--mode", "gate", "--calls", "split"), 6), (("--mode", "pairwise"), 6)],
)
def test_an_estimate_and_a_look_cost_nothing(
    tmp_path: Path, server: FakeServer, mode: tuple[str, ...], calls: int
) -> None:
    pairs = mode[1] == "pairwise"
    runs = Runs(tmp_path, server, *(pair_rows(3) if pairs else rows(3)))
    more = ("--order", "both") if pairs else () if "--calls" in mode else ("--repeats", "2")
    dry = grade(runs, *mode, *more, "--dry-run", "--format", "json")
    assert json.loads(dry.out)["calls"] == calls
    shown = anvil("show", runs.rubric, runs.data, *mode, cwd=tmp_path)
    assert (dry.code, shown.code) == (0, 0)
    assert not server.requests
    assert not runs.out.exists()


@pytest.mark.parametrize(
    ("flags", "code", "asked"),
    [
        pytest.param((), 0, 6, id="as-the-file-says"),
        pytest.param(("--order", "fixed"), 0, 3, id="a-flag-beats-it"),
        pytest.param(("--mode", "gate"), 2, 0, id="rows-of-pairs-are-no-gate's"),
    ],
)
def test_a_short_command_with_anvil_yaml(
    tmp_path: Path, server: FakeServer, flags: tuple[str, ...], code: int, asked: int
) -> None:
    runs = Runs(tmp_path, server, *pair_rows(3))
    settings: dict[str, Any] = {"judge": runs.judge, "rubric": str(runs.rubric), "mode": "pairwise", "order": "both"}
    (tmp_path / "anvil.yaml").write_text(json.dumps({**settings, "cache": "off"}), encoding="utf-8")
    ended = anvil("grade", runs.data, *flags, cwd=tmp_path)
    assert (ended.code, len(server.requests)) == (code, asked)
    assert "Traceback" not in ended.err
    assert ("--mode pairwise" in ended.err) == (code == 2)


def test_the_order_of_anvil_yaml_is_no_matter_of_a_gate(tmp_path: Path, server: FakeServer) -> None:
    runs = Runs(tmp_path, server)
    (tmp_path / "anvil.yaml").write_text("mode: pairwise\norder: both\n", encoding="utf-8")
    assert grade(runs, "--mode", "gate").code == 0
    shown = anvil("show", runs.rubric, runs.data, "--mode", "gate", cwd=tmp_path)
    assert (shown.code, len(server.requests)) == (0, 3)
    assert anvil("show", runs.rubric, runs.data, "--mode", "gate", "--order", "both", cwd=tmp_path).code == 2
