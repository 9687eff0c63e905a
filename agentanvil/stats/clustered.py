"""Standard errors of means whose rows come in clusters (the repeats of one item), and what the clustering costs."""

from __future__ import annotations

import math
from collections.abc import Sequence

from agentanvil.stats.estimate import Estimate

Clusters = Sequence[Sequence[float]]


def clustered_se_mean(clusters: Clusters, *, small_sample: bool = True) -> Estimate:
    """Return the cluster-robust standard error of the mean over all rows: √(Σ_g (Σ_i (y − ȳ))²) / N; n counts clusters.

    `small_sample` multiplies it by √(G / (G − 1)) (CR1; without it CR0). Undefined below two clusters, where nothing
    tells how clusters differ.
    """
    filled = [rows for rows in clusters if rows]
    if len(filled) < 2:
        return Estimate(None, len(filled), "fewer than two clusters")
    size = sum(len(rows) for rows in filled)
    centre = math.fsum(value for rows in filled for value in rows) / size
    squares = math.fsum(math.fsum(value - centre for value in rows) ** 2 for rows in filled)
    factor = len(filled) / (len(filled) - 1) if small_sample else 1.0
    return Estimate(math.sqrt(squares * factor) / size, len(filled))


def design_effect(icc: float, cluster_size: float) -> Estimate:
    """Return 1 + (m − 1) · ICC (Kish 1965): by how much clusters of m rows multiply the variance of a mean.

    Rows divided by it are the effective n; `n` is the cluster size, rounded down. Undefined for an empty cluster.
    """
    if cluster_size < 1:
        return Estimate(None, 0, "a cluster has at least one row")
    return Estimate(1 + (cluster_size - 1) * icc, int(cluster_size))


def design_effect_ratio(clusters: Clusters) -> Estimate:
    """Return the squared ratio of the clustered (CR0) to the naive standard error of the mean; n counts clusters.

    Undefined below two clusters, and where all rows are equal, which leaves no variance to compare.
    """
    clustered = clustered_se_mean(clusters, small_sample=False)
    if clustered.value is None:
        return clustered
    rows = [value for group in clusters for value in group]
    if min(rows) == max(rows):
        return Estimate(None, clustered.n, "all values are equal")
    centre = math.fsum(rows) / len(rows)
    variance = math.fsum((value - centre) ** 2 for value in rows) / (len(rows) - 1)
    return Estimate(clustered.value**2 / (variance / len(rows)), clustered.n)
