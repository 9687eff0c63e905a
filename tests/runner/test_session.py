"""One sitting: what is counted, and when nobody answers any more."""

from __future__ import annotations

from pathlib import Path

import pytest

from agentanvil.engine import JournalWriter, Stop
from agentanvil.runner.recorder import Recorder
from agentanvil.verdict import Exchange, JudgeError, Outcome, Scored
from tests.fakes.records import outcome
from tests.fakes.runs import Collected, read_journal

LOST = {"faithfulness": JudgeError("connection", "reset")}
SCORED = {"faithfulness": Scored(4.0)}


class Desk:
    """A recorder with its journal."""

    def __init__(self, folder: Path, patience: int = 3) -> None:
        self.listener = Collected()
        self.stop = Stop()
        self.folder = folder
        self.journal = JournalWriter(folder / "journal.jsonl", "run")
        self.record = Recorder(self.journal, self.listener, self.stop, patience)

    def take(self, *outcomes: Outcome) -> None:
        with self.journal:
            for each in outcomes:
                self.record(each)


def test_each_outcome_is_journaled_counted_and_told(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    answered = Exchange("{}", input_tokens=100, output_tokens=20, attempts=3, cost=0.25)
    again = Exchange("{}", input_tokens=10, output_tokens=2, cost=0.5)
    desk.take(outcome(0, SCORED, exchanges=(answered, again)), outcome(1, LOST, exchanges=(Exchange(error="x"),)))
    tally = desk.record.tally
    assert (tally.done, tally.errors, tally.calls) == (2, 1, 5)
    assert (tally.input_tokens, tally.output_tokens, tally.cost) == (110, 22, 0.75)
    assert [line["id"] for line in read_journal(tmp_path)] == ["item-0", "item-1"]
    assert [told.done for told in desk.listener.tallies] == [1, 2]


def test_o_g05_a_hit_is_no_spending_and_tells_what_it_saved(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    hit = Exchange("{}", input_tokens=400, output_tokens=100, attempts=0, cached=True, cost=0.25)
    desk.take(outcome(0, SCORED, exchanges=(hit,)))
    tally = desk.record.tally
    assert (tally.calls, tally.cached, tally.saved_tokens) == (0, 1, 500)
    assert (tally.input_tokens, tally.output_tokens, tally.cost) == (0, 0, None)


def test_o_g06_an_unknown_price_is_no_price_of_zero(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    desk.take(outcome(0, SCORED, exchanges=(Exchange("{}", input_tokens=100, output_tokens=10),)))
    assert (desk.record.tally.cost, desk.record.tally.input_tokens) == (None, 100)


def test_checks_are_tasks_that_nobody_was_asked_about(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    desk.take(outcome(0, SCORED, exchanges=()), outcome(1, SCORED))
    assert (desk.record.tally.done, desk.record.asked) == (2, 1)


@pytest.mark.parametrize(
    ("lost", "stops"),
    [
        ([True, True, True], True),
        ([True, True, False, True, True], False),
        ([False, True, True, True, True], True),
        ([True, True], False),
    ],
)
def test_a_judge_is_lost_after_so_many_in_a_row(tmp_path: Path, lost: list[bool], stops: bool) -> None:
    desk = Desk(tmp_path)
    desk.take(*(outcome(index, LOST if each else SCORED) for index, each in enumerate(lost)))
    assert desk.stop.requested is stops
    assert (desk.record.lost is not None) is stops


@pytest.mark.parametrize(
    ("code", "says"),
    [("connection", "is gone: 3 tasks"), ("rate_limited", "takes no calls: 3 tasks"), ("timeout", None)],
)
def test_what_ends_a_run_is_told_and_what_may_pass_does_not_end_it(tmp_path: Path, code: str, says: str | None) -> None:
    desk = Desk(tmp_path)
    desk.take(*(outcome(index, {"faithfulness": JudgeError(code)}) for index in range(3)))
    assert desk.stop.requested is (says is not None)
    assert says is None or says in str(desk.record.lost)
