from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentanvil.stats import BoundedScores, bounded_mean_interval, clopper_pearson_interval, cluster_bootstrap_mean


def interval(
    values: Sequence[float], low: float = 1, high: float = 5, *, missing: int = 0, level: float = 0.95
) -> tuple[float, float]:
    found = bounded_mean_interval(BoundedScores(Counter(values), low, high, missing), seed=3, level=level)
    assert found.low is not None
    assert found.high is not None
    return found.low, found.high


@pytest.mark.parametrize("n", [1, 3, 13])
def test_equal_scores_leave_room_for_what_was_not_seen(n: int) -> None:
    # All at the top: the lower bound is the α/2 quantile of Beta(n, 1), which is (α/2)^(1/n), on the scale.
    low, high = interval([5] * n)
    assert low == pytest.approx(1 + 4 * 0.025 ** (1 / n), abs=0.05)
    assert high == 5


@pytest.mark.parametrize(("passed", "n"), [(3, 4), (9, 10), (40, 50), (1, 30)])
def test_scores_at_the_ends_give_the_exact_interval_of_a_share(passed: int, n: int) -> None:
    exact = clopper_pearson_interval(passed, n)
    assert interval([1] * passed + [0] * (n - passed), 0, 1) == pytest.approx((exact.low, exact.high), abs=0.006)


def test_many_scores_give_the_usual_interval() -> None:
    values = [1, 2, 3, 4, 5] * 400
    half = 1.96 * math.sqrt(2 / 2000)
    assert interval(values) == pytest.approx((3 - half, 3 + half), abs=0.005)


def test_missing_scores_count_at_the_lower_end_and_at_the_upper_one() -> None:
    low, high = interval([3] * 40, missing=10)
    assert low < (3 * 40 + 1 * 10) / 50
    assert high > (3 * 40 + 5 * 10) / 50
    assert low == pytest.approx(interval([3] * 40 + [1] * 10)[0], abs=0.01)
    assert high == pytest.approx(interval([3] * 40 + [5] * 10)[1], abs=0.01)


def test_more_confidence_is_wider_and_without_scores_there_is_none() -> None:
    (sure, _), (surer, _) = interval([3, 4, 5] * 9, level=0.8), interval([3, 4, 5] * 9, level=0.999)
    assert surer < sure
    nothing = bounded_mean_interval(BoundedScores({}, 1, 5, 3), seed=1)
    assert (nothing.low, nothing.high, nothing.reason) == (None, None, "no item has a score")


@pytest.mark.parametrize("scores", [({6.0: 1}, 1, 5), ({0.0: 1}, 1, 5), ({}, 5, 5), ({math.nan: 1}, 1, 5)])
def test_scores_that_are_not_on_the_scale_are_refused(scores: tuple[dict[float, float], float, float]) -> None:
    with pytest.raises(ValueError, match="scores lie between"):
        BoundedScores(*scores)


def test_thousands_of_different_scores_are_told_apart_to_a_thousandth_of_the_scale() -> None:
    values = [1 + 4 * n / 4999 for n in range(5000)]
    assert interval(values) == pytest.approx(interval([round(value, 2) for value in values]), abs=0.005)


@settings(max_examples=30, deadline=None)
@given(st.lists(st.integers(1, 5), min_size=1, max_size=30), st.integers(-50, 50))
def test_order_does_not_matter_and_a_shifted_scale_shifts_the_interval(values: list[int], shift: int) -> None:
    low, high = interval(values)
    assert interval(values[::-1]) == (low, high)
    moved = interval([value + shift for value in values], 1 + shift, 5 + shift)
    assert moved == pytest.approx((low + shift, high + shift), abs=1e-6)
    assert 1 <= low <= sum(values) / len(values) <= high <= 5


@pytest.mark.slow
@pytest.mark.parametrize("n", [3, 10, 30, 100])
@pytest.mark.parametrize(
    ("scores", "shares"),
    [
        pytest.param([1, 4, 5], [0.03, 0.07, 0.9], id="ceiling"),
        pytest.param([1, 5], [0.02, 0.98], id="rare"),
        pytest.param([1, 2, 3, 4, 5], [0.1, 0.2, 0.3, 0.25, 0.15], id="middle"),
        pytest.param([3, 4, 5], [0.1, 0.45, 0.45], id="high"),
    ],
)
def test_each_end_misses_the_mean_no_oftener_than_it_says(scores: list[float], shares: list[float], n: int) -> None:
    mean, rng, times = float(np.dot(scores, shares)), np.random.default_rng(n), 1000
    above = below = 0
    for seed in range(times):
        drawn = Counter(map(float, rng.choice(scores, n, p=shares)))
        found = bounded_mean_interval(BoundedScores(drawn, 1, 5), seed=seed, draws=2000)
        assert found.low is not None
        assert found.high is not None
        above += found.low > mean
        below += found.high < mean
    allowed = 0.025 + 2 * math.sqrt(0.025 * 0.975 / times)
    assert above / times <= allowed
    assert below / times <= allowed


@pytest.mark.slow
def test_the_bootstrap_would_pass_a_run_of_ten_good_scores_far_too_often() -> None:
    rng, times, wrong = np.random.default_rng(1), 500, 0
    for seed in range(times):
        drawn = Counter(map(float, rng.choice([1, 5], 10, p=[0.02, 0.98])))
        found = cluster_bootstrap_mean([[x] for x in drawn], list(drawn.values()), seed=seed, resamples=500)
        wrong += found.low is not None and found.low > 1 * 0.02 + 5 * 0.98
    assert wrong / times > 0.5, "why a gate does not use it"
