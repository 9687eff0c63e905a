"""The prediction-powered mean where the labelled rows were drawn with known, unequal probabilities."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from agentanvil.stats.correction import (
    Corrected,
    CorrectedPair,
    collapsed,
    columns,
    doubt_of_mean,
    effective_n,
    shares,
    undefined,
)
from agentanvil.stats.estimate import Estimate, Interval
from agentanvil.stats.ppi import FITTED, NO_LABELLED
from agentanvil.stats.resample import Floats
from agentanvil.stats.sample_mean import LEAST_FREEDOM, student_quantile

_METHOD = "prediction-powered with sampling weights, Student t"


def weighted_corrected_mean(
    human: Sequence[float],
    judge: Sequence[float],
    weights: Sequence[float],
    judge_unlabelled: Sequence[float],
    *,
    level: float = 0.95,
) -> CorrectedPair:
    """Return what people would say of the population, and of all these rows, labelled and not.

    `weights` are one over the probability with which each labelled row was drawn from all M rows, up to a common
    factor. The estimate of both is the difference estimator of survey sampling (Särndal, Swensson and Wretman 1992,
    6.3): λ · mean(judge of all rows) + Σv(human - λ · judge), v = w / Σw. With e = human - λ · judge its error as the
    mean of these rows is Σv(v - 1/M)(e - ē)², that of a Poisson sample, and λ makes it least within [0, 1]. The
    population's mean differs from that of these rows by var(human) / M more. Degrees of freedom: Kish's effective
    size less the two that are fitted.
    """
    n, rows = len(human), len(human) + len(judge_unlabelled)
    if n == 0:
        found = undefined(NO_LABELLED, rows, level, _METHOD)
        return CorrectedPair(found, found)
    y, f, v = columns(human, judge, weights)
    v = shares(v)
    (every,) = columns([*judge, *judge_unlabelled])
    terms = v * np.maximum(v - 1 / rows, 0.0)
    lam = _tuned(y, f, v, terms)
    errors = y - lam * f
    point = lam * float(every.mean()) + float((v * errors).sum())
    of_judge = float((terms * _centred(errors, v) ** 2).sum())
    of_sampling = float((v * _centred(y, v) ** 2).sum()) / rows
    estimate = Estimate(point, rows)
    doubt = doubt_of_mean(y, "labels", v)
    doubt_of_items = doubt_of_mean(errors, "errors of the judge", v) or doubt
    return CorrectedPair(
        Corrected(estimate, _interval(point, of_judge + of_sampling, y, v, level), doubt),
        Corrected(estimate, _interval(point, of_judge, y, v, level), doubt_of_items),
    )


def _tuned(y: Floats, f: Floats, v: Floats, terms: Floats) -> float:
    """Return the slope that leaves the least of the error's variance, cut to [0, 1]; 0 where the judge never varies."""
    if f.min() == f.max():
        return 0.0
    centred = _centred(f, v)
    spread = float((terms * centred**2).sum())
    if spread == 0:
        return 0.0
    return min(1.0, max(0.0, float((terms * centred * _centred(y, v)).sum()) / spread))


def _centred(values: Floats, v: Floats) -> Floats:
    return values - float((v * values).sum())


def _interval(point: float, variance: float, y: Floats, v: Floats, level: float) -> Interval:
    freedom = effective_n(v) - FITTED
    if freedom < LEAST_FREEDOM:
        return Interval(None, None, level, _METHOD, "the weights leave no more than two labelled rows in effect")
    half = student_quantile(freedom, level) * math.sqrt(variance * (freedom + FITTED) / freedom)
    if collapsed(half, y):
        return Interval(None, None, level, _METHOD, "labels and verdicts are alike on every row that leaves a choice")
    return Interval(point - half, point + half, level, _METHOD)
