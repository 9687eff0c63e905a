"""Whether labelled and unlabelled rows can be samples of one population, as far as the judge's scores tell."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from agentanvil.stats.correction import columns, effective_n, shares
from agentanvil.stats.estimate import Estimate, Interval
from agentanvil.stats.sample_mean import LEAST_FREEDOM, student_quantile


@dataclass(frozen=True, slots=True)
class Shift:
    """A difference of the judge's means with its interval; `found` where that excludes zero."""

    difference: Estimate
    interval: Interval

    @property
    def found(self) -> bool:
        """Whether the interval excludes zero: one random sample in twenty does so at 95 %."""
        low, high = self.interval.low, self.interval.high
        return low is not None and high is not None and (low > 0 or high < 0)


def mean_shift(labelled: Sequence[float], unlabelled: Sequence[float], *, level: float = 0.95) -> Shift:
    """Return mean(labelled) - mean(unlabelled) with Student's two-sample interval of the pooled variance."""
    method = "Student t, pooled"
    n, rest = len(labelled), len(unlabelled)
    if n == 0 or rest == 0 or n + rest < 3:
        return _undefined("fewer than three rows, or none on one side", n + rest, level, method)
    (one,), (other,) = columns(labelled), columns(unlabelled)
    difference = float(one.mean()) - float(other.mean())
    squares = float(((one - one.mean()) ** 2).sum() + ((other - other.mean()) ** 2).sum())
    freedom = n + rest - 2
    half = student_quantile(freedom, level) * math.sqrt(squares / freedom * (1 / n + 1 / rest))
    return Shift(Estimate(difference, n + rest), Interval(difference - half, difference + half, level, method))


def weighted_shift(
    labelled: Sequence[float], weights: Sequence[float], unlabelled: Sequence[float], *, level: float = 0.95
) -> Shift:
    """Return the weighted mean of the labelled rows less the mean of all rows: weights that fit leave none.

    The variance is that of a Poisson sample from these very rows, as in `weighted_corrected_mean`.
    """
    method = "Student t, sampling weights"
    n, rows = len(labelled), len(labelled) + len(unlabelled)
    if n == 0:
        return _undefined("no labelled row has a verdict", rows, level, method)
    scores, v = columns(labelled, weights)
    v = shares(v)
    (every,) = columns([*labelled, *unlabelled])
    centre = float((v * scores).sum())
    difference = centre - float(every.mean())
    freedom = effective_n(v) - 1
    if freedom < LEAST_FREEDOM:
        return _undefined("all the weight lies on one labelled row", rows, level, method)
    terms = v * np.maximum(v - 1 / rows, 0.0)
    variance = float((terms * (scores - centre) ** 2).sum()) * (freedom + 1) / freedom
    half = student_quantile(freedom, level) * math.sqrt(variance)
    return Shift(Estimate(difference, rows), Interval(difference - half, difference + half, level, method))


def _undefined(reason: str, n: int, level: float, method: str) -> Shift:
    return Shift(Estimate(None, n, reason), Interval(None, None, level, method, reason))
