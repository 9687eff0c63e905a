"""The interval of a measure of agreement that is a function of sums over items: leave out one item at a time.

Fisher's z of the measure with the items' jackknife error, z ± t · se with n − 1 degrees of freedom, where z = artanh is
taken of the measure over all items but one, for each. In simulations of kappa and alpha (five-point scores of two and
three raters, off by noise or by chance; 10 to 200 items) it covered the truth oftener than the percentile bootstrap at
every number of items, and needs neither a seed nor resamples.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from agentanvil.stats.estimate import Interval
from agentanvil.stats.sample_mean import LEAST_FREEDOM, student_quantile
from agentanvil.stats.weighting import effective_items, method_of, scaled_weights

Floats = NDArray[np.float64]

METHOD = "jackknife, Fisher z, t"
ONE_WEIGHT = "nearly all the weight lies on one item"
LEAST_EFFECTIVE = 1 + LEAST_FREEDOM
_CHUNK_CELLS = 2_000_000
_DECIMALS = 9
_DUST = 1e-12


def jackknife_interval(
    features: Sequence[tuple[float, ...]],
    multiplicity: Sequence[int],
    statistic: Callable[[Floats], Floats],
    weights: Sequence[float] | None = None,
    *,
    level: float = 0.95,
) -> Interval:
    """Return the interval of `statistic`, a measure in −1..1.

    `features[i]` is what one kind of item adds to the sums, `multiplicity[i]` how many items are of that kind and
    `weights[i]` the sampling weight of each: it is left out with its weight. Degrees of freedom are then one less than
    Kish's effective number of items. `statistic` takes sums of shape (B, F) and returns B numbers, NaN where it is
    undefined. Undefined below two items, where the measure is so without one of them, and where no item moves it.
    """
    times, method = np.array(multiplicity, dtype=np.float64), method_of(METHOD, weights)
    if times.sum() < 2:
        return Interval(None, None, level, method, "fewer than two items")
    w = scaled_weights(weights, times)
    if (effective := effective_items(w, times)) < LEAST_EFFECTIVE:
        return Interval(None, None, level, method, ONE_WEIGHT)
    rows = np.array(features, dtype=np.float64) * w[:, np.newaxis]
    total = times @ rows
    value = float(statistic(total[np.newaxis])[0])
    if math.isnan(value):
        return Interval(None, None, level, method, "the measure itself is undefined")
    step = max(1, _CHUNK_CELLS // rows.shape[1])
    left = np.concatenate([statistic(total - rows[start : start + step]) for start in range(0, len(rows), step)])
    if np.isnan(left).any():
        return Interval(None, None, level, method, "without one item it would be undefined")
    if np.abs(left - value).max() < _DUST:
        return Interval(None, None, level, method, "no item moves it: there is no spread to judge its error by")
    low, high = fisher_ends(value, left, times, effective, level)
    return Interval(low, high, level, method)


def fisher_ends(value: float, left: Floats, times: Floats, effective: float, level: float) -> tuple[float, float]:
    """Return z ± t · se of a measure in −1..1; `left[i]` is it without one item of kind i, `times[i]` their number.

    `effective` is the number of items that degrees of freedom are told by.
    """
    n = float(times.sum())
    # Without the only disagreement a measure is 1, whose z is infinite: half an item's worth of one is left in.
    most = 1 - 0.5 / n
    z, centre = np.arctanh(np.clip(left, -most, most)), math.atanh(min(max(value, -most), most))
    squares = times @ (z - times @ z / n) ** 2
    half = student_quantile(effective - 1, level) * math.sqrt(squares * (n - 1) / n)
    low, high = (round(math.tanh(end), _DECIMALS) + 0.0 for end in (centre - half, centre + half))
    shown = round(value, _DECIMALS) + 0.0
    return min(low, shown), max(high, shown)
