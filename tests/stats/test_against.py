from __future__ import annotations

from math import comb

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentanvil.stats import (
    clopper_pearson_interval,
    share_against,
    wilson_interval,
    win_rate_against,
    win_rate_interval,
)


def test_the_exact_interval_below_five_and_the_score_interval_from_there_on() -> None:
    # n · 0.9 · 0.1 is 4.95 for 55 and 5.04 for 56.
    assert share_against(50, 55, 0.9) == clopper_pearson_interval(50, 55)
    assert share_against(50, 56, 0.9) == wilson_interval(50, 56)
    assert win_rate_against(8, 1, 10, 0.5) == clopper_pearson_interval(8.5, 19)
    assert win_rate_against(8, 2, 10, 0.5) == win_rate_interval(8, 2, 10)
    assert share_against(0, 0, 0.9).reason == "no trials"


def test_two_of_three_are_not_below_0_95() -> None:
    # The exact upper end of 2 of 3 is the p under which two or fewer pass with probability 0.025: 1 − p³ = 0.025.
    found = share_against(2, 3, 0.95)
    assert found.high == pytest.approx(0.9916, abs=1e-4)
    wilson = wilson_interval(2, 3)
    assert wilson.high is not None
    assert wilson.high < 0.95, "why it is not Wilson's"


@pytest.mark.parametrize("threshold", [0.3, 0.5, 0.8, 0.9, 0.95])
def test_each_end_misses_at_most_twice_as_often_as_it_says(threshold: float) -> None:
    for n in (1, 3, 5, 10, 20, 25, 40, 63, 110):
        mass = [comb(n, k) * threshold**k * (1 - threshold) ** (n - k) for k in range(n + 1)]
        ends = [share_against(k, n, threshold) for k in range(n + 1)]
        above = sum(m for m, end in zip(mass, ends, strict=True) if end.low is not None and end.low >= threshold)
        below = sum(m for m, end in zip(mass, ends, strict=True) if end.high is not None and end.high < threshold)
        limit = 0.025 if n * threshold * (1 - threshold) < 5 else 0.05
        assert max(above, below) <= limit + 1e-9


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
