from __future__ import annotations

import pytest

from agentanvil.aggregate import Baseline, ItemResult, Summariser, Summary
from agentanvil.rubric import Rubric
from tests.fakes.graded import ERROR, NA, Score, columns, grade, grade_by, item, plan, rubric

OF = rubric("a", "b", checks=["c"], mode="gate", gate={"overall": 3, "b": 5})


def against(
    of: Rubric, baseline: Baseline, repeats: int = 1, **scores: list[Score]
) -> tuple[list[ItemResult], Summary]:
    summariser = Summariser(of, plan(of, repeats), seed=7, baseline=baseline)
    return grade_by(summariser, columns(of, repeats, **scores))


def test_every_dimension_must_hold() -> None:
    results, summary = grade(OF, columns(OF, a=[1, 1, 0, 1], b=[1, 0, 0, None], c=[1, 1, 1, 1]))
    assert [result.passed for result in results] == [True, False, False, None]
    assert [result.overall for result in results] == [1, 0, 0, None]
    assert [[fall.text for fall in result.shortfalls] for result in results] == [
        [],
        ["b is false"],
        ["a is false", "b is false"],
        [],
    ]
    gate = summary.gate
    assert (gate.verdict, gate.rule, gate.passed, gate.failed, gate.undecided) == ("fail", "every_item", 1, 2, 1)
    assert gate.thresholds == {"a": 3, "b": 5, "c": 3}, "what the judge was asked for, on the rubric's scale"
    assert [worst.id for worst in summary.worst] == ["item-1", "item-2"]
    assert (summary.mode, summary.overall.rule) == ("gate", "min")


def test_dimensions_have_a_pass_rate() -> None:
    _, summary = grade(OF, columns(OF, a=[1, 0, 1], b=[1, 1, None], c=[0, 1, 1]))
    rates = [(d.pass_rate.value, d.pass_rate.n) for d in summary.dimensions if d.pass_rate]
    assert rates == [(2 / 3, 3), (1, 2), (2 / 3, 3)], "O-E17"
    assert all(d.pass_interval is not None and d.pass_interval.method == "wilson" for d in summary.dimensions)
    assert list(summary.dimensions[0].distribution) == ["0", "1"]


def test_repeats_must_all_hold() -> None:
    of = rubric("a", mode="gate")
    results, summary = grade(of, columns(of, 4, a=[[1, 1, 1, 1], [1, 1, 1, 0], [NA, 1, 1, 1]]), 4)
    assert [result.passed for result in results] == [True, False, True]
    assert results[1].shortfalls[0].text == "a is false in 25% of the repeats"
    assert summary.dimensions[0].pass_rate is not None
    assert summary.dimensions[0].pass_rate.value == 2 / 3
    assert [(s.below, s.above, s.items) for s in summary.dimensions[0].straddled] == [(0, 1, 1)]


def test_weights_do_not_soften_a_gate() -> None:
    of = rubric("a", "b", mode="gate", weights={"a": 1})
    (result,), summary = grade(of, columns(of, a=[1], b=[0]))
    assert (result.passed, result.overall, summary.overall.weights) == (False, 0, {})


def test_labels_pass_from_the_threshold_on() -> None:
    # b passes from 5 on, by its own gate; a from 3 on, by the overall's.
    labels = [{"a": (3,), "b": (4,)}, {"a": (2,), "b": (5, 5)}, {"a": (True,), "b": (False,)}, {"a": (9,), "b": (0.5,)}]
    shape = plan(OF)
    rows = [item(shape, i, {"a": 1, "b": 0, "c": 1}, labels=found) for i, found in enumerate(labels)]
    a, b = grade(OF, rows)[1].dimensions[:2]
    assert a.agreement is not None
    assert b.agreement is not None
    assert (a.agreement.exact.value, a.agreement.exact.n, a.agreement.off_scale) == (2 / 3, 3, 1)
    assert (b.agreement.exact.value, b.agreement.exact.n, b.agreement.off_scale) == (2 / 3, 3, 1)
    assert (a.agreement.kappa_weights, a.agreement.adjacent.value) == ("none", None)


def test_kappa_of_booleans_by_hand() -> None:
    # Both yes 4, judge only 1, people only 2, both no 3: observed 0.7, expected (5·6 + 5·4) / 100.
    of = rubric("a", mode="gate")
    pairs = [(1, True)] * 4 + [(1, False)] + [(0, True)] * 2 + [(0, False)] * 3
    rows = [item(plan(of), i, {"a": judge}, labels={"a": (people,)}) for i, (judge, people) in enumerate(pairs)]
    _, summary = grade(of, rows)
    found = summary.dimensions[0].agreement
    assert found is not None
    assert found.kappa.value == pytest.approx((0.7 - 0.5) / 0.5)
    assert found.exact.value == pytest.approx(0.7)
    assert found.exact_interval.method == "wilson"
    assert summary.overall.agreement is not None
    assert summary.overall.agreement.kappa == found.kappa


def test_the_overall_agrees_where_every_dimension_does() -> None:
    of = rubric("a", "b", mode="gate", gate={"overall": 4}, allow_na=False)
    labels = [{"a": (5,), "b": (4,)}, {"a": (5,), "b": (3,)}, {"a": (5,), "b": (7,)}]
    rows = [item(plan(of), i, {"a": 1, "b": 1}, labels=found) for i, found in enumerate(labels)]
    found = grade(of, rows)[1].overall.agreement
    assert found is not None
    assert (found.exact.value, found.exact.n) == (0.5, 2)


def test_only_what_got_worse_fails_against_a_baseline() -> None:
    known = Baseline(frozenset({("item-0", "a"), ("item-1", "a"), ("item-2", "a"), ("item-9", "a")}))
    of = rubric("a", "b", mode="gate")
    results, summary = against(of, known, a=[0, 1, 0, 0], b=[1, 1, 0, 1])
    # Known; mended; known beside a new failure; an item that the baseline did not have.
    assert [result.passed for result in results] == [True, True, False, False]
    assert [[(f.name, f.known) for f in result.shortfalls] for result in results] == [
        [("a", True)],
        [],
        [("a", True), ("b", False)],
        [("a", False)],
    ]
    assert results[1].recovered == ("a",)
    gate = summary.gate
    assert (gate.rule, gate.verdict, gate.passed, gate.failed) == ("worse_than_baseline", "fail", 2, 2)
    assert gate.baseline is not None
    assert (gate.baseline.known, gate.baseline.newly_failing, gate.baseline.newly_passing) == (2, 2, 1)


def test_known_failures_alone_pass_and_missing_ones_decide_nothing() -> None:
    of = rubric("a", "b", mode="gate")
    known = Baseline(frozenset({("item-0", "a"), ("item-1", "a")}))
    results, summary = against(of, known, a=[0, 0], b=[NA, ERROR])
    assert [result.passed for result in results] == [True, None]
    assert summary.gate.verdict == "undecided"
    assert grade(of, columns(of, a=[0], b=[1]))[1].gate.baseline is None


def test_a_baseline_works_for_thresholds_too() -> None:
    of = rubric("a", gate={"overall": 4, "a": 3})
    results, summary = against(of, Baseline(frozenset({("item-0", "overall")})), a=[3, 2])
    assert [result.passed for result in results] == [True, False]
    assert summary.gate.verdict == "fail"
    assert against(of, Baseline(), a=[4, 5])[1].gate.verdict == "pass"
