"""How much a statistic of the same items changes from one condition to another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from agentanvil.stats.association import correlations_of_sums
from agentanvil.stats.estimate import Estimate, Interval
from agentanvil.stats.exchange import DRAWS, Features, exchange_test
from agentanvil.stats.hypothesis import SignificanceTest
from agentanvil.stats.kappa_features import kappa_difference, kappa_of_features, kappas_of_sums
from agentanvil.stats.totals import totals_interval

Floats = NDArray[np.float64]
Point = tuple[float, float]

_DECIMALS = 12
_UNMOVED = "no item changes, so that nothing tells how far it could"
_CONSTANT = "one of the two has one and the same score on every item"


@dataclass(frozen=True, slots=True)
class PairedChange:
    """A statistic under both conditions; `change` is the second less the first, over the items that have both.

    `interval` resamples items, both statistics on the same draw; `test` exchanges the conditions of each item.
    """

    first: Estimate
    second: Estimate
    change: Estimate
    interval: Interval
    test: SignificanceTest


def kappa_change(
    features: Sequence[tuple[Features, Features]],
    multiplicity: Sequence[int],
    *,
    quadratic: bool,
    seed: int,
    draws: int = DRAWS,
) -> PairedChange:
    """Return how kappa changes. `features[i]` are `kappa_features` of one kind of item under either condition."""
    turned = [(second, first) for first, second in features]
    change, interval = kappa_difference(turned, multiplicity, quadratic=quadratic, seed=seed)
    return PairedChange(
        kappa_of_features([first for first, _ in features], multiplicity, quadratic=quadratic),
        kappa_of_features([second for _, second in features], multiplicity, quadratic=quadratic),
        change,
        _of_some_change(features, interval),
        exchange_test(features, multiplicity, lambda sums: kappas_of_sums(sums, quadratic), seed=seed, draws=draws),
    )


def correlation_change(
    points: Sequence[tuple[Point, Point]], multiplicity: Sequence[int], *, seed: int, draws: int = DRAWS
) -> PairedChange:
    """Return how Pearson's r of two scores changes. `points[i]` are the two scores of one kind of item under either."""
    features = _moments(points, multiplicity)
    n = sum(multiplicity)
    found = [_correlation([item[side] for item in features], multiplicity, n) for side in (0, 1)]
    first, second = found
    change = Estimate(None, n, first.reason or second.reason)
    if first.value is not None and second.value is not None:
        change = Estimate(round(second.value - first.value, _DECIMALS) + 0.0, n)

    def difference(sums: Floats) -> Floats:
        return correlations_of_sums(sums[:, 6:]) - correlations_of_sums(sums[:, :6])

    joined = [one + other for one, other in features]
    interval = totals_interval(joined, multiplicity, difference, seed=seed)
    test = exchange_test(features, multiplicity, correlations_of_sums, seed=seed, draws=draws)
    return PairedChange(first, second, change, _of_some_change(features, interval), test)


def _of_some_change(features: Sequence[tuple[Features, Features]], interval: Interval) -> Interval:
    """Return the interval, but none where no item differs: resamples of nothing have no width."""
    if interval.low is None or any(first != second for first, second in features):
        return interval
    return Interval(None, None, interval.level, interval.method, _UNMOVED)


def _moments(points: Sequence[tuple[Point, Point]], multiplicity: Sequence[int]) -> list[tuple[Features, Features]]:
    """Return 1, x, y, x², y², xy of each kind of item under either condition, about the middle of all."""
    values = np.array(points, dtype=np.float64).reshape(-1, 2, 2)
    times = np.array(multiplicity, dtype=np.float64)
    if not times.sum():
        return []
    x, y = np.moveaxis(values - (times @ values.sum(axis=1) / (2 * times.sum())), -1, 0)
    moments = np.stack([np.ones_like(x), x, y, x * x, y * y, x * y], axis=-1)
    return [(tuple(first), tuple(second)) for first, second in moments.tolist()]


def _correlation(features: Sequence[Features], multiplicity: Sequence[int], n: int) -> Estimate:
    if n < 2:
        return Estimate(None, n, "fewer than two items")
    sums = np.array(multiplicity, dtype=np.float64) @ np.array(features)
    value = float(correlations_of_sums(sums[np.newaxis])[0])
    return Estimate(None, n, _CONSTANT) if np.isnan(value) else Estimate(round(value, _DECIMALS) + 0.0, n)
