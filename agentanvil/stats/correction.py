"""What the corrections for a judge's error share: their result, their columns of numbers, and when to doubt them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from agentanvil.stats.estimate import Estimate, Interval
from agentanvil.stats.resample import Floats

_ROUNDING = 1e-9
# Below this many labels no interval of a mean was simulated.
_FEWEST = 30
# The error of a mean's coverage grows with skewness² / n. Cochran (1977, 2.15) asks for n > 25 skewness²; in simulation
# (tests/stats/test_coverage.py) 15 parts scores near the ceiling whose intervals cover 92 % and more from the others.
_LABELS_A_SQUARED_SKEWNESS = 15
# 95 % of a rarer class of five, seen through a good judge, is what Lang and Reiczigel's interval still holds.
_RAREST_CLASS = 5


@dataclass(frozen=True, slots=True)
class Corrected:
    """An estimate with its interval. `doubt` says why the interval's level may not hold, None where nothing does."""

    estimate: Estimate
    interval: Interval
    doubt: str | None = None


@dataclass(frozen=True, slots=True)
class CorrectedPair:
    """Two targets of one correction.

    `population`: what people would say of the population that the rows are a random sample of. `items`: what they
    would say of these very rows, the unlabelled ones, or all of them where the labelled ones have sampling weights.
    """

    population: Corrected
    items: Corrected


def undefined(reason: str, n: int, level: float, method: str) -> Corrected:
    """Return a correction that has neither value nor interval."""
    return Corrected(Estimate(None, n, reason), Interval(None, None, level, method, reason))


def columns(*values: Sequence[float]) -> tuple[Floats, ...]:
    """Return columns of equal length as arrays, in an order that depends on their rows alone.

    Sums differ in their last bits by the order of their terms; the order of rows must not show in a result.
    Raises ValueError where lengths differ.
    """
    if len({len(column) for column in values}) != 1:
        raise ValueError("columns of rows differ in length")
    arrays = [np.asarray(column, dtype=np.float64) for column in values]
    order = np.lexsort(arrays)
    return tuple(array[order] for array in arrays)


def shares(weights: Floats) -> Floats:
    """Return positive weights in proportion, with a sum of 1; the largest is put to 1 first, lest a sum overflows."""
    scaled: Floats = weights / weights.max()
    return scaled / float(scaled.sum())


def collapsed(half: float, values: Floats) -> bool:
    """Return whether an interval's half width is none but for rounding: rows without any spread, not certainty."""
    return half <= _ROUNDING * max(1.0, float(np.abs(values).max()))


def effective_n(weights: Floats) -> float:
    """Return Kish's effective sample size (1965): (Σw)² / Σw², n for equal weights."""
    return 1 / float((shares(weights) ** 2).sum())


def doubt_of_mean(values: Floats, subject: str, weights: Floats | None = None) -> str | None:
    """Say why an interval of these values' mean may miss its level: too few of them, or too skewed for so few."""
    v = shares(np.ones_like(values) if weights is None else weights)
    n = effective_n(v)
    if n < _FEWEST:
        return f"fewer than {_FEWEST} {subject}" + ("" if weights is None else ", in effect")
    if values.min() == values.max():
        return f"the {subject} are all alike"
    centred = values - float((v * values).sum())
    centred = centred / np.abs(centred).max()
    skewness = float((v * centred**3).sum()) / float((v * centred**2).sum()) ** 1.5
    wanted = _LABELS_A_SQUARED_SKEWNESS * skewness**2
    if n >= wanted:
        return None
    return f"the {subject} are skewed ({skewness:.1f}), and it takes some {math.ceil(wanted)} rows to make up for that"


def doubt_of_rate(positives: float, negatives: float) -> str | None:
    """Say why an interval of a pass rate may miss its level, given the (effective) labels of each class."""
    if min(positives, negatives) >= _RAREST_CLASS - _ROUNDING:
        return None
    return f"fewer than {_RAREST_CLASS} labels that {'fail' if negatives < positives else 'pass'}"
