"""How one quantity changes with another while further ones are held constant: least squares with clustered errors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from agentanvil.stats.estimate import Estimate, Interval

Floats = NDArray[np.float64]

_METHOD = "least squares, cluster-robust (CR1), t with clusters − 1 degrees of freedom"
_FEWEST_CLUSTERS = 3
# Below this share of the spread, what is left is rounding.
_DUST = 1e-10
_SMALLEST_P = 1e-12


@dataclass(frozen=True, slots=True)
class Slope:
    """A slope over n rows, tested against 0. `standard_error` and `p_value` are None where `estimate` has a reason."""

    estimate: Estimate
    interval: Interval
    standard_error: float | None
    p_value: float | None


def clustered_slope(
    y: Sequence[float],
    x: Sequence[float],
    controls: Sequence[Sequence[float]] = (),
    *,
    clusters: Sequence[int],
    level: float = 0.95,
) -> Slope:
    """Return by how much `y` rises with one unit of `x`, the `controls` and a constant held; rows are (n,) each.

    The variance is the sandwich over clusters, (X'X)⁻¹ Σ X_g'u_g u_g'X_g (X'X)⁻¹, times G/(G−1) · (n−1)/(n−k), as
    in Liang and Zeger (1986) and Cameron and Miller (2015). Undefined below three clusters, with no more rows than
    coefficients, and where `x` follows from the controls. A p-value below 1e-12 is told as 1e-12.
    """
    order = sorted(range(len(y)), key=lambda row: (x[row], y[row], *(control[row] for control in controls)))
    outcome, slope_of = _column(y, order), _column(x, order)
    others = np.column_stack([np.ones(len(y)), *(_column(control, order) for control in controls)])
    groups = np.unique(np.array([clusters[row] for row in order], dtype=np.int64), return_inverse=True)[1]
    count = int(groups.max()) + 1 if len(groups) else 0
    if count < _FEWEST_CLUSTERS:
        return _undefined(len(y), level, f"fewer than {_FEWEST_CLUSTERS} clusters")
    if len(y) <= others.shape[1] + 1:
        return _undefined(len(y), level, "no more rows than coefficients")
    # What the controls do not explain of x and of y: the slope between the two is the partial one (Frisch and Waugh).
    free, left = _residuals(others, slope_of), _residuals(others, outcome)
    spread = float(free @ free)
    if not spread:
        return _undefined(len(y), level, "the quantity is constant, or follows from the controls")
    value = float(free @ left) / spread
    errors = left - value * free
    if float(errors @ errors) <= _DUST * float(left @ left):
        errors = np.zeros_like(errors)
    totals = np.bincount(groups, weights=free * errors, minlength=count)
    correction = count / (count - 1) * (len(y) - 1) / (len(y) - others.shape[1] - 1)
    error = float(np.sqrt(totals @ totals * correction)) / spread
    return _tested(Estimate(value, len(y)), error, count - 1, level)


def _tested(estimate: Estimate, error: float, freedom: int, level: float) -> Slope:
    # Heavy: loaded by those alone who ask for a t.
    from scipy.special import stdtr, stdtrit  # noqa: PLC0415

    value = estimate.value or 0.0
    half = float(stdtrit(freedom, 1 - (1 - level) / 2)) * error
    if error:
        p_value = max(_SMALLEST_P, min(1.0, 2 * float(stdtr(freedom, -abs(value) / error))))
    else:
        p_value = _SMALLEST_P if value else 1.0
    return Slope(estimate, Interval(value - half, value + half, level, _METHOD), error, p_value)


def _residuals(others: Floats, column: Floats) -> Floats:
    """Return what least squares on `others` leaves of a column; exactly 0 where rounding alone is left."""
    fitted = others @ np.linalg.lstsq(others, column, rcond=None)[0]
    left: Floats = column - fitted
    centred = column - column.mean()
    if float(left @ left) <= _DUST * _DUST * float(column @ column) or not float(centred @ centred):
        return np.zeros_like(left)
    return left


def _column(values: Sequence[float], order: Sequence[int]) -> Floats:
    return np.array([values[row] for row in order], dtype=np.float64)


def _undefined(n: int, level: float, reason: str) -> Slope:
    return Slope(Estimate(None, n, reason), Interval(None, None, level, _METHOD, reason), None, None)
