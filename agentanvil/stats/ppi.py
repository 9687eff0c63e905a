"""Prediction-powered means: many judge scores, made right by the few rows that people labelled as well.

Angelopoulos, Bates, Fannjiang, Jordan and Zrnic, "Prediction-powered inference" (Science 2023); the tuned lambda is
from Angelopoulos, Duchi and Zrnic, "PPI++" (2023). Every row is one item; its repeats and raters are averaged before.
"""

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
    undefined,
)
from agentanvil.stats.estimate import Estimate, Interval
from agentanvil.stats.resample import Floats
from agentanvil.stats.sample_mean import normal_quantile, student_quantile

NO_LABELLED = "no labelled row has a verdict"
NO_UNLABELLED = "no unlabelled row has a verdict"
_METHOD = "prediction-powered"
# The slope on the judge and the mean are both fitted to the labelled rows.
FITTED = 2


def ppi_mean(
    human: Sequence[float], judge: Sequence[float], judge_unlabelled: Sequence[float], *, lam: float | None = None
) -> Estimate:
    """Return λ · mean(judge_unlabelled) + mean(human - λ · judge); n counts all rows.

    `lam` None is tuned to the least variance, cut to [0, 1]: cov(human, judge) / ((1 + n/N) · var(all judge scores)).
    A judge that gives every row the same score has nothing to tune: λ is 0, which is the mean of the labels.
    """
    reason = _lacking(human, judge_unlabelled)
    rows = len(human) + len(judge_unlabelled)
    if reason is not None:
        return Estimate(None, rows, reason)
    y, f = columns(human, judge)
    (u,) = columns(judge_unlabelled)
    found = _tuned(y, f, u) if lam is None else lam
    return Estimate(_point(y, f, u, found), rows)


def ppi_mean_interval(
    human: Sequence[float],
    judge: Sequence[float],
    judge_unlabelled: Sequence[float],
    *,
    lam: float | None = None,
    level: float = 0.95,
    student: bool = False,
) -> Interval:
    """Return the interval of `ppi_mean`: its variance is λ² · var(judge_unlabelled) / N + var(human - λ · judge) / n.

    As published: the normal quantile, and variances that divide by n. `student`: variances that divide by what is left
    after fitting, and Student's quantile with the degrees of freedom of Welch and Satterthwaite; with 50 labels that
    covers about one point in a hundred more. Undefined below two rows on a side (`student`: three labelled ones).
    """
    method = f"{_METHOD}, {'Student t' if student else 'normal'}"
    reason = _lacking(human, judge_unlabelled) or _too_few(len(human), len(judge_unlabelled), student=student)
    if reason is not None:
        return Interval(None, None, level, method, reason)
    y, f = columns(human, judge)
    (u,) = columns(judge_unlabelled)
    found = _tuned(y, f, u) if lam is None else lam
    half = _half_width(y - found * f, found * u, level, student=student)
    point = _point(y, f, u, found)
    return Interval(point - half, point + half, level, f"{method}, lambda {found:.2f}")


def corrected_mean(
    human: Sequence[float], judge: Sequence[float], judge_unlabelled: Sequence[float], *, level: float = 0.95
) -> CorrectedPair:
    """Return what people would say of the population, and of the unlabelled rows themselves.

    Both need the labelled rows to be a random sample like the unlabelled ones.
    """
    estimate = ppi_mean(human, judge, judge_unlabelled)
    interval = ppi_mean_interval(human, judge, judge_unlabelled, level=level, student=True)
    doubt = None
    if estimate.value is not None:
        labels = np.asarray(human, dtype=np.float64)
        doubt = doubt_of_mean(labels, "labels")
        if interval.high is not None and collapsed(interval.high - estimate.value, labels):
            interval = Interval(None, None, level, interval.method, "labels and verdicts are alike on every row")
    return CorrectedPair(Corrected(estimate, interval, doubt), _items_mean(human, judge, judge_unlabelled, level=level))


def _items_mean(
    human: Sequence[float], judge: Sequence[float], judge_unlabelled: Sequence[float], *, level: float
) -> Corrected:
    """Predict the mean label of the unlabelled rows themselves: λ · mean(judge_unlabelled) + mean(e) of the labelled.

    With e = human - λ · judge it misses by mean(e) of the labelled rows less that of the unlabelled ones, whose
    variance is var(e) · (1/n + 1/N): the judge's error alone. λ is best the slope of the labels on the judge.
    """
    method = "regression on the judge, Student t"
    n, rest = len(human), len(judge_unlabelled)
    reason = _lacking(human, judge_unlabelled)
    if reason is not None:
        return undefined(reason, n + rest, level, method)
    y, f = columns(human, judge)
    (u,) = columns(judge_unlabelled)
    slope = _slope(y, f)
    errors = y - slope * f
    estimate = Estimate(_point(y, f, u, slope), n + rest)
    doubt = doubt_of_mean(errors, "errors of the judge") or doubt_of_mean(y, "labels")
    reason = _too_few(n, FITTED, student=True)
    if reason is not None or estimate.value is None:
        return Corrected(estimate, Interval(None, None, level, method, reason), doubt)
    variance = float(((errors - errors.mean()) ** 2).sum()) / (n - FITTED)
    half = student_quantile(n - FITTED, level) * math.sqrt(variance * (1 / n + 1 / rest))
    if collapsed(half, y):
        reason = "the judge errs by the same on every labelled row: nothing tells how much it may err elsewhere"
        return Corrected(estimate, Interval(None, None, level, method, reason), doubt)
    return Corrected(estimate, Interval(estimate.value - half, estimate.value + half, level, method), doubt)


def _half_width(errors: Floats, scaled: Floats, level: float, *, student: bool) -> float:
    """Return the half width for the labelled rows' `errors` and the unlabelled rows' judge scores times λ."""
    n, rest = len(errors), len(scaled)
    lost = (FITTED, 1) if student else (0, 0)
    of_labels = float(((errors - errors.mean()) ** 2).sum()) / (n - lost[0]) / n
    of_rest = float(((scaled - scaled.mean()) ** 2).sum()) / (rest - lost[1]) / rest
    spread = of_labels + of_rest
    if not student:
        return normal_quantile(level) * math.sqrt(spread)
    if spread == 0:
        return 0.0
    # As shares of their sum, so that no square underflows.
    freedom = 1 / ((of_labels / spread) ** 2 / (n - FITTED) + (of_rest / spread) ** 2 / (rest - 1))
    return student_quantile(freedom, level) * math.sqrt(spread)


def _tuned(y: Floats, f: Floats, u: Floats) -> float:
    pooled = np.concatenate([f, u])
    if pooled.min() == pooled.max():
        return 0.0
    wanted = _covariance(y, f) / (float(pooled.var(ddof=1)) * (1 + len(f) / len(u)))
    return min(1.0, max(0.0, wanted))


def _slope(y: Floats, f: Floats) -> float:
    if f.min() == f.max():
        return 0.0
    return min(1.0, max(0.0, _covariance(y, f) / float(f.var())))


def _covariance(y: Floats, f: Floats) -> float:
    return float(((y - y.mean()) * (f - f.mean())).mean())


def _point(y: Floats, f: Floats, u: Floats, lam: float) -> float:
    return lam * float(u.mean()) + float((y - lam * f).mean())


def _lacking(human: Sequence[float], judge_unlabelled: Sequence[float]) -> str | None:
    if len(human) == 0:
        return NO_LABELLED
    return NO_UNLABELLED if len(judge_unlabelled) == 0 else None


def _too_few(labelled: int, unlabelled: int, *, student: bool) -> str | None:
    least = FITTED + 1 if student else 2
    if labelled < least:
        return f"fewer than {'three' if student else 'two'} labelled rows"
    return "fewer than two unlabelled rows" if unlabelled < 2 else None
