"""Components of variance of scores whose repeats are exchangeable within an item.

One-way random effects, by the analysis of variance (Henderson 1953, method 1): with n items of kᵢ scores, N in all,

    E[MS item] = σ²repeat + k₀·σ²item,   k₀ = (N − Σkᵢ² / N) / (n − 1),   E[MS repeat] = σ²repeat

and k₀ is k where every item has k scores.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from agentanvil.stats.estimate import Estimate


@dataclass(frozen=True, slots=True)
class VarianceComponents:
    """Mean squares and what they come to; n counts items, for repeats those with two scores or more.

    `var_item_raw` may be negative, where scores of one item differ as much as those of different ones; `var_item` is
    cut at 0.
    """

    ms_item: Estimate
    ms_repeat: Estimate
    var_item_raw: Estimate
    var_item: Estimate
    var_repeat: Estimate


def variance_components(scores: Sequence[Sequence[float | None]]) -> VarianceComponents:
    """Return the components of `scores[item][repeat]`; None stands for a missing score.

    Undefined where no item has two scores; the items' own also below two items.
    """
    items = [present for item in scores if (present := [value for value in item if value is not None])]
    n, total = len(items), sum(len(item) for item in items)
    repeated = sum(1 for item in items if len(item) > 1)
    if not repeated:
        return _undefined(Estimate(None, n, "fewer than two repeats per item"))
    repeat = Estimate(math.fsum(_squares(item) for item in items) / (total - n), repeated)
    if n < 2:
        few = Estimate(None, n, "fewer than two items")
        return VarianceComponents(few, repeat, few, few, repeat)
    centre = math.fsum(value for item in items for value in item) / total
    between = math.fsum(len(item) * (math.fsum(item) / len(item) - centre) ** 2 for item in items) / (n - 1)
    size = (total - sum(len(item) ** 2 for item in items) / total) / (n - 1)
    raw = (between - (repeat.value or 0.0)) / size
    return VarianceComponents(Estimate(between, n), repeat, Estimate(raw, n), Estimate(max(0.0, raw), n), repeat)


def _undefined(why: Estimate) -> VarianceComponents:
    return VarianceComponents(why, why, why, why, why)


def _squares(values: Sequence[float]) -> float:
    """Σ(x − mean)², exactly 0 where all are equal."""
    if min(values) == max(values):
        return 0.0
    centre = math.fsum(values) / len(values)
    return math.fsum((value - centre) ** 2 for value in values)
