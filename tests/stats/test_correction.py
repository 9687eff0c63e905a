"""Corrections for a judge's error, by hand. The published figures are in vectors/."""

from __future__ import annotations

import math
import random
import warnings
from statistics import NormalDist

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentanvil.stats import (
    CorrectedPair,
    corrected_mean,
    corrected_pass_rate,
    mean_interval,
    ppi_mean,
    ppi_mean_interval,
    rogan_gladen,
    share_interval,
    weighted_mean,
    wilson_interval,
)

Z = NormalDist().inv_cdf(0.975)
SCORE = st.integers(1, 5).map(float)
BIT = st.sampled_from([0.0, 1.0])
PAIRS = st.lists(st.tuples(SCORE, SCORE), max_size=30)


def split(rows: list[tuple[float, float]]) -> tuple[list[float], list[float]]:
    return [a for a, _ in rows], [b for _, b in rows]


def ends(found: CorrectedPair) -> list[float | None]:
    both = found.population, found.items
    return [v for one in both for v in (one.estimate.value, one.interval.low, one.interval.high)]


def test_a_prediction_powered_mean_by_hand() -> None:
    # Labels 2, 4 where the judge says 1, 3, and the judge alone says 3, 5. All scores 1, 3, 3, 5: variance 8/3 (n - 1).
    # cov = ((-1)(-1) + 1·1) / 2 = 1; λ = 1 / (8/3 · (1 + 2/2)) = 3/16; 3/16 · 4 + (3 - 3/16 · 2) = 27/8.
    assert ppi_mean([2, 4], [1, 3], [3, 5]).value == pytest.approx(27 / 8)
    # λ = 1: 4 + mean(1, 1) = 5; the labelled rows' errors do not vary, the judge's scores do by 1: se = sqrt(1/2).
    found = ppi_mean_interval([2, 4], [1, 3], [3, 5], lam=1)
    assert found.high == pytest.approx(5 + Z * math.sqrt(1 / 2))
    assert found.method.endswith("lambda 1.00")


def test_a_judge_that_says_one_score_or_the_opposite_adds_nothing() -> None:
    for judge, rest in (([4, 4, 4], [4, 4]), ([5, 3, 1], [1, 5])):
        assert ppi_mean([1, 3, 5], judge, rest).value == 3, "lambda is 0: the labels' mean"
        assert ppi_mean_interval([1, 3, 5], judge, rest) == ppi_mean_interval([1, 3, 5], judge, rest, lam=0.0)


def test_student_intervals_are_wider_and_meet_the_published_ones_with_many_rows() -> None:
    rng = random.Random(1)
    for n, most in ((20, 1.2), (2000, 1.003)):
        human = [float(rng.randint(1, 5)) for _ in range(n)]
        judge = [h + rng.choice([-1, 0, 1]) for h in human]
        rest = [float(rng.randint(1, 5)) for _ in range(n)]
        published = ppi_mean_interval(human, judge, rest)
        student = ppi_mean_interval(human, judge, rest, student=True)
        assert published.low is not None
        assert published.high is not None
        assert student.low is not None
        assert student.high is not None
        assert 1 < (student.high - student.low) / (published.high - published.low) < most


def test_student_intervals_count_what_is_left_after_fitting() -> None:
    # λ = 1/2: errors 1/2, 2, 1/2 with squares 3/2 over one degree and three rows: 1/2. The other rows' scores times λ
    # lie √2 apart: variance 1 over two rows, 1/2 again. Two shares of a half with one degree each make two degrees.
    found = ppi_mean_interval([1, 3, 2], [1, 2, 3], [1, 1 + 2 * math.sqrt(2)], lam=0.5, student=True)
    assert found.low is not None
    assert found.high is not None
    assert (found.high - found.low) / 2 == pytest.approx(4.302652729911275)


@pytest.mark.parametrize(
    ("human", "judge", "rest", "reason"),
    [
        ([], [], [3, 4], "no labelled row"),
        ([3, 4], [3, 4], [], "no unlabelled row"),
        ([3], [4], [3, 4], "fewer than"),
        ([3, 4, 5], [3, 4, 5], [4], "fewer than two unlabelled"),
    ],
)
def test_too_few_rows_give_no_interval_and_a_reason(
    human: list[float], judge: list[float], rest: list[float], reason: str
) -> None:
    for found in (ppi_mean_interval(human, judge, rest), corrected_mean(human, judge, rest).population.interval):
        assert (found.low, found.high) == (None, None)
        assert found.reason is not None
        assert reason in found.reason


def test_rows_without_any_spread_give_no_interval_of_width_zero() -> None:
    found = corrected_mean([5.0] * 60, [5.0] * 60, [5.0] * 60)
    assert found.population.estimate.value == 5
    assert found.population.interval.low is None
    assert "alike" in str(found.population.interval.reason)
    perfect = corrected_mean([1.0, 3.0, 5.0] * 20, [1.0, 3.0, 5.0] * 20, [3.0, 4.0])
    assert perfect.items.estimate.value == 3.5, "what the judge says"
    assert perfect.items.interval.low is None
    assert "errs by the same" in str(perfect.items.interval.reason)


def test_the_very_rows_are_predicted_by_hand() -> None:
    # Judge 1, 2, 3 and labels 1, 3, 2: slope 1/2, errors 1/2, 2, 1/2 with mean 1, squares 3/2 over one degree.
    found = corrected_mean([1, 3, 2], [1, 2, 3], [2, 4]).items
    assert found.estimate.value == pytest.approx(0.5 * 3 + 1)
    # Student's 97.5 % point for one degree of freedom is 12.7062.
    half = 12.706204736 * math.sqrt(1.5 * (1 / 3 + 1 / 2))
    assert found.interval.high == pytest.approx(2.5 + half)
    assert found.doubt == "fewer than 30 errors of the judge"


def test_a_corrected_rate_by_hand() -> None:
    # Of 10 passes the judge sees 9, of 10 fails 8; it passes 60 of 100 others: (.6 + .8 - 1) / (.9 + .8 - 1) = 4/7.
    human = [1.0] * 10 + [0.0] * 10
    judge = [1.0] * 9 + [0.0] + [0.0] * 8 + [1.0] * 2
    found = corrected_pass_rate(human, judge, [1.0] * 60 + [0.0] * 40).population
    assert found.estimate.value == pytest.approx(4 / 7)
    # Lang and Reiczigel: one success and one failure more in each class, z²/2 of each among the others.
    n0 = 100 + Z * Z
    se, sp, p = 10 / 12, 9 / 12, (60 + Z * Z / 2) / n0
    t = (p + sp - 1) / (se + sp - 1)
    v1, v2 = se * (1 - se) / 12, sp * (1 - sp) / 12
    middle = t + 2 * Z * Z * (t * v1 - (1 - t) * v2)
    half = Z * math.sqrt(p * (1 - p) / n0 + t * t * v1 + (1 - t) ** 2 * v2) / (se + sp - 1)
    assert found.interval.low == pytest.approx(middle - half)
    assert found.interval.high == pytest.approx(min(1.0, middle + half))
    assert found.doubt is None


def test_the_very_rows_rate_by_hand() -> None:
    # As above, but the others' rate is known: it is off only by the misses within each class, t of them passes.
    human = [1.0] * 10 + [0.0] * 10
    judge = [1.0] * 9 + [0.0] + [0.0] * 8 + [1.0] * 2
    found = corrected_pass_rate(human, judge, [1.0] * 60 + [0.0] * 40).items
    se, sp = 10 / 12, 9 / 12
    t = (0.6 + sp - 1) / (se + sp - 1)
    v1, v2 = se * (1 - se), sp * (1 - sp)
    middle = t + 2 * Z * Z * (t * v1 - (1 - t) * v2) / 12
    half = Z * math.sqrt((t * v1 + (1 - t) * v2) / 100 + (t * t * v1 + (1 - t) ** 2 * v2) / 12) / (se + sp - 1)
    assert found.interval.low == pytest.approx(middle - half)
    assert found.interval.high == pytest.approx(min(1.0, middle + half))


@pytest.mark.parametrize(
    ("human", "judge", "reason"),
    [
        ([1, 1, 1], [1, 1, 0], "no labelled row fails"),
        ([0, 0, 0], [1, 0, 0], "no labelled row passes"),
        ([1, 1, 0, 0], [1, 1, 1, 1], "no better than chance"),
        ([1, 0, 1, 0], [0, 1, 0, 1], "no better than chance"),
        ([], [], "no labelled row"),
    ],
)
def test_a_rate_that_cannot_be_corrected_is_undefined_and_says_why(
    human: list[float], judge: list[float], reason: str
) -> None:
    found = corrected_pass_rate(human, judge, [1, 0, 1])
    for one in (found.population, found.items):
        assert (one.estimate.value, one.interval.low, one.interval.high) == (None, None, None)
        assert reason in str(one.estimate.reason)
        assert reason in str(one.interval.reason)


def test_chance_is_refused_though_its_sum_misses_one_by_a_bit() -> None:
    hits, rejections = sum([1 / 9] * 1), sum([1 / 9] * 8)
    assert hits + rejections > 1
    assert rogan_gladen(0.5, hits, rejections).value is None


def test_a_split_among_raters_counts_as_its_share() -> None:
    # Two raters, one pass each: half a pass and half a fail. TPR = 2.5/3, TNR = 1.5/2, rate 1/2: (1/4) / (7/12) = 3/7.
    human = [1.0, 1.0, 0.5, 0.5, 0.0]
    judge = [1.0, 1.0, 1.0, 0.0, 0.0]
    assert corrected_pass_rate(human, judge, [1.0, 0.0]).population.estimate.value == pytest.approx(3 / 7)


def test_a_rarer_class_of_fewer_than_five_is_doubted() -> None:
    def of(fails: int) -> str | None:
        human = [1.0] * 90 + [0.0] * fails
        return corrected_pass_rate(human, human, [1.0, 0.0]).population.doubt

    assert of(5) is None
    assert of(4) == "fewer than 5 labels that fail"


def test_skewed_labels_are_doubted_until_there_are_enough_of_them() -> None:
    def of(times: int) -> str | None:
        human = ([5.0] * 8 + [4.0, 2.0]) * times
        judge = ([5.0] * 7 + [4.0] * 2 + [3.0]) * times
        return corrected_mean(human, judge, [5.0, 4.0]).population.doubt

    # Mean 4.6, m2 = .84, m3 = -1.728: skewness -2.24, squared 5.04; 15 times that are 75.6 labels.
    assert of(7) == "the labels are skewed (-2.2), and it takes some 76 rows to make up for that"
    assert of(8) is None


def test_the_classical_mean_by_hand() -> None:
    # 1, 2, 3: SD 1, se 1/√3, Student's 97.5 % point for two degrees of freedom 4.302653.
    found = mean_interval([1, 2, 3])
    assert found.high == pytest.approx(2 + 4.302652729911275 / math.sqrt(3))
    assert mean_interval([1, 2, 3], [7, 7, 7]) == found
    assert mean_interval([4]).reason == "fewer than two values"
    assert mean_interval([4, 5], [1, 1e-9]).reason == "all the weight lies on one value"
    assert weighted_mean([1, 4], [3, 1]).value == pytest.approx(7 / 4)
    assert weighted_mean([]).reason
    assert share_interval([1, 1, 0]) == wilson_interval(2, 3)
    assert share_interval([1, 1, 0], [2, 2, 2]).low == pytest.approx(wilson_interval(2, 3).low)


@given(PAIRS, st.lists(SCORE, max_size=30), st.randoms(use_true_random=False))
def test_means_never_warn_nor_depend_on_the_order_of_rows(
    rows: list[tuple[float, float]], rest: list[float], rng: random.Random
) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = corrected_mean(*split(rows), rest)
    for one in (found.population, found.items):
        assert (one.estimate.value is None) == (one.estimate.reason is not None)
        assert (one.interval.low is None) == (one.interval.high is None) == (one.interval.reason is not None)
        if one.interval.low is not None and one.interval.high is not None:
            assert one.estimate.value is not None
            assert one.interval.low <= one.estimate.value <= one.interval.high
    mixed, others = rng.sample(rows, len(rows)), rng.sample(rest, len(rest))
    assert ends(corrected_mean(*split(mixed), others)) == ends(found)


@given(PAIRS, st.lists(SCORE, min_size=1, max_size=30), st.integers(-3, 3))
def test_a_constant_that_people_and_judge_add_moves_the_mean_by_as_much(
    rows: list[tuple[float, float]], rest: list[float], step: int
) -> None:
    moved = [(human + step, judge + step) for human, judge in rows]
    before = ends(corrected_mean(*split(rows), rest))
    after = ends(corrected_mean(*split(moved), [score + step for score in rest]))
    for one, other in zip(before, after, strict=True):
        assert (one is None) == (other is None)
        if one is not None:
            assert other == pytest.approx(one + step)


@given(st.lists(st.tuples(BIT, BIT), max_size=30), st.lists(BIT, max_size=30), st.randoms(use_true_random=False))
def test_rates_stay_in_range_around_their_value_and_mirror_when_pass_and_fail_change_names(
    rows: list[tuple[float, float]], rest: list[float], rng: random.Random
) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = corrected_pass_rate(*split(rows), rest)
    for one in (found.population, found.items):
        if one.interval.low is not None and one.interval.high is not None:
            assert one.estimate.value is not None
            assert 0 <= one.interval.low <= one.interval.high <= 1
            assert one.interval.low - 1e-9 <= one.estimate.value <= one.interval.high + 1e-9
    assert ends(corrected_pass_rate(*split(rng.sample(rows, len(rows))), rest)) == ends(found)
    mirrored = corrected_pass_rate(*split([(1 - h, 1 - j) for h, j in rows]), [1 - score for score in rest])
    for one, turned in ((found.population, mirrored.population), (found.items, mirrored.items)):
        if one.estimate.value is None or one.interval.high is None:
            assert turned.estimate.value is None or turned.interval.low is None
        else:
            assert turned.estimate.value == pytest.approx(1 - one.estimate.value)
            assert turned.interval.low == pytest.approx(1 - one.interval.high)


def test_columns_of_different_lengths_are_refused() -> None:
    with pytest.raises(ValueError, match="length"):
        corrected_mean([1, 2], [1], [3])
