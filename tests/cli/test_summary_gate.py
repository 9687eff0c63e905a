"""The gate on the terminal: the verdict, what it rests on, and what would decide it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from agentanvil.aggregate import Baseline, GateCircumstances, Summariser
from agentanvil.cli.summary_gate import gate_lines
from agentanvil.rubric import GateTerms, Rubric
from tests.fakes.graded import ERROR, Score, columns, plan, rubric


def of(gate: dict[str, float] | None = None, **terms: Any) -> Rubric:
    return replace(rubric("a", gate=gate or {}), terms=GateTerms(**terms))


def shown(
    asked: Rubric, scores: Sequence[Score], around: GateCircumstances | None = None, baseline: Baseline | None = None
) -> list[str]:
    summariser = Summariser(asked, plan(asked), seed=7, baseline=baseline)
    for row in columns(asked, a=scores):
        summariser.add(row)
    return [line.plain for line in gate_lines(summariser.finish(around=around).gate)]


def test_every_item_has_one_line() -> None:
    assert shown(of({"a": 4}), [5, 3, ERROR]) == [
        "gate: FAIL (1 passed, 1 failed, 1 undecided; every item must meet every threshold)"
    ]
    assert shown(of(), [5]) == []
    known = Baseline(frozenset({("item-1", "a")}))
    assert shown(of({"a": 4}), [5, 3], baseline=known) == [
        "gate: PASS (2 passed, 0 failed, 0 undecided; against the baseline: 0 newly failing, 1 known, 0 newly passing)"
    ]


def test_figures_have_a_line_each() -> None:
    both = of({"a": 4}, pass_rate=0.5, mean={"a": 4.5}, confidence=0.9)
    head, passed, unsure = shown(both, [5] * 22 + [3] * 3)
    assert head == (
        "gate: INCONCLUSIVE (by 90 % intervals: clopper-pearson, gaffke bound of a mean on a scale, 50000 draws; "
        "22 items meet the thresholds, 3 do not, 0 undecided)"
    )
    assert passed == "  pass_rate 0.88 [0.72, 0.97] reaches 0.5"
    assert unsure.startswith("  mean.a 4.76 [4.26, 4.93] against 4.5: about ")
    assert "more row(s) of the same kind would decide" in unsure


def test_missing_verdicts_and_a_judge_that_is_not_calibrated_are_reasons() -> None:
    around = GateCircumstances(required=True, doubts=("the gate's judge is uncalibrated: \x1b[31mx does not exist",))
    lines = shown(of({"a": 4}, pass_rate=0.8), [5] * 20 + [ERROR] * 4, around)
    assert lines[0].startswith("gate: INCONCLUSIVE (by 95 % intervals: ")
    assert "without the 4 item(s) that lack a verdict it would pass" in lines[1]
    assert lines[2].startswith("  4 item(s) lack a verdict")
    assert lines[3] == "  the gate's judge is uncalibrated: \ufffd[31mx does not exist"


def test_nothing_to_decide_on_is_told() -> None:
    assert shown(of({"a": 4}, confidence=0.95), [ERROR])[1] == "  mean.a: no item has a value"
