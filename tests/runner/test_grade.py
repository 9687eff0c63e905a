"""The main job in one process: what is asked, kept and reported."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from agentanvil.errors import (
    RunFolderError,
)
from agentanvil.runner.events import RunStart
from agentanvil.runner.exits import Exit
from tests.fakes.runs import REPORTS, Collected, Runs, asked_about, read_journal, read_table, rows
from tests.fakes.server import Answer, FakeServer, Recorded, unused_port
from tests.fakes.verdicts import CODE_RUBRIC, graded, refusing


@pytest.fixture
def server() -> Iterator[FakeServer]:
    with FakeServer(graded) as server:
        yield server


def failing_on(number: str, answer: Answer) -> Any:
    return lambda request: answer if asked_about(request) == number else graded(request)


def test_each_row_is_asked_once_for_each_repeat_and_everything_is_written(tmp_path: Path, server: FakeServer) -> None:
    runs, listener = Runs(tmp_path, server), Collected()
    result = runs.grade(listener, repeats=2)
    assert (result.exit, result.ending, result.problem) == (Exit.OK, "complete", None)
    assert len(server.requests) == 3 * 2
    assert sorted(path.name for path in runs.out.iterdir()) == sorted((*REPORTS, "journal.jsonl", "manifest.json"))
    assert [item["id"] for item in read_table(runs.out, "items.csv")] == ["item-0", "item-1", "item-2"]
    assert len(read_table(runs.out, "scores.csv")) == 3 * 2 * 2
    assert len(read_journal(runs.out)) == 6
    assert listener.starts == [RunStart(runs.judge, str(runs.out), rows=3, tasks=6, resumed=0)]
    assert (listener.tallies[-1].done, listener.tallies[-1].errors, listener.ends) == (6, 0, 1)
    assert (result.tally.calls, result.tally.input_tokens, result.tally.output_tokens) == (6, 600, 120)


def test_a_split_rubric_asks_once_for_each_dimension(tmp_path: Path, server: FakeServer) -> None:
    runs = Runs(tmp_path, server, calls="split")
    runs.grade()
    assert len(server.requests) == 3 * 2
    assert len(read_table(runs.out, "scores.csv")) == 3 * 2


def test_the_same_command_again_asks_nothing_and_writes_the_same_bytes(tmp_path: Path, server: FakeServer) -> None:
    runs = Runs(tmp_path, server)
    runs.grade(repeats=2)
    before, listener = runs.reports(), Collected()
    again = runs.grade(listener, repeats=2)
    assert len(server.requests) == 6
    assert (again.exit, again.tally.calls, listener.starts) == (Exit.OK, 0, [])
    assert runs.reports() == before
    assert len(runs.manifest()["sessions"]) == 1


def test_a_complete_run_needs_no_judge(tmp_path: Path) -> None:
    with FakeServer(graded) as server:
        runs = Runs(tmp_path, server)
        runs.grade()
    before = runs.reports()
    assert runs.grade().exit is Exit.OK
    assert runs.reports() == before


@pytest.mark.parametrize("concurrency", [1, 2, 16])
def test_o_c13_reports_do_not_depend_on_who_answers_first(tmp_path: Path, concurrency: int) -> None:
    def answer(request: Recorded) -> Answer:
        number = int(asked_about(request))
        return graded(request, 1 + number % 5).but(delay_s=0.02 * (5 - number))

    with FakeServer(answer) as server:
        runs = Runs(tmp_path, server, *rows(5))
        runs.grade(concurrency=concurrency, out=tmp_path / "many")
        with FakeServer(lambda request: answer(request).but(delay_s=0)) as quick:
            runs.judge = runs.judge.replace(server.url, quick.url)
            runs.grade(concurrency=1, out=tmp_path / "one")
    many, one = runs.reports(tmp_path / "many"), runs.reports(tmp_path / "one")
    assert many["items.csv"] == one["items.csv"]
    assert many["scores.csv"].replace(server.url.encode(), b"") == one["scores.csv"].replace(quick.url.encode(), b"")
    assert [item["accuracy"] for item in read_table(tmp_path / "many", "items.csv")] == ["1", "2", "3", "4", "5"]


def test_nobody_is_hired_for_whom_there_is_no_work(tmp_path: Path, server: FakeServer) -> None:
    assert Runs(tmp_path, server).grade(concurrency=10_000_000).exit is Exit.OK


def test_more_rows_and_more_repeats_ask_only_for_what_is_new(tmp_path: Path, server: FakeServer) -> None:
    runs = Runs(tmp_path, server)
    runs.grade(limit=1)
    assert len(server.requests) == 1
    runs.grade()
    assert len(server.requests) == 3
    listener = Collected()
    result = runs.grade(listener, repeats=3)
    assert len(server.requests) == 9
    assert (listener.starts[0].tasks, listener.starts[0].resumed) == (6, 3)
    assert (result.summary.items, result.summary.repeats) == (3, 3)
    assert len({request.body for request in server.requests}) == 9
    assert runs.manifest()["plan"]["repeats"] == 3
    assert [session["tasks"] for session in runs.manifest()["sessions"]] == [1, 2, 6]


def test_fewer_rows_or_repeats_report_on_those_alone_as_a_fresh_run_would(tmp_path: Path, server: FakeServer) -> None:
    runs = Runs(tmp_path, server)
    runs.grade(repeats=2)
    runs.grade(repeats=1, limit=2)
    runs.grade(repeats=1, limit=2, out=tmp_path / "fresh")
    assert len(server.requests) == 6 + 2
    assert runs.reports() == runs.reports(tmp_path / "fresh")
    runs.grade(repeats=2)
    assert len(server.requests) == 6 + 2


def test_checks_alone_need_no_judge(tmp_path: Path) -> None:
    runs = Runs(tmp_path, f"compat:m@http://127.0.0.1:{unused_port()}/v1")
    runs.rubric.write_text(CODE_RUBRIC, encoding="utf-8")
    result = runs.grade(judge=None)
    assert (result.exit, result.tally.calls) == (Exit.OK, 0)
    assert [item["short"] for item in read_table(runs.out, "items.csv")] == ["1"] * 3
    assert runs.manifest()["identity"]["judge"] == "code"


def test_without_out_the_folder_follows_from_the_settings(
    tmp_path: Path, server: FakeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    runs = Runs(tmp_path, server)
    first = runs.grade(out=None)
    assert first.folder.parent == Path("runs")
    assert first.folder.name.startswith("rows-small-")
    assert runs.grade(out=None, repeats=2).folder == first.folder
    assert runs.grade(out=None, seed=1).folder != first.folder
    assert runs.grade(out=None, temperature=0.5).folder != first.folder
    long = runs.data.rename(tmp_path / f"{'名' * 80}.jsonl")
    assert runs.grade(out=None, data=str(long)).exit is Exit.OK


def test_what_does_not_change_the_verdicts_may_change(tmp_path: Path, server: FakeServer) -> None:
    runs = Runs(tmp_path, server)
    runs.grade()
    text = runs.rubric.read_text(encoding="utf-8")
    runs.rubric.write_text(f"# a comment\n{text}", encoding="utf-8")
    runs.data = runs.data.rename(tmp_path / "moved.jsonl")
    assert runs.grade(concurrency=1, rpm=600.0, timeout=5.0, min_coverage=0.5).exit is Exit.OK
    assert len(server.requests) == 3


def test_what_an_earlier_sitting_learnt_stays_in_the_manifest(tmp_path: Path) -> None:
    with FakeServer(refusing("temperature")) as server:
        runs = Runs(tmp_path, server)
        runs.grade(limit=2)
        server._script = graded
        runs.grade()
        notes = runs.grade().summary.notes
    assert runs.manifest()["judge"]["dropped"] == ["temperature"]
    assert any("does not take temperature" in note for note in notes)


def test_standard_input_is_read_whole_and_resumes_like_a_file(tmp_path: Path, server: FakeServer) -> None:
    runs = Runs(tmp_path, server)
    lines = runs.data.read_bytes()
    first = runs.grade(data="-", stdin=lines, limit=2)
    assert (first.exit, first.summary.items) == (Exit.OK, 2)
    runs.grade(data="-", stdin=lines)
    assert len(server.requests) == 3
    assert runs.manifest()["data"]["name"] == "stdin"
    with pytest.raises(RunFolderError, match="data was"):
        runs.grade(data="-", stdin=lines + b'{"id":"z","request":"a","response":"b"}\n')
