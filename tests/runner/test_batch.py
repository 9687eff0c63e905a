"""Batches from submission to reports: the same run as a live one, whatever the provider's API looks like."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from agentanvil.runner.exits import Exit
from tests.fakes.batch_runs import COST, KINDS, PRICES, BatchRuns, Kind
from tests.fakes.batch_servers import BatchServer, OpenAIBatchServer
from tests.fakes.runs import REPORTS, read_journal, read_table, rows
from tests.fakes.verdicts import CODE_RUBRIC


@pytest.fixture(params=KINDS, ids=lambda kind: kind.provider)
def kind(request: pytest.FixtureRequest) -> Kind:
    found: Kind = request.param
    return found


@pytest.fixture
def server() -> Iterator[OpenAIBatchServer]:
    with OpenAIBatchServer() as server:
        yield server


def whole_run(runs: BatchRuns, server: BatchServer, **changes: Any) -> None:
    """Submit and collect until nothing is left to do."""
    for _ in range(5):
        runs.submit(**changes)
        server.finish()
        if runs.collect().result.exit is Exit.OK:
            return
    pytest.fail("the run did not end")


def test_a_run_by_batch_is_the_run_by_live_calls_but_for_the_manifest(tmp_path: Path, kind: Kind) -> None:
    live, batch = tmp_path / "live", tmp_path / "batch"
    live.mkdir()
    batch.mkdir()
    with kind.server() as server:
        first = BatchRuns(live, server, *rows(6), provider=kind.provider)
        first.live(repeats=2, prices=PRICES)
        second = BatchRuns(batch, server, *rows(6), provider=kind.provider)
        whole_run(second, server, repeats=2)
    assert second.reports()["items.csv"] == first.reports()["items.csv"]
    assert second.reports()["scores.csv"] == first.reports()["scores.csv"]
    assert sorted(path.name for path in second.out.iterdir()) == sorted(
        (*REPORTS, "journal.jsonl", "manifest.json", "batches.jsonl")
    )
    loose = {"latency_s", "cost", "request_id"}
    journals = [
        sorted(
            (line["task"], json.dumps([[{k: v for k, v in e.items() if k not in loose} for e in line["exchanges"]]]))
            for line in read_journal(out)
        )
        for out in (first.out, second.out)
    ]
    assert journals[0] == journals[1]
    assert [session["kind"] for session in second.manifest()["sessions"]] == ["batch", "batch"]
    assert second.manifest()["sessions"][1]["batches"] == ["batch_1"]
    assert second.manifest()["judge"]["rung"] == first.manifest()["judge"]["rung"]


def test_every_question_is_handed_over_once_and_one_of_all_is_asked_at_once(tmp_path: Path, kind: Kind) -> None:
    with kind.server() as server:
        runs = BatchRuns(tmp_path, server, *rows(7), provider=kind.provider)
        done = runs.submit(most=3)
        assert (done.batches, done.requests, done.settled) == (("batch_1", "batch_2"), 6, 1)
        assert (server.live, set(server.handed.values()), len(server.handed)) == (1, {1}, 6)
        assert runs.submit().waiting == 6
        assert server.live == 1
        server.finish()
        assert runs.collect().result.exit is Exit.OK
        assert runs.collect().result.exit is Exit.OK
    assert len(read_journal(runs.out)) == 7
    assert runs.manifest()["state"] == "complete"


def test_a_custom_id_is_one_that_both_apis_take(tmp_path: Path, kind: Kind) -> None:
    with kind.server() as server:
        BatchRuns(tmp_path, server, *rows(3), provider=kind.provider).submit()
        names = [name for batch in server.batches.values() for name, _ in batch.lines]
    assert len(set(names)) == len(names) == 2
    for name in names:
        assert len(name) <= 64
        assert set(name) <= set("0123456789abcdef-")


def test_a_batch_is_asked_for_what_a_live_call_sends(tmp_path: Path, kind: Kind) -> None:
    with kind.server() as server:
        runs = BatchRuns(tmp_path, server, *rows(3), provider=kind.provider)
        runs.submit()
        live = next(r.json for r in server.requests if r.path.endswith(("completions", "responses", "messages")))
        (batch,) = server.batches.values()
        assert [body.keys() for _, body in batch.lines] == [live.keys()] * 2
        assert [body["model"] for _, body in batch.lines] == ["m", "m"]


def test_results_are_paid_at_the_discount_and_spare_a_live_run_its_calls(tmp_path: Path, kind: Kind) -> None:
    cache = str(tmp_path / "replies.sqlite")
    with kind.server() as server:
        runs = BatchRuns(tmp_path, server, *rows(5), provider=kind.provider)
        runs.submit(cache=cache)
        server.finish()
        found = runs.collect(cache=cache)
        assert found.result.tally.cost == pytest.approx(4 * COST)
        assert found.result.tally.calls == 4
        session = runs.manifest()["sessions"][-1]
        assert session["cost_usd"] == pytest.approx(4 * COST)
        assert (session["price"]["source"], session["price"]["input"], session["price"]["output"]) == (
            "anvil.yaml",
            5.0,
            25.0,
        )
        again = runs.live(cache=cache, out=tmp_path / "again")
        assert (again.tally.cached, again.tally.calls, server.live) == (5, 0, 1)


def test_what_the_cache_or_a_check_knows_is_not_handed_over(tmp_path: Path, kind: Kind) -> None:
    cache = str(tmp_path / "replies.sqlite")
    with kind.server() as server:
        runs = BatchRuns(tmp_path, server, *rows(5), provider=kind.provider)
        runs.live(cache=cache, limit=3, out=tmp_path / "before")
        checks = CODE_RUBRIC.partition("dimensions:\n")[2]
        runs.rubric.write_text(runs.rubric.read_text(encoding="utf-8") + checks, encoding="utf-8")
        done = runs.submit(cache=cache)
        assert (done.requests, done.settled) == (1, 5 + 3 + 1)
        server.finish()
        assert runs.collect().result.exit is Exit.OK
        assert (server.live, server.handed.total()) == (3 + 1, 1)
    assert len(read_table(runs.out, "scores.csv")) == 5 * 3


def test_where_nothing_is_left_to_hand_over_the_reports_are_written_at_once(tmp_path: Path, kind: Kind) -> None:
    cache = str(tmp_path / "replies.sqlite")
    with kind.server() as server:
        runs = BatchRuns(tmp_path, server, provider=kind.provider)
        runs.live(cache=cache, out=tmp_path / "before")
        done = runs.submit(cache=cache)
    assert (done.exit, done.batches, done.settled) == (Exit.OK, (), 3)
    assert [item["state"] for item in read_table(runs.out, "items.csv")] == ["scored"] * 3


def test_pairs_in_both_orders_and_gates_go_by_batch_too(tmp_path: Path, server: OpenAIBatchServer) -> None:
    pair = [{"id": f"p{n}", "request": f"Why {n}?", "response_a": "the a", "response_b": "the b"} for n in range(3)]
    runs = BatchRuns(tmp_path, server, *pair)
    whole_run(runs, server, mode="pairwise", order="both")
    assert len(read_journal(runs.out)) == 6
    gate = BatchRuns(tmp_path, server, *rows(3))
    gate.out = tmp_path / "gate"
    whole_run(gate, server, mode="gate")
    assert [item["pass"] for item in read_table(gate.out, "items.csv")] == ["true"] * 3


def test_waiting_goes_on_until_all_have_ended(tmp_path: Path, server: OpenAIBatchServer) -> None:
    runs = BatchRuns(tmp_path, server, *rows(5))
    runs.submit(most=2)
    runs.while_waiting = lambda: server.finish() if len(runs.pauses) == 3 else None
    found = runs.collect(wait=True)
    assert (found.result.exit, found.running, runs.pauses) == (Exit.OK, 0, [5.0, 7.5, 11.25])


def test_what_has_ended_is_collected_while_others_run(tmp_path: Path, server: OpenAIBatchServer) -> None:
    runs = BatchRuns(tmp_path, server, *rows(5))
    runs.submit(most=2)
    server.batches["batch_2"].status = "completed"
    found = runs.collect()
    assert (found.running, found.result.exit, found.result.ending) == (1, Exit.MISSING, "stopped")
    assert [line.state for line in runs.status().batches] == ["in_progress", "completed"]
    assert len(read_journal(runs.out)) == 3
    server.finish()
    assert runs.collect().result.exit is Exit.OK
