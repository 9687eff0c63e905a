"""Runs that are killed, interrupted or shut out: nothing is lost, nothing is paid twice but what was in flight."""

from __future__ import annotations

import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.fakes.command import anvil, begun, end_of
from tests.fakes.runs import Runs, read_journal, read_table, rows
from tests.fakes.server import Answer, FakeServer, Recorded
from tests.fakes.verdicts import graded

pytestmark = pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="Unix signals")
CONCURRENCY = 4


def slow(request: Recorded) -> Answer:
    return graded(request).but(delay_s=0.15)


@pytest.fixture
def server() -> Iterator[FakeServer]:
    with FakeServer(slow) as server:
        yield server


def command(runs: Runs, *more: str) -> tuple[str | Path, ...]:
    usual = ("grade", runs.data, "--rubric", runs.rubric, "--judge", runs.judge, "--out", runs.out)
    return (*usual, "--cache", "off", "--concurrency", str(CONCURRENCY), *more)


def until(reached: Callable[[], bool], process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + 60
    while not reached():
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.01)


def until_asked(server: FakeServer, requests: int, process: subprocess.Popen[bytes]) -> None:
    until(lambda: len(server.requests) >= requests, process)


def test_o_c15_a_killed_run_loses_nothing_and_repeats_only_what_was_in_flight(
    tmp_path: Path, server: FakeServer
) -> None:
    runs = Runs(tmp_path, server, *rows(24))
    for stop_at in (8, 16):
        with begun(*command(runs), cwd=tmp_path) as process:
            until_asked(server, stop_at, process)
            process.send_signal(signal.SIGKILL)
    with (runs.out / "journal.jsonl").open("ab") as journal:
        journal.write(b'{"task":"item-0/joint/0","row":0,"ce')  # what a kill in mid-write would leave
    kept = {line["id"] for line in read_journal_but_its_tail(runs.out)}
    assert kept
    asked = len(server.requests)
    assert anvil(*command(runs), cwd=tmp_path).code == 0
    assert len(server.requests) - asked == 24 - len(kept)
    assert len(server.requests) <= 24 + 2 * CONCURRENCY
    assert sorted(line["row"] for line in read_journal(runs.out)) == list(range(24))
    assert {item["state"] for item in read_table(runs.out, "items.csv")} == {"scored"}


def read_journal_but_its_tail(folder: Path) -> list[dict[str, str]]:
    journal = folder / "journal.jsonl"
    whole = journal.read_bytes()
    journal.write_bytes(whole[: whole.rfind(b"\n") + 1])
    lines = read_journal(folder)
    journal.write_bytes(whole)
    return lines


def test_o_c12_the_first_interrupt_finishes_what_is_in_flight(tmp_path: Path, server: FakeServer) -> None:
    runs = Runs(tmp_path, server, *rows(24))
    with begun(*command(runs), cwd=tmp_path) as process:
        until_asked(server, 10, process)
        process.send_signal(signal.SIGINT)
        ended = end_of(process)
    asked = len(server.requests)
    assert ended.code == 130
    assert "finish; press Ctrl-C again" in ended.err
    assert "interrupted; the same command resumes this run" in ended.err
    states = [item["state"] for item in read_table(runs.out, "items.csv")]
    assert states.count("scored") == asked < 24
    assert states.count("not_run") == 24 - asked
    before = {name: (runs.out / name).read_bytes() for name in ("items.csv", "scores.csv", "summary.json")}
    assert anvil("report", runs.out, "-q", cwd=tmp_path).code == 130
    assert {name: (runs.out / name).read_bytes() for name in before} == before
    assert anvil(*command(runs), cwd=tmp_path).code == 0
    assert len(server.requests) == 24
    assert len({request.body for request in server.requests}) == 24


def test_the_second_interrupt_stops_at_once(tmp_path: Path) -> None:
    with FakeServer(lambda request: graded(request) if request.index < 3 else Answer(hang=True)) as server:
        runs = Runs(tmp_path, server, *rows(24))
        with begun(*command(runs), cwd=tmp_path) as process:
            until_asked(server, 3 + CONCURRENCY, process)
            process.send_signal(signal.SIGINT)
            time.sleep(0.3)
            assert process.poll() is None
            process.send_signal(signal.SIGINT)
            ended = end_of(process)
    assert ended.code == 130
    assert f"stopping: {CONCURRENCY} call(s) in flight" in ended.err
    states = [item["state"] for item in read_table(runs.out, "items.csv")]
    assert (states.count("scored"), states.count("not_run")) == (3, 21)


@pytest.mark.parametrize("wait", ["paced", "retry-after"])
def test_an_interrupt_does_not_wait_for_what_only_waits(tmp_path: Path, wait: str) -> None:
    def answer(request: Recorded) -> Answer:
        if wait == "paced" or request.index < 1:
            return graded(request)
        return Answer(503, headers={"Retry-After": "50"})

    with FakeServer(answer) as server:
        runs = Runs(tmp_path, server, *rows(24))
        pace = ("--rpm", "6") if wait == "paced" else ()
        with begun(*command(runs, *pace), cwd=tmp_path) as process:
            until_asked(server, 1 if wait == "paced" else 2, process)
            time.sleep(0.3)
            process.send_signal(signal.SIGTERM if wait == "paced" else signal.SIGINT)
            started = time.monotonic()
            ended = end_of(process)
    assert ended.code == 130
    assert time.monotonic() - started < 10  # against the 50 s, or the four minutes, that the calls would wait
    assert [item["state"] for item in read_table(runs.out, "items.csv")].count("not_run") == 23


def test_an_interrupt_before_the_first_call_leaves_nothing(tmp_path: Path, server: FakeServer) -> None:
    runs = Runs(tmp_path, server)
    with begun(*("-" if part == runs.data else part for part in command(runs)), cwd=tmp_path) as process:
        until(lambda: any(tmp_path.glob("anvil-*")), process)
        process.send_signal(signal.SIGINT)
        assert end_of(process).code == 130
    assert server.requests == []
    assert not runs.out.exists()
    assert not list(tmp_path.glob("anvil-*"))


def test_two_processes_cannot_write_one_run(tmp_path: Path) -> None:
    with FakeServer(Answer(hang=True)) as server:
        runs = Runs(tmp_path, server)
        with begun(*command(runs), cwd=tmp_path) as process:
            until_asked(server, 1, process)
            second = anvil(*command(runs), cwd=tmp_path)
            rebuilt = anvil("report", runs.out, cwd=tmp_path)
        asked = len(server.requests)
    assert (second.code, rebuilt.code) == (2, 2)
    assert "another anvil process is writing this run" in second.err
    assert asked == 3
    with FakeServer(graded) as server:
        runs.judge = f"compat:m@{server.url}"
        assert anvil("report", runs.out, "-q", cwd=tmp_path).code == 3
