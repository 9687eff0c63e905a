"""What readings of items differ by: by hand, over judges and orders, and in memory that stays small."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentanvil.aggregate import DimensionSummary, ItemOutcomes, Summariser, Summary, Variance
from agentanvil.plan import Plan
from agentanvil.rubric import Rubric
from agentanvil.stats import Source, icc, nested_features, nested_variance, variance_components
from tests.fakes.graded import ERROR, NA, Pair, columns, compare, grade, item, plan, rubric
from tests.fakes.graded import Score as Grade
from tests.fakes.seated import because, said, seated

SECOND, THIRD = "openai:two", "gemini:three"


def summary_of(of: Rubric, shape: Plan, *rows: Any) -> Summary:
    summariser = Summariser(of, shape, seed=7)
    for row in rows:
        summariser.add(row)
    return summariser.finish()


def told(of: DimensionSummary | Any) -> Variance:
    assert of.variance is not None
    found: Variance = of.variance
    return found


def raw(found: Variance, source: Source) -> float | None:
    return next(component.raw for component in found.components if component.source == source)


def reason(found: Variance, source: Source) -> str:
    return next(c.variance.estimate.reason or "" for c in found.components if c.source == source)


def repeated(scores: list[list[Grade]], **changes: Any) -> Summary:
    of = rubric("a", **changes)
    return grade(of, columns(of, len(scores[0]), a=scores), len(scores[0]))[1]


def test_repeats_are_the_analysis_of_variance_of_one_way() -> None:
    scores: list[list[Any]] = [[4, 4, 5], [2, 3, 2], [5, 5, 5], [1, 2, 1], [3, 3, 4]]
    found, wanted = told(repeated(scores).dimensions[0]), variance_components(scores)
    assert raw(found, "item") == pytest.approx(wanted.var_item.value)
    assert raw(found, "repeat") == pytest.approx(wanted.var_repeat.value)
    ratings = list(zip(*scores, strict=True))
    assert found.icc_single.estimate.value == pytest.approx(icc(ratings, "ICC(1,1)").value)
    assert found.icc_mean.estimate.value == pytest.approx(icc(ratings, "ICC(1,k)").value)
    # The SD of one reading √0.2667; 1.96·√2 of it; and (1.96·0.5164/0.25)² = 16.4, (…/0.5)² = 4.1 repeats.
    assert found.sd_single.estimate.value == pytest.approx(0.5164, abs=1e-4)
    assert found.least_detectable_single.estimate.value == pytest.approx(1.4314, abs=1e-4)
    assert found.least_detectable_mean.estimate.value == pytest.approx(1.4314 / math.sqrt(3), abs=1e-4)
    assert [(n.half_width, n.repeats) for n in found.repeats_needed] == [(0.25, 17), (0.5, 5)]
    assert (found.items, found.readings) == (5, 15)
    assert found.icc_single.interval.method == "jackknife, Fisher z, t"


def test_the_overall_has_its_own() -> None:
    of = rubric("a", "b")
    rows = columns(of, 2, a=[[5, 3], [4, 4], [1, 1]], b=[[2, 2], [5, 5], [1, 2]])
    summary = grade(of, rows, 2)[1]
    # The minimum of each repeat: 2 2 | 4 4 | 1 1.
    assert raw(told(summary.overall), "repeat") == 0
    assert raw(told(summary.overall), "item") == pytest.approx(
        variance_components([[2, 2], [4, 4], [1, 1]]).var_item.value
    )


@pytest.mark.parametrize("mode", ["absolute", "gate"])
def test_a_run_that_reads_once_has_none(mode: Any) -> None:
    of = rubric("a", mode=mode)
    summary = grade(of, columns(of, a=[1, 1, 1]))[1]
    assert summary.dimensions[0].variance is None
    assert summary.overall.variance is None


def test_a_check_is_no_reading() -> None:
    of = rubric("a", checks=["c"])
    summary = grade(of, columns(of, 2, a=[[5, 3], [4, 4]], c=[5, 1]), 2)[1]
    assert told(summary.dimensions[0])
    assert summary.dimensions[1].variance is None


def test_what_has_no_score_is_no_reading() -> None:
    found = told(repeated([[5, ERROR], [NA, NA], [4, 2], [3, 3]]).dimensions[0])
    assert (found.items, found.readings) == (3, 5)
    assert found.sd_single.estimate.n == 2
    assert raw(found, "repeat") == pytest.approx(1)


def test_nothing_scored_is_told_with_reasons() -> None:
    found = told(repeated([[ERROR, ERROR], [NA, NA]]).dimensions[0])
    assert found.icc_single.estimate.reason
    assert found.sd_single.estimate.reason
    assert all(needed.repeats is None and needed.reason for needed in found.repeats_needed)


def test_judges_are_a_source_of_their_own() -> None:
    of = rubric("a")
    shape = seated(plan(of, 2), SECOND)
    # Within judges SS 2 over 4 degrees: σ²repeat = 0.5. Judges' means 4, 2 | 5, 4: SS 2 + 0.5 over 2 degrees, 1.25,
    # less half a repeat: σ²judge = 1.
    rows = [said(shape, 0, {"a": [5, 3]}, {"a": [2, 2]}), said(shape, 1, {"a": [5, 5]}, {"a": [4, 4]})]
    found = told(summary_of(of, shape, *rows).dimensions[0])
    assert [raw(found, source) for source in ("repeat", "judge")] == pytest.approx([0.5, 1.0])
    assert reason(found, "order") == "no judge read an item in both orders"
    assert found.readings == 8
    # One repeat takes both judges: its error is 0.5 / 2, and (1.96·0.5/0.25)² = 15.4.
    assert found.repeats_needed[0].repeats == 16


def test_one_call_of_each_judge_tells_judges_from_items_but_not_from_repeats() -> None:
    of = rubric("a")
    shape = seated(plan(of), SECOND)
    rows = [said(shape, n, {"a": a}, {"a": b}) for n, (a, b) in enumerate([(5, 4), (3, 3), (1, 2), (4, 2)])]
    found = told(summary_of(of, shape, *rows).dimensions[0])
    assert raw(found, "judge") == pytest.approx((0.5 + 0 + 0.5 + 2) / 4)
    assert "twice by one judge" not in reason(found, "judge")
    assert reason(found, "repeat")
    assert found.repeats_needed[0].repeats is None
    assert found.sd_single.estimate.value == pytest.approx(math.sqrt(0.75))


def test_a_judge_that_is_asked_where_another_was_unsure_tells_of_its_random_share_alone() -> None:
    of = rubric("a")
    shape = seated(plan(of), SECOND, role="escalation", share=0.5)
    rows: list[ItemOutcomes] = []
    drawn = 0
    for n in range(12):
        fair = shape.is_drawn(1, f"item-{n}")
        drawn += fair
        # Where it is unsure, the second judge says something else altogether.
        row = said(shape, n, {"a": 3 + n % 2}, {"a": 3 + n % 2 if fair else 1})
        rows.append(because(row, SECOND, "share" if fair else "unsure"))
    found = told(summary_of(of, shape, *rows).dimensions[0])
    assert 0 < drawn < 12
    assert raw(found, "judge") == 0
    assert found.readings == 12 + drawn


def test_both_orders_of_a_pair() -> None:
    of = rubric("a", mode="pairwise")
    shape = plan(of, 2, "both")
    # Calls are repeat by repeat, first `ab`: orders hold 2, 4 | 0, 0 and 1, 1 | 1, 1.
    rows = [compare(shape, 0, Pair({"a": [2, 0, 4, 0]})), compare(shape, 1, Pair({"a": [1, 1, 1, 1]}))]
    found = told(summary_of(of, shape, *rows).dimensions[0])
    # Within orders SS 2 over 4 degrees. Orders' means 3, 0 | 1, 1: SS 4.5 over 2 degrees less half of 0.5.
    assert [raw(found, source) for source in ("repeat", "order")] == pytest.approx([0.5, 2.0])
    assert found.repeats_needed[0].half_width == 0.5


def test_drawn_orders_are_told_by_what_was_asked() -> None:
    of = rubric("a", mode="pairwise")
    shape = plan(of, 4, "random")
    rows = [compare(shape, 0, Pair({"a": [2, 0, 4, 0]}, ("ab", "ba", "ab", "ba")))]
    rows += [compare(shape, 1, Pair({"a": [1, 1, 1, 1]}, ("ba", "ab", "ba", "ab")))]
    found = told(summary_of(of, shape, *rows).dimensions[0])
    assert [raw(found, source) for source in ("repeat", "order")] == pytest.approx([0.5, 2.0])


def test_two_drawn_orders_do_not_tell_orders_from_repeats() -> None:
    of = rubric("a", mode="pairwise")
    shape = plan(of, 2, "random")
    rows = [compare(shape, n, Pair({"a": pair}, ("ab", "ba"))) for n, pair in enumerate([[2, 0], [1, 1], [-1, 0]])]
    found = told(summary_of(of, shape, *rows).dimensions[0])
    assert reason(found, "repeat")
    assert raw(found, "order") == pytest.approx((2 + 0 + 0.5) / 3)
    assert plan(of, 1, "random").repeats == 1
    assert (
        summary_of(
            of, plan(of, 1, "random"), compare(plan(of, 1, "random"), 0, Pair({"a": [2]}, ("ab",)))
        ).overall.variance
        is None
    )


grades = st.lists(st.lists(st.one_of(st.integers(1, 5), st.just(NA)), min_size=3, max_size=3), min_size=1, max_size=8)


@settings(max_examples=25)
@given(grades, st.randoms(use_true_random=False))
def test_the_order_of_rows_does_not_matter(scores: list[list[Grade]], chance: Any) -> None:
    of, shape = rubric("a"), plan(rubric("a"), 3)
    rows = [item(shape, n, {"a": found}) for n, found in enumerate(scores)]
    shuffled = chance.sample(rows, len(rows))
    assert summary_of(of, shape, *shuffled).overall.variance == summary_of(of, shape, *rows).overall.variance


def test_many_rows_are_taken_in_groups() -> None:
    of, shape = rubric("a"), plan(rubric("a"), 2)
    rng = np.random.default_rng(3)
    true = rng.integers(2, 5, 9000)
    scores = true[:, np.newaxis] + rng.integers(-1, 2, (9000, 2))
    rows = [item(shape, n, {"a": pair.tolist()}) for n, pair in enumerate(scores)]
    found = told(summary_of(of, shape, *rows).dimensions[0])
    assert found.method.endswith("over 500 random groups of items")
    assert (found.items, found.readings) == (9000, 18000)
    singly = nested_variance(nested_features(scores[:, np.newaxis, np.newaxis, :].astype(float), 3, 4), 4, seed=1)
    assert found.icc_single.estimate.value == pytest.approx(singly.icc_single.estimate.value)
    for mine, wanted in ((found.icc_single, singly.icc_single), (found.sd_single, singly.sd_single)):
        assert mine.interval.low == pytest.approx(wanted.interval.low, abs=0.003)
        assert mine.interval.high == pytest.approx(wanted.interval.high, abs=0.003)


def test_anchors_that_repeats_straddle_come_with_their_wording_and_share() -> None:
    straddle = repeated([[5, 3], [4, 4], [5, 5], [3, 3]]).dimensions[0].straddled[0]
    assert (straddle.items, straddle.share.value, straddle.share.n) == (1, 0.25, 4)
    assert straddle.below_text == "in half of it"
    assert straddle.above_text == "in every part"
    # Wilson's interval of 1 of 4.
    assert (straddle.interval.low, straddle.interval.high) == pytest.approx((0.0456, 0.6994), abs=1e-4)
