"""Krippendorff's alpha: agreement of two or more raters, any of whom may be missing on any item.

Krippendorff, K. (2011), Computing Krippendorff's alpha-reliability. An item that m ≥ 2 raters rated brings each ordered
pair of its values with the weight 1 / (m − 1); o[c, k] are the sums over items, n[c] their row sums and n the number of
values. With the squared distance δ² of two values,

    alpha = 1 − (n − 1) · Σ o[c, k] · δ²(c, k) / Σ n[c] · n[k] · δ²(c, k)

`nominal`: δ² is 1 for different values. `interval`: δ² = (c − k)². `ordinal`: the same distance of mid-ranks, that is
of n[1] + … + n[c − 1] + n[c] / 2.

All that alpha needs of an item are its `features`, which add up: an item, or a cluster of them, is a row of numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

from agentanvil.stats.estimate import Estimate, Interval
from agentanvil.stats.interval import RESAMPLES
from agentanvil.stats.resample import percentile_ends, resampled_totals
from agentanvil.stats.weighting import scaled_weights

Level = Literal["nominal", "ordinal", "interval"]
Floats = NDArray[np.float64]
Label = TypeVar("Label", float, str)

ALPHA_BAR = 0.667
"""The least alpha from which even tentative conclusions are customarily drawn (Krippendorff 2004, p. 241)."""

_DUST = 1e-12
_DECIMALS = 12
_MAX_UNDEFINED_SHARE = 0.05


def krippendorff_alpha(ratings: Sequence[Sequence[Label | None]], level: Level) -> Estimate:
    """Return alpha of `ratings[rater][item]`; None stands for a missing one. n counts items with two or more.

    Undefined where no item has two ratings, and where all of them are one and the same. Raises ValueError for texts
    at another level than `nominal`, which are in no order.
    """
    units = [[value for value in item if value is not None] for item in zip(*ratings, strict=True)]
    units = [unit for unit in units if len(unit) > 1]
    if not units:
        return Estimate(None, 0, "no item has two ratings")
    values = sorted({value for unit in units for value in unit})
    numbers = [float(place) if isinstance(value, str) else value for place, value in enumerate(values)]
    if level != "nominal" and any(isinstance(value, str) for value in values):
        raise ValueError(f"texts have no {level} distance")
    number = dict(zip(values, numbers, strict=True))
    features = [alpha_features([[number[value] for value in unit] for unit in units], numbers, level)]
    alpha = alpha_of_features(features, [1], level)
    return Estimate(alpha, len(units), None if alpha is not None else "all ratings are one and the same")


def alpha_features(units: Sequence[Sequence[float]], values: Sequence[float], level: Level) -> tuple[float, ...]:
    """Return what items bring to alpha, each with the ratings it has; fewer than two of them bring nothing.

    `values` are the ratings that may occur, ascending. Raises ValueError at other levels than `interval` for a rating
    that is not among them.
    """
    pairable = [unit for unit in units if len(unit) > 1]
    if level == "interval":
        return _moments(pairable, (values[0] + values[-1]) / 2, (values[-1] - values[0]) or 1.0)
    place = {value: index for index, value in enumerate(values)}
    table = np.zeros((len(values), len(values)))
    for unit in pairable:
        if not all(value in place for value in unit):
            raise ValueError(f"ratings {list(unit)!r} are not all among {list(values)!r}")
        counts = np.bincount([place[value] for value in unit], minlength=len(values)).astype(np.float64)
        table += (np.outer(counts, counts) - np.diag(counts)) / (len(unit) - 1)
    if level == "nominal":
        return (*table.sum(axis=1).tolist(), float(np.trace(table)))
    return tuple(table.ravel().tolist())


def alpha_of_features(
    features: Sequence[tuple[float, ...]],
    multiplicity: Sequence[int],
    level: Level,
    weights: Sequence[float] | None = None,
) -> float | None:
    """Return alpha of items that occur `multiplicity` times each, and have sampling weights; None where it is 0/0."""
    total = (np.array(multiplicity, dtype=np.float64) * scaled_weights(weights, multiplicity)) @ np.array(features)
    alpha = float(alphas_of_sums(total[np.newaxis], level)[0])
    # Fractions leave dust in the last bits, which must not depend on how the items or values are ordered.
    return None if np.isnan(alpha) else round(alpha, _DECIMALS) + 0.0


def alpha_interval(
    features: Sequence[tuple[float, ...]],
    multiplicity: Sequence[int],
    level: Level,
    *,
    seed: int,
    resamples: int = RESAMPLES,
    coverage: float = 0.95,
) -> Interval:
    """Return alpha's percentile interval, resampling clusters: `features[i]` is what one kind of cluster brings.

    Undefined below two clusters, where more than 5 % of the resamples have no alpha, since leaving so many out would
    flatter, and where all resamples have one and the same: that ratings never differ in a few clusters is no proof.
    """
    method = f"cluster bootstrap percentile, {resamples} resamples"
    if sum(multiplicity) < 2:
        return Interval(None, None, coverage, method, "fewer than two items")
    patterns, counts = np.array(features, dtype=np.float64), np.array(multiplicity, dtype=np.int64)
    alphas = np.concatenate(
        [alphas_of_sums(totals, level) for totals in resampled_totals(patterns, counts, seed=seed, resamples=resamples)]
    )
    defined = alphas[~np.isnan(alphas)]
    if len(defined) < (1 - _MAX_UNDEFINED_SHARE) * resamples:
        missing = resamples - len(defined)
        return Interval(None, None, coverage, method, f"alpha is undefined in {missing} of {resamples} resamples")
    low, high = percentile_ends(defined, coverage)
    if low == high:
        return Interval(None, None, coverage, method, "every resample gives the same alpha: there is no spread")
    return Interval(low, high, coverage, method)


def _moments(units: Sequence[Sequence[float]], centre: float, span: float) -> tuple[float, ...]:
    """Return n, Σ n[c]·x, Σ n[c]·x² and Σ o·δ², with x in spans from the centre: sums of squares lose no digits."""
    total = np.zeros(4)
    for unit in units:
        x = (np.array(unit, dtype=np.float64) - centre) / span
        first, second = float(x.sum()), float((x * x).sum())
        total += len(x), first, second, 2 * max(0.0, len(x) * second - first * first) / (len(x) - 1)
    return tuple(total.tolist())


def alphas_of_sums(totals: Floats, level: Level) -> Floats:
    """Return alpha for each row of (B, F) summed features, NaN where no disagreement could be expected."""
    if level == "interval":
        n, first, second, observed = totals.T
        expected = 2 * (n * second - first * first)
    elif level == "nominal":
        margins, agreed = totals[:, :-1], totals[:, -1]
        n = margins.sum(axis=1)
        observed, expected = n - agreed, n * n - (margins * margins).sum(axis=1)
    else:
        n, observed, expected = _ordinal(totals)
    defined = expected > _DUST * n * n
    return np.where(defined, 1 - (n - 1) * observed / np.where(defined, expected, 1.0), np.nan)


def _ordinal(totals: Floats) -> tuple[Floats, Floats, Floats]:
    size = round(totals.shape[1] ** 0.5)
    tables = totals.reshape(-1, size, size)
    margins = tables.sum(axis=2)
    n = margins.sum(axis=1)
    # As shares of all values, so that distances are of one size however many values there are.
    ranks = (np.cumsum(margins, axis=1) - margins / 2) / np.where(n > 0, n, 1.0)[:, np.newaxis]
    observed = (tables * (ranks[:, :, np.newaxis] - ranks[:, np.newaxis, :]) ** 2).sum(axis=(1, 2))
    first, second = (margins * ranks).sum(axis=1), (margins * ranks * ranks).sum(axis=1)
    return n, observed, 2 * (n * second - first * first)
