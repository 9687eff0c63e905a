from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentanvil.dataset import Row
from agentanvil.engine import JournalIndex, JournalReader, JournalWriter, read_index
from agentanvil.errors import RunFolderError, RunWriteError
from agentanvil.plan import CallPlan, Plan, Seat
from agentanvil.verdict import Exchange, JudgeError, Outcome, Scored
from tests.fakes.full_disk import no_file_beyond
from tests.fakes.records import outcome

PLAN = Plan((CallPlan("joint", ("faithfulness",), judged=True),), repeats=2, judge="scripted:test")
RUN = "run-fingerprint"


def write(path: Path, *outcomes: Outcome) -> None:
    with JournalWriter(path, RUN) as journal:
        for each in outcomes:
            journal.append(each)


def index_of(path: Path, rows: int = 3) -> JournalIndex:
    return read_index(path, PLAN, rows, RUN)


def done(index: JournalIndex) -> list[tuple[int, int]]:
    rows = [Row(index=n, line=n + 1, id=f"r{n}", request="q", response="a") for n in range(index.rows)]
    return [(task.row.index, task.repeat) for task in PLAN.tasks(rows) if index.done(task)]


def test_a_missing_journal_is_an_empty_one(tmp_path: Path) -> None:
    assert index_of(tmp_path / "none.jsonl").done_count == 0


def test_rows_come_back_in_slot_order_whatever_the_order_of_arrival(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    write(path, outcome(2), outcome(0, repeat=1), outcome(0))
    index = index_of(path)
    assert done(index) == [(0, 0), (0, 1), (2, 0)]
    reader = JournalReader(path, index)
    assert [o.repeat for o in reader.row(0)] == [0, 1]
    assert reader.row(1) == []
    reader.close()


def test_a_failed_task_is_not_done_and_its_later_line_wins(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    failed = outcome(0, {"faithfulness": JudgeError("timeout")})
    write(path, failed)
    assert done(index_of(path)) == []
    write(path, outcome(0))
    index = index_of(path)
    assert done(index) == [(0, 0)]
    reader = JournalReader(path, index)
    assert [o.cells["faithfulness"].state for o in reader.row(0)] == ["scored"]
    reader.close()


def test_money_is_added_up_by_seat_whatever_became_of_the_call(tmp_path: Path) -> None:
    """1 + 2 dollars for a call that was asked again, 4 by the second judge; a hit and a call without a price add 0."""
    path = tmp_path / "journal.jsonl"
    failed = outcome(0, {"faithfulness": JudgeError("timeout")}, exchanges=(Exchange(cost=0.5), Exchange(cost=0.5)))
    write(path, failed, outcome(0, exchanges=(Exchange(cost=2.0),)))
    write(path, outcome(1, exchanges=(Exchange(cost=8.0, cached=True), Exchange())))
    write(path, outcome(1, judge="scripted:other", exchanges=(Exchange(cost=4.0),)))
    plan = Plan(PLAN.calls, 2, "scripted:test", others=(Seat("scripted:other", "cross"),))
    assert read_index(path, plan, 3, RUN).spent == [3.0, 4.0]


def test_rows_and_repeats_outside_the_plan_are_kept_in_the_file_and_passed_over(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    write(path, outcome(7), outcome(0, repeat=5), outcome(1))
    assert done(index_of(path)) == [(1, 0)]
    assert (7, 0) in done(index_of(path, rows=8))


@given(st.integers(1, 400))
def test_a_tail_cut_anywhere_costs_at_most_the_last_record(tmp_path_factory: pytest.TempPathFactory, cut: int) -> None:
    path = tmp_path_factory.mktemp("run") / "journal.jsonl"
    write(path, outcome(0), outcome(1))
    os.truncate(path, max(0, path.stat().st_size - cut))
    for _ in range(2):  # crash, resume, crash, resume
        before = done(index_of(path))
        write(path)
        assert path.read_bytes().endswith(b"\n")
        assert done(index_of(path)) == before
    write(path, outcome(1))
    assert (1, 0) in done(index_of(path))


def test_a_damaged_line_in_the_middle_is_named(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    write(path, outcome(0))
    with path.open("ab") as file:
        file.write(b'{"task": 1}\n')
    with pytest.raises(RunFolderError, match=r"journal\.jsonl:3: damaged line"):
        index_of(path)


def test_a_line_whose_damage_shows_only_when_it_is_read_whole_is_named(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    write(path, outcome(0), outcome(1))
    head, first, second, _ = path.read_bytes().split(b"\n")
    damaged = second.replace(b'"exchanges":[{', b'"exchanges":[{"unheard_of":1,')
    path.write_bytes(b"\n".join([head, first, damaged, b""]))
    reader = JournalReader(path, index_of(path))
    assert len(reader.row(0)) == 1
    with pytest.raises(RunFolderError, match=r"journal\.jsonl:3: damaged line"):
        reader.row(1)
    reader.close()


@pytest.mark.parametrize(
    ("first", "message"),
    [(b'{"journal":1,"run":"another"}\n', "another run"), (b"hello\n", "not a journal"), (b"[]\n", "not a journal")],
)
def test_a_foreign_journal_is_refused(tmp_path: Path, first: bytes, message: str) -> None:
    path = tmp_path / "journal.jsonl"
    path.write_bytes(first)
    with pytest.raises(RunFolderError, match=message):
        index_of(path)


def test_scores_keep_their_exact_value(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    write(path, outcome(0, {"faithfulness": Scored(0.1 + 0.2)}))
    reader = JournalReader(path, index_of(path))
    assert reader.row(0)[0].cells["faithfulness"] == Scored(0.30000000000000004)
    reader.close()


def test_a_disk_that_fills_leaves_no_half_line_for_the_next_outcome(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    write(path, outcome(0))
    with JournalWriter(path, RUN) as journal:
        with no_file_beyond(path.stat().st_size + 10), pytest.raises(RunWriteError, match="cannot be written"):
            journal.append(outcome(1))
        journal.append(outcome(2))
    assert done(index_of(path)) == [(0, 0), (2, 0)]


def test_a_journal_that_cannot_be_opened_is_told_as_such(tmp_path: Path) -> None:
    with pytest.raises(RunWriteError, match=f"{tmp_path}: the journal cannot be written"):
        JournalWriter(tmp_path, RUN)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_a_full_disk_is_told_as_such() -> None:
    with pytest.raises(RunWriteError, match="No space left") as caught:
        JournalWriter(Path("/dev/full"), RUN)
    assert caught.value.where is not None
    assert caught.value.where.file == "/dev/full"
