"""A judge's pass rate corrected by its hits among what people pass (TPR) and what they fail (TNR)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from agentanvil.stats.correction import Corrected, CorrectedPair, columns, doubt_of_rate, undefined
from agentanvil.stats.estimate import Estimate, Interval
from agentanvil.stats.ppi import NO_LABELLED, NO_UNLABELLED
from agentanvil.stats.resample import Floats
from agentanvil.stats.sample_mean import normal_quantile

_METHOD = "Rogan-Gladen, Lang-Reiczigel interval"
_ITEMS_METHOD = "Rogan-Gladen, the judge's error alone"
# TPR and TNR are fractions of counts; a sum that is 1 may miss it by its last bits.
_TOLERANCE = 1e-9


@dataclass(frozen=True, slots=True)
class _Judge:
    """TPR and TNR, each with the (effective) number of labelled rows that it rests on."""

    tpr: float
    tnr: float
    positives: float
    negatives: float

    def smoothed(self) -> tuple[_Judge, float]:
        """Return it with one hit and one miss more in each class, and what TPR + TNR then exceed 1 by."""
        n1, n2 = self.positives + 2, self.negatives + 2
        tpr, tnr = (self.tpr * self.positives + 1) / n1, (self.tnr * self.negatives + 1) / n2
        return _Judge(tpr, tnr, n1, n2), tpr + tnr - 1


def rogan_gladen(observed_rate: float, sensitivity: float, specificity: float, *, clip: bool = True) -> Estimate:
    """Return (rate + specificity - 1) / (sensitivity + specificity - 1), cut to [0, 1] unless `clip` is False.

    Rogan and Gladen (1978); n is 0, since rates alone are given. Undefined where sensitivity + specificity <= 1: such
    a judge does no better than chance.
    """
    informative = sensitivity + specificity - 1
    if informative <= _TOLERANCE:
        return Estimate(None, 0, f"TPR {sensitivity:.2f} + TNR {specificity:.2f} is not above 1: no better than chance")
    value = (observed_rate + specificity - 1) / informative
    return Estimate(min(1.0, max(0.0, value)) if clip else value, 0)


def corrected_pass_rate(
    human: Sequence[float],
    judge: Sequence[float],
    judge_unlabelled: Sequence[float],
    weights: Sequence[float] | None = None,
    *,
    level: float = 0.95,
) -> CorrectedPair:
    """Return the share of rows that people would pass, in the population and among these very rows.

    `judge` is 0 or 1 a row, `human` too, or the share of its raters that pass it. TPR and TNR come from the labelled
    rows, the judge's rate from the unlabelled ones, so that it holds where labelled and unlabelled rows differ in how
    many pass, as long as the judge errs alike on both. `weights` are one over the probability with which each labelled
    row was drawn from all rows; then the judge's rate is that of all rows, and so are "these very rows".

    The interval is Lang and Reiczigel's (2014), which allows for the sampling of the labelled rows, in TPR and TNR, and
    of the others. Undefined where the labelled rows lack a class, or TPR + TNR <= 1.
    """
    n, rows = len(human), len(human) + len(judge_unlabelled)
    read = judge_unlabelled if weights is None else [*judge, *judge_unlabelled]
    if n == 0 or len(read) == 0:
        reason = NO_LABELLED if n == 0 else NO_UNLABELLED
        return _undefined(reason, rows, level)
    h, j, w = columns(human, judge, [1.0] * n if weights is None else weights)
    passing, failing = _hits(w, h, j), _hits(w, 1 - h, 1 - j)
    if passing is None or failing is None:
        which = "fails" if failing is None else "passes"
        return _undefined(f"no labelled row {which}: how often the judge is right there is unknown", rows, level)
    judged = _Judge(passing[0], failing[0], passing[1], failing[1])
    rate = math.fsum(read) / len(read)
    estimate = rogan_gladen(rate, judged.tpr, judged.tnr)
    if estimate.value is None:
        return _undefined(str(estimate.reason), rows, level)
    doubt = doubt_of_rate(judged.positives, judged.negatives)
    value = Estimate(estimate.value, rows)
    return CorrectedPair(
        Corrected(value, _population_interval(judged, rate, len(read), level), doubt),
        Corrected(value, _items_interval(judged, rate, len(read), level), doubt),
    )


def _hits(w: Floats, of_class: Floats, hit: Floats) -> tuple[float, float] | None:
    """Return the judge's rate of hits in a class and the rows it rests on in effect, None where nothing is in it.

    Rows in effect: (Σwc)² / Σw²c for shares c of membership, or fewer, where the weights say more of hits than of
    misses or the other way round (the rate's linearised variance).
    """
    inside = of_class > 0
    if not inside.any():
        return None
    w, hit = w[inside] / w[inside].max(), hit[inside]
    mass = w * of_class[inside]
    total = float(mass.sum())
    rate = float((mass * hit).sum()) / total
    size = total**2 / float((w * mass).sum())
    spread = float((w * mass * (hit - rate) ** 2).sum()) / total**2
    linearised = rate * (1 - rate) / spread if spread > 0 else math.inf
    return rate, min(size, linearised)


def _population_interval(judged: _Judge, rate: float, n: int, level: float) -> Interval:
    """Lang and Reiczigel: pseudo-counts on all three rates, and the centre moved against the curvature of the ratio."""
    z = normal_quantile(level)
    size = n + z * z
    smoothed = (rate * n + z * z / 2) / size
    return _around(judged, smoothed, smoothed * (1 - smoothed) / size, level, _METHOD)


def _items_interval(judged: _Judge, rate: float, n: int, level: float) -> Interval:
    """The same for the very rows: their judge's rate is known, and only errs by the misses within each class."""
    added, informative = judged.smoothed()
    if informative <= _TOLERANCE:
        return _around(judged, rate, 0.0, level, _ITEMS_METHOD)
    share = min(1.0, max(0.0, (rate + added.tnr - 1) / informative))
    errs = share * added.tpr * (1 - added.tpr) + (1 - share) * added.tnr * (1 - added.tnr)
    return _around(judged, rate, errs / n, level, _ITEMS_METHOD)


def _around(judged: _Judge, rate: float, variance: float, level: float, method: str) -> Interval:
    added, informative = judged.smoothed()
    if informative <= _TOLERANCE:
        return Interval(None, None, level, method, "too few labels to tell the judge from chance")
    z = normal_quantile(level)
    share = (rate + added.tnr - 1) / informative
    of_passing = share * added.tpr * (1 - added.tpr) / added.positives
    of_failing = (1 - share) * added.tnr * (1 - added.tnr) / added.negatives
    centre = share + 2 * z * z * (of_passing - of_failing)
    half = z * math.sqrt(variance + share * of_passing + (1 - share) * of_failing) / informative
    low, high = np.clip([centre - half, centre + half], 0.0, 1.0)
    return Interval(float(low), float(high), level, method)


def _undefined(reason: str, n: int, level: float) -> CorrectedPair:
    return CorrectedPair(undefined(reason, n, level, _METHOD), undefined(reason, n, level, _ITEMS_METHOD))
