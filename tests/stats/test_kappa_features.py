"""Kappa from sums over items: the same figure as from the table, at any size of scale."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentanvil.stats import (
    agreement_table,
    kappa_difference,
    kappa_features,
    kappa_features_among,
    kappa_of_features,
    kappa_of_tables,
)

SCALE = (1, 2, 3, 4, 5)
Pairs = list[tuple[int, int]]
ITEMS = st.lists(
    st.lists(st.tuples(st.sampled_from(SCALE), st.sampled_from(SCALE)), min_size=1, max_size=3), min_size=1, max_size=9
)


def test_quadratic_kappa_by_hand() -> None:
    # Pairs (1,1) (2,1) (3,3): observed Σ(x−y)² = 1. Expected: margins x 1,2,3 and y 1,1,3; over the nine pairings
    # (0+0+4) + (1+1+1) + (4+4+0) = 15, divided by 3 = 5. Kappa = 1 − 1/5.
    features = [kappa_features([pair], SCALE, quadratic=True) for pair in ((1, 1), (2, 1), (3, 3))]
    assert kappa_of_features(features, [1, 1, 1], quadratic=True).value == pytest.approx(0.8)


def test_plain_kappa_by_hand() -> None:
    # 20 yes/yes, 5 yes/no, 10 no/yes, 15 no/no: agreement 0.7, by chance 0.5 · 0.6 + 0.5 · 0.4 = 0.5, kappa 0.4.
    features = [kappa_features([pair], (0, 1), quadratic=False) for pair in ((1, 1), (1, 0), (0, 1), (0, 0))]
    found = kappa_of_features(features, [20, 5, 10, 15], quadratic=False)
    assert (found.value, found.n) == (pytest.approx(0.4), 50)


@given(ITEMS, st.booleans())
def test_it_is_what_the_tables_give(items: list[Pairs], quadratic: bool) -> None:
    weights = "quadratic" if quadratic else None
    tables = [agreement_table(pairs, SCALE) / len(pairs) for pairs in items]
    times = list(range(1, len(items) + 1))
    features = [kappa_features(pairs, SCALE, quadratic=quadratic) for pairs in items]
    value = kappa_of_tables(tables, times, weights)
    found = kappa_of_features(features, times, quadratic=quadratic)
    assert found.value == (None if value is None else pytest.approx(value, abs=1e-9))
    assert (found.reason is None) == (value is not None)


def test_what_is_undefined_says_why() -> None:
    nothing = kappa_features([], SCALE, quadratic=True)
    none = kappa_of_features([nothing], [3], quadratic=True)
    assert (none.value, none.n, none.reason) == (None, 0, "no item has a label of both sides")
    same = kappa_features([(5, 5)], SCALE, quadratic=True)
    found = kappa_of_features([same], [9], quadratic=True)
    assert (found.value, found.n) == (None, 9)
    assert found.reason
    with pytest.raises(ValueError, match="scale"):
        kappa_features([(0, 5)], SCALE, quadratic=True)


def test_a_scale_of_a_hundred_scores_costs_six_sums_an_item() -> None:
    features = kappa_features([(0, 100), (50, 50)], range(101), quadratic=True)
    assert len(features) == 6
    assert features[0] == 1


def test_a_difference_takes_both_kappas_from_the_same_draws() -> None:
    one = [kappa_features([pair], SCALE, quadratic=True) for pair in ((1, 2), (3, 3), (5, 4), (2, 5))]
    times = [5, 7, 6, 2]
    estimate, interval = kappa_difference([(each, each) for each in one], times, quadratic=True, seed=3)
    assert (estimate.value, interval.low, interval.high) == (0, 0, 0)
    other = [kappa_features([pair], SCALE, quadratic=True) for pair in ((1, 1), (3, 3), (5, 5), (2, 4))]
    estimate, interval = kappa_difference(list(zip(one, other, strict=True)), times, quadratic=True, seed=3)
    assert estimate.value is not None
    assert interval.low is not None
    assert interval.high is not None
    assert interval.low <= estimate.value <= interval.high < 0
    assert not math.isnan(interval.low)


@given(st.lists(st.sampled_from(SCALE), min_size=2, max_size=5), st.booleans())
def test_raters_among_themselves_are_all_their_ordered_pairs(labels: list[int], quadratic: bool) -> None:
    pairs = [(a, b) for i, a in enumerate(labels) for j, b in enumerate(labels) if i != j]
    expected = kappa_features(pairs, SCALE, quadratic=quadratic)
    assert kappa_features_among(labels, SCALE, quadratic=quadratic) == pytest.approx(expected, abs=1e-12)
    assert not any(kappa_features_among(labels[:1], SCALE, quadratic=quadratic))
