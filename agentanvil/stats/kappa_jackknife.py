"""The interval of Cohen's kappa that a verdict on a judge rests on, made for few items and for agreement near 1.

It is that of `jackknife_interval`, held back at both ends where few items tell. In simulations at a kappa of 0.6
(five-point scores whose judge is off by noise or by chance, of which up to 0.8 have one label; booleans of which 0.5 to
0.9 are true) the lower end lay above the truth in at most 3.5 % of the samples from 8 items on, where the percentile
bootstrap's did in 4 to 14 % up to 50 items. The upper end lay below it in at most 6 % from 20 items on, where without
its guard it did in 10 to 13 % up to 30 items if one label was rare.

Where three items or fewer show a disagreement, they say little of how large disagreements are. The lower end is then at
most what exact agreement allows: with a(low) the lower Clopper-Pearson end of the share of agreement and e that of
agreement by chance, 1 − (1 − a(low)) / (1 − e), as if all others were as far apart as chance has them.

Where five items or fewer agree on another label than the commonest, they say little of how the judge fares there; a
side that gives every item one label has a kappa of 0 whatever the other does. The upper end is then at least what the
items off the commonest label allow: with s(high) the upper Clopper-Pearson end of the share of these that agree and q
the share of all labels that would then be off it, 1 − (1 − s(high)) / ((1 + s(high)) · (1 − q)), as if there were one
other label.

With sampling weights shares are weighted, and Kish's effective numbers of items stand for numbers, of all items as of
those that disagree or agree.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from agentanvil.stats.binomial import clopper_pearson_interval
from agentanvil.stats.estimate import Interval
from agentanvil.stats.jackknife import LEAST_EFFECTIVE, METHOD, ONE_WEIGHT, fisher_ends
from agentanvil.stats.kappa_features import ONE_LABEL, kappa_features, kappas_of_sums
from agentanvil.stats.weighting import effective_items, kept_items, method_of, scaled_weights

Floats = NDArray[np.float64]
Pair = tuple[float, float]
Margins = Mapping[float, Sequence[float]]

_FEW_DISAGREEMENTS = 3
_FEW_AGREEMENTS = 5
_DUST = 1e-9
_END_DECIMALS = 9
_GUARDED = f"{METHOD}, and Clopper-Pearson for few"


def kappa_items_interval(
    clusters: Sequence[Sequence[Pair]],
    values: Sequence[float],
    multiplicity: Sequence[int],
    weights: Sequence[float] | None = None,
    *,
    quadratic: bool,
    level: float = 0.95,
) -> Interval:
    """Return kappa's interval over items that hold several pairs of labels each, in which every item weighs the same.

    `values` are the scale, ascending. `multiplicity[i]` says how many items have exactly the pairs `clusters[i]`, and
    `weights[i]` is the sampling weight of each. Items without a pair are left out. Undefined below two items, and where
    one item alone keeps both sides from being one and the same label. Raises ValueError for a label that is not on the
    scale.
    """
    method, guarded = method_of(METHOD, weights), method_of(_GUARDED, weights)
    items = _Items.of(clusters, multiplicity, weights)
    if items.times.sum() < 2:
        return Interval(None, None, level, method, "fewer than two items")
    features = np.array([kappa_features(pairs, values, quadratic=quadratic) for pairs in items.pairs])
    features *= items.weights[:, np.newaxis]
    total = items.times @ features
    kappa = float(kappas_of_sums(total[np.newaxis], quadratic)[0])
    if math.isnan(kappa):
        return Interval(None, None, level, method, ONE_LABEL)
    if items.effective < LEAST_EFFECTIVE:
        return Interval(None, None, level, method, ONE_WEIGHT)
    margins, apart = items.margins(), items.apart()
    few = items.number(apart) <= _FEW_DISAGREEMENTS + _DUST
    floor = _floor(items, apart, margins, level) if few else 1.0
    if not apart.any():
        return Interval(floor, 1.0, level, f"{guarded} disagreements")
    left = kappas_of_sums(total - features, quadratic)
    if np.isnan(left).any():
        return Interval(None, None, level, method, "without one item, both sides would be one and the same label")
    low, high = fisher_ends(kappa, left, items.times, items.effective, level)
    ceiling = _ceiling(items, apart, margins, level)
    guards = [*(["disagreements"] if few else []), *(["agreements"] if ceiling > high else [])]
    held = f"{guarded} {' and '.join(guards)}" if guards else method
    return Interval(min(low, floor), max(high, ceiling), level, held)


@dataclass(frozen=True, slots=True)
class _Items:
    """Kinds of items: the pairs of each, how many there are, and their sampling weight, 1 on average."""

    pairs: Sequence[Sequence[Pair]]
    times: Floats
    weights: Floats

    @classmethod
    def of(
        cls, clusters: Sequence[Sequence[Pair]], multiplicity: Sequence[int], weights: Sequence[float] | None
    ) -> _Items:
        pairs, times, w = kept_items(clusters, multiplicity, weights)
        return cls(pairs, np.array(times, dtype=np.float64), scaled_weights(w, times))

    @property
    def effective(self) -> float:
        return effective_items(self.weights, self.times)

    def sum(self, parts: Floats) -> float:
        """Return the weight of what is a part of each item, in items."""
        return math.fsum(parts * self.times * self.weights)

    def number(self, parts: Floats) -> float:
        """Return the effective number of items of which there is this part of each."""
        squares = math.fsum(parts * self.times * self.weights**2)
        return self.sum(parts) ** 2 / squares if squares else 0.0

    def apart(self) -> Floats:
        """Return which part of each item's pairs differ."""
        return np.array([sum(x != y for x, y in pairs) / len(pairs) for pairs in self.pairs])

    def agree_on(self, label: float) -> Floats:
        """Return which part of each item's pairs are this label twice."""
        return np.array([sum(x == y == label for x, y in pairs) / len(pairs) for pairs in self.pairs])

    def margins(self) -> Margins:
        """Return how many items each side gave each label; an item of several pairs counts once."""
        found: dict[float, list[float]] = {}
        for pairs, amount in zip(self.pairs, (self.times * self.weights).tolist(), strict=True):
            for pair in pairs:
                for side, label in enumerate(pair):
                    found.setdefault(label, [0.0, 0.0])[side] += amount / len(pairs)
        return found


def _floor(items: _Items, apart: Floats, margins: Margins, level: float) -> float:
    n = items.sum(np.ones(len(apart)))
    chance = math.fsum(one * other for one, other in margins.values()) / n**2
    agreed = 1 - items.sum(apart) / n
    least = clopper_pearson_interval(agreed * items.effective, items.effective, level).low or 0.0
    return round(max(-1.0, 1 - (1 - least) / (1 - chance)), _END_DECIMALS)


def _ceiling(items: _Items, apart: Floats, margins: Margins, level: float) -> float:
    """Return the least that the upper end must be, -1 where enough items agree off the commonest label.

    Of several labels that are the commonest, the one that leaves most open.
    """
    found = -1.0
    n, most = items.sum(np.ones(len(apart))), max(map(sum, margins.values()))
    for label, margin in margins.items():
        if sum(margin) < most - _DUST:
            continue
        off = 1 - items.agree_on(label)
        agreed, trials = np.maximum(off - apart, 0.0), items.number(off)
        if items.number(agreed) <= _FEW_AGREEMENTS + _DUST and trials > _DUST:
            share = items.sum(agreed) / items.sum(off)
            high = clopper_pearson_interval(share * trials, trials, level).high or 1.0
            put_off = items.sum(off) * (1 + high) / 2 / n
            found = max(found, 1 - (1 - high) / (1 + high) / (1 - put_off))
    return round(found, _END_DECIMALS)
