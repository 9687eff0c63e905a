"""Which places of a row a second judge is asked about, by what the first one said."""

from __future__ import annotations

import pytest

from agentanvil.plan import BY_CODE, Escalation, Plan, Seat, parse_condition, plan_calls
from agentanvil.rubric import Overall, Rubric
from agentanvil.verdict import Cell, InputFault, JudgeError, NotApplicable, Outcome, Scored
from tests.fakes.records import outcome, rubric

NEVER = 0.0


def escalation(
    made: Rubric, when: str = "entropy>0.6 or near_gate", share: float = NEVER, repeats: int = 1
) -> Escalation:
    orders = "both" if made.mode == "pairwise" else None
    plan = Plan(plan_calls(made), repeats, "cheap", orders, others=(Seat("strong", "escalation", share),))  # type: ignore[arg-type]
    return Escalation(made, plan, parse_condition(when))


def reasons(found: Escalation, *outcomes: Outcome) -> dict[tuple[str, int, int], str]:
    return dict(found.due("item-0", outcomes))


def because(made: Rubric, when: str = "entropy>0.6 or near_gate", /, **cells: Cell) -> str:
    return reasons(escalation(made, when), outcome(cells=cells, judge="cheap")).get(("joint", 0, 0), "")


def unsure(entropy: float, score: float = 1.0) -> Scored:
    return Scored(score, entropy=entropy)


def test_a_call_is_unsure_where_the_condition_holds_of_any_of_its_verdicts() -> None:
    made = rubric("a", "b")
    assert because(made, a=unsure(0.1), b=unsure(0.7)) == "unsure"
    assert because(made, a=unsure(0.6), b=unsure(0.6)) == ""
    # Both parts of a condition must hold of one verdict.
    assert because(made, "entropy>0.6 and no_evidence", a=unsure(0.7), b=Scored(1, flags=("no_evidence",))) == ""
    assert because(made, "entropy>0.6 and no_evidence", a=Scored(1, flags=("no_evidence",), entropy=0.7)) == "unsure"


@pytest.mark.parametrize("cell", [JudgeError("refusal"), InputFault("too_large")])
def test_a_call_that_lacks_a_verdict_is_missing_whatever_the_condition_says(cell: Cell) -> None:
    for when in ("entropy>0.6", "missing", "not missing"):
        assert because(rubric("a", "b"), when, a=unsure(0.1), b=cell) == "missing"
    assert because(rubric("a", "b"), "missing", a=unsure(0.9), b=unsure(0.9)) == ""


def test_what_does_not_apply_is_a_verdict_that_nobody_doubts() -> None:
    assert because(rubric("a"), "entropy>0 or not entropy>0", a=NotApplicable()) == ""


@pytest.mark.parametrize(
    ("gate", "cell", "near"),
    [
        ({"a": 4}, Scored(4), True),
        ({"a": 4}, Scored(3), False),
        ({"a": 4}, Scored(5), False),
        ({"a": 3.5}, Scored(3), True),
        ({"a": 4}, Scored(5, expected_score=4.5), True),
        ({"a": 4}, Scored(3, expected_score=3.5), True),
        ({"a": 4}, Scored(4, expected_score=3.4), False),
        ({"b": 4}, Scored(4), False),
        ({}, Scored(4), False),
    ],
)
def test_near_its_own_threshold_is_within_half_a_step(gate: dict[str, float], cell: Scored, near: bool) -> None:
    assert because(rubric("a", "b", gate=gate), "near_gate", a=cell, b=Scored(1)) == ("unsure" if near else "")


def test_near_the_overall_s_threshold_is_who_may_decide_it() -> None:
    lowest = rubric("a", "b", gate={"overall": 3})
    assert because(lowest, "near_gate", a=Scored(3), b=Scored(5)) == "unsure"
    # Another dimension has failed it already, far from the threshold.
    assert because(lowest, "near_gate", a=Scored(3), b=Scored(1)) == ""
    weighted = rubric("a", "b", "c", gate={"overall": 3}, overall=Overall("weighted", {"a": 3, "b": 1}))
    assert because(weighted, "near_gate", a=Scored(4), b=Scored(1), c=Scored(1)) == "unsure"  # (3 * 4 + 1) / 4 = 3.25
    assert because(weighted, "near_gate", a=Scored(5), b=Scored(1), c=Scored(1)) == ""  # 4


def test_what_code_decides_is_part_of_the_overall() -> None:
    made = rubric("a", checks=("c",), gate={"overall": 3})
    found = escalation(made, "near_gate")
    judged = outcome(cells={"a": Scored(3)}, judge="cheap")
    for checked, expected in ((5.0, {("joint", 0, 0): "unsure"}), (1.0, {})):
        code = outcome(cells={"c": Scored(checked)}, call="checks", judge=BY_CODE)
        assert reasons(found, code, judged) == expected


@pytest.mark.parametrize(
    ("p", "near"), [(None, False), (0.34, False), (0.35, True), (0.5, True), (0.65, True), (0.66, False)]
)
def test_a_gate_is_near_where_passing_is_about_as_likely_as_not(p: float | None, near: bool) -> None:
    made = rubric("a", mode="gate")
    assert because(made, "near_gate", a=Scored(1, expected_score=p)) == ("unsure" if near else "")


def test_split_calls_and_repeats_stand_alone() -> None:
    found = escalation(rubric("a", "b", calls="split"), "entropy>0.6", repeats=2)
    said = [
        outcome(cells={"a": unsure(0.7)}, call="a", repeat=0, judge="cheap"),
        outcome(cells={"b": unsure(0.1)}, call="b", repeat=0, judge="cheap"),
        outcome(cells={"a": unsure(0.1)}, call="a", repeat=1, judge="cheap"),
        outcome(cells={"b": JudgeError("refusal")}, call="b", repeat=1, judge="cheap"),
    ]
    assert reasons(found, *said) == {("a", 0, 0): "unsure", ("b", 1, 0): "missing"}
    assert reasons(found, *said[1:3]) == {}


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        (Scored(1, preference=0.55), Scored(1, preference=0.99), "unsure"),
        (Scored(1, preference=0.99), Scored(1, preference=0.45), "unsure"),
        (Scored(1, preference=0.99), Scored(1, preference=0.01), ""),
        (Scored(1, preference=0.99), JudgeError("refusal"), "missing"),
        (Scored(1), Scored(1), ""),
    ],
)
def test_both_orders_of_a_pair_go_together(first: Cell, second: Cell, expected: str) -> None:
    found = escalation(rubric("a", mode="pairwise"), "margin<0.2")
    orders = [outcome(cells={"a": cell}, judge="cheap", order=o) for cell, o in ((first, "ab"), (second, "ba"))]
    both = {("joint", 0, 0): expected, ("joint", 0, 1): expected} if expected else {}
    assert reasons(found, *orders) == both


def test_the_random_share_is_asked_about_as_well_and_its_reason_is_the_weaker_one() -> None:
    found = escalation(rubric("a"), "entropy>0.6", share=1.0)
    sure, doubtful = (outcome(cells={"a": unsure(e)}, judge="cheap") for e in (0.1, 0.9))
    assert reasons(found, sure) == {("joint", 0, 0): "share"}
    assert reasons(found, doubtful) == {("joint", 0, 0): "unsure"}
    assert reasons(found) == {}  # nobody was asked yet


def test_calls_that_only_compare_are_not_escalated() -> None:
    made = rubric("a", "b")
    calls = plan_calls(made, "both")
    plan = Plan(calls, 1, "cheap", others=(Seat("strong", "escalation", 1.0),))
    found = Escalation(made, plan, parse_condition("entropy>0.6"))
    said = [outcome(cells={"a": unsure(0.9)}, call=call.name, judge="cheap") for call in calls]
    assert reasons(found, *said) == {("joint", 0, 0): "unsure"}


def test_measures_that_no_verdict_had_are_named() -> None:
    found = escalation(rubric("a"), "entropy>0.6 or near_gate")
    found.due("item-0", [outcome(cells={"a": Scored(1)}, judge="cheap")])
    assert found.unread == {"entropy"}
    found.due("item-1", [outcome(1, cells={"a": unsure(0.2)}, judge="cheap")])
    assert found.unread == set()
