"""Intraclass correlations: how much of what scores differ by is a difference of the items.

Shrout, P. E. and Fleiss, J. L. (1979), Intraclass correlations: uses in assessing rater reliability. An analysis of
variance of n items, each rated k times, gives the mean squares of items (MSR), of raters (MSC), of what is left (MSE),
and of all but the items (MSW).

    ICC(1,1) = (MSR − MSW) / (MSR + (k − 1)·MSW)                          raters differ from item to item
    ICC(2,1) = (MSR − MSE) / (MSR + (k − 1)·MSE + k·(MSC − MSE) / n)      raters are a sample; absolute agreement
    ICC(3,1) = (MSR − MSE) / (MSR + (k − 1)·MSE)                          raters are the only ones; consistency

and ICC(·,k), of the mean of k ratings, has MSR, MSR + (MSC − MSE) / n and MSR as denominators. None is clipped: a value
below 0 says that ratings of one item differ more than ratings of different ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from agentanvil.stats.estimate import Estimate, Interval

ICCForm = Literal["ICC(1,1)", "ICC(1,k)", "ICC(2,1)", "ICC(2,k)", "ICC(3,1)", "ICC(3,k)"]
"""Shrout and Fleiss's names: the model, then what it is the reliability of, one rating or the mean of all k."""

Ratings = Sequence[Sequence[float | None]]
"""`ratings[rater][item]`; None stands for a missing one."""

# Mean squares of ratings whose span is 1, below which they are rounding.
_DUST = 1e-26
_DECIMALS = 12
_F_METHOD = "F distribution"


@dataclass(frozen=True, slots=True)
class _MeanSquares:
    """The analysis of variance of n complete items with k ratings each, in units of the ratings' span."""

    n: int
    k: int
    items: float
    raters: float
    rest: float
    within: float

    def error(self, form: ICCForm) -> float:
        return self.within if form.startswith("ICC(1") else self.rest

    def denominator(self, form: ICCForm) -> float:
        n, k, error = self.n, self.k, self.error(form)
        single, raters = form.endswith("1)"), self.raters - self.rest if form.startswith("ICC(2") else 0.0
        if single:
            return self.items + (k - 1) * error + k * raters / n
        return self.items + raters / n


def icc(ratings: Ratings, form: ICCForm) -> Estimate:
    """Return an intraclass correlation. Items with a missing rating are left out; n counts those that are complete.

    Undefined below two items or raters, where no rating differs from another, and where the form divides by nothing.
    """
    found = _mean_squares(ratings)
    if isinstance(found, Estimate):
        return found
    denominator = found.denominator(form)
    if denominator <= _DUST:
        return Estimate(None, found.n, f"items differ too little for {form}: its denominator is not above 0")
    return Estimate(round((found.items - found.error(form)) / denominator, _DECIMALS) + 0.0, found.n)


def icc_interval(ratings: Ratings, form: ICCForm, level: float = 0.95) -> Interval:
    """Return the interval by the F distribution, exact for normal ratings.

    McGraw, K. O. and Wong, S. P. (1996), Forming inferences about some intraclass correlation coefficients, table 7;
    forms (2,·) use their approximate degrees of freedom (after Satterthwaite). Undefined where `icc` is, and where
    raters differ by nothing, since F is infinite then.
    """
    found = _mean_squares(ratings)
    estimate = icc(ratings, form)
    if isinstance(found, Estimate) or estimate.value is None:
        return Interval(None, None, level, _F_METHOD, estimate.reason)
    if found.error(form) <= _DUST:
        return Interval(None, None, level, _F_METHOD, "ratings of one item never differ, so F is infinite")
    if form.startswith("ICC(2"):
        return _absolute_interval(found, form, level)
    error = found.error(form)
    freedom = found.n - 1, found.n * (found.k - 1) if form.startswith("ICC(1") else (found.n - 1) * (found.k - 1)
    ratio = found.items / error
    low = ratio / _f_quantile(level, *freedom)
    high = ratio * _f_quantile(level, *reversed(freedom))
    if form.endswith("k)"):
        if low <= 0:
            return Interval(None, None, level, _F_METHOD, "the items' means are all equal, so F is 0")
        return Interval(1 - 1 / low, 1 - 1 / high, level, _F_METHOD)
    return Interval((low - 1) / (low + found.k - 1), (high - 1) / (high + found.k - 1), level, _F_METHOD)


def _absolute_interval(found: _MeanSquares, form: ICCForm, level: float) -> Interval:
    """Return the interval of ICC(2,1), or of ICC(2,k) by the Spearman–Brown formula from it."""
    n, k, items, raters, rest = found.n, found.k, found.items, found.raters, found.rest
    rho = (items - rest) / found.denominator("ICC(2,1)") if found.denominator("ICC(2,1)") > _DUST else 1.0
    if rho >= 1 - _DUST:
        return Interval(None, None, level, _F_METHOD, "ratings of one item never differ, so F is infinite")
    a = k * rho / (n * (1 - rho))
    b = 1 + k * rho * (n - 1) / (n * (1 - rho))
    spread = (a * raters) ** 2 / (k - 1) + (b * rest) ** 2 / ((n - 1) * (k - 1))
    freedom = (a * raters + b * rest) ** 2 / spread
    if not freedom > _DUST:
        return Interval(None, None, level, _F_METHOD, "no degrees of freedom are left")
    error = k * raters + (k * n - k - n) * rest
    below, above = _f_quantile(level, n - 1, freedom), _f_quantile(level, freedom, n - 1)
    low = n * (items - below * rest) / (below * error + n * items)
    high = n * (above * items - rest) / (error + n * above * items)
    if form.endswith("1)"):
        return Interval(low, high, level, _F_METHOD)
    if 1 + (k - 1) * low <= 0:
        return Interval(None, None, level, _F_METHOD, "the lower end of ICC(2,1) is too low for the mean of k")
    return Interval(low * k / (1 + (k - 1) * low), high * k / (1 + (k - 1) * high), level, _F_METHOD)


def _f_quantile(level: float, between: float, within: float) -> float:
    # 0.3 s to import, which most commands need not pay.
    from scipy.special import fdtri  # noqa: PLC0415

    return float(fdtri(between, within, 1 - (1 - level) / 2))


def _mean_squares(ratings: Ratings) -> _MeanSquares | Estimate:
    """Return the mean squares over the items that every rater rated, or why there are none."""
    items = [item for item in zip(*ratings, strict=True) if None not in item]
    n, k = len(items), len(ratings)
    if n < 2 or k < 2:
        return Estimate(None, n, "fewer than two complete items" if n < 2 else "fewer than two ratings an item")
    table = _in_spans(np.array(items, dtype=np.float64))
    if table is None:
        return Estimate(None, n, "no variance at all")
    by_item, by_rater = table.mean(axis=1), table.mean(axis=0)
    centre = float(by_item.mean())
    deviations = table - by_item[:, np.newaxis]
    return _MeanSquares(
        n=n,
        k=k,
        items=k * _squares(by_item - centre) / (n - 1),
        raters=n * _squares(by_rater - centre) / (k - 1),
        rest=_squares(deviations - by_rater + centre) / ((n - 1) * (k - 1)),
        within=_squares(deviations) / (n * (k - 1)),
    )


def _in_spans(table: NDArray[np.float64]) -> NDArray[np.float64] | None:
    """Return values between −1/2 and 1/2, so that no size of numbers loses digits; None where all are equal."""
    largest = float(np.abs(table).max())
    if table.min() == table.max():
        return None
    unit = table / largest
    low, high = float(unit.min()), float(unit.max())
    return np.asarray((unit - (low + high) / 2) / (high - low), dtype=np.float64)


def _squares(deviations: NDArray[np.float64]) -> float:
    return float((deviations * deviations).sum())
