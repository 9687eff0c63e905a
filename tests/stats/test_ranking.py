from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentanvil.stats import bradley_terry, bradley_terry_intervals

TABLES = st.integers(2, 4).flatmap(
    lambda k: st.lists(st.lists(st.integers(0, 4), min_size=k, max_size=k), min_size=k, max_size=k)
)


def test_two_competitors_by_hand() -> None:
    # The odds are 6 : 2, so the difference is ln 3, shared evenly around 0.
    found = bradley_terry([[0, 6], [2, 0]])
    assert found.values == pytest.approx((math.log(3) / 2, -math.log(3) / 2))


def test_a_tie_is_half_a_win_each() -> None:
    assert bradley_terry([[0, 6 + 1], [2 + 1, 0]]).values == pytest.approx((math.log(7 / 3) / 2, -math.log(7 / 3) / 2))


@pytest.mark.parametrize(
    ("points", "says"),
    [
        pytest.param([[0, 3, 2], [0, 0, 2], [0, 1, 0]], "never lost", id="undefeated"),
        pytest.param([[0, 1, 2], [1, 0, 2], [0, 0, 0]], "never won", id="winless"),
        pytest.param([[0, 1, 0, 0], [1, 0, 0, 0], [0, 0, 0, 1], [0, 0, 1, 0]], "never met", id="two-islands"),
        pytest.param([[0, 1, 1, 0], [1, 0, 0, 0], [0, 0, 0, 1], [0, 0, 1, 0]], "no limit", id="two-leagues"),
        pytest.param([[0]], "fewer than two", id="alone"),
        pytest.param([[0, 0], [0, 0]], "never met", id="nothing-played"),
    ],
)
def test_what_has_no_finite_strength_says_why(points: list[list[float]], says: str) -> None:
    found = bradley_terry(points)
    assert found.values is None
    assert says in str(found.reason)


@given(TABLES)
def test_strengths_are_finite_and_solve_the_likelihood_equations(points: list[list[int]]) -> None:
    found = bradley_terry(points)
    if found.values is None:
        assert found.reason
        return
    assert math.fsum(found.values) == pytest.approx(0, abs=1e-8)
    for i, own in enumerate(found.values):
        won = sum(n for j, n in enumerate(points[i]) if j != i)
        expected = sum(
            (points[i][j] + points[j][i]) / (1 + math.exp(other - own))
            for j, other in enumerate(found.values)
            if j != i
        )
        assert won == pytest.approx(expected, abs=1e-6)


def test_lopsided_games_converge() -> None:
    found = bradley_terry([[0, 9999, 0], [1, 0, 9999], [0, 1, 0]])
    assert found.values is not None
    assert found.values[0] - found.values[1] == pytest.approx(math.log(9999))


def test_intervals_resample_clusters() -> None:
    # Eighty games, 60 : 20. The log odds have the variance 1/60 + 1/20; half of the difference is the strength.
    won, lost = (0.0, 1.0, 0.0, 0.0), (0.0, 0.0, 1.0, 0.0)
    first, second = bradley_terry_intervals([won, lost], [60, 20], 2, seed=5)
    half = 1.96 * math.sqrt(1 / 60 + 1 / 20) / 2
    assert first.low == pytest.approx(math.log(3) / 2 - half, abs=0.04)
    assert first.high == pytest.approx(math.log(3) / 2 + half, abs=0.08)
    assert second.low == pytest.approx(-first.high)  # type: ignore[operator]
    # Games that come in clusters of four tell as much as a quarter of them.
    four = [tuple(4 * x for x in pattern) for pattern in (won, lost)]
    wide, _ = bradley_terry_intervals(four, [15, 5], 2, seed=5)
    assert wide.high - wide.low > 1.7 * (first.high - first.low)  # type: ignore[operator]


def test_intervals_do_not_depend_on_the_order_of_patterns() -> None:
    patterns, times = [(0.0, 1.0, 0.0, 0.0), (0.0, 0.0, 1.0, 0.0), (0.0, 0.5, 0.5, 0.0)], [9, 6, 3]
    assert bradley_terry_intervals(patterns, times, 2, seed=1) == bradley_terry_intervals(
        patterns[::-1], times[::-1], 2, seed=1
    )


def test_too_many_unidentified_resamples_leave_no_interval() -> None:
    found = bradley_terry_intervals([(0.0, 1.0, 0.0, 0.0), (0.0, 0.0, 1.0, 0.0)], [5, 1], 2, seed=1)
    assert all(interval.low is None and "not identified" in str(interval.reason) for interval in found)
    assert bradley_terry_intervals([(0.0, 1.0, 1.0, 0.0)], [1], 2, seed=1)[0].reason == "fewer than two clusters"


def test_nominal_coverage_over_clusters() -> None:
    # Three models, forty requests that each bring the three pairs of them: the true strengths are 0.5, 0 and -0.5.
    rng = np.random.default_rng(11)
    truth = np.array([0.5, 0.0, -0.5])
    hits = 0
    for run in range(150):
        patterns: Counter[tuple[float, ...]] = Counter()
        for _ in range(40):
            table = np.zeros((3, 3))
            for i, j in ((0, 1), (0, 2), (1, 2)):
                won = rng.random() < 1 / (1 + np.exp(truth[j] - truth[i]))
                table[(i, j) if won else (j, i)] += 1
            patterns[tuple(table.ravel())] += 1
        found = bradley_terry_intervals(list(patterns), list(patterns.values()), 3, seed=run, resamples=300)
        hits += sum(interval.low <= value <= interval.high for interval, value in zip(found, truth, strict=True))
    assert 0.91 <= hits / 450 <= 0.98
