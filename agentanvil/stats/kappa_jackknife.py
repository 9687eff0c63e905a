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

With sampling weights shares are weighted, and the number of items that have something is its share of Kish's effective
number. A draw that favours disputed items shows few of the disagreements among all others, each of which weighs many:
those few are looked for among the items of at least half the largest weight, and the others count as they are. In
simulations of such draws (15 to 150 of 3,000 items) the lower end lay above the truth in at most 3 % of the samples.
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
from agentanvil.stats.kappa_features import ONE_LABEL, disagreements_of_sums, kappa_features, kappas_of_sums
from agentanvil.stats.weighting import effective_items, kept_items, method_of, scaled_weights

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
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
    method = method_of(METHOD, weights)
    pairs, times, w = kept_items(clusters, multiplicity, weights)
    if sum(times) < 2:
        return Interval(None, None, level, method, "fewer than two items")
    items = _Items.of(pairs, values, times, scaled_weights(w, times), quadratic=quadratic)
    kappa = float(kappas_of_sums(items.total[np.newaxis], quadratic)[0])
    if math.isnan(kappa):
        return Interval(None, None, level, method, ONE_LABEL)
    if items.effective < LEAST_EFFECTIVE:
        return Interval(None, None, level, method, ONE_WEIGHT)
    floor = _floor(items, level)
    if not items.apart.any():
        return Interval(floor, 1.0, level, method_of(f"{_GUARDED} disagreements", weights))
    left = kappas_of_sums(items.total - items.features, quadratic)
    if np.isnan(left).any():
        return Interval(None, None, level, method, "without one item, both sides would be one and the same label")
    low, high = fisher_ends(kappa, left, items.times, items.effective, level)
    ceiling = _ceiling(items, level)
    guards = [*(["disagreements"] if floor is not None else []), *(["agreements"] if ceiling > high else [])]
    held = method_of(f"{_GUARDED} {' and '.join(guards)}", weights) if guards else method
    return Interval(low if floor is None else min(low, floor), max(high, ceiling), level, held)


@dataclass(frozen=True, slots=True)
class _Items:
    """Kinds of items: the pairs of each, how many there are, and their sampling weight, 1 on average.

    `features` are what one item of a kind brings to kappa, times its weight; `apart` is the part of its pairs that
    differ. `margins` say how many items each side gave each label; an item of several pairs counts once.
    """

    pairs: Sequence[Sequence[Pair]]
    times: Floats
    weights: Floats
    features: Floats
    quadratic: bool
    apart: Floats
    margins: Margins

    @classmethod
    def of(
        cls,
        pairs: Sequence[Sequence[Pair]],
        values: Sequence[float],
        times: Sequence[int],
        weights: Floats,
        *,
        quadratic: bool,
    ) -> _Items:
        features = np.array([kappa_features(each, values, quadratic=quadratic) for each in pairs])
        counts = np.array(times, dtype=np.float64)
        apart = np.array([sum(x != y for x, y in each) / len(each) for each in pairs])
        margins = _margins(pairs, counts * weights)
        return cls(pairs, counts, weights, features * weights[:, np.newaxis], quadratic, apart, margins)

    @property
    def total(self) -> Floats:
        return np.asarray(self.times @ self.features)

    @property
    def effective(self) -> float:
        return effective_items(self.weights, self.times)

    def share(self, parts: Floats) -> float:
        """Return the share of all items, by weight, that the parts of each item come to."""
        return math.fsum(parts * self.times * self.weights) / math.fsum(self.times * self.weights)

    def agree_on(self, label: float) -> Floats:
        """Return which part of each item's pairs are this label twice."""
        return np.array([sum(x == y == label for x, y in each) / len(each) for each in self.pairs])


def _floor(items: _Items, level: float) -> float | None:
    """Return the most that the lower end may be, None where enough heavy items disagree."""
    heavy = items.weights >= items.weights.max() / 2
    if math.fsum((items.apart * items.times)[heavy]) > _FEW_DISAGREEMENTS + _DUST:
        return None
    _, light, _ = disagreements_of_sums(((items.times * ~heavy) @ items.features)[np.newaxis], items.quadratic)
    _, _, expected = disagreements_of_sums(items.total[np.newaxis], items.quadratic)
    of_heavy, n = items.share(heavy.astype(np.float64)), math.fsum(items.times * items.weights)
    trials = effective_items(items.weights[heavy], items.times[heavy])
    agreed = 1 - items.share(items.apart * heavy) / of_heavy
    least = clopper_pearson_interval(agreed * trials, trials, level).low or 0.0
    chance = math.fsum(one * other for one, other in items.margins.values()) / n**2
    floor = 1 - float(light[0] / expected[0]) - of_heavy * (1 - least) / (1 - chance)
    return round(max(-1.0, floor), _END_DECIMALS)


def _ceiling(items: _Items, level: float) -> float:
    """Return the least that the upper end must be, -1 where enough items agree off the commonest label.

    Of several labels that are the commonest, the one that leaves most open.
    """
    found = -1.0
    most = max(map(sum, items.margins.values()))
    for label, margin in items.margins.items():
        if sum(margin) < most - _DUST:
            continue
        off = 1 - items.agree_on(label)
        agreed, of_off = items.share(np.maximum(off - items.apart, 0.0)), items.share(off)
        trials = of_off * items.effective
        if agreed * items.effective <= _FEW_AGREEMENTS + _DUST and trials > _DUST:
            high = clopper_pearson_interval(agreed * items.effective, trials, level).high or 1.0
            put_off = of_off * (1 + high) / 2
            found = max(found, 1 - (1 - high) / (1 + high) / (1 - put_off))
    return round(found, _END_DECIMALS)


def _margins(pairs: Sequence[Sequence[Pair]], amounts: Floats) -> Margins:
    found: dict[float, list[float]] = {}
    for each, amount in zip(pairs, amounts.tolist(), strict=True):
        for pair in each:
            for side, label in enumerate(pair):
                found.setdefault(label, [0.0, 0.0])[side] += amount / len(each)
    return found
