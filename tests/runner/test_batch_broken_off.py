"""A submission that breaks off anywhere: nothing is handed over twice, and no batch is lost."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from agentanvil.errors import JudgeSetupError, RunFolderError
from agentanvil.runner.batch.recovery import SETTLE_S
from agentanvil.runner.exits import Exit
from tests.fakes.batch_runs import KINDS, BatchRuns, Kind
from tests.fakes.batch_servers import BatchServer, OpenAIBatchServer, question_of
from tests.fakes.runs import read_journal, rows
from tests.fakes.server import Answer, error

CUT: dict[str, Callable[[Answer], Answer]] = {
    "reset": lambda answer: answer.but(reset=True),
    "half an answer": lambda answer: answer.but(cut_at=20),
    "a proxy's page": lambda _: Answer(200, b"<html>"),
    "502": lambda _: Answer(502, b"bad gateway"),
}


@pytest.fixture(params=KINDS, ids=lambda kind: kind.provider)
def kind(request: pytest.FixtureRequest) -> Kind:
    found: Kind = request.param
    return found


def ends_well(runs: BatchRuns, server: BatchServer, count: int) -> None:
    server.finish()
    assert runs.collect().result.exit is Exit.OK
    assert set(server.handed.values()) == {1}
    assert len(read_journal(runs.out)) == count


@pytest.mark.parametrize("how", CUT)
def test_a_batch_that_was_created_unheard_is_found_by_its_mark(tmp_path: Path, how: str) -> None:
    with OpenAIBatchServer() as server:
        runs = BatchRuns(tmp_path, server, *rows(5))
        server.create_answer = CUT[how]
        done = runs.submit()
        assert done.exit is Exit.MISSING
        assert "will be found out by the next" in str(done.problem)
        with pytest.raises(RunFolderError, match="would be paid for twice"):
            runs.live()
        server.create_answer = lambda answer: answer
        for other in range(3):  # the list has pages, and batches of others in it
            server.new_batch([(f"other-{other}", {"input": f"other {other}"})], {"anvil_part": "another"})
        server.page = 2
        again = runs.submit()
        assert (again.exit, again.requests, again.waiting) == (Exit.OK, 0, 4)
        assert "batch batch_1 had been created" in runs.listener.notices[-1]
        ends_well(runs, server, 5)


def test_messages_batches_carry_no_mark_so_they_are_told_by_their_results(tmp_path: Path) -> None:
    (anthropic,) = (kind for kind in KINDS if kind.provider == "anthropic")
    with anthropic.server() as server:
        runs = BatchRuns(tmp_path, server, *rows(5), provider="anthropic")
        server.create_answer = CUT["reset"]
        runs.submit()
        server.create_answer = lambda answer: answer
        body = {"messages": [{"content": "other"}], "output_config": {"format": {"schema": {"type": "boolean"}}}}
        server.new_batch([(f"other-{n}", body) for n in range(4)])
        runs.now += 2 * SETTLE_S
        again = runs.submit()
        assert (again.exit, again.requests, again.waiting) == (Exit.MISSING, 0, 4)
        assert "other batches of the same size" in runs.listener.notices[-1]
        assert [line.state for line in runs.status().batches] == ["not known yet"]
        server.handed.clear()
        server.finish()
        assert runs.submit().waiting == 4
        assert runs.collect().result.exit is Exit.OK
        assert server.handed.total() == 0


def test_a_batch_that_was_never_created_is_handed_over_once_that_is_sure(tmp_path: Path, kind: Kind) -> None:
    with kind.server() as server:
        runs = BatchRuns(tmp_path, server, *rows(5), provider=kind.provider)
        server.refuse_create = Answer(500, b"{}")
        assert runs.submit().exit is Exit.MISSING
        server.refuse_create = None
        soon = runs.submit()
        assert (soon.exit, soon.requests, soon.waiting) == (Exit.MISSING, 0, 4)
        assert "run this again in 60 s" in runs.listener.notices[-1]
        runs.now += SETTLE_S
        assert runs.submit().requests == 4
        ends_well(runs, server, 5)


def test_where_the_upload_breaks_off_there_is_no_batch(tmp_path: Path) -> None:
    with OpenAIBatchServer() as server:
        runs = BatchRuns(tmp_path, server)
        whole = server.answer
        server.redirects = False
        server._server._script = lambda request: Answer(reset=True) if request.path == "/v1/files" else whole(request)
        done = runs.submit(max_attempts=1)
        assert done.problem is not None
        server._server._script = whole
        assert runs.submit().requests == 2
        path = runs.out / "batches.jsonl"
        path.write_bytes(b"".join(lines_of(path)[:-2]))  # killed before the upload: nothing to wait for
        server.batches.popitem()
        assert runs.submit().requests == 2


@pytest.mark.parametrize("status", [400, 401, 403, 404, 413, 429])
def test_a_batch_that_was_turned_away_waits_for_nothing(tmp_path: Path, kind: Kind, status: int) -> None:
    with kind.server() as server:
        runs = BatchRuns(tmp_path, server, provider=kind.provider)
        server.refuse_create = error(status, "no")
        assert runs.submit(max_attempts=1).problem is not None
        server.refuse_create = None
        assert runs.submit().requests == 2
        ends_well(runs, server, 3)


def lines_of(path: Path) -> list[bytes]:
    return path.read_bytes().splitlines(keepends=True)


@pytest.mark.parametrize("torn", [b"", b'{"event":"crea'], ids=["whole", "torn"])
def test_wherever_a_submission_is_killed_no_row_is_handed_over_twice(tmp_path: Path, torn: bytes) -> None:
    """Cut the ledger after each of its lines; the provider created what it says, or one batch more."""
    with OpenAIBatchServer() as server:
        runs = BatchRuns(tmp_path, server, *rows(5))
        runs.submit(most=2)
        batches = dict(server.batches)
        ledger = lines_of(runs.out / "batches.jsonl")
        events = [json.loads(line)["event"] for line in ledger]
        assert events == ["begun", "shape", "settings", *["intent", "uploaded", "created"] * 2]
        journal = (runs.out / "journal.jsonl").read_bytes()
        for cut in range(len(ledger) + 1):
            for more in (0, 1) if events[cut - 1 : cut] == ["uploaded"] else (0,):
                there = events[:cut].count("created") + more
                server.batches = {name: replace(batches[name]) for name in list(batches)[:there]}
                (runs.out / "batches.jsonl").write_bytes(b"".join(ledger[:cut]) + torn)
                (runs.out / "journal.jsonl").write_bytes(journal)
                runs.now += SETTLE_S
                live = server.live
                runs.submit(most=2)
                lines = [question_of(body) for batch in server.batches.values() for _, body in batch.lines]
                assert len(lines) == len(set(lines)) == 4 - (server.live - live)
                server.finish()
                assert runs.collect().result.exit is Exit.OK


def test_a_collection_that_broke_off_is_taken_up_and_adds_nothing_twice(tmp_path: Path) -> None:
    with OpenAIBatchServer(lambda at: "prose" if at == 1 else "") as server:
        runs = BatchRuns(tmp_path, server, *rows(6))
        runs.submit()
        server.finish()
        ledger = (runs.out / "batches.jsonl").read_bytes()
        runs.collect()
        journal = (runs.out / "journal.jsonl").read_bytes()
        (runs.out / "batches.jsonl").write_bytes(ledger)  # as if it had been killed before the last line
        again = runs.collect()
        assert (runs.out / "journal.jsonl").read_bytes() == journal
        assert again.result.tally.done == 0
        assert [line.next for line in runs.status().batches] == [""]


def test_results_that_break_off_are_fetched_again(tmp_path: Path, kind: Kind) -> None:
    with kind.server() as server:
        runs = BatchRuns(tmp_path, server, *rows(6), provider=kind.provider)
        runs.submit(max_attempts=3)
        server.finish()
        whole, cuts = server.answer, [30, 400]

        def cut(request: object) -> Answer:
            answer = whole(request)  # type: ignore[arg-type]
            fetching = request.path.endswith(("output/content", "results"))  # type: ignore[attr-defined]
            return answer.but(cut_at=cuts.pop()) if fetching and cuts else answer

        server._server._script = cut
        found = runs.collect()
        assert (found.result.exit, found.notes) == (Exit.OK, ())
    assert len(read_journal(runs.out)) == 6


def test_a_provider_that_does_not_answer_changes_nothing(tmp_path: Path, kind: Kind) -> None:
    with kind.server() as server:
        runs = BatchRuns(tmp_path, server, provider=kind.provider)
        runs.submit()
        server.finish()
    for verb in (runs.status, runs.collect, runs.cancel):
        with pytest.raises(JudgeSetupError, match="cannot connect"):
            verb()
    assert len(read_journal(runs.out)) == 1


def test_a_damaged_ledger_is_named_by_line(tmp_path: Path) -> None:
    with OpenAIBatchServer() as server:
        runs = BatchRuns(tmp_path, server)
        runs.submit()
        path = runs.out / "batches.jsonl"
        lines = lines_of(path)
        path.write_bytes(b"".join([*lines[:2], b"{}\n", *lines[2:]]))
        with pytest.raises(RunFolderError, match=r"batches\.jsonl:3: damaged line"):
            runs.status()
        path.write_bytes(lines[0].replace(b'"run":"', b'"run":"0') + b"".join(lines[1:]))
        with pytest.raises(RunFolderError, match="belong to another run"):
            runs.status()
    assert not list(runs.out.glob(".batch*"))
