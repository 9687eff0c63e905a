"""What a paired comparison can see: the least detectable difference at n pairs, and the pairs that one needs.

Both answer for a two-sided test of a mean difference at significance level `alpha` that finds it with probability
`power`; both tails count (Cohen 1988, with the noncentral t distribution).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist
from typing import Literal

from agentanvil.stats.estimate import Estimate

_HALVINGS = 200


@dataclass(frozen=True, slots=True)
class RequiredPairs:
    """`n` is the real solution rounded up. Both are None exactly when `reason` says why."""

    n_real: float | None
    n: int | None
    reason: str | None = None


def least_detectable_difference_paired(
    n: int, sd_difference: float, *, alpha: float = 0.05, power: float = 0.8, kind: Literal["t", "z"] = "t"
) -> Estimate:
    """Return the smallest mean difference that `n` pairs, whose differences have that sample SD, let one find.

    `z` is the normal approximation (z_(1−alpha/2) + z_power) · sd / √n. Undefined below two pairs. Raises ValueError
    for an `alpha` or `power` outside 0–1, and a power that is no more than alpha.
    """
    _check(alpha, power)
    if n < (2 if kind == "t" else 1):
        return Estimate(None, n, "fewer than two pairs" if kind == "t" else "no pairs")
    if kind == "z":
        return Estimate(_normal_shift(alpha, power) * sd_difference / math.sqrt(n), n)
    return Estimate(_noncentrality(n - 1, alpha, power) * sd_difference / math.sqrt(n), n)


def required_n_paired(
    difference: float, sd_difference: float, *, alpha: float = 0.05, power: float = 0.8
) -> RequiredPairs:
    """Return how many pairs find a mean `difference`, where the differences have that sample SD (noncentral t).

    Undefined for a difference of 0, which no number of pairs finds. Raises ValueError as the least detectable
    difference does.
    """
    _check(alpha, power)
    if difference == 0:
        return RequiredPairs(None, None, "no number of pairs finds a difference of 0")
    if sd_difference == 0:
        return RequiredPairs(2.0, 2)
    effect = abs(difference) / sd_difference
    low, high = 1.0, max(2.0, (_normal_shift(alpha, power) / effect) ** 2)
    while _power(high, effect, alpha) < power:
        low, high = high, 2 * high
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        if middle in (low, high):
            break
        low, high = (middle, high) if _power(middle, effect, alpha) < power else (low, middle)
    return RequiredPairs(high, max(2, math.ceil(high - 1e-9)))


def _check(alpha: float, power: float) -> None:
    if not 0 < alpha < power < 1:
        raise ValueError(f"0 < alpha < power < 1 is needed, not alpha {alpha!r} and power {power!r}")


def _normal_shift(alpha: float, power: float) -> float:
    normal = NormalDist()
    return normal.inv_cdf(1 - alpha / 2) + normal.inv_cdf(power)


def _noncentrality(freedom: int, alpha: float, power: float) -> float:
    """Return the noncentrality at which a t of that many degrees of freedom leaves ±its critical value that often."""
    low, high = 0.0, 2 * _normal_shift(alpha, power)
    while _outside(freedom, high, alpha) < power:
        low, high = high, 2 * high
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        if middle in (low, high):
            break
        low, high = (middle, high) if _outside(freedom, middle, alpha) < power else (low, middle)
    return (low + high) / 2


def _power(n: float, effect: float, alpha: float) -> float:
    return _outside(n - 1, effect * math.sqrt(n), alpha)


def _outside(freedom: float, noncentrality: float, alpha: float) -> float:
    # Heavy: loaded by those alone who ask for power.
    from scipy.special import nctdtr, stdtrit  # noqa: PLC0415

    critical = float(stdtrit(freedom, 1 - alpha / 2))
    below, inside = (float(nctdtr(freedom, noncentrality, end)) for end in (-critical, critical))
    # The library answers NaN where a probability is too small for it (below about 1e-15).
    return 1 - _or_nought(inside) + _or_nought(below)


def _or_nought(probability: float) -> float:
    return 0.0 if math.isnan(probability) else probability
