from __future__ import annotations

import math
from typing import get_args

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentanvil.stats import ErrorMeasure, mean_absolute_error, mean_error, mean_error_interval, signed_bias

SCORE = st.integers(1, 5).map(float)
ITEMS = st.lists(st.lists(st.tuples(SCORE, SCORE), min_size=1, max_size=4), min_size=2, max_size=15)


def test_by_hand() -> None:
    # Differences +1, −2, 0, and two pairs with a gap: (1 + 2 + 0) / 3 and (1 − 2 + 0) / 3.
    judge, human = [4, 1, 3, None, 5], [3, 3, 3, 2, None]
    assert mean_absolute_error(judge, human).value == pytest.approx(1)
    assert signed_bias(judge, human).value == pytest.approx(-1 / 3)
    assert signed_bias(judge, human).n == 3


def test_an_item_counts_once_however_often_it_was_read() -> None:
    # Items' own errors (1 + 0) / 2 and 2: mean 1.25, where the three pairs alone would give 1.
    items = [[(2.0, 1.0), (1.0, 1.0)], [(5.0, 3.0)]]
    assert mean_error(items, "mean_absolute_error").value == pytest.approx(1.25)
    assert mean_error(items, "mean_absolute_error").n == 2
    assert mean_error(items, "signed_bias", [1, 3]).value == pytest.approx((0.5 + 3 * 2) / 4)


def test_errors_of_one_item_cancel_in_the_bias_alone() -> None:
    items = [[(2.0, 1.0), (1.0, 2.0)]]
    assert (mean_error(items, "signed_bias").value, mean_error(items, "mean_absolute_error").value) == (0, 1)


def test_nothing_to_compare() -> None:
    for found in (mean_absolute_error([], []), signed_bias([None], [3]), mean_error([[]], "signed_bias")):
        assert (found.value, found.n) == (None, 0)
        assert found.reason
    interval = mean_error_interval([[(1.0, 2.0)], []], "signed_bias", seed=1)
    assert interval.reason == "fewer than two clusters"


def test_no_number_in_no_number_out() -> None:
    for value in (math.nan, math.inf, 1.7e308):
        found = mean_absolute_error([value, -value], [1, 1])
        assert (found.value, found.n) == (None, 2)
        assert "finite" in (found.reason or "")
    interval = mean_error_interval([[(math.inf, 1.0)], [(2.0, 1.0)]], "signed_bias", seed=1)
    assert interval.low is None
    assert "finite" in (interval.reason or "")


@given(ITEMS, st.integers(0, 99))
def test_sides_exchanged_turn_the_bias_round(items: list[list[tuple[float, float]]], seed: int) -> None:
    other = [[(human, judge) for judge, human in pairs] for pairs in items]
    bias, turned = mean_error(items, "signed_bias").value, mean_error(other, "signed_bias").value
    assert bias is not None
    assert turned == pytest.approx(-bias)
    assert mean_error(items, "mean_absolute_error") == mean_error(other, "mean_absolute_error")
    assert mean_error_interval(items, "mean_absolute_error", seed=seed) == mean_error_interval(
        other, "mean_absolute_error", seed=seed
    )


@given(ITEMS, st.integers(0, 99))
def test_the_interval_holds_the_estimate_whatever_the_order(items: list[list[tuple[float, float]]], seed: int) -> None:
    found, interval = mean_error(items, "signed_bias"), mean_error_interval(items, "signed_bias", seed=seed)
    assert interval == mean_error_interval(items[::-1], "signed_bias", seed=seed)
    assert found.value is not None
    errors = {round(mean_error([pairs], "signed_bias").value or 0.0, 9) for pairs in items}
    assert (interval.low is None) == (len(errors) == 1)
    if interval.low is not None and interval.high is not None:
        assert interval.low - 1e-9 <= found.value <= interval.high + 1e-9


def test_items_of_one_error_show_no_spread_to_judge_it_by() -> None:
    found = mean_error_interval([[(3.0, 2.0)], [(5.0, 4.0)], [(2.0, 1.0)]], "mean_absolute_error", seed=0)
    assert (found.low, found.high) == (None, None)
    assert "no spread" in (found.reason or "")


@pytest.mark.slow
@pytest.mark.parametrize("measure", get_args(ErrorMeasure))
@pytest.mark.parametrize(("items", "floor"), [(30, 0.91), (100, 0.925)])
def test_coverage(measure: ErrorMeasure, items: int, floor: float) -> None:
    """Nominal 95 %, of items with three readings each; the bootstrap of a mean comes close from below."""
    rng = np.random.default_rng(11)
    # A judge 0.3 points too high, with noise of the item and noise of the reading.
    truth = _truth(measure)
    held = 0
    for seed in range(1_000):
        shift = rng.normal(0.3, 0.6, size=(items, 1)) + rng.normal(0, 0.4, size=(items, 3))
        clusters = [[(error, 0.0) for error in row] for row in np.round(shift, 1).tolist()]
        interval = mean_error_interval(clusters, measure, seed=seed, resamples=600)
        assert interval.low is not None
        assert interval.high is not None
        held += interval.low <= truth <= interval.high
    assert held / 1_000 >= floor


def _truth(measure: ErrorMeasure) -> float:
    drawn = np.round(np.random.default_rng(1).normal(0.3, math.sqrt(0.6**2 + 0.4**2), size=4_000_000), 1)
    return float((drawn if measure == "signed_bias" else np.abs(drawn)).mean())
