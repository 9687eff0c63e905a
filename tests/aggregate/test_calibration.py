"""A judge measured against people on scores: every figure by hand, and the invariants that all of them share."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentanvil.aggregate import CalibrationFigures, DimensionCalibration
from tests.fakes.calibrated import Labels, calibrated
from tests.fakes.graded import ERROR, NA, Score, rubric

Rows = Sequence[tuple[Mapping[str, Sequence[Score] | Score], Labels]]


def one(pairs: Sequence[tuple[Score, float | None]], **more: Any) -> DimensionCalibration:
    """Calibrate a rubric of one dimension on (score, label) pairs."""
    rows: Rows = [({"accuracy": score}, {} if label is None else {"accuracy": [label]}) for score, label in pairs]
    return calibrated(rubric("accuracy"), rows, **more).dimensions[0]


def test_every_figure_of_four_items() -> None:
    # Scores 5 4 2 1, labels 5 5 3 1: differences 0 −1 −1 0.
    found = one([(5, 5), (4, 5), (2, 3), (1, 1), (3, None)])
    assert (found.labelled, found.labels, found.off_scale, found.kappa.n) == (4, 4, 0, 4)
    assert (found.exact.value, found.adjacent.value) == (0.5, 1)
    assert (found.mean_absolute_error.value, found.bias.value) == (0.5, -0.5)
    # Σ(x−y)² = 2. Σx² = 46, Σy² = 60, Σx = 12, Σy = 14: by chance 46 + 60 − 2·12·14/4 = 22. Kappa 1 − 2/22.
    assert found.kappa.value == pytest.approx(10 / 11)
    assert found.kappa_weights == "quadratic"
    # Ranks 4 3 2 1 and 3.5 3.5 2 1: Σ of products of deviations 4.5, roots of 5 and 4.5.
    assert found.spearman.value == pytest.approx(4.5 / (5 * 4.5) ** 0.5)
    # Six pairs, five concordant, one tied in the labels: 5 / √(6 · 5).
    assert found.kendall_tau_b.value == pytest.approx(5 / 30**0.5)
    # Deviations of 3 and 3.5: 2·1.5 + 1·1.5 + 1·0.5 + 2·2.5 = 10, over √(10 · 11).
    assert found.pearson.value == pytest.approx(10 / 110**0.5)
    # Two raters, interval level: N = 8, observed 2 · 2 · 2 / 8 over expected; D_o = Σ(x−y)²·2/8 = 0.5. All eight values
    # 5 4 2 1 5 5 3 1: Σv² = 106, Σv = 26; D_e = 2 · (8·106 − 26²) / (8·7) = 6.142857. Alpha 1 − 0.5/6.142857.
    assert found.alpha.interval.value == pytest.approx(1 - 0.5 / (344 / 56))
    # Nominal: two of four items agree. Values 1:2 2:1 3:1 4:1 5:3; D_o = 4/8, D_e = 1 − Σn(n−1)/56 = 1 − (2+6)/56.
    assert found.alpha.nominal.value == pytest.approx(1 - 0.5 / (48 / 56))
    assert found.confusion.values == ("1", "2", "3", "4", "5")
    assert found.confusion.counts == (
        (1, 0, 0, 0, 0),
        (0, 0, 1, 0, 0),
        (0,) * 5,
        (0, 0, 0, 0, 1),
        (0, 0, 0, 0, 1),
        (0,) * 5,
    )
    assert found.classes is None
    assert found.humans is None
    assert found.probabilities is None


def test_every_figure_has_an_interval_at_the_level_that_was_asked() -> None:
    pairs = [(score, label) for score in (1, 2, 3, 4, 5) for label in (score, max(1, score - 1)) for _ in range(8)]
    found = one(pairs, level=0.8)
    measured = [found.kappa, found.exact, found.adjacent, found.spearman, found.kendall_tau_b, found.pearson]
    measured += [found.mean_absolute_error, found.bias, *vars_of(found.alpha)]
    for each in measured:
        assert each.n == 80
        assert each.interval.level == 0.8
        assert each.interval.low is not None
        assert each.interval.high is not None
        assert each.value is not None
        assert each.interval.low <= each.value <= each.interval.high


def test_each_repeat_meets_each_rater_and_an_item_counts_once() -> None:
    rows: Rows = [({"accuracy": [5, 5, 3]}, {"accuracy": [5, 3]}), ({"accuracy": [1, 1, 1]}, {"accuracy": [1, 1]})]
    found = calibrated(rubric("accuracy"), rows, repeats=3).dimensions[0]
    # Item 1: 5·5 twice, 3·3 once of six pairs agree; item 2 always.
    assert found.exact.value == pytest.approx((0.5 + 1) / 2)
    assert (found.labelled, found.labels, found.exact.n) == (2, 4, 2)
    # Item scores 13/3 and 1 against mean labels 4 and 1.
    assert found.mean_absolute_error.value == pytest.approx((1 / 3) / 2)
    assert sum(map(sum, found.confusion.counts)) == pytest.approx(2)
    assert found.confusion.counts[4][4] == pytest.approx(2 / 6)


def test_repeats_that_say_the_same_are_worth_one() -> None:
    labels = [5, 4, 3, 1]
    once, thrice = (
        calibrated(
            rubric("accuracy"),
            [
                ({"accuracy": [score] * n}, {"accuracy": [label]})
                for score, label in zip((5, 5, 2, 1), labels, strict=True)
            ],
            repeats=n,
        ).dimensions[0]
        for n in (1, 3)
    )
    assert thrice == once


def test_missing_verdicts_have_a_row_of_their_own_and_enter_nothing_else() -> None:
    rows = [(5, 5.0), (1, 1.0), (3, 3.0)]
    with_gaps = one([*rows, (ERROR, 2.0), (NA, 4.0)])
    assert with_gaps.missing == {"not_applicable": 1, "judge_error": 1, "input_error": 0, "not_run": 0}
    assert with_gaps.labelled == 5
    assert with_gaps.confusion.counts[-1] == (0, 1, 0, 1, 0)
    assert with_gaps.kappa == one(rows).kappa
    assert with_gaps.spearman == one(rows).spearman


def test_labels_between_scores_count_in_numbers_and_not_in_categories() -> None:
    found = one([(5, 5), (3, 2.667), (1, 1), (2, 7)])
    assert (found.off_scale, found.kappa.n, found.exact.n) == (2, 2, 2)
    assert (found.spearman.n, found.mean_absolute_error.n) == (4, 4)
    assert found.mean_absolute_error.value == pytest.approx((0.333 + 5) / 4)


def test_labels_between_scores_alone_leave_kappa_undefined() -> None:
    found = one([(5, 4.5), (3, 2.5), (1, 1.5)] * 5)
    assert found.kappa.value is None
    assert found.verdict == "INCONCLUSIVE"
    assert found.further is not None
    assert found.further.items is None
    assert found.further.reason
    assert found.spearman.value == 1


def test_the_overall_is_the_least_judged_dimension_on_both_sides() -> None:
    of = rubric("accuracy", "tone", checks=["short"], allow_na=False)
    rows: Rows = [
        ({"accuracy": 5, "tone": 3, "short": 1}, {"accuracy": [4], "tone": [3]}),
        ({"accuracy": 2, "tone": 4, "short": 5}, {"accuracy": [5], "tone": [1]}),
        ({"accuracy": 2, "tone": 4, "short": 5}, {"accuracy": [5]}),
    ]
    found = calibrated(of, rows)
    assert found.overall is not None
    assert found.overall_from == "minimum"
    tone = found.dimensions[1].confusion.counts
    assert (tone[2][2], tone[3][0]) == (1, 1)
    assert (found.overall.labelled, found.overall.exact.value) == (2, 0.5)
    assert found.overall.mean_absolute_error.value == 0.5


def test_an_overall_that_people_gave_goes_before_the_minimum() -> None:
    rows: Rows = [({"accuracy": 5}, {"accuracy": [5], "overall": [2]}), ({"accuracy": 1}, {"overall": [1]})]
    found = calibrated(rubric("accuracy"), rows)
    assert found.overall is not None
    assert (found.overall_from, found.overall.labelled, found.overall.exact.value) == ("labels", 2, 0.5)


def test_a_weighted_overall_is_compared_only_with_one_that_people_gave() -> None:
    of = rubric("accuracy", "tone", weights={"accuracy": 1, "tone": 1})
    rows: Rows = [({"accuracy": 5, "tone": 2}, {"accuracy": [5], "tone": [2]})] * 3
    assert calibrated(of, rows).overall is None
    labelled: Rows = [({"accuracy": 5, "tone": 2}, {"overall": [3.5]})] * 3
    overall = calibrated(of, labelled).overall
    assert overall is not None
    assert overall.mean_absolute_error.value == 0


def test_what_nobody_labelled_has_no_verdict_and_does_not_decide() -> None:
    rows: Rows = [({"accuracy": n, "tone": 1}, {"accuracy": [n]}) for n in (1, 2, 3, 4, 5) * 6]
    found = calibrated(rubric("accuracy", "tone"), rows)
    assert [each.verdict for each in found.dimensions] == ["TRUSTED", None]
    assert found.verdict == "TRUSTED"
    assert found.dimensions[1].kappa.n == 0


def test_the_worst_verdict_is_that_of_the_run() -> None:
    good = [(n, n) for n in (1, 2, 3, 4, 5)] * 10
    bad = [(n, 6 - n) for n in (1, 2, 3, 4, 5)] * 10
    rows: Rows = [
        ({"accuracy": a, "tone": b}, {"accuracy": [one], "tone": [other]})
        for (a, one), (b, other) in zip(good, bad, strict=True)
    ]
    found = calibrated(rubric("accuracy", "tone"), rows)
    assert [each.verdict for each in found.dimensions] == ["TRUSTED", "UNTRUSTED"]
    assert found.verdict == "UNTRUSTED"


SCORES = st.one_of(st.integers(1, 5), st.just(None))
LABELS = st.lists(st.sampled_from([1.0, 2.0, 3.0, 4.0, 5.0, 2.5]), max_size=3)


@settings(max_examples=10)
@given(st.lists(st.tuples(SCORES, SCORES, LABELS, LABELS), max_size=12), st.randoms(use_true_random=False))
def test_no_figure_depends_on_the_order_of_rows(rows: list[Any], order: random.Random) -> None:
    of = rubric("accuracy", "tone")
    made = [({"accuracy": a, "tone": b}, {"accuracy": one, "tone": other}) for a, b, one, other in rows]
    mixed = list(made)
    order.shuffle(mixed)
    first, second = calibrated(of, made), calibrated(of, mixed)
    assert without_places(first) == without_places(second)


@settings(max_examples=10)
@given(st.lists(st.tuples(SCORES, LABELS), max_size=8))
def test_whatever_is_undefined_says_why(rows: list[Any]) -> None:
    found = calibrated(rubric("accuracy"), [({"accuracy": score}, {"accuracy": labels}) for score, labels in rows])
    for record in every_record(asdict(found)):
        if "value" in record and "n" in record:
            assert (record["value"] is None) == bool(record["reason"])
        if "low" in record and "method" in record:
            assert (record["low"] is None) == bool(record["reason"])


def every_record(value: Any) -> list[dict[str, Any]]:
    if isinstance(value, dict):
        return [value, *(found for each in value.values() for found in every_record(each))]
    if isinstance(value, list | tuple):
        return [found for each in value for found in every_record(each)]
    return []


def vars_of(record: Any) -> list[Any]:
    return [getattr(record, name) for name in record.__dataclass_fields__]


def without_places(found: CalibrationFigures) -> dict[str, Any]:
    record = asdict(found)
    for example in record["disagreements"]:
        del example["index"], example["id"]
    record["disagreements"] = sorted((example["distance"] for example in record["disagreements"]), reverse=True)
    return record
