"""Measures of association of weighted points, each with the influence that every point has on it.

The influence of a point is the derivative of the measure as weight moves to it (Hampel 1974); the mean square of the
items' influences is n times the squared standard error that the infinitesimal jackknife gives (Efron 1982, chapter 6).
With p the points' shares of all weight:

    rank correlation   cov / sqrt(v v'), cov = Σ p · a · b with a, b the mid-ranks (as shares, less one half),
                       v = (1 − Σ p(x)³) / 12
    tau-b              κ / sqrt(d d'), κ = Σ p · c with c the concordance of a point with all others,
                       d = 1 − Σ p(x)²
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from agentanvil.stats.points import Points, concordance

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def rank_correlation(points: Points) -> tuple[float, Floats]:
    """Return Spearman's correlation of average ranks, and the points' influence on it. Neither rater is constant."""
    total = points.weight.sum()
    share, x_share, y_share = points.weight / total, points.x_weight / total, points.y_weight / total
    a = (np.cumsum(x_share) - x_share / 2 - 0.5)[points.x]
    b = (np.cumsum(y_share) - y_share / 2 - 0.5)[points.y]
    cov = float((share * a * b).sum())
    moved = a * b + _at_or_above(points.x, share * b) + _at_or_above(points.y, share * a) - 3 * cov
    x_var, x_moved = _rank_variance(x_share)
    y_var, y_moved = _rank_variance(y_share)
    return _ratio(cov, moved, (x_var, x_moved[points.x]), (y_var, y_moved[points.y]))


def tau_b(points: Points) -> tuple[float, Floats]:
    """Return Kendall's tau-b, and the points' influence on it. Neither rater is constant."""
    total = points.weight.sum()
    c = concordance(points) / total
    kappa = float((points.weight / total * c).sum())
    x_untied, x_moved = _untied(points.x_weight / total)
    y_untied, y_moved = _untied(points.y_weight / total)
    return _ratio(kappa, 2 * (c - kappa), (x_untied, x_moved[points.x]), (y_untied, y_moved[points.y]))


def _ratio(
    top: float, top_moved: Floats, left: tuple[float, Floats], right: tuple[float, Floats]
) -> tuple[float, Floats]:
    """Return top / sqrt(left · right) and its derivative from theirs."""
    root = float(np.sqrt(left[0] * right[0]))
    value = top / root
    return value, top_moved / root - value / 2 * (left[1] / left[0] + right[1] / right[0])


def _at_or_above(place: Ints, amounts: Floats) -> Floats:
    """Return for each point the sum of amounts at higher places and half of that at its own."""
    sums = np.bincount(place, amounts)
    return np.asarray((sums[::-1].cumsum()[::-1] - sums / 2)[place], dtype=np.float64)


def _rank_variance(share: Floats) -> tuple[float, Floats]:
    cubes = float((share**3).sum())
    return (1 - cubes) / 12, (cubes - share**2) / 4


def _untied(share: Floats) -> tuple[float, Floats]:
    squares = float((share**2).sum())
    return 1 - squares, 2 * (squares - share)
