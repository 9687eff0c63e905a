from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentanvil.stats import combined_preference, log_odds, sigmoid

INSIDE = st.floats(1e-9, 1 - 1e-9)


def test_log_odds_by_hand() -> None:
    assert log_odds(0.75) == pytest.approx(math.log(3))
    assert log_odds(0.5) == 0
    assert (log_odds(0.0), log_odds(1.0)) == (-math.inf, math.inf)
    assert (sigmoid(-math.inf), sigmoid(0.0), sigmoid(math.inf)) == (0, 0.5, 1)


@given(st.floats(-30, 30))
def test_one_is_the_inverse_of_the_other(value: float) -> None:
    assert log_odds(sigmoid(value)) == pytest.approx(value, rel=1e-2, abs=1e-9)
    assert sigmoid(value) + sigmoid(-value) == pytest.approx(1)


def test_both_orders_cancel_a_preference_for_a_position() -> None:
    # Odds 9 and 1/9 where it stands first and second: no preference for either response.
    assert combined_preference([0.9, 0.1]).value == pytest.approx(0.5)
    # Odds 4 and 1: their geometric mean is 2.
    assert combined_preference([0.8, 0.5]).value == pytest.approx(2 / 3)


def test_what_is_undefined_says_why() -> None:
    for found in (combined_preference([]), combined_preference([1.0, 0.0])):
        assert found.value is None
        assert found.reason
    assert combined_preference([1.0, 0.3]).value == 1


@given(st.lists(INSIDE, min_size=1, max_size=6))
def test_exchanging_the_sides_mirrors(probabilities: list[float]) -> None:
    one = combined_preference(probabilities).value
    other = combined_preference([1 - p for p in probabilities]).value
    assert one == pytest.approx(1 - other)  # type: ignore[operator]
