from __future__ import annotations

import pytest

from agentanvil.aggregate import Baseline, Summariser
from agentanvil.report import failure_lines
from agentanvil.rubric import Rubric
from agentanvil.verdict import Scored
from tests.fakes.graded import Score, columns, grade, grade_by, item, plan, rubric

GATE = rubric("a", "b", mode="gate")


def lines(of: Rubric, name: str = "item-0", repeats: int = 1, **scores: Score | list[Score]) -> list[str]:
    (result,), _ = grade(of, [item(plan(of, repeats), 0, scores, name=name)], repeats)
    return failure_lines(result)


@pytest.mark.parametrize(
    ("cell", "line"),
    [
        (Scored(0, ("one", "two"), True, "it leaks"), "item-0 · a: false — “one / two” (it leaks)"),
        (Scored(0, (), None, ""), "item-0 · a: false — no evidence"),
        (Scored(0, ("x",), True, ""), "item-0 · a: false — “x”"),
    ],
)
def test_a_line_names_item_dimension_and_evidence(cell: Score, line: str) -> None:
    assert lines(GATE, a=cell, b=1) == [line]


def test_each_dimension_that_is_false_has_its_line() -> None:
    assert [found.split(" — ")[0] for found in lines(GATE, a=0, b=0)] == ["item-0 · a: false", "item-0 · b: false"]
    assert lines(GATE, a=1, b=1) == []
    assert lines(GATE, a=1, b=None) == []


def test_the_repeat_that_failed_explains() -> None:
    good, bad = Scored(1, ("fine",), True, "holds"), Scored(0, ("bad",), True, "does not")
    assert lines(GATE, repeats=3, a=[good, bad, good], b=[1, 1, 1]) == ["item-0 · a: false — “bad” (does not)"]


def test_thresholds_are_told_with_the_score() -> None:
    of = rubric("a", "b", gate={"overall": 4, "b": 3})
    assert lines(of, a=5, b=Scored(2, ("q",), True, "r")) == [
        "item-0 · overall 2 is below 4 (b 2) — “q” (r)",
        "item-0 · b 2 is below 3 — “q” (r)",
    ]


def test_known_failures_have_no_line() -> None:
    known = Baseline(frozenset({("item-0", "a")}))
    results, _ = grade_by(Summariser(GATE, plan(GATE), seed=1, baseline=known), columns(GATE, a=[0], b=[0]))
    assert [line.split(" — ")[0] for line in failure_lines(results[0])] == ["item-0 · b: false"]


def test_a_failure_is_one_line_however_long() -> None:
    (line,) = lines(GATE, name="a\nb", a=Scored(0, ("x\r\ny\u2028z", "q" * 500), True, "r" * 500), b=1)
    assert len(line.splitlines()) == 1
    assert len(line) < 450
