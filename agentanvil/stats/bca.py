"""The bias-corrected and accelerated bootstrap interval (Efron 1987) of a mean: for skewed scores and few items."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from agentanvil.stats.estimate import Interval
from agentanvil.stats.interval import RESAMPLES, counted_clusters, resampled_means

_DECIMALS = 9


def bca_bootstrap_mean(
    clusters: Sequence[Sequence[float]],
    multiplicity: Sequence[int] | None = None,
    *,
    seed: int,
    resamples: int = RESAMPLES,
    level: float = 0.95,
) -> Interval:
    """Return the BCa interval of the mean over all rows, resampling whole clusters as `cluster_bootstrap_mean` does.

    The bias correction counts resamples equal to the estimate half; the acceleration comes from leaving out one
    cluster at a time. Undefined below two clusters, and where all clusters have one mean, which leaves no
    acceleration. The result depends on the multiset of clusters and the seed alone.
    """
    method = f"cluster bootstrap BCa, {resamples} resamples"
    counts = counted_clusters(clusters, multiplicity)
    if sum(counts.values()) < 2:
        return Interval(None, None, level, method, "fewer than two clusters")
    left_out = _left_out(counts)
    if left_out is None:
        return Interval(None, None, level, method, "all values are equal: there is no acceleration")
    means = np.round(resampled_means(counts, seed, resamples), _DECIMALS)
    estimate = round(_mean(counts), _DECIMALS)
    below = (np.count_nonzero(means < estimate) + np.count_nonzero(means <= estimate)) / (2 * len(means))
    if not 0 < below < 1:
        return Interval(None, None, level, method, "every resample lies on one side of the estimate")
    low, high = np.quantile(means, [_corrected(tail, below, left_out) for tail in ((1 - level) / 2, (1 + level) / 2)])
    return Interval(round(float(low), _DECIMALS), round(float(high), _DECIMALS), level, method)


def _mean(counts: Mapping[tuple[float, float], int]) -> float:
    total = math.fsum(total * times for (total, _), times in counts.items())
    return total / math.fsum(size * times for (_, size), times in counts.items())


def _left_out(counts: Mapping[tuple[float, float], int]) -> float | None:
    """Return the acceleration: the skewness of the means without one cluster each, None where they are all equal."""
    features = np.array(sorted(counts), dtype=np.float64)
    times = np.array([counts[total, size] for total, size in features], dtype=np.float64)
    all_rows = times @ features
    rest = all_rows - features
    if (rest[:, 1] == 0).any():
        return None
    means: NDArray[np.float64] = rest[:, 0] / rest[:, 1]
    if np.ptp(means) <= 10**-_DECIMALS * max(1.0, float(np.abs(means).max())):
        return None
    off = times @ means / times.sum() - means
    return float(times @ off**3 / (6 * (times @ off**2) ** 1.5))


def _corrected(tail: float, below: float, acceleration: float) -> float:
    normal = NormalDist()
    bias, z = normal.inv_cdf(below), normal.inv_cdf(tail)
    return normal.cdf(bias + (bias + z) / (1 - acceleration * (bias + z)))
