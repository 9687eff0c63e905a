"""Memory follows concurrency, not rows; and what was paid for is safe before a report is begun."""

from __future__ import annotations

import gc
import json
import tracemalloc
from collections.abc import Callable
from itertools import islice
from pathlib import Path

import pytest

from agentanvil.engine import read_index
from agentanvil.errors import RunWriteError
from agentanvil.runner.exits import Exit
from agentanvil.runner.grade import pending
from agentanvil.runner.job import Surroundings, prepare
from tests.fakes.runs import REPORTS, Collected, Runs, read_journal, recording, rows, verdict
from tests.fakes.server import FakeServer
from tests.fakes.verdicts import CODE_RUBRIC, graded

FEW, MANY = 100, 1200
RESPONSE_BYTES = 10_000
PER_ROW_BYTES = 900  # an id's hash, places in journal and recording, scores for the intervals; not the row


def many_rows(path: Path, count: int, response: str = "r") -> None:
    with path.open("w", encoding="utf-8") as file:
        for number in range(count):
            file.write(json.dumps({"id": f"i{number}", "request": "q", "response": response}) + "\n")


def peak_of(work: Callable[[], object]) -> int:
    gc.collect()
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_o_i01_memory_does_not_grow_with_rows(tmp_path: Path) -> None:
    peaks = {}
    for count in (10, FEW, MANY):  # the first one only warms up what is kept for the whole process
        judge = recording(tmp_path, *({"id": f"i{number}", "reply": verdict(4)} for number in range(count)))
        runs = Runs(tmp_path, judge)
        many_rows(runs.data, count, "word " * (RESPONSE_BYTES // 5))
        runs.out = tmp_path / f"run-{count}"
        peaks[count] = peak_of(runs.grade)
        assert len(read_journal(runs.out)) == count
    assert peaks[MANY] - peaks[FEW] < (MANY - FEW) * PER_ROW_BYTES < MANY * RESPONSE_BYTES / 10


def test_o_i02_tasks_are_made_when_someone_is_free(tmp_path: Path) -> None:
    runs = Runs(tmp_path, "compat:m@http://127.0.0.1:1/v1")
    many_rows(runs.data, 20_000)
    with prepare(runs.settings(repeats=5), Surroundings({})) as job:
        index = read_index(tmp_path / "none", job.plan, job.rows, job.fingerprint)
        first: list[str] = []
        peak = peak_of(lambda: first.extend(task.id for task in islice(pending(job, index), 8)))
    assert first == [*(f"i0/joint/{repeat}" for repeat in range(5)), *(f"i1/joint/{repeat}" for repeat in range(3))]
    assert peak < 2_000_000


def test_o_i03_what_was_paid_for_is_safe_before_a_report_is_begun(tmp_path: Path) -> None:
    with FakeServer(graded) as server:
        runs = Runs(tmp_path, server, *rows(4))
        runs.grade(limit=2)
        before = runs.reports()
        obstacle = runs.out / ".summary.json.tmp"
        obstacle.mkdir()
        with pytest.raises(RunWriteError, match="reports cannot be written") as caught:
            runs.grade()
        assert str(obstacle) in str(caught.value)
        assert len(read_journal(runs.out)) == 4
        assert runs.reports() == before
        obstacle.rmdir()
        assert runs.grade().exit is Exit.OK
        assert len(server.requests) == 4
    assert {path.name for path in runs.out.iterdir()} == {*REPORTS, "journal.jsonl", "manifest.json"}


def test_o_i05_progress_advances_with_every_row(tmp_path: Path) -> None:
    runs, listener = Runs(tmp_path, "compat:m@http://127.0.0.1:1/v1"), Collected()
    runs.rubric.write_text(CODE_RUBRIC, encoding="utf-8")
    many_rows(runs.data, 300)
    runs.grade(listener, judge=None, concurrency=64)
    assert [tally.done for tally in listener.tallies] == list(range(1, 301))
