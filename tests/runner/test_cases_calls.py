"""Limits, faults, time and resumption, as a whole run meets them."""

from __future__ import annotations

import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from agentanvil.errors import InputError
from agentanvil.runner.exits import Exit
from tests.fakes.runs import Collected, Runs, asked_about, read_journal, read_table, rows
from tests.fakes.server import Answer, FakeServer, Recorded, error
from tests.fakes.verdicts import graded


def only(number: str, answer: Answer) -> Any:
    """Answer like this about one item, and well about the others."""
    return lambda request: answer if asked_about(request) == number else graded(request)


def states(runs: Runs) -> list[str]:
    return [item["state"] for item in read_table(runs.out, "items.csv")]


def test_o_c02_a_retry_after_in_the_form_of_a_date_is_understood(tmp_path: Path) -> None:
    past = error(429, "slow down", headers={"Retry-After": "Wed, 01 Jan 2020 00:00:30 GMT"})
    with FakeServer(lambda request: graded(request) if request.index else past) as server:
        assert Runs(tmp_path, server).grade(max_attempts=2, concurrency=1).exit is Exit.OK
        assert len(server.requests) == 4


def test_o_c01_a_pause_too_long_to_wait_for_stops_the_run_instead_of_failing_every_row(tmp_path: Path) -> None:
    slow = error(429, "the day's quota is used up", headers={"Retry-After": "3600"})
    with FakeServer(lambda request: graded(request) if request.index < 2 else slow) as server:
        runs = Runs(tmp_path, server, *rows(200))
        result = runs.grade(concurrency=2, max_attempts=8)
        assert (result.exit, result.ending) == (Exit.MISSING, "stopped")
        assert "takes no calls" in str(result.problem)
        assert len(server.requests) <= 2 + 2
        assert states(runs).count("scored") == 2
        assert states(runs).count("not_run") > 150
        server._script = graded
        assert runs.grade().exit is Exit.OK


@pytest.mark.parametrize("status", [429, 503, 529])
def test_o_c03_a_limit_that_only_refusals_tell_loses_no_row(tmp_path: Path, status: int) -> None:
    refused = []

    def answer(request: Recorded) -> Answer:
        if server.in_flight > 8:
            refused.append(request.index)
            return error(status, "too many at once")
        return graded(request).but(delay_s=0.01)

    with FakeServer(answer) as server:
        runs = Runs(tmp_path, server, *rows(60))
        result = runs.grade(concurrency=40, max_attempts=20)
    assert result.exit is Exit.OK
    assert states(runs) == ["scored"] * 60
    assert len(server.requests) - len(refused) == 60


@pytest.mark.parametrize(
    ("answer", "attempts", "state"),
    [
        pytest.param(error(429, "slow", headers={"Retry-After": "0"}), 3, "judge_error", id="O-C04-429"),
        pytest.param(error(500, "broken", headers={"Retry-After": "0"}), 3, "judge_error", id="O-C04-500"),
        pytest.param(error(400, "too long", code="context_length_exceeded"), 1, "input_error", id="O-C04-too-long"),
        pytest.param(error(400, "no", code="content_filter"), 1, "judge_error", id="O-C04-refused"),
    ],
)
def test_what_may_pass_is_tried_again_by_one_layer_only(
    tmp_path: Path, answer: Answer, attempts: int, state: str
) -> None:
    with FakeServer(only("1", answer)) as server:
        runs = Runs(tmp_path, server)
        result = runs.grade(max_attempts=3)
    assert Counter(asked_about(request) for request in server.requests) == {"0": 1, "1": attempts, "2": 1}
    assert result.tally.calls == 2 + attempts
    assert states(runs) == ["scored", state, "scored"]
    assert result.exit is Exit.MISSING


def test_o_c04_a_key_is_not_tried_twice(tmp_path: Path) -> None:
    with FakeServer(error(401, "no")) as server, pytest.raises(InputError):
        Runs(tmp_path, server).grade(max_attempts=4, concurrency=1)
    assert len(server.requests) == 1


@pytest.mark.parametrize("limit", [{"tpm": 100.0}, {"rpm": 1.0}])
def test_o_c05_a_call_larger_than_the_limit_still_goes_out(tmp_path: Path, limit: dict[str, float]) -> None:
    with FakeServer(graded) as server:
        assert Runs(tmp_path, server, *rows(1)).grade(**limit).exit is Exit.OK


def test_o_c08_one_process_can_make_run_after_run(tmp_path: Path) -> None:
    with FakeServer(graded) as server:
        runs = Runs(tmp_path, server)
        for name in ("one", "two", "three"):
            assert runs.grade(out=tmp_path / name, cache=str(tmp_path / "cache")).exit is Exit.OK
    assert len(server.requests) == 3


@pytest.mark.parametrize(
    "answer",
    [
        pytest.param(Answer(hang=True), id="O-C11-never-answers"),
        pytest.param(Answer(hang=True, headers_first=True, body=b"{}"), id="O-C09-headers-then-nothing"),
        pytest.param(Answer(body=b" " * 1000, trickle_s=0.05), id="O-C10-trickles"),
    ],
)
def test_a_call_that_never_ends_costs_its_row_alone(tmp_path: Path, answer: Answer) -> None:
    with FakeServer(only("1", answer)) as server:
        runs = Runs(tmp_path, server, *rows(6))
        started = time.monotonic()
        result = runs.grade(timeout=0.3, max_attempts=2)
        assert time.monotonic() - started < 10  # against the 50 s of the trickle, or for ever
    assert result.exit is Exit.MISSING
    assert states(runs) == ["scored", "judge_error", *["scored"] * 4]
    codes = {cell["id"]: cell["code"] for cell in read_table(runs.out, "scores.csv")}
    assert codes["item-1"] == "timeout"
    assert Counter(asked_about(request) for request in server.requests)["1"] == 2


def test_o_c14_one_rows_error_does_not_stick_to_the_next(tmp_path: Path) -> None:
    with FakeServer(only("0", error(500, "always", headers={"Retry-After": "0"}))) as server:
        runs = Runs(tmp_path, server)
        runs.grade(concurrency=1, max_attempts=2)
    assert states(runs) == ["judge_error", "scored", "scored"]
    assert read_journal(runs.out)[1]["exchanges"][0].get("error") is None


@pytest.mark.parametrize("crashes", [1, 3])
def test_o_c16_every_crash_leaves_only_whole_records_and_no_row_is_judged_twice(tmp_path: Path, crashes: int) -> None:
    with FakeServer(graded) as server:
        runs = Runs(tmp_path, server, *rows(crashes + 2))
        for done in range(1, crashes + 1):
            runs.grade(limit=done)
            with (runs.out / "journal.jsonl").open("ab") as journal:
                journal.write(b'{"task":"item-9/joint/0","row":9,"id":"it')
        assert runs.grade().exit is Exit.OK
    assert [line["id"] for line in read_journal(runs.out)] == [f"item-{n}" for n in range(crashes + 2)]
    assert Counter(asked_about(request) for request in server.requests).most_common(1)[0][1] == 1


def test_o_c19_only_what_has_no_verdict_runs_again(tmp_path: Path) -> None:
    with FakeServer(only("1", error(400, "no", code="content_filter"))) as server:
        runs = Runs(tmp_path, server)
        runs.grade(limit=2)
        server._script = graded
        listener = Collected()
        runs.grade(listener)
    assert (listener.starts[0].resumed, listener.starts[0].tasks) == (1, 2)
    assert [asked_about(request) for request in server.requests[2:]] in (["1", "2"], ["2", "1"])
    assert states(runs) == ["scored"] * 3
