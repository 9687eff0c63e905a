"""The binomial distribution without tables: exact test and exact interval, from the incomplete beta function.

Every pairwise run needs both, so the function is computed here: importing scipy's takes 0.3 s, as much as a small run.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from agentanvil.stats.estimate import Interval

_TINY = 1e-300
_FRACTION_TERMS = 10_000
_PRECISION = 1e-15
_HALVINGS = 200
# Probabilities that are equal in exact arithmetic differ by rounding; scipy's exact test allows as much.
_EQUAL = 1 + 1e-7


@dataclass(frozen=True, slots=True)
class BinomialTest:
    """Whether `successes` of `n` trials fit a probability. `p_value` is None exactly when `reason` says why."""

    successes: int
    n: int
    p_value: float | None
    method: str
    reason: str | None = None


def binomial_test(successes: int, n: int, probability: float = 0.5) -> BinomialTest:
    """Return the exact two-sided binomial test.

    The p-value is the probability of all outcomes that are no likelier than the observed one. For a probability of
    one half it is twice the smaller tail. Raises ValueError unless 0 < probability < 1.
    """
    if not 0 < probability < 1:
        raise ValueError(f"a probability to test lies between 0 and 1, not at {probability!r}")
    method = "exact binomial, two-sided"
    if n == 0:
        return BinomialTest(0, 0, None, method, "no trials")
    if probability == 0.5:
        # From the larger count, so that successes and failures exchanged give the same p-value to the last bit.
        p_value = min(1.0, 2 * _at_least(max(successes, n - successes), n, 0.5))
    else:
        p_value = _no_likelier(successes, n, probability)
    return BinomialTest(successes, n, p_value, method)


def clopper_pearson_interval(successes: float, n: float, level: float = 0.95) -> Interval:
    """Return the exact interval of Clopper and Pearson (1934) for `successes` of `n` trials.

    Both may be fractions, for an effective number of trials (Korn and Graubard 1998).
    """
    method = "clopper-pearson"
    if n == 0:
        return Interval(None, None, level, method, "no trials")
    tail = (1 - level) / 2
    low = _lower_end(successes, n, tail)
    return Interval(low, 1 - _lower_end(n - successes, n, tail), level, method)


def _lower_end(successes: float, n: float, tail: float) -> float:
    """Return the probability under which `successes` or more happen with probability `tail`."""
    if successes <= 0:
        return 0.0
    low, high = 0.0, 1.0
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        if middle in (low, high):
            break
        if beta_share(middle, successes, n - successes + 1) < tail:
            low = middle
        else:
            high = middle
    return (low + high) / 2


def _no_likelier(successes: int, n: int, probability: float) -> float:
    """Sum the outcomes no likelier than the observed: its own tail, and the far one from where it is as unlikely."""
    mode = math.floor((n + 1) * probability)
    if successes == mode:
        return 1.0
    bar = _log_mass(successes, n, probability) + math.log(_EQUAL)
    if successes < mode:
        low, high = mode, n + 1  # the first outcome beyond the mode that is no likelier
        while low < high:
            middle = (low + high) // 2
            low, high = (low, middle) if _log_mass(middle, n, probability) <= bar else (middle + 1, high)
        return min(1.0, _at_most(successes, n, probability) + _at_least(low, n, probability))
    low, high = -1, mode  # the last outcome before the mode that is no likelier
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if _log_mass(middle, n, probability) <= bar else (low, middle - 1)
    return min(1.0, _at_least(successes, n, probability) + _at_most(low, n, probability))


def _at_least(successes: int, n: int, probability: float) -> float:
    if successes <= 0:
        return 1.0
    return 0.0 if successes > n else beta_share(probability, successes, n - successes + 1)


def _at_most(successes: int, n: int, probability: float) -> float:
    return _at_least(n - successes, n, 1 - probability)


def _log_mass(successes: int, n: int, probability: float) -> float:
    ways = math.lgamma(n + 1) - math.lgamma(successes + 1) - math.lgamma(n - successes + 1)
    return ways + successes * math.log(probability) + (n - successes) * math.log1p(-probability)


def beta_share(x: float, a: float, b: float) -> float:
    """Return the regularised incomplete beta function I_x(a, b) for 0 <= x <= 1 and positive `a` and `b`.

    By its continued fraction (Abramowitz and Stegun 26.5.8), evaluated as Lentz does, on the side of the mean on
    which it converges quickly.
    """
    if x <= 0 or x >= 1:
        return float(x >= 1)
    front = math.exp(math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x))
    if x < (a + 1) / (a + b + 2):
        return front * _beta_fraction(x, a, b) / a
    return 1 - front * _beta_fraction(1 - x, b, a) / b


def _beta_fraction(x: float, a: float, b: float) -> float:
    c, d = 1.0, 1 / _away_from_zero(1 - (a + b) * x / (a + 1))
    value = d
    for m in range(1, _FRACTION_TERMS):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        for term in (even, odd):
            d = 1 / _away_from_zero(1 + term * d)
            c = _away_from_zero(1 + term / c)
            value *= c * d
        if abs(c * d - 1) < _PRECISION:
            break
    return value


def _away_from_zero(value: float) -> float:
    return value if abs(value) > _TINY else _TINY
