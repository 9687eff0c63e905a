from __future__ import annotations

from collections.abc import Iterator
from math import comb

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentanvil.stats import clopper_pearson_interval, win_rate_against, win_rate_interval


def test_the_exact_interval_below_five_and_the_wider_one_from_there_on() -> None:
    # n · 0.5 · 0.5 is 4.75 for 19 and 5 for 20.
    assert win_rate_against(8, 1, 10, 0.5) == clopper_pearson_interval(8.5, 19)
    # Without ties, the exact interval of 14 of 20: 2.5 % of the runs at its ends have as many, or as few.
    found, score = win_rate_against(14, 0, 6, 0.5), win_rate_interval(14, 0, 6)
    exact = clopper_pearson_interval(14, 20)
    assert (found.low, found.high) == pytest.approx((exact.low, exact.high))
    assert (found.low, found.high) == pytest.approx((0.4572, 0.8811), abs=1e-4)
    assert score.low is not None
    assert score.low > 0.4572, "why it is not Tango's, which is Wilson's here"
    # With ties alone nothing was won or lost, and Tango's has some width all the same.
    ties = win_rate_against(0, 50, 0, 0.5)
    assert ties == win_rate_interval(0, 50, 0)
    assert win_rate_against(0, 0, 0, 0.9).reason == "no trials"


def outcomes(n: int, win: float, tie: float) -> Iterator[tuple[int, int, int, float]]:
    """Every (wins, ties, losses) of n comparisons with its probability."""
    for wins in range(n + 1):
        for ties in range(n + 1 - wins):
            losses = n - wins - ties
            ways = comb(n, wins) * comb(n - wins, ties)
            yield wins, ties, losses, ways * win**wins * tie**ties * (1 - win - tie) ** losses


@pytest.mark.parametrize("n", [10, 19, 20, 25, 37])
@pytest.mark.parametrize("tie", [0.0, 0.1, 0.4, 0.8])
def test_at_one_half_each_end_misses_no_more_often_than_it_says(n: int, tie: float) -> None:
    above = below = 0.0
    for wins, ties, losses, mass in outcomes(n, (1 - tie) / 2, tie):
        found = win_rate_against(wins, ties, losses, 0.5)
        assert found.low is not None
        assert found.high is not None
        above += mass * (found.low >= 0.5)
        below += mass * (found.high < 0.5)
    assert max(above, below) <= 0.025 + 2e-3 * bool(tie)


@given(st.integers(0, 40), st.integers(0, 40), st.integers(0, 40), st.floats(0.1, 0.9))
def test_exchanging_the_sides_mirrors_the_interval(wins: int, ties: int, losses: int, threshold: float) -> None:
    found = win_rate_against(wins, ties, losses, threshold)
    turned = win_rate_against(losses, ties, wins, 1 - threshold)
    if found.low is None or found.high is None:
        assert turned.low is None
        return
    if found.method == turned.method:  # 1 − t is not exact, and may fall on the other side of the rule
        assert turned.high == pytest.approx(1 - found.low, abs=1e-9)
        assert turned.low == pytest.approx(1 - found.high, abs=1e-9)
