"""The classical mean of labelled rows, which uses no judge: what every correction is held against."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from statistics import NormalDist

import numpy as np

from agentanvil.stats.binomial import beta_share
from agentanvil.stats.correction import columns, effective_n, shares
from agentanvil.stats.estimate import Estimate, Interval
from agentanvil.stats.interval import wilson_interval

# With less than one degree of freedom in effect Student's quantile soars to where it tells nothing.
LEAST_FREEDOM = 0.5
# From here on the normal quantile and one more term are as exact as the incomplete beta function.
_MANY = 1e5
_DECIMALS = 9


def student_quantile(freedom: float, level: float) -> float:
    """Return Student's two-sided quantile for `freedom` degrees, which may be a fraction.

    |t| lies below it with the probability I_y(½, ν/2), y = t² / (ν + t²) (Abramowitz and Stegun 26.7.1). Every run with
    labels needs it, so it is computed here: importing scipy's takes 0.2 s. `freedom` counts to nine decimals, since
    sums leave dust in the last bits, which must not depend on how the rows are ordered.
    """
    return _quantile(round(freedom, _DECIMALS), level)


@lru_cache(maxsize=1024)
def _quantile(freedom: float, level: float) -> float:
    if freedom > _MANY:  # Abramowitz and Stegun 26.7.5
        z = normal_quantile(level)
        return z + (z**3 + z) / (4 * freedom)
    low, high = 0.0, 1.0
    while low < (middle := (low + high) / 2) < high:
        if beta_share(middle, 0.5, freedom / 2) < level:
            low = middle
        else:
            high = middle
    return math.sqrt(freedom * low / (1 - low))


def normal_quantile(level: float) -> float:
    """Return the normal distribution's two-sided quantile."""
    return NormalDist().inv_cdf(1 - (1 - level) / 2)


def weighted_mean(values: Sequence[float], weights: Sequence[float] | None = None) -> Estimate:
    """Return Σwy / Σw, the mean where there are no weights."""
    if len(values) == 0:
        return Estimate(None, 0, "no values")
    if weights is None:
        return Estimate(math.fsum(values) / len(values), len(values))
    w, ordered = columns(weights, values)
    return Estimate(float(np.average(ordered, weights=shares(w))), len(values))


def mean_interval(
    values: Sequence[float],
    weights: Sequence[float] | None = None,
    *,
    level: float = 0.95,
    student: bool = True,
) -> Interval:
    """Return the interval of a mean of independent values: mean ± q · SD / √n.

    `student`: Student's quantile with n - 1 degrees of freedom and the SD that divides by n - 1; else the normal
    quantile and the SD that divides by n. With weights: the linearised variance of Σwy / Σw and, in place of n,
    Kish's effective size. Undefined below two values.
    """
    method = "Student t" if student else "normal"
    n = len(values)
    if n < 2:
        return Interval(None, None, level, method, "fewer than two values")
    w, ordered = columns([1.0] * n if weights is None else weights, values)
    v = shares(w)
    centre = float(np.average(ordered, weights=v))
    variance = float((v**2 * (ordered - centre) ** 2).sum())
    quantile = normal_quantile(level)
    if student:
        size = effective_n(v)
        if size - 1 < LEAST_FREEDOM:
            return Interval(None, None, level, method, "all the weight lies on one value")
        variance *= size / (size - 1)
        quantile = student_quantile(size - 1, level)
    half = quantile * math.sqrt(variance)
    return Interval(centre - half, centre + half, level, method)


def share_interval(values: Sequence[float], weights: Sequence[float] | None = None, *, level: float = 0.95) -> Interval:
    """Return Wilson's interval of the mean of values in 0..1, with weights of Kish's effective number of them."""
    if len(values) == 0 or weights is None:
        return wilson_interval(math.fsum(values), len(values), level)
    share = weighted_mean(values, weights).value or 0.0
    n = effective_n(np.asarray(weights, dtype=np.float64))
    return wilson_interval(share * n, n, level)
