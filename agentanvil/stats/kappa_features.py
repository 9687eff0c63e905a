"""Cohen's kappa from sums over items, so that its cost does not grow with the square of the scale.

Quadratic weights need moments alone. With x and y the positions of the two labels on the scale and n the number of
pairs, observed disagreement is Σ(x − y)² = Σx² + Σy² − 2Σxy, and what two independent raters with the same margins
would have is Σx² + Σy² − 2ΣxΣy / n. Without weights (few categories, as booleans and winners have) the sums are the
table's cells. Both give what `kappa_of_tables` gives.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from agentanvil.stats.estimate import Estimate, Interval
from agentanvil.stats.totals import totals_interval
from agentanvil.stats.weighting import scaled_weights

Floats = NDArray[np.float64]
Features = tuple[float, ...]

ONE_LABEL = "both sides are one and the same label on every item"
# Sums of fractions carry rounding dust.
_DUST = 1e-9
_DECIMALS = 12


def kappa_features(pairs: Sequence[tuple[float, float]], values: Sequence[float], *, quadratic: bool) -> Features:
    """Return what one item brings to kappa: all its pairs of labels together count as one; none bring nothing.

    `values` are the scale, ascending. Raises ValueError for a label that is not on it.
    """
    position = {value: float(place) for place, value in enumerate(values)}
    size = len(values)
    if not all(x in position and y in position for x, y in pairs):
        raise ValueError(f"labels {list(pairs)!r} are not all on the scale {list(values)!r}")
    places = np.array([(position[x], position[y]) for x, y in pairs], dtype=np.float64).reshape(-1, 2)
    share = 1 / len(pairs) if pairs else 0.0
    if not quadratic:
        cells = (places[:, 0] * size + places[:, 1]).astype(np.int64)
        return tuple((np.bincount(cells, minlength=size * size) * share).tolist())
    x, y = (places - (size - 1) / 2).T
    sums = [len(pairs), x.sum(), y.sum(), (x * x).sum(), (y * y).sum(), (x * y).sum()]
    return tuple(float(each) * share for each in sums)


def kappa_features_among(labels: Sequence[float], values: Sequence[float], *, quadratic: bool) -> Features:
    """Return what one item brings to the kappa of any two of its raters: all ordered pairs of its labels, as one.

    Fewer than two labels bring nothing. Raises ValueError as `kappa_features`.
    """
    if len(labels) < 2:
        return kappa_features([], values, quadratic=quadratic)
    n = len(labels)
    each = np.array(kappa_features([(label, label) for label in labels], values, quadratic=quadratic)) * n
    pairs = n * (n - 1)
    if not quadratic:
        size = len(values)
        counts = np.diag(each.reshape(size, size))
        return tuple(((np.outer(counts, counts) - np.diag(counts)) / pairs).ravel().tolist())
    total, squares = float(each[1]), float(each[3])
    sums = (pairs, (n - 1) * total, (n - 1) * total, (n - 1) * squares, (n - 1) * squares, total * total - squares)
    return tuple(value / pairs for value in sums)


def kappa_of_features(
    features: Sequence[Features],
    multiplicity: Sequence[int],
    weights: Sequence[float] | None = None,
    *,
    quadratic: bool,
) -> Estimate:
    """Return kappa of items that occur `multiplicity` times each, and have sampling weights.

    n counts the items that bring a pair.
    """
    n = sum(times for feature, times in zip(features, multiplicity, strict=True) if any(feature))
    if not n:
        return Estimate(None, 0, "no item has a label of both sides")
    total = (np.array(multiplicity, dtype=np.float64) * scaled_weights(weights, multiplicity)) @ np.array(features)
    value = float(kappas_of_sums(total[np.newaxis], quadratic)[0])
    return Estimate(None, n, ONE_LABEL) if np.isnan(value) else Estimate(round(value, _DECIMALS) + 0.0, n)


def kappa_difference(
    features: Sequence[tuple[Features, Features]],
    multiplicity: Sequence[int],
    *,
    quadratic: bool,
    seed: int,
    level: float = 0.95,
) -> tuple[Estimate, Interval]:
    """Return the first kappa minus the second, both of the same items, and its interval.

    Each item brings features to both; items are resampled with both, since what one kappa owes to the items that were
    drawn the other does too.
    """
    first = kappa_of_features([one for one, _ in features], multiplicity, quadratic=quadratic)
    second = kappa_of_features([two for _, two in features], multiplicity, quadratic=quadratic)
    joined = [one + two for one, two in features]
    half = len(features[0][0]) if features else 0

    def difference(sums: Floats) -> Floats:
        return kappas_of_sums(sums[:, :half], quadratic) - kappas_of_sums(sums[:, half:], quadratic)

    interval = totals_interval(joined, multiplicity, difference, seed=seed, level=level)
    n = min(first.n, second.n)
    if first.value is None or second.value is None:
        return Estimate(None, n, first.reason or second.reason), interval
    return Estimate(round(first.value - second.value, _DECIMALS) + 0.0, n), interval


def kappas_of_sums(sums: Floats, quadratic: bool) -> Floats:
    """Return kappa for each row of (B, F) sums, NaN where no disagreement could be expected."""
    n, observed, expected = disagreements_of_sums(sums, quadratic)
    defined = expected > _DUST * np.where(n > 0, n, 1.0)
    return np.where(defined, 1 - observed / np.where(defined, expected, 1.0), np.nan)


def disagreements_of_sums(sums: Floats, quadratic: bool) -> tuple[Floats, Floats, Floats]:
    """Return for each row of (B, F) sums how many items it has, their disagreement, and that expected by chance."""
    if quadratic:
        n, x, y, xx, yy, xy = sums.T
        return n, xx + yy - 2 * xy, xx + yy - 2 * x * y / np.where(n > 0, n, 1.0)
    size = round(sums.shape[1] ** 0.5)
    tables = sums.reshape(-1, size, size)
    n = tables.sum(axis=(1, 2))
    alike = (tables.sum(axis=2) * tables.sum(axis=1)).sum(axis=1) / np.where(n > 0, n, 1.0)
    return n, n - np.trace(tables, axis1=1, axis2=2), n - alike
