from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentanvil.stats import bca_bootstrap_mean, cluster_bootstrap_mean

SCORES = st.lists(st.integers(1, 5).map(float), min_size=2, max_size=20)


def test_skewed_scores_move_both_ends_towards_the_long_tail() -> None:
    skewed = [[x] for x in (0.1, 0.15, 0.2, 0.2, 0.25, 0.3, 0.35, 0.4, 0.5, 0.6, 0.9, 1.4, 2.2, 3.8, 6.0)]
    plain, corrected = cluster_bootstrap_mean(skewed, seed=1), bca_bootstrap_mean(skewed, seed=1)
    assert corrected.low > plain.low  # type: ignore[operator]
    assert corrected.high > plain.high  # type: ignore[operator]
    turned = bca_bootstrap_mean([[-x for x in rows] for rows in skewed], seed=1)
    assert turned.high == pytest.approx(-corrected.low, abs=0.06)  # type: ignore[operator]


@given(SCORES, st.randoms())
def test_it_ignores_order_and_stays_inside(scores: list[float], rng: random.Random) -> None:
    found = bca_bootstrap_mean([[x] for x in scores], seed=2, resamples=300)
    assert found == bca_bootstrap_mean([[x] for x in rng.sample(scores, len(scores))], seed=2, resamples=300)
    if min(scores) == max(scores):
        assert found.reason
        return
    if found.low is not None and found.high is not None:
        assert min(scores) <= found.low <= found.high <= max(scores)


def test_clusters_are_drawn_whole() -> None:
    rows = [[1.0, 2.0], [4.0], [3.0, 3.0, 5.0], [2.0, 2.0]]
    found = bca_bootstrap_mean(rows, seed=3)
    assert found == bca_bootstrap_mean([[2.0, 2.0], [1.0, 2.0], [4.0], [3.0, 3.0, 5.0]], [1, 1, 1, 1], seed=3)
    assert found.low is not None
    assert bca_bootstrap_mean([[1.0, 2.0]], seed=3).reason == "fewer than two clusters"
    assert bca_bootstrap_mean([[1.0], []], seed=3).reason
