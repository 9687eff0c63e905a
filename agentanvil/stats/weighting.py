"""Sampling weights of items: one over the probability with which each was drawn, up to a common factor.

A weighted measure is Hájek's (1971): every sum over items counts each of them by its weight, so that it estimates what
the measure is over all items from which they were drawn. A weight is no number of items: n stays that of the items, and
an interval comes from leaving out, or resampling, one whole item with its weight at a time. Where a formula has no such
form and asks for a number of items, that is Kish's effective one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

import numpy as np

from agentanvil.stats.resample import Floats

_WEIGHTED = "sampling weights"
Cluster = TypeVar("Cluster", bound=Sequence[object])

# Sums keep their digits beside an item of the largest weight.
_LEAST = 1e-9


def kept_items(
    clusters: Sequence[Cluster], multiplicity: Sequence[int] | None, weights: Sequence[float] | None
) -> tuple[list[Cluster], list[int], list[float]]:
    """Return the clusters that hold anything and occur, with how many of each there are and what each weighs."""
    times = [1] * len(clusters) if multiplicity is None else multiplicity
    w = [1.0] * len(clusters) if weights is None else weights
    kept = [each for each in zip(clusters, times, w, strict=True) if each[0] and each[1]]
    return [cluster for cluster, _, _ in kept], [many for _, many, _ in kept], [weight for _, _, weight in kept]


def scaled_weights(weights: Sequence[float] | None, multiplicity: Sequence[int] | Floats) -> Floats:
    """Return positive weights on the scale on which they average 1 over items: exactly 1 each where all are equal.

    `weights[i]` is that of every item of one kind, of which there are `multiplicity[i]`. Weights below 1e-9 of the
    largest are put there.
    """
    times = np.asarray(multiplicity, dtype=np.float64)
    if weights is None or not times.any() or not differ(weights):
        return np.ones(len(times))
    relative = np.maximum(np.asarray(weights, dtype=np.float64) / max(weights), _LEAST)
    return np.asarray(relative * (times.sum() / float(times @ relative)))


def effective_items(weights: Floats, multiplicity: Sequence[int] | Floats) -> float:
    """Return Kish's effective number of items (1965), (Σw)² / Σw²; their number where all weigh the same."""
    times = np.asarray(multiplicity, dtype=np.float64)
    squares = float(times @ (weights * weights))
    return float(times @ weights) ** 2 / squares if squares else 0.0


def differ(weights: Sequence[float] | None) -> bool:
    """Tell whether some item has another weight than others."""
    return weights is not None and len(weights) > 0 and min(weights) < max(weights)


def method_of(name: str, weights: Sequence[float] | None) -> str:
    """Return a method's name, which says so where items weigh differently."""
    return f"{name}, {_WEIGHTED}" if differ(weights) else name
