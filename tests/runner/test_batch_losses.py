"""What a batch did not bring: told, never taken for a verdict, and handed over again."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from agentanvil.runner.exits import Exit
from tests.fakes.batch_runs import KINDS, BatchRuns, Kind
from tests.fakes.batch_servers import OpenAIBatchServer
from tests.fakes.runs import read_journal, read_table, rows


@pytest.fixture(params=KINDS, ids=lambda kind: kind.provider)
def kind(request: pytest.FixtureRequest) -> Kind:
    found: Kind = request.param
    return found


@pytest.fixture
def server() -> Iterator[OpenAIBatchServer]:
    with OpenAIBatchServer() as server:
        yield server


@pytest.mark.parametrize(("fate", "code"), [("server_error", "server_error"), ("rejected", "rejected")])
def test_failed_requests_are_told_and_handed_over_again(tmp_path: Path, kind: Kind, fate: str, code: str) -> None:
    with kind.server(lambda at: fate if at == 1 else "") as server:
        runs = BatchRuns(tmp_path, server, *rows(5), provider=kind.provider)
        runs.submit()
        server.finish()
        found = runs.collect()
        assert found.result.exit is Exit.MISSING
        assert f"1 requests failed ({code} 1)" in found.notes[0]
        assert [cell["reason"] for cell in read_table(runs.out, "scores.csv") if cell["state"] == "judge_error"]
        assert runs.submit().requests == 1
        server.finish()
        assert runs.collect().result.exit is Exit.OK
        assert sorted(server.handed.values()) == [1, 1, 1, 2]


def test_a_row_that_is_too_large_is_settled_as_in_a_live_run(tmp_path: Path, kind: Kind) -> None:
    with kind.server(lambda at: "too_large" if at == 1 else "") as server:
        runs = BatchRuns(tmp_path, server, *rows(4), provider=kind.provider)
        runs.submit()
        server.finish()
        runs.collect()
        assert runs.submit().requests == 0
    states = [item["state"] for item in read_table(runs.out, "items.csv")]
    assert states.count("input_error") == 1


def test_a_batch_that_ran_out_of_time_leaves_its_rest_for_the_next(tmp_path: Path, kind: Kind) -> None:
    with kind.server(lambda at: "expired" if at in {0, 3} else "") as server:
        runs = BatchRuns(tmp_path, server, *rows(6), provider=kind.provider)
        runs.submit()
        server.finish()
        found = runs.collect()
        assert (found.result.exit, found.result.ending) == (Exit.MISSING, "stopped")
        assert "2 requests were never asked" in found.notes[0]
        assert len(read_journal(runs.out)) == 4
        assert runs.submit().requests == 2
        server.finish()
        assert runs.collect().result.exit is Exit.OK


def test_a_cancelled_batch_keeps_what_was_answered(tmp_path: Path, kind: Kind) -> None:
    with kind.server() as server:
        runs = BatchRuns(tmp_path, server, *rows(7), provider=kind.provider)
        runs.submit()
        assert [line.next for line in runs.cancel().batches] == ["wait"]
        assert runs.status().exit is Exit.MISSING
        server.finish()
        found = runs.collect()
        assert "3 requests were never asked" in found.notes[0]
        assert runs.submit().requests == 3
        server.finish()
        assert runs.collect().result.exit is Exit.OK
        assert sum(server.handed.values()) == 6 + 3


@pytest.mark.parametrize("fate", ["missing", "unreadable"])
def test_lines_that_are_not_there_or_cannot_be_read_are_handed_over_again(tmp_path: Path, fate: str) -> None:
    with OpenAIBatchServer(lambda at: fate if at == 2 else "") as server:
        runs = BatchRuns(tmp_path, server, *rows(5))
        runs.submit()
        server.finish()
        found = runs.collect()
        assert "1 requests came back with no result" in found.notes[0]
        assert ("cannot be read" in "".join(found.notes)) == (fate == "unreadable")
        assert runs.submit().requests == 1


def test_a_reply_that_does_not_keep_the_form_is_asked_for_again_and_not_counted_twice(tmp_path: Path) -> None:
    with OpenAIBatchServer(lambda at: "prose" if at == 0 else "") as server:
        runs = BatchRuns(tmp_path, server, *rows(3))
        runs.submit()
        server.finish()
        assert runs.collect().result.tally.errors == 1
        (line,) = [line for line in read_journal(runs.out) if "judge_error" in json.dumps(line)]
        assert len(line["exchanges"]) == 1
        runs.submit()
        server.finish()
        assert runs.collect().result.exit is Exit.OK


def test_a_batch_that_fails_its_validation_names_line_row_and_reason(tmp_path: Path, server: OpenAIBatchServer) -> None:
    runs = BatchRuns(tmp_path, server, *rows(4))
    runs.submit()
    server.fail_validation(2, "This line is not parseable as valid JSON.")
    assert runs.status().batches[0].next == "collect, which says why"
    found = runs.collect()
    assert found.result.exit is Exit.MISSING
    assert "batch_1 failed" in found.notes[0]
    assert "line 2 (row 3): This line is not parseable as valid JSON. (invalid_json_line)" in found.notes[0]
    assert runs.submit().requests == 3


def test_results_that_the_provider_no_longer_has_are_asked_for_again(tmp_path: Path) -> None:
    with OpenAIBatchServer() as server:
        runs = BatchRuns(tmp_path, server)
        runs.submit()
        server.finish()
        server.gone = {"batch_1-output", "batch_1-errors"}
        assert "no longer has its results" in runs.collect().notes[0]
        assert runs.submit().requests == 2


def test_a_refused_parameter_is_left_out_of_the_next_submission(tmp_path: Path, kind: Kind) -> None:
    with kind.server() as server:
        runs = BatchRuns(tmp_path, server, *rows(4), provider=kind.provider)
        runs.submit(max_tokens=None)
        server.refuses = "temperature"
        server.finish()
        found = runs.collect()
        assert "3 requests were refused for a parameter" in found.notes[0]
        assert len(read_journal(runs.out)) == 1
        runs.submit()
        assert all("temperature" not in body for _, body in server.batches["batch_2"].lines)
        server.finish()
        assert runs.collect().result.exit is Exit.OK
    assert "temperature" in runs.manifest()["judge"]["dropped"]


def test_the_first_call_finds_out_what_a_batch_could_not(tmp_path: Path, kind: Kind) -> None:
    with kind.server() as server:
        server.refuses = "temperature"
        runs = BatchRuns(tmp_path, server, *rows(4), provider=kind.provider)
        runs.submit()
        assert all("temperature" not in body for _, body in server.batches["batch_1"].lines)
        server.finish()
        assert runs.collect().result.exit is Exit.OK
