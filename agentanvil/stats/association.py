"""Association of two raters on the same items: Pearson's r, Spearman's rho, Kendall's tau-b, and their intervals.

Pairs in which either value is None are left out (pairwise deletion); n counts the pairs that remain. Values equal to 9
decimals are ties: they share their average rank in rho; tau-b leaves them out of its denominator.

The intervals are Fisher's, z ± t · se with z = artanh r, save that se is the items' jackknife and not that of normal
scores. They need no seed. In simulations of five-point scores (correlations .3 to .95, even and lopsided) the nominal
95 % are 93 to 97 for rho and tau-b at 30 items and 95 to 96 at 100; for r they are 92 to 97 and 93.5 to 96. Percentile
bootstrap intervals covered less nearly everywhere.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from agentanvil.stats.estimate import Estimate, Interval
from agentanvil.stats.influence import rank_correlation, tau_b
from agentanvil.stats.points import Points, gather, sums, without_dust
from agentanvil.stats.sample_mean import LEAST_FREEDOM, student_quantile
from agentanvil.stats.weighting import effective_items, kept_items, method_of, scaled_weights

Association = Literal["pearson", "spearman", "kendall_tau_b"]
Pair = tuple[float, float]
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_DECIMALS = 12
_END_DECIMALS = 9
_ONE_ITEM = "without one item, one of the two would give one and the same value throughout"
# What rounding leaves of a difference that is none.
_DUST = 1e-12


def pearson(x: Sequence[float | None], y: Sequence[float | None]) -> Estimate:
    """Return Pearson's correlation; undefined below two pairs and where either vector is constant."""
    return _of_pairs(x, y, "pearson")


def spearman(x: Sequence[float | None], y: Sequence[float | None]) -> Estimate:
    """Return Spearman's rank correlation, of average ranks; undefined where Pearson's is."""
    return _of_pairs(x, y, "spearman")


def kendall_tau_b(x: Sequence[float | None], y: Sequence[float | None]) -> Estimate:
    """Return Kendall's tau-b (1945): concordant less discordant pairs, by those that are not tied; as above."""
    return _of_pairs(x, y, "kendall_tau_b")


def association_of_items(
    clusters: Sequence[Sequence[Pair]],
    statistic: Association,
    multiplicity: Sequence[int] | None = None,
    weights: Sequence[float] | None = None,
) -> Estimate:
    """Return a measure over items that hold several pairs each, in which every item weighs the same.

    `clusters[i]` are the pairs of one item, as its repeats and raters make them, and `multiplicity[i]` says how many
    items have exactly these; `weights[i]` is the sampling weight of each. n counts items; those without a pair are left
    out.
    """
    rows = _rows(clusters, multiplicity, weights)
    found = _measured(rows, statistic)
    return Estimate(None, rows.n, found) if isinstance(found, str) else Estimate(found.value, rows.n)


def association_interval(
    clusters: Sequence[Sequence[Pair]],
    statistic: Association,
    multiplicity: Sequence[int] | None = None,
    weights: Sequence[float] | None = None,
    *,
    level: float = 0.95,
) -> Interval:
    """Return the interval of `association_of_items`, clustered by item.

    The standard error is the delete-one jackknife for Pearson's r (t with n − 1 degrees of freedom) and the
    infinitesimal one for the ranks (n − 2); with sampling weights the degrees of freedom are of Kish's effective number
    of items. Undefined below three items, where one item alone keeps a rater from being
    constant, and for a perfect association, which shows no spread to judge its error by.
    """
    how = "jackknife" if statistic == "pearson" else "infinitesimal jackknife"
    method = method_of(f"{how}, Fisher z, t", weights)
    rows = _rows(clusters, multiplicity, weights)
    found = _measured(rows, statistic)
    if isinstance(found, str):
        return Interval(None, None, level, method, found)
    if reason := _no_interval(rows, found):
        return Interval(None, None, level, method, reason)
    by_row = None if found.influence is None else found.influence[found.points.of_row]
    freedom = rows.effective - (1 if by_row is None else 2)
    if freedom < LEAST_FREEDOM:
        return Interval(None, None, level, method, "nearly all the weight lies on one item or two")
    error = _deleted(rows, found.points) if by_row is None else _moved(rows, by_row)
    if math.isnan(error):
        return Interval(None, None, level, method, _ONE_ITEM)
    half = student_quantile(freedom, level) * error / (1 - found.value**2)
    if half < _DUST:
        return Interval(None, None, level, method, "no item moves the estimate: there is no spread to judge it by")
    centre = math.atanh(found.value)
    low, high = (round(math.tanh(end), _END_DECIMALS) + 0.0 for end in (centre - half, centre + half))
    return Interval(low, high, level, method)


@dataclass(frozen=True, slots=True)
class _Rows:
    """Pairs (x[r], y[r]) of item `item[r]`, of which there are `times[item]`; `share[r]` is 1 / the item's pairs.

    `weight[item]` is each item's sampling weight, 1 on average over items.
    """

    x: Floats
    y: Floats
    item: Ints
    share: Floats
    times: Floats
    weight: Floats

    @property
    def effective(self) -> float:
        return effective_items(self.weight, self.times)

    @property
    def n(self) -> int:
        return round(float(self.times.sum()))

    def per_item(self, values: Floats) -> Floats:
        """Return each item's mean of a value per row."""
        return sums(self.item, self.share * values, len(self.times))


@dataclass(frozen=True, slots=True)
class _Measured:
    """`influence` is each point's on a measure of ranks, None for Pearson's r."""

    value: float
    points: Points
    influence: Floats | None = None


def _of_pairs(x: Sequence[float | None], y: Sequence[float | None], statistic: Association) -> Estimate:
    pairs = [(one, other) for one, other in zip(x, y, strict=True) if one is not None and other is not None]
    return association_of_items([[pair] for pair in pairs], statistic)


def _rows(
    clusters: Sequence[Sequence[Pair]], multiplicity: Sequence[int] | None, weights: Sequence[float] | None
) -> _Rows:
    kept, times, w = kept_items(clusters, multiplicity, weights)
    sizes = np.array([len(cluster) for cluster in kept], dtype=np.int64)
    pairs = np.array([pair for cluster in kept for pair in cluster], dtype=np.float64).reshape(-1, 2)
    item = np.repeat(np.arange(len(kept)), sizes)
    counts = np.array(times, dtype=np.float64)
    return _Rows(pairs[:, 0], pairs[:, 1], item, 1 / sizes[item], counts, scaled_weights(w, counts))


def _measured(rows: _Rows, statistic: Association) -> _Measured | str:
    """Return the measure, or why there is none."""
    if rows.n < 2:
        return "no pairs" if rows.n == 0 else "fewer than two items have both values"
    if not (np.isfinite(rows.x).all() and np.isfinite(rows.y).all()):
        return "a value is not a finite number"
    prepare = _spread_out if statistic == "pearson" else without_dust
    weight = rows.share * (rows.weight * rows.times)[rows.item]
    points = gather(prepare(rows.x), prepare(rows.y), weight)
    if len(points.x_values) == 1 or len(points.y_values) == 1:
        return "one of the two gave one and the same value throughout"
    if statistic == "pearson":
        return _Measured(_bounded(correlations_of_sums(_moments(rows, points).T @ (rows.weight * rows.times))), points)
    value, influence = rank_correlation(points) if statistic == "spearman" else tau_b(points)
    return _Measured(_bounded(value), points, influence)


def _no_interval(rows: _Rows, found: _Measured) -> str | None:
    if rows.n < 3:
        return "fewer than three items"
    if abs(found.value) == 1:
        return "the association is perfect: there is no spread to judge its error by"
    points = found.points
    for at in (points.x[points.of_row], points.y[points.of_row]):
        commonest = np.bincount(at, rows.share * rows.times[rows.item]).argmax()
        other = rows.per_item((at != commonest).astype(np.float64)) > 0
        if rows.times[other].sum() <= 1:
            return _ONE_ITEM
    return None


def _spread_out(values: Floats) -> Floats:
    """Return values in half ranges from the middle, in −1..1: their squares neither overflow nor lose digits."""
    low, high = float(values.min()), float(values.max())
    half = high / 2 - low / 2
    if half <= _DUST * max(abs(low), abs(high)):
        return np.zeros_like(values)
    return (values - (low / 2 + high / 2)) / half


def _moments(rows: _Rows, points: Points) -> Floats:
    """Return each item's 1, x, y, x², y², xy, as means over its pairs, about the centre of all: shape (items, 6)."""
    total = points.weight.sum()
    x = (points.x_values - points.x_weight @ points.x_values / total)[points.x][points.of_row]
    y = (points.y_values - points.y_weight @ points.y_values / total)[points.y][points.of_row]
    return np.stack([rows.per_item(column) for column in (np.ones_like(x), x, y, x * x, y * y, x * y)], axis=1)


def correlations_of_sums(totals: Floats) -> Floats:
    """Return r for sums of 1, x, y, x², y², xy, of shape (..., 6); NaN where x or y is constant."""
    n, x, y, xx, yy, xy = np.moveaxis(totals, -1, 0)
    x_spread, y_spread = n * xx - x * x, n * yy - y * y
    defined = np.minimum(x_spread, y_spread) > _DUST * n * n
    root = np.sqrt(np.where(defined, x_spread, 1.0)) * np.sqrt(np.where(defined, y_spread, 1.0))
    return np.where(defined, (n * xy - x * y) / root, np.nan)


def _deleted(rows: _Rows, points: Points) -> float:
    """Return Pearson's standard error from leaving out one item at a time (Efron 1982, chapter 3).

    NaN where one item dwarfs the spread of all others.
    """
    moments, n = _moments(rows, points) * rows.weight[:, np.newaxis], rows.n
    left = correlations_of_sums(moments.T @ rows.times - moments)
    squares = rows.times @ (left - rows.times @ left / n) ** 2
    return math.sqrt(squares * (n - 1) / n)


def _moved(rows: _Rows, influence: Floats) -> float:
    """Return the standard error from each row's influence, with n − 2 for n (two margins were estimated)."""
    of_item, n = rows.weight * rows.per_item(influence), rows.effective
    return math.sqrt(rows.times @ of_item**2 / rows.n**2 * n / (n - 2))


def _bounded(value: float | Floats) -> float:
    return min(max(round(float(value), _DECIMALS), -1.0), 1.0) + 0.0
