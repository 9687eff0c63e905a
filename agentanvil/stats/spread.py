"""How far repeated scores of one item lie apart, and what that comes to over many items.

Groups are the scores of one item each. `multiplicity[i]` says how many items had exactly `groups[i]`, so that
a caller may count patterns instead of keeping rows; without it every group counts once.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

import numpy as np

from agentanvil.stats.estimate import Estimate
from agentanvil.stats.weighting import differ, scaled_weights

_TOO_FEW = "fewer than two values"


def mean(values: Sequence[float | None], multiplicity: Sequence[int] | None = None) -> Estimate:
    """Return the arithmetic mean of the values that are not None; summed exactly, so order never matters."""
    weighted = [(v, w) for v, w in zip(values, _ones(values, multiplicity), strict=True) if v is not None]
    n = sum(w for _, w in weighted)
    if n == 0:
        return Estimate(None, 0, "no values")
    return Estimate(math.fsum(v * w for v, w in weighted) / n, n)


def mean_of_drawn(values: Sequence[float], multiplicity: Sequence[int], weights: Sequence[float] | None) -> Estimate:
    """Return Σwy / Σw over items with sampling weights; `mean` where there are none or all are equal."""
    if not differ(weights):
        return mean(values, multiplicity)
    amounts = (scaled_weights(weights, multiplicity) * np.array(multiplicity)).tolist()
    total = math.fsum(v * w for v, w in zip(values, amounts, strict=True))
    return Estimate(total / math.fsum(amounts), sum(multiplicity))


def population_sd(values: Sequence[float | None]) -> Estimate:
    """Return sqrt(Σ(x − mean)² / n), None values left out; 0 for a single value, undefined for none."""
    present = [v for v in values if v is not None]
    if not present:
        return Estimate(None, 0, "no values")
    return Estimate(math.sqrt(_sum_of_squares(present) / len(present)), len(present))


def sample_sd(values: Sequence[float | None]) -> Estimate:
    """Return sqrt(Σ(x − mean)² / (n − 1)), None values left out; undefined below two values."""
    present = [v for v in values if v is not None]
    if len(present) < 2:
        return Estimate(None, len(present), _TOO_FEW)
    return Estimate(math.sqrt(_sum_of_squares(present) / (len(present) - 1)), len(present))


def modal_agreement(values: Sequence[float]) -> Estimate:
    """Return the share of the commonest value; undefined below two values, where nothing could disagree."""
    if len(values) < 2:
        return Estimate(None, len(values), _TOO_FEW)
    return Estimate(max(Counter(values).values()) / len(values), len(values))


def pooled_sd(groups: Sequence[Sequence[float]], multiplicity: Sequence[int] | None = None) -> Estimate:
    """Return sqrt(ΣΣ(x − group mean)² / Σ(group size − 1)), the within-group SD; n counts groups of two or more.

    It is the root of the within mean square of a one-way analysis of variance.
    """
    squares: list[float] = []
    freedom = n = 0
    for group, times in zip(groups, _ones(groups, multiplicity), strict=True):
        if len(group) >= 2:
            squares.append(_sum_of_squares(group) * times)
            freedom += (len(group) - 1) * times
            n += times
    if n == 0:
        return Estimate(None, 0, "no item with two values")
    return Estimate(math.sqrt(math.fsum(squares) / freedom), n)


def unanimous_share(groups: Sequence[Sequence[float]], multiplicity: Sequence[int] | None = None) -> Estimate:
    """Return the share of groups whose values are all equal, among those that hold two or more."""
    n = same = 0
    for group, times in zip(groups, _ones(groups, multiplicity), strict=True):
        if len(group) >= 2:
            n += times
            same += times if min(group) == max(group) else 0
    if n == 0:
        return Estimate(None, 0, "no item with two values")
    return Estimate(same / n, n)


def _ones(items: Sequence[object], multiplicity: Sequence[int] | None) -> Sequence[int]:
    return [1] * len(items) if multiplicity is None else multiplicity


def _sum_of_squares(values: Sequence[float]) -> float:
    """Σ(x − mean)², exactly 0 when all values are equal (a rounded mean would leave dust)."""
    if min(values) == max(values):
        return 0.0
    centre = math.fsum(values) / len(values)
    return math.fsum((v - centre) ** 2 for v in values)
