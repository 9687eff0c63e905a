"""Intervals: Wilson's for a proportion, the cluster bootstrap for a mean."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from statistics import NormalDist

import numpy as np

from agentanvil.stats.estimate import Interval
from agentanvil.stats.resample import Floats, percentile_ends, resampled_totals
from agentanvil.stats.weighting import method_of, scaled_weights

RESAMPLES = 2_000


def wilson_interval(successes: float, n: float, level: float = 0.95) -> Interval:
    """Return Wilson's score interval (1927), without continuity correction, for `successes` of `n` trials.

    Both may be fractions, for an effective number of trials.
    """
    method = "wilson"
    if n == 0:
        return Interval(None, None, level, method, "no trials")
    z = NormalDist().inv_cdf(1 - (1 - level) / 2)
    share = successes / n
    denominator = 1 + z * z / n
    centre = (share + z * z / (2 * n)) / denominator
    half = z / denominator * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    # At the ends the formula gives 0 and 1 exactly; floating point would miss them by a hair.
    low = 0.0 if successes == 0 else centre - half
    high = 1.0 if successes == n else centre + half
    return Interval(low, high, level, method)


def cluster_bootstrap_mean(
    clusters: Sequence[Sequence[float]],
    multiplicity: Sequence[int] | None = None,
    *,
    weights: Sequence[float] | None = None,
    seed: int,
    resamples: int = RESAMPLES,
    level: float = 0.95,
) -> Interval:
    """Return the percentile interval of the mean over all rows, resampling whole clusters.

    G of G clusters are drawn with replacement and their rows pooled; there is no second stage. With one row
    per cluster it is the ordinary bootstrap of a mean. `multiplicity[i]` says how often `clusters[i]` occurs,
    `weights[i]` is its sampling weight: resamples draw all clusters alike, and count their rows by it.
    Undefined below two clusters. The result depends on the multiset of clusters and the seed alone.
    """
    method = method_of(f"cluster bootstrap percentile, {resamples} resamples", weights)
    counts = counted_clusters(clusters, multiplicity, weights)
    if sum(counts.values()) < 2:
        return Interval(None, None, level, method, "fewer than two clusters")
    low, high = percentile_ends(resampled_means(counts, seed, resamples), level)
    return Interval(low, high, level, method)


def mirrored_bootstrap_mean(
    clusters: Sequence[Sequence[float]],
    multiplicity: Sequence[int] | None = None,
    *,
    weights: Sequence[float] | None = None,
    seed: int,
    resamples: int = RESAMPLES,
    level: float = 0.95,
) -> Interval:
    """Return the interval of `cluster_bootstrap_mean` for signed rows whose sign is a matter of naming.

    Half of the resamples are drawn from the rows and half, turned round, from their negatives, so that rows of
    opposite sign give exactly the opposite interval.
    """
    method = method_of(f"cluster bootstrap percentile, {resamples} resamples, half of them mirrored", weights)
    counts = counted_clusters(clusters, multiplicity, weights)
    if sum(counts.values()) < 2:
        return Interval(None, None, level, method, "fewer than two clusters")
    turned = {(-total, size): times for (total, size), times in counts.items()}
    half = resamples // 2
    means = np.concatenate([resampled_means(counts, seed, half), -resampled_means(turned, seed, half)])
    low, high = percentile_ends(means, level)
    return Interval(low + 0.0, high + 0.0, level, method)


def counted_clusters(
    clusters: Sequence[Sequence[float]], multiplicity: Sequence[int] | None, weights: Sequence[float] | None = None
) -> dict[tuple[float, float], int]:
    """Return how many clusters have each (sum of rows, number of rows), both times the cluster's scaled weight."""
    times = [1] * len(clusters) if multiplicity is None else multiplicity
    counts: dict[tuple[float, float], int] = {}
    for rows, count, weight in zip(clusters, times, scaled_weights(weights, times).tolist(), strict=True):
        feature = weight * math.fsum(rows), weight * len(rows)
        counts[feature] = counts.get(feature, 0) + count
    return counts


def resampled_means(counts: Mapping[tuple[float, float], int], seed: int, resamples: int) -> Floats:
    """Return the mean over all rows in each resample of as many clusters as there are."""
    ordered = sorted(counts)
    patterns = np.array(ordered, dtype=np.float64)
    repeated = np.array([counts[feature] for feature in ordered], dtype=np.int64)
    return np.concatenate(
        [totals[:, 0] / totals[:, 1] for totals in resampled_totals(patterns, repeated, seed=seed, resamples=resamples)]
    )
