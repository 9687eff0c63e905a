"""A run that ends early or lacks verdicts: what is kept, what is said, and how it goes on."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from agentanvil.errors import RunWriteError
from agentanvil.runner.exits import Exit
from tests.fakes.full_disk import no_file_beyond
from tests.fakes.runs import Runs, asked_about, read_journal, read_table, rows
from tests.fakes.server import Answer, FakeServer, Recorded, chat, error
from tests.fakes.verdicts import graded


@pytest.fixture
def server() -> Iterator[FakeServer]:
    with FakeServer(graded) as server:
        yield server


def failing_on(number: str, answer: Answer) -> Any:
    return lambda request: answer if asked_about(request) == number else graded(request)


def test_a_row_that_fails_stands_alone_and_is_asked_again(tmp_path: Path) -> None:
    faults = [error(400, "content policy", code="content_filter")]

    def answer(request: Recorded) -> Answer:
        return faults.pop() if asked_about(request) == "1" and faults else graded(request)

    with FakeServer(answer) as server:
        runs = Runs(tmp_path, server)
        first = runs.grade(concurrency=1)
        assert first.exit is Exit.MISSING
        assert first.ending == "complete"
        assert [item["state"] for item in read_table(runs.out, "items.csv")] == ["scored", "judge_error", "scored"]
        assert read_table(runs.out, "items.csv")[1]["overall"] == ""
        second = runs.grade()
        assert (second.exit, len(server.requests)) == (Exit.OK, 4)
        assert [item["state"] for item in read_table(runs.out, "items.csv")] == ["scored"] * 3
    assert json.loads(server.requests[-1].body) == json.loads(server.requests[1].body)


def test_a_run_without_a_single_verdict_still_ends_with_reports(tmp_path: Path) -> None:
    with FakeServer(chat("I would rather not.")) as server:
        runs = Runs(tmp_path, server)
        result = runs.grade()
    assert (result.exit, result.ending, result.problem) == (Exit.MISSING, "complete", None)
    assert [item["state"] for item in read_table(runs.out, "items.csv")] == ["judge_error"] * 3
    assert {cell["code"] for cell in read_table(runs.out, "scores.csv")} == {"unparseable"}
    assert result.summary.overall.mean.value is None
    assert result.summary.coverage.share == 0


def test_a_key_that_stops_working_keeps_what_was_paid_for(tmp_path: Path) -> None:
    with FakeServer(failing_on("2", error(401, "key revoked"))) as server:
        runs = Runs(tmp_path, server, *rows(4))
        result = runs.grade(concurrency=1)
    assert (result.exit, result.ending) == (Exit.MISSING, "stopped")
    assert "key revoked" in str(result.problem)
    assert len(server.requests) == 3
    states = [item["state"] for item in read_table(runs.out, "items.csv")]
    assert states == ["scored", "scored", "not_run", "not_run"]
    assert "key revoked" in runs.manifest()["sessions"][0]["problem"]


def test_a_judge_that_goes_away_ends_the_run_before_every_row_is_lost(tmp_path: Path) -> None:
    with FakeServer(lambda request: graded(request) if request.index < 3 else Answer(reset=True)) as server:
        runs = Runs(tmp_path, server, *rows(60))
        result = runs.grade(concurrency=2)
        assert (result.exit, result.ending) == (Exit.MISSING, "stopped")
        assert "the judge is gone" in str(result.problem)
        states = [item["state"] for item in read_table(runs.out, "items.csv")]
        assert states.count("scored") == 3
        assert states.count("not_run") >= 60 - 3 - 20 - 2
        server._script = graded
        asked = len(server.requests)
        assert runs.grade(concurrency=2).exit is Exit.OK
        assert len(server.requests) == asked + 57


@pytest.mark.parametrize("max_calls", [0, 1, 4])
def test_a_budget_of_calls_stops_a_run_that_goes_on_without_repeating(
    tmp_path: Path, server: FakeServer, max_calls: int
) -> None:
    runs = Runs(tmp_path, server, *rows(5))
    result = runs.grade(max_calls=max_calls, concurrency=2)
    assert (result.exit, result.ending) == (Exit.MISSING, "budget")
    assert len(server.requests) == max_calls
    assert result.tally.calls == max_calls
    assert len(read_journal(runs.out)) == max_calls
    assert [item["state"] for item in read_table(runs.out, "items.csv")].count("not_run") == 5 - max_calls
    assert runs.grade().exit is Exit.OK
    assert len(server.requests) == 5
    assert len({request.body for request in server.requests}) == 5


def test_a_budget_that_just_suffices_is_no_reason_to_stop(tmp_path: Path, server: FakeServer) -> None:
    result = Runs(tmp_path, server).grade(max_calls=3)
    assert (result.exit, result.ending) == (Exit.OK, "complete")


def test_a_disk_that_fills_stops_the_run_and_costs_only_what_was_in_flight(tmp_path: Path, server: FakeServer) -> None:
    runs = Runs(tmp_path, server, *rows(60))
    with no_file_beyond(20_000):
        stopped = runs.grade(concurrency=2)
    assert (stopped.exit, stopped.ending) == (Exit.MISSING, "stopped")
    assert isinstance(stopped.problem, RunWriteError)
    assert "the same command again" in str(stopped.problem)
    states = [item["state"] for item in read_table(runs.out, "items.csv")]
    assert 2 < states.count("scored") == len(read_journal(runs.out)) < 60
    assert runs.grade().exit is Exit.OK
    assert 60 < len(server.requests) <= 62


def test_a_disk_that_has_no_room_for_reports_either_keeps_the_verdicts(tmp_path: Path, server: FakeServer) -> None:
    runs = Runs(tmp_path, server, *rows(60))
    with no_file_beyond(9_000), pytest.raises(RunWriteError, match="reports cannot be written"):
        runs.grade(concurrency=2)
    assert 2 < len(read_journal(runs.out)) < 60
    assert {path.name for path in runs.out.iterdir()} == {"journal.jsonl", "manifest.json"}
    assert runs.grade().exit is Exit.OK
    assert 60 < len(server.requests) <= 62
