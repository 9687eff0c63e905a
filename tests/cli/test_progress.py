"""What a person sees while a run is under way: bars on a terminal, single lines elsewhere, nothing with --quiet."""

from __future__ import annotations

import io
import sys

import pytest

from agentanvil.cli.progress import Progress
from agentanvil.runner.events import RunStart, Tally

START = RunStart("compat:m", "runs/x", rows=24, tasks=72, resumed=8, hidden_fields=("expected",))


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def told(*, quiet: bool) -> None:
    """A run from preparation to end."""
    progress = Progress(quiet=quiet)
    for done in (0, 400, 1000):
        progress.step("model", done, 1000)
    progress.notice("half way\x1b[2J")
    progress.started(START)
    tally = Tally()
    for _ in range(72):
        tally.done += 1
        tally.cost = 0.0025 * tally.done
        progress.advanced(tally)
    tally.errors = 1
    progress.notice("the cache cannot be used")
    progress.finished()
    progress.notice("afterwards")


def test_elsewhere_each_event_is_a_line(capsys: pytest.CaptureFixture[str]) -> None:
    told(quiet=False)
    caught = capsys.readouterr()
    assert caught.out == ""
    assert caught.err.splitlines() == [
        "preparing: model",
        "half way\ufffd[2J",
        "compat:m: 72 tasks over 24 rows, 8 done before → runs/x; hidden from the judge: expected",
        "the cache cannot be used",
        "afterwards",
    ]


def test_quiet_says_nothing(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    told(quiet=True)
    assert capsys.readouterr().err == ""
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    told(quiet=True)
    assert terminal.getvalue() == ""


def test_a_terminal_gets_bars_that_end_where_they_should(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    told(quiet=False)
    text = terminal.getvalue()
    assert "model" in text
    assert "72/72" in text
    assert "\x1b[2J" not in text
    assert "the cache cannot be used\n" in text


def test_a_run_that_ends_before_it_began_closes_what_was_open(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    progress = Progress(quiet=False)
    progress.step("server", 1.0, None)
    progress.finished()
    progress.finished()
    assert "server" in terminal.getvalue()


def test_what_is_escalated_is_counted_from_0_again(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    progress = Progress(quiet=False)
    tally = Tally()
    for start in (
        RunStart("cheap", "run", rows=3, tasks=3, resumed=0),
        RunStart("strong", "run", 3, 2, 0, escalated=True),
    ):
        progress.started(start)
        for _ in range(start.tasks):
            tally.done += 1
            progress.advanced(tally)
    progress.finished()
    text = terminal.getvalue()
    assert "cheap: 3 tasks over 3 rows" in text
    assert "strong: 2 escalated tasks over 3 rows" in text
    assert "3/3" in text
    assert "2/2" in text


def test_each_arm_of_a_study_counts_from_0(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    progress = Progress(quiet=False)
    for _ in range(2):
        progress.started(START)
        for done in range(1, 73):
            progress.advanced(Tally(done=done))
        progress.finished()
    assert terminal.getvalue().count("72/72") == 2
