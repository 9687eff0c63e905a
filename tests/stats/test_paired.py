from __future__ import annotations

import math
from statistics import NormalDist

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentanvil.stats import mirrored_bootstrap_mean, wilson_interval, win_rate, win_rate_interval

COUNT = st.integers(0, 40)
DELTAS = st.lists(st.sampled_from([-2.0, -1.0, -0.5, 0.0, 0.5, 1.0, 2.0]), min_size=2, max_size=12)


def test_ties_are_half_a_win() -> None:
    assert win_rate(1, 98, 1).value == 0.5
    assert (win_rate(2, 1, 1).value, win_rate(2, 1, 1).n) == (0.625, 4)
    assert win_rate(0, 0, 0).value is None
    assert win_rate_interval(0, 0, 0).reason


def test_a_published_interval() -> None:
    # Fagerland, Lydersen and Laake (2014): Tango's interval for 1 and 7 discordant pairs of 21 is −0.517 to −0.026.
    found = win_rate_interval(1, 13, 7)
    assert found.low is not None
    assert found.high is not None
    assert (round(2 * found.low - 1, 3), round(2 * found.high - 1, 3)) == (-0.517, -0.026)


@given(COUNT, COUNT)
def test_without_ties_it_is_wilsons(wins: int, losses: int) -> None:
    found, wilson = win_rate_interval(wins, 0, losses), wilson_interval(wins, wins + losses)
    if wins + losses:
        assert (found.low, found.high) == pytest.approx((wilson.low, wilson.high))


@pytest.mark.parametrize("ties", [1, 5, 100])
def test_ties_alone_leave_some_doubt(ties: int) -> None:
    z = NormalDist().inv_cdf(0.975)
    found = win_rate_interval(0, ties, 0)
    assert found.low == pytest.approx((1 - z * z / (ties + z * z)) / 2)
    assert found.high == pytest.approx((1 + z * z / (ties + z * z)) / 2)


@given(COUNT, COUNT, COUNT)
def test_exchanging_the_sides_mirrors(wins: int, ties: int, losses: int) -> None:
    one, other = win_rate_interval(wins, ties, losses), win_rate_interval(losses, ties, wins)
    if one.low is None or one.high is None:
        assert other.low is None
        return
    assert other.low is not None
    assert other.high is not None
    assert 2 * one.low - 1 == pytest.approx(1 - 2 * other.high, abs=1e-15)
    assert 2 * one.high - 1 == pytest.approx(1 - 2 * other.low, abs=1e-15)
    assert 0 <= one.low <= win_rate(wins, ties, losses).value <= one.high <= 1  # type: ignore[operator]


@given(DELTAS, st.integers(0, 5))
def test_the_mirrored_bootstrap_mirrors(deltas: list[float], seed: int) -> None:
    one = mirrored_bootstrap_mean([[d] for d in deltas], seed=seed)
    other = mirrored_bootstrap_mean([[-d] for d in deltas], seed=seed)
    assert one.low is not None
    assert one.high is not None
    assert (other.low, other.high) == (-one.high, -one.low)


def test_the_mirrored_bootstrap_is_as_wide_as_the_plain_one() -> None:
    # Eighty of -1, 0 and 1: the standard error is sqrt(2 / 3 / 81).
    found = mirrored_bootstrap_mean([[-1.0], [0.0], [1.0]], [27, 27, 27], seed=3)
    assert found.high == pytest.approx(1.96 * (2 / 3 / 81) ** 0.5, rel=0.07)
    assert found.low == -found.high  # type: ignore[operator]
    assert mirrored_bootstrap_mean([[1.0]], seed=1).reason


@pytest.mark.parametrize(("win", "tie"), [(0.5, 0.0), (0.3, 0.4), (0.05, 0.9), (0.6, 0.3), (0.1, 0.2), (0.85, 0.1)])
def test_its_exact_coverage_is_nominal(win: float, tie: float) -> None:
    # Every outcome of 40 comparisons with its probability: no simulation is needed.
    n, covered = 40, 0.0
    for wins in range(n + 1):
        for ties in range(n - wins + 1):
            losses = n - wins - ties
            ways = math.comb(n, wins) * math.comb(n - wins, ties)
            interval = win_rate_interval(wins, ties, losses)
            if interval.low <= win + tie / 2 <= interval.high:  # type: ignore[operator]
                covered += ways * win**wins * tie**ties * (1 - win - tie) ** losses
    assert 0.93 <= covered <= 0.985
