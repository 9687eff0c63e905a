from __future__ import annotations

import math

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
