"""Sampling weights, and whether labelled and unlabelled rows can be samples of one population; by hand."""

from __future__ import annotations

import math
import random
import warnings

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentanvil.stats import (
    corrected_mean,
    corrected_pass_rate,
    mean_shift,
    weighted_corrected_mean,
    weighted_mean,
    weighted_shift,
)

SCORE = st.integers(1, 5).map(float)
WEIGHT = st.floats(1e-300, 1e300)
ROWS = st.lists(st.tuples(SCORE, SCORE, WEIGHT), max_size=20)


def sample(n: int, rng: random.Random) -> tuple[list[float], list[float], list[float]]:
    human = [float(rng.randint(1, 5)) for _ in range(n)]
    judge = [min(5.0, max(1.0, h + rng.choice([-1, 0, 0, 1]))) for h in human]
    return human, judge, [rng.uniform(1, 9) for _ in range(n)]


def test_a_weighted_mean_by_hand() -> None:
    # Five rows; those with labels 1, 4, 4 weigh 1, 1, 3: v = .2, .2, .6. Judge 1, 3, 4 on them and 2, 5 on others.
    # Means by v: labels 3.4, judge 3.2. Only v above 1/5 leaves anything to chance: .6 · (.6 - .2) for the third row,
    # whose slope of labels on the judge is (.6 · .8) / (.8 · .8) = .75. Value: .75 · 15/5 + (3.4 - .75 · 3.2) = 3.25.
    found = weighted_corrected_mean([1, 4, 4], [1, 3, 4], [1, 1, 3], [2, 5])
    assert found.population.estimate.value == pytest.approx(3.25)
    assert found.items.estimate == found.population.estimate
    assert found.items.estimate.n == 5


def test_equal_weights_give_the_unweighted_mean_and_an_interval_as_wide() -> None:
    human, judge, _ = sample(300, random.Random(3))
    _, rest, _ = sample(3000, random.Random(4))
    plain = corrected_mean(human, judge, rest).population
    found = weighted_corrected_mean(human, judge, [11.0] * 300, rest).population
    assert found.estimate.value == pytest.approx(plain.estimate.value, abs=0.005)
    assert found.interval.low == pytest.approx(plain.interval.low, abs=0.01)
    assert found.interval.high == pytest.approx(plain.interval.high, abs=0.01)


def test_where_every_row_is_labelled_only_the_population_is_uncertain() -> None:
    human, judge, _ = sample(50, random.Random(5))
    found = weighted_corrected_mean(human, judge, [1.0] * 50, [])
    assert found.population.estimate.value == pytest.approx(sum(human) / 50)
    assert found.population.interval.low is not None
    assert found.items.interval.low is None
    assert found.items.interval.reason


def test_weights_undo_how_labels_were_drawn() -> None:
    # 30 of 300 rows that the judge scores 1 are labelled, all 30 of those it scores 5; people add one to each 1.
    human, judge = [2.0] * 15 + [2.0] * 15 + [5.0] * 30, [1.0] * 30 + [5.0] * 30
    found = weighted_corrected_mean(human, judge, [10.0] * 30 + [1.0] * 30, [1.0] * 270)
    assert found.items.estimate.value == pytest.approx((300 * 2 + 30 * 5) / 330)
    assert weighted_mean(human, [10.0] * 30 + [1.0] * 30).value == pytest.approx((300 * 2 + 30 * 5) / 330)
    assert corrected_mean(human, judge, [1.0] * 270).population.estimate.value != pytest.approx(750 / 330, abs=0.1)


def test_a_weighted_rate_by_hand() -> None:
    # Passes weigh 1, 3 (the judge misses the light one: TPR 3/4), fails 2, 2 (it sees one: TNR 1/2). It passes two of
    # the labelled rows and two of four others: (4/8 + 1/2 - 1) / (1/4) = 0.
    human, judge = [1.0, 1.0, 0.0, 0.0], [0.0, 1.0, 0.0, 1.0]
    found = corrected_pass_rate(human, judge, [1, 1, 0, 0], [1, 3, 2, 2])
    assert found.population.estimate.value == pytest.approx(0)
    assert corrected_pass_rate(human, judge, [1, 1, 1, 1], [1, 3, 2, 2]).population.estimate.value == 1
    scaled = corrected_pass_rate(human, judge, [1, 1, 0, 0], [1e300, 3e300, 2e300, 2e300])
    assert scaled.population.interval.high == pytest.approx(found.population.interval.high)


def test_unequal_weights_widen_a_rate() -> None:
    human, judge = [1.0] * 40 + [0.0] * 40, [1.0] * 36 + [0.0] * 40 + [1.0] * 4
    rest = [1.0, 0.0] * 400

    def width(weights: list[float]) -> float:
        found = corrected_pass_rate(human, judge, rest, weights).population.interval
        assert found.low is not None
        assert found.high is not None
        return found.high - found.low

    assert width([1.0] * 80) < width([1.0, 9.0] * 40)


def test_a_shift_by_hand() -> None:
    # Means 2 and 5, squares 2 + 2 over 4 degrees, se = sqrt(1 · (1/3 + 1/3)); Student's 97.5 % point is 2.776445.
    found = mean_shift([1, 2, 3], [4, 5, 6])
    assert found.difference.value == -3
    assert found.interval.low == pytest.approx(-3 - 2.7764451052 * math.sqrt(2 / 3))
    assert found.found
    assert not mean_shift([1, 2, 3], [2, 2, 3]).found


@pytest.mark.parametrize(("one", "other"), [([], [1, 2, 3]), ([1, 2, 3], []), ([1], [2])])
def test_a_shift_of_too_few_rows_is_undefined(one: list[float], other: list[float]) -> None:
    found = mean_shift(one, other)
    assert found.difference.value is None
    assert found.difference.reason
    assert not found.found


def test_weights_that_fit_leave_no_shift_and_others_do() -> None:
    rng = random.Random(2)
    judge = [float(rng.randint(1, 5)) for _ in range(2000)]
    chance = [0.4 if score < 3 else 0.05 for score in judge]
    who = [rng.random() < p for p in chance]
    labelled = [score for score, drawn in zip(judge, who, strict=True) if drawn]
    rest = [score for score, drawn in zip(judge, who, strict=True) if not drawn]
    weights = [1 / p for p, drawn in zip(chance, who, strict=True) if drawn]
    assert not weighted_shift(labelled, weights, rest).found
    assert weighted_shift(labelled, [1.0] * len(labelled), rest).found
    assert mean_shift(labelled, rest).found


@given(ROWS, st.lists(SCORE, max_size=20), st.randoms(use_true_random=False))
def test_weights_of_any_size_never_warn_nor_does_the_order_of_rows_matter(
    rows: list[tuple[float, float, float]], rest: list[float], rng: random.Random
) -> None:
    def answers(of: list[tuple[float, float, float]]) -> list[object]:
        human, judge, weights = [h for h, _, _ in of], [j for _, j, _ in of], [w for _, _, w in of]
        passes = [float(h > 3) for h in human], [float(j > 3) for j in judge], [float(score > 3) for score in rest]
        mean = weighted_corrected_mean(human, judge, weights, rest)
        return [mean, corrected_pass_rate(*passes, weights), weighted_shift(judge, weights, rest)]

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = answers(rows)
    assert answers(rng.sample(rows, len(rows))) == found
    for number in "nan", "inf":
        assert f"={number}" not in repr(found)
