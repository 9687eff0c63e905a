"""The summary on the terminal: what is there to be read, and that no text of a judge or row breaks it."""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import Any

import pytest
from rich.console import Console

from agentanvil.aggregate import Baseline, Reading, Summariser, Summary
from agentanvil.cli.summary import print_summary
from agentanvil.runner.events import Tally
from agentanvil.verdict import Exchange, Scored
from tests.fakes.graded import ERROR, NA, Pair, columns, compared, grade, grade_by, item, plan, rubric


def shown(summary: Summary, tally: Tally | None = None, folder: str = "runs/x", *, width: int = 120) -> str:
    file = io.StringIO()
    print_summary(Console(file=file, width=width, color_system=None), summary, tally, folder)
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


READ = [
    Scored(4.0, expected_score=3.75, entropy=0.5, label_mass=0.9),
    Scored(2.0, expected_score=2.75, entropy=0.9, label_mass=0.8),
]


@pytest.mark.parametrize(
    ("reading", "title", "heads", "cells"),
    [
        ("verdict", "Scores · rubric", ["mean", "expected", "entropy"], ["3.00", "3.25", "0.70"]),
        ("expected", "Scores by expected score · rubric", ["mean", "verdict", "entropy"], ["3.25", "3.00", "0.70"]),
    ],
)
def test_readings_stand_beside_the_scores(reading: Reading, title: str, heads: list[str], cells: list[str]) -> None:
    of = rubric("accuracy")
    rows = columns(of, accuracy=READ)
    text = shown(grade_by(Summariser(of, plan(of), seed=7, reading=reading), rows)[1])
    assert title in text
    lines = text.splitlines()
    head = next(line for line in lines if line.startswith("dimension"))
    line = next(line for line in lines if line.startswith("accuracy"))
    assert [name for name in head.split() if name in heads] == heads
    assert [cell for cell in line.split() if cell in cells] == cells
    assert "verdicts with probabilities: accuracy 100% (15% outside)" in text
    least = text[text.index("Least certain verdicts") :]
    assert least.index("item-1") < least.index("item-0")


def test_without_readings_nothing_is_said_of_them() -> None:
    text = shown(graded([5, 4]))
    assert not any(word in text for word in ("entropy", "expected", "probabilities"))


def test_labels_are_held_against_the_judge() -> None:
    of = rubric("accuracy")
    rows = [item(plan(of), n, {"accuracy": 1 + n % 5}, labels={"accuracy": (5 - n % 5,)}) for n in range(10)]
    text = shown(grade(of, rows)[1])
    assert "Judge against human labels" in text
    assert "UNTRUSTED" in text


@pytest.mark.parametrize(
    ("tally", "says"),
    [
        (
            Tally(calls=3, input_tokens=1200, output_tokens=60),
            "calls 3 · cache hits 0 · tokens 1,200 in, 60 out · cost unknown",
        ),
        (Tally(calls=3, cost=0.0025), "cost $0.0025"),
        (Tally(calls=3, cost=0.0025, unpriced=2), "cost at least $0.0025: 2 replies have no price"),
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
    assert "replies 1 · tokens 1,000 in, 20 out · cost $0.5000, $0.500000 an item" in text


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


def test_a_pairwise_run_tells_who_won_and_what_the_order_did() -> None:
    of = rubric("help", mode="pairwise")
    first = Pair({"help": [2, -2]}, preferences=[0.9, 0.3], stated=["a", "tie"], models=("big", "small"))
    lost = Pair({"help": [1, None]}, models=("big", "small"), labels={"winner": (1.0,)})
    won = Pair({"help": [1, 1]}, preferences=[0.9, 0.8], models=("big", "small"), labels={"winner": (-1.0,)})
    text = shown(compared(of, *[first] * 12, won, lost)[1])
    assert "How much better response_a is · rubric test · 14 items" in text
    assert "response_a against response_b: big against small" in text
    (verdict,) = [line.split() for line in text.splitlines() if line.startswith("verdict (result)")]
    assert verdict[2:7] == ["1", "12", "0", "1", "53.8%"]
    assert "12 inconsistent (flip rate 92.3%" in text
    assert "first response picked in 96.3% of 27 calls that picked one" in text
    assert "differs from the computed one in 12 of 24 calls" in text
    assert "log-probabilities for 26 of 27 verdicts, 90.0% of them on the answers on offer" in text
    assert "single verdicts measure position" in text
    assert "winner, expected" in text
    assert "kappa (quadratic)" not in text
    assert "gate:" not in text


def test_several_models_are_ranked() -> None:
    of = rubric("help", mode="pairwise")
    games = [("x", "y", 1), ("y", "x", 1), ("y", "[red]z", 1), ("[red]z", "x", 1)]
    text = shown(compared(of, *[Pair({"help": [d, d]}, models=(a, b)) for a, b, d in games])[1])
    assert "Ranking (Bradley-Terry" in text
    assert "[red]z" in text


def test_a_pairwise_run_without_any_verdict_has_dashes() -> None:
    text = shown(compared(rubric("help", mode="pairwise"), Pair({"help": [None, None]}))[1])
    (verdict,) = [line.split() for line in text.splitlines() if line.startswith("verdict (result)")]
    assert verdict[2:] == ["0", "0", "0", "1", "–", "–", "–"]
    assert "nan" not in text.lower()


def test_a_gate_shows_what_passes_and_what_got_worse() -> None:
    of = rubric("safe", mode="gate")
    known = Baseline(frozenset({("item-1", "safe")}))
    _, summary = grade_by(Summariser(of, plan(of), seed=1, baseline=known), columns(of, safe=[1, 0, 0, 1]))
    text = shown(summary)
    (line,) = [line.split() for line in text.splitlines() if line.startswith("safe ")]
    assert "50%" in line
    assert "gate: FAIL (3 passed, 1 failed, 0 undecided; against the baseline: 1 newly failing, 1 known, 0" in text


def test_both_ways_of_asking_are_held_against_each_other() -> None:
    of = rubric("a", "b")
    shape = plan(of, ways="both")
    rows = [item(shape, n, {"a": 4, "b": 2}) for n in range(3)]
    text = shown(grade_by(Summariser(of, shape, seed=1), rows)[1])
    assert "Joint against split calls" in text
    (line,) = [line.split() for line in text.splitlines() if line.startswith("a ") and "100%" in line and "…" in line][
        -1:
    ]
    assert line[:5] == ["a", "3", "4.00", "4.00", "0.00"]


def test_pairs_have_their_entropy_and_no_expected_column() -> None:
    of = rubric("accuracy", mode="pairwise")
    said = Scored(1.0, preference=0.7, entropy=0.55, label_mass=0.9)
    text = shown(compared(of, Pair({"accuracy": [said, said]}))[1])
    head = next(line for line in text.splitlines() if line.startswith("dimension"))
    assert head.split().count("entropy") == 1
    assert "expected" not in head
    assert "0.55" in next(line for line in text.splitlines() if line.startswith("accuracy"))
    assert "verdicts with probabilities" not in text


def test_ambiguous_anchors_are_told_with_their_wording() -> None:
    text = shown(graded([[5, 3], [4, 4]], repeats=2))
    assert "1 of 2" in text
    wording = text[text.index("accuracy: tighten the wording of 3 | 5") :].splitlines()
    assert wording[1:3] == ["  3: in half of it", "  5: in every part"]


def test_a_gate_has_no_wording_to_tighten() -> None:
    text = shown(graded([[1, 0], [1, 1]], repeats=2, mode="gate"))
    assert "0 | 1" in text
    assert "tighten" not in text


@pytest.mark.parametrize("width", [80, 120])
def test_what_readings_differ_by_is_told_whole_on_any_width(width: int) -> None:
    text = shown(graded([[5, 3, 4], [4, 4, 4], [1, 2, 1]], repeats=3), width=width)
    sources = text[text.index("Variance: ") :].splitlines()
    assert sources[1].split() == [
        "dimension",
        "item",
        "repeat",
        "ICC(1,1)",
        "95",
        "%",
        "interval",
        "ICC(1,k)",
        "k",
        "n",
    ]
    assert sources[2].split()[-2:] == ["3", "3"]
    worth = text[text.index("What one reading is worth") :]
    assert "±0.25" in worth
    assert "intervals over items (" in " ".join(worth.split())
    assert "…  " not in sources[1]


def test_a_run_that_reads_once_says_nothing_of_variance() -> None:
    assert "Variance" not in shown(graded([5, 4, 3]))


def test_a_run_without_a_score_says_nothing_of_variance() -> None:
    assert "Variance" not in shown(graded([[ERROR, ERROR], [ERROR, ERROR]], repeats=2))


def test_the_method_of_every_interval_shown_is_named() -> None:
    text = shown(graded([[5, 3, 4], [4, 4, 4], [1, 2, 1], [2, 2, 3]], repeats=3), width=200)
    assert "intervals over items (jackknife, Fisher z, t; jackknife, logarithm, t)" in text
