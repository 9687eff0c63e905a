"""What the terminal says of several judges."""

from __future__ import annotations

import pytest
from syrupy.assertion import SnapshotAssertion

from agentanvil.aggregate import Summariser, Summary
from agentanvil.verdict import Because, Exchange, JudgeError, NotRun
from tests.cli.test_summary import shown
from tests.fakes.graded import NA, Score, columns, grade, plan, rubric
from tests.fakes.seated import because, said, seated

FIRST, SECOND, THIRD = "compat:m@http://127.0.0.1:1/v1", "openai:gpt-6", "compat:m@http://[::1]:8000/v1"
FAILED = JudgeError("refusal", "no")


def jury() -> Summary:
    of = rubric("accuracy", "tone")
    shape = seated(plan(of), SECOND, THIRD)
    summariser = Summariser(of, shape, seed=7)
    for n in range(12):
        judges = [{"accuracy": 1 + (n + seat * (n % 3)) % 5, "tone": 5 - n % 3} for seat in range(2)]
        third: dict[str, Score] = {"accuracy": 1 + n % 5, "tone": NA if n == 3 else FAILED}
        summariser.add(said(shape, n, *judges, third, labels={"accuracy": (float(1 + n % 5),)}))
    return summariser.finish()


def escalated(first: float | None = 0.002, second: float | None = 0.05, gate: int | None = 3) -> Summary:
    of = rubric("accuracy", gate={} if gate is None else {"accuracy": gate})
    shape = seated(plan(of), SECOND, role="escalation", share=0.3)
    summariser = Summariser(of, shape, seed=7)
    for n in range(12):
        drawn = shape.is_drawn(1, f"item-{n}")
        reason: Because = "missing" if n == 2 else "unsure" if n % 4 == 0 else "share" if drawn else ""
        told: Score = NotRun() if n == 8 else 3
        row = said(shape, n, {"accuracy": None if n == 2 else 1 + n % 5}, {"accuracy": told} if reason else None)
        row = because(row, FIRST, "", Exchange(input_tokens=1000, output_tokens=50, cost=first))
        took = () if n == 8 else (Exchange(input_tokens=1000, output_tokens=50, cost=second),)
        summariser.add(because(row, SECOND, reason, *took))
    return summariser.finish()


def panel_of(text: str) -> str:
    """The part of the summary that concerns the panel, and the notes."""
    start = text.index("Jury:") if "Jury:" in text else text.index("Second judge where")
    end = text.index("gate: ") if "gate: " in text else text.rindex("\nverdicts ")
    return "\n".join(line.rstrip() for line in text[start:end].splitlines())


@pytest.mark.parametrize("width", [80, 120])
def test_a_jury_as_it_is_shown(snapshot: SnapshotAssertion, width: int) -> None:
    assert panel_of(shown(jury(), width=width)) == snapshot


@pytest.mark.parametrize("width", [80, 120])
def test_no_name_of_a_judge_and_no_figure_of_labels_is_cut(snapshot: SnapshotAssertion, width: int) -> None:
    of = rubric("faithfulness", "completeness", "instruction_following")
    names = [f"compat:{word}-{'x' * 40}@http://127.0.0.1:1/v1" for word in ("second", "third")]
    shape = seated(plan(of), *names)
    summariser = Summariser(of, shape, seed=7)
    for n in range(12):
        score = 1 + n % 5
        cells: dict[str, Score] = dict.fromkeys(("faithfulness", "completeness", "instruction_following"), score)
        summariser.add(said(shape, n, cells, cells, cells, labels={name: (float(score),) for name in cells}))
    text = panel_of(shown(summariser.finish(), width=width))
    tables = text[: text.index("How far")] + text[text.index("How far") :].replace(" … ", " to ")
    assert "…" not in tables
    assert tables == snapshot


def test_an_escalation_as_it_is_shown(snapshot: SnapshotAssertion) -> None:
    assert panel_of(shown(escalated())) == snapshot


def test_what_passes_otherwise_is_told_only_where_there_is_a_gate() -> None:
    assert "2 item(s) pass or fail otherwise" in shown(escalated())
    text = shown(escalated(gate=None))
    assert "1 where the first had none\n" in text
    assert "otherwise than the first, 1" in text


def test_one_judge_is_no_panel() -> None:
    of = rubric("accuracy")
    text = shown(grade(of, columns(of, accuracy=[5, 4]))[1])
    assert "judges" not in text
    assert "quorum" not in text


def test_a_cross_judge_is_said_to_decide_nothing() -> None:
    of = rubric("accuracy")
    shape = seated(plan(of), SECOND, role="cross", share=0.5)
    summariser = Summariser(of, shape, seed=7)
    for n in range(4):
        summariser.add(said(shape, n, {"accuracy": 4}, {"accuracy": 1} if n % 2 else None))
    text = shown(summariser.finish())
    assert "Cross judge, who decides nothing" in text
    line = next(line for line in text.splitlines() if line.startswith("accuracy") and "ordinal" in line)
    assert line.split()[:3] == ["accuracy", "2", "-0.50"]
    assert line.split()[-5:] == ["1", "and", "2", "0%", "-3.00"]


@pytest.mark.parametrize(
    ("first", "second", "says"),
    [
        (0.002, None, "second unknown · the second about everything unknown"),
        (None, 0.05, "first judge unknown · second $0.4500"),
        (0.1, 0.05, "some $0.6000, $1.0500 less than both"),
    ],
)
def test_costs_that_are_unknown_or_higher_are_told_as_such(
    first: float | None, second: float | None, says: str
) -> None:
    text = shown(escalated(first, second))
    assert says in text
    assert "were saved" not in text
