from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentanvil.stats import cluster_bootstrap_mean, mean, wilson_interval

CLUSTERS = st.lists(st.lists(st.integers(1, 5).map(float), min_size=1, max_size=4), min_size=2, max_size=30)


def test_wilson_by_hand() -> None:
    # 1 of 4, z = 1.959964: centre (0.25 + 0.480182) / 1.960365 = 0.372472, half 0.326886.
    interval = wilson_interval(1, 4)
    assert interval.low == pytest.approx(0.045587, abs=2e-6)
    assert interval.high == pytest.approx(0.699358, abs=2e-6)


@given(st.integers(0, 60), st.integers(1, 60))
def test_wilson_stays_inside_and_mirrors(successes: int, n: int) -> None:
    successes = min(successes, n)
    one, other = wilson_interval(successes, n), wilson_interval(n - successes, n)
    assert one.low is not None
    assert one.high is not None
    assert other.high is not None
    assert 0 <= one.low <= successes / n <= one.high <= 1
    assert one.low == pytest.approx(1 - other.high)


@given(CLUSTERS, st.integers(0, 2**63 - 1))
def test_bootstrap_ignores_the_order_of_clusters_and_of_rows(clusters: list[list[float]], seed: int) -> None:
    shuffled = [random.Random(seed).sample(rows, len(rows)) for rows in clusters]
    random.Random(seed).shuffle(shuffled)
    first = cluster_bootstrap_mean(clusters, seed=seed, resamples=200)
    assert first == cluster_bootstrap_mean(shuffled, seed=seed, resamples=200)
    assert first.low is not None
    assert first.high is not None
    assert min(min(c) for c in clusters) <= first.low <= first.high <= max(max(c) for c in clusters)


def test_bootstrap_is_reproducible_and_depends_on_the_seed() -> None:
    clusters = [[x * x / 7] for x in range(1, 12)]
    assert cluster_bootstrap_mean(clusters, seed=1) == cluster_bootstrap_mean(clusters, seed=1)
    assert cluster_bootstrap_mean(clusters, seed=1) != cluster_bootstrap_mean(clusters, seed=2)


def test_multiplicity_means_repeated_clusters() -> None:
    short = cluster_bootstrap_mean([[1.0], [5.0, 4.0]], [3, 2], seed=9)
    assert short == cluster_bootstrap_mean([[1.0], [5.0, 4.0], [1.0], [5.0, 4.0], [1.0]], seed=9)


def test_many_distinct_clusters_are_drawn_singly_with_the_same_meaning() -> None:
    # A uniform grid on [0, 1): SD of the mean is sqrt(1/12 / 3000) = 0.00527, so 95 % is 0.5 ± 0.0103.
    clusters = [[i / 3000] for i in range(3000)]
    interval = cluster_bootstrap_mean(clusters, seed=4, resamples=2000)
    assert interval.low == pytest.approx(0.4998 - 0.0103, abs=0.001)
    assert interval.high == pytest.approx(0.4998 + 0.0103, abs=0.001)


def test_unequal_clusters_drawn_singly_pool_their_rows() -> None:
    clusters = [[i / 3000] * (1 + i % 2) for i in range(3000)]
    centre = mean([x for rows in clusters for x in rows]).value
    interval = cluster_bootstrap_mean(clusters, seed=4, resamples=500)
    assert interval.low is not None
    assert interval.high is not None
    assert centre is not None
    assert interval.low < centre < interval.high


@pytest.mark.slow
def test_nominal_coverage_over_repeats_of_an_item() -> None:
    """95 % intervals over 60 items of 3 correlated rows cover the true mean in 92–97 % of 1,000 draws."""
    rng = random.Random(20)
    hits = 0
    for run in range(1000):
        centres = [rng.gauss(3, 1) for _ in range(60)]
        clusters = [[c + rng.gauss(0, 0.3) for _ in range(3)] for c in centres]
        interval = cluster_bootstrap_mean(clusters, seed=run, resamples=600)
        assert interval.low is not None
        assert interval.high is not None
        hits += interval.low <= 3 <= interval.high
    assert 920 <= hits <= 970
