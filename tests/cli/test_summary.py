"""The summary on the terminal: what is there to be read, and that no text of a judge or row breaks it."""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import Any

import pytest
from rich.console import Console

from agentanvil.aggregate import Summary
from agentanvil.cli.summary import print_summary
from agentanvil.runner.events import Tally
from agentanvil.verdict import Exchange, Scored
from tests.fakes.graded import ERROR, NA, columns, grade, item, plan, rubric


def shown(summary: Summary, tally: Tally | None = None, folder: str = "runs/x") -> str:
    file = io.StringIO()
    print_summary(Console(file=file, width=120, color_system=None), summary, tally, folder)
    return file.getvalue()


def graded(scores: Sequence[Any], repeats: int = 1, **changes: Any) -> Summary:
    of = rubric("accuracy", **changes)
    return grade(of, columns(of, repeats, accuracy=scores), repeats)[1]


def test_each_dimension_has_its_line() -> None:
    text = shown(graded([5, 4, 3, ERROR, NA]))
    assert "Scores · rubric test · 5 items × 1" in text
    line = next(line for line in text.splitlines() if line.startswith("accuracy"))
    assert "4.00" in line
    assert "1 n/a" in line
    assert "1 judge error" in line
    assert "verdicts 4 of 5 (80.0%)" in text
    assert "reports in runs/x" in text


def test_nothing_scored_is_shown_as_nothing() -> None:
    text = shown(graded([ERROR, ERROR]))
    line = next(line for line in text.splitlines() if line.startswith("accuracy"))
    assert line.split()[1:4] == ["–", "–", "–"]
    assert "Missing verdicts" in text
    assert "timeout: no answer within 120 s" in text
    assert "nan" not in text.lower()


@pytest.mark.parametrize(("gate", "says"), [(4, "gate: FAIL (1 passed, 1 failed"), (2, "gate: PASS (2 passed")])
def test_the_gate_is_told_with_its_counts(gate: float, says: str) -> None:
    assert says in shown(graded([5, 2], gate={"accuracy": gate}))


def test_repeats_that_fall_on_both_sides_name_the_anchors() -> None:
    text = shown(graded([[5, 3], [4, 4]], repeats=2))
    assert "Ambiguous anchors" in text
    assert "3 | 5" in text


def test_labels_are_held_against_the_judge() -> None:
    of = rubric("accuracy")
    rows = [item(plan(of), n, {"accuracy": 1 + n % 5}, labels={"accuracy": (5 - n % 5,)}) for n in range(10)]
    text = shown(grade(of, rows)[1])
    assert "Judge against hand grades" in text
    assert "do not trust" in text


@pytest.mark.parametrize(
    ("tally", "says"),
    [
        (
            Tally(calls=3, input_tokens=1200, output_tokens=60),
            "calls 3 · cache hits 0 · tokens 1,200 in, 60 out · cost unknown",
        ),
        (Tally(calls=3, cost=0.0025), "cost $0.0025"),
        (
            Tally(cached=4, saved_tokens=1500),
            "calls 0 · cache hits 4 (saved 1,500 tokens) · tokens 0 in, 0 out · cost $0.0000",
        ),
    ],
)
def test_o_g05_g06_spending_is_told_as_far_as_it_is_known(tally: Tally, says: str) -> None:
    assert says in shown(graded([5]), tally)


def test_a_report_tells_what_the_whole_run_took() -> None:
    of = rubric("accuracy")
    paid = Exchange("{}", input_tokens=1000, output_tokens=20, cost=0.5)
    text = shown(grade(of, [item(plan(of), 0, {"accuracy": 4}, exchanges=[paid])])[1])
    assert "replies 1 · tokens 1,000 in, 20 out · cost $0.5000" in text


@pytest.mark.parametrize("hostile", ["[red]x[/red]", "[/]", "\x1b[31mred", "a\nb\nc", "x" * 500, "[link=http://x]y"])
def test_no_text_breaks_the_tables(hostile: str) -> None:
    of = rubric("accuracy")
    bad = Scored(1.0, (hostile,), False, hostile)
    rows = [
        item(plan(of), 0, {"accuracy": bad}, name=hostile),
        item(plan(of), 1, {"accuracy": ERROR}, name=f"{hostile}2"),
    ]
    text = shown(grade(of, rows)[1], folder=f"runs/{hostile}")
    assert "\x1b" not in text
    assert all(len(line) <= 620 for line in text.splitlines())
    if "[" in hostile and "\x1b" not in hostile:
        assert text.count(hostile) >= 3
