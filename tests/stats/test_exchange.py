"""Exchange of conditions item by item: exact p-values by hand, validity of those that are drawn."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from agentanvil.stats import paired_permutation_test
from agentanvil.stats.exchange import exchange_test
from agentanvil.stats.kappa_features import kappa_features
from agentanvil.stats.paired_change import PairedChange, correlation_change, kappa_change

Floats = NDArray[np.float64]


def means(sums: Floats) -> Floats:
    """The mean of a score whose items bring 1 and the score."""
    return np.asarray(sums[:, 1] / sums[:, 0])


def as_features(pairs: list[tuple[float, float]]) -> list[tuple[tuple[float, ...], tuple[float, ...]]]:
    return [((1.0, one), (1.0, other)) for one, other in pairs]


def test_three_items_that_all_fall_by_one_come_about_in_two_of_eight_exchanges() -> None:
    # The total change is -3; of the 2^3 exchanges only none and all of them reach |3|.
    found = exchange_test(as_features([(3, 2), (4, 3), (5, 4)]), [1, 1, 1], means, seed=1)
    assert found.p_value == 2 / 8
    assert found.statistic == pytest.approx(-1)
    assert found.method == "exact exchange of conditions"


def test_without_any_difference_every_exchange_is_the_same() -> None:
    found = exchange_test(as_features([(3, 3), (4, 4)]), [10, 10], means, seed=1)
    assert (found.p_value, found.n) == (1.0, 20)


def test_no_items_and_an_undefined_statistic_have_a_reason() -> None:
    assert exchange_test([], [], means, seed=1).reason == "no items"
    undefined = exchange_test(as_features([(1, 2)]), [3], lambda sums: np.full(len(sums), math.nan), seed=1)
    assert (undefined.p_value, undefined.reason) == (None, "undefined under one of the conditions")


@given(st.lists(st.tuples(st.integers(1, 5), st.integers(1, 5)), min_size=1, max_size=10))
def test_of_a_mean_it_is_the_sign_flip_test(pairs: list[tuple[float, float]]) -> None:
    flipped = paired_permutation_test([other - one for one, other in pairs], seed=1)
    found = exchange_test(as_features(pairs), [1] * len(pairs), means, seed=1)
    assert found.p_value == pytest.approx(flipped.p_value)


@given(
    st.lists(st.tuples(st.integers(1, 3), st.integers(1, 3)), min_size=1, max_size=40),
    st.randoms(use_true_random=False),
)
def test_neither_order_nor_counting_of_items_changes_it(pairs: list[tuple[float, float]], random: object) -> None:
    kinds = sorted(set(pairs))
    counted = exchange_test(as_features(kinds), [pairs.count(kind) for kind in kinds], means, seed=5, draws=999)
    assert exchange_test(as_features(pairs), [1] * len(pairs), means, seed=5, draws=999) == counted
    random.shuffle(pairs)  # type: ignore[attr-defined]
    assert exchange_test(as_features(pairs), [1] * len(pairs), means, seed=5, draws=999) == counted


def test_a_drawn_p_value_agrees_with_the_exact_one() -> None:
    pairs = [(5.0, 4.0)] * 16 + [(4.0, 5.0)] * 6
    exact = paired_permutation_test([other - one for one, other in pairs], seed=1).p_value
    assert exact == pytest.approx(0.0525, abs=5e-4)  # 2 P(X <= 6), X binomial of 22 tosses
    found = exchange_test(as_features(pairs), [1] * len(pairs), means, seed=3, draws=19_999)
    assert found.p_value is not None
    assert found.standard_error is not None
    assert found.p_value == pytest.approx(exact, abs=4 * found.standard_error)


def test_a_clear_change_is_drawn_to_the_end_and_is_never_nought() -> None:
    found = exchange_test(as_features([(5, 1)]), [200], means, seed=1, draws=4_999)
    assert found.p_value == 1 / 5_000
    assert found.method == "exchange of conditions, 4,999 drawn"


@pytest.mark.slow
def test_p_values_of_chance_alone_are_at_most_as_small_as_they_say() -> None:
    rng, small = np.random.default_rng(1), 0
    for seed in range(600):
        true = rng.integers(1, 6, 40)
        noise = rng.integers(-1, 2, (2, 40))
        first, second = np.clip(true + noise, 1, 5)
        features = [
            (
                kappa_features([(a, t)], range(1, 6), quadratic=True),
                kappa_features([(b, t)], range(1, 6), quadratic=True),
            )
            for a, b, t in zip(first.tolist(), second.tolist(), true.tolist(), strict=True)
        ]
        found = kappa_change(features, [1] * 40, quadratic=True, seed=seed, draws=999)
        small += found.test.p_value is not None and found.test.p_value <= 0.05
    assert small / 600 <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / 600)


def boolean_kappa(pairs: list[tuple[int, int, int]]) -> PairedChange:
    features = [
        (kappa_features([(a, label)], (0, 1), quadratic=False), kappa_features([(b, label)], (0, 1), quadratic=False))
        for a, b, label in pairs
    ]
    return kappa_change(features, [1] * len(pairs), quadratic=False, seed=1)


def test_kappa_falls_from_one_to_a_half_by_hand() -> None:
    # First: agrees throughout, kappa 1. Second: 3 of 4 agree, margins (2, 2) and (3, 1): expected 4/8, and so
    # 1 - (1/4) / (1/2).
    found = boolean_kappa([(0, 0, 0), (0, 0, 0), (1, 1, 1), (1, 0, 1)])
    assert (found.first.value, found.second.value, found.change.value) == (1.0, 0.5, -0.5)
    # One item differs: exchanged or not, the change is a half in size.
    assert found.test.p_value == 1.0


def test_correlation_rises_where_one_score_follows_the_other_by_hand() -> None:
    apart: list[tuple[float, float]] = [(1, 1), (1, 2), (2, 1), (2, 2)]  # r = 0
    together: list[tuple[float, float]] = [(1, 1), (2, 2), (1, 1), (2, 2)]  # r = 1
    found = correlation_change(list(zip(apart, together, strict=True)), [1] * 4, seed=1)
    assert (found.first.value, found.second.value, found.change.value) == (0.0, 1.0, 1.0)
    # Exchanges of the two items that differ, by |change|: none 1, both 1, either one 0 (r is .577 on both sides).
    assert found.test.p_value == 0.5


def test_a_constant_score_has_no_correlation_to_change() -> None:
    found = correlation_change([((3, 1), (3, 2)), ((3, 4), (3, 4))], [2, 2], seed=1)
    assert found.change.value is None
    assert found.change.reason == "one of the two has one and the same score on every item"
    assert found.test.p_value is None
    assert found.interval.low is None


def test_a_shift_and_a_scale_leave_a_correlation_as_it_was() -> None:
    rng = np.random.default_rng(7)
    points = [((a, b), (a, c)) for a, b, c in rng.integers(1, 6, (40, 3)).tolist()]
    moved = [((1e6 + 3 * a, 2 * b), (1e6 + 3 * c, 2 * d)) for (a, b), (c, d) in points]
    found, again = (correlation_change(each, [1] * 40, seed=2) for each in (points, moved))
    assert found.change.value == pytest.approx(again.change.value, abs=1e-9)
    assert found.test.p_value == again.test.p_value
    assert found.interval.low == pytest.approx(again.interval.low, abs=1e-6)


def test_no_change_on_any_item_has_no_interval_rather_than_one_without_width() -> None:
    point = ((1.0, 2.0), (1.0, 2.0))
    for found in (
        boolean_kappa([(0, 0, 0), (1, 1, 1)] * 9),
        correlation_change([point, ((2, 1), (2, 1))], [9, 9], seed=1),
    ):
        assert found.change.value == 0
        assert (found.interval.low, found.interval.reason) == (
            None,
            "no item changes, so that nothing tells how far it could",
        )
        assert found.test.p_value == 1
