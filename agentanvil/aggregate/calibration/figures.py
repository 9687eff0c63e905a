"""Patterns of readings and labels → the figures of one target, each with its interval."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from agentanvil.aggregate.calibration.patterns import Pattern, Patterns, occurring, pairs_of
from agentanvil.aggregate.calibration.summary import Alphas
from agentanvil.aggregate.measure import Measure
from agentanvil.aggregate.measured import Measured
from agentanvil.hashing import derive_seed
from agentanvil.stats import (
    Association,
    ErrorMeasure,
    Estimate,
    Interval,
    Level,
    adjacent_agreement,
    alpha_features,
    alpha_of_features,
    alphas_of_sums,
    association_interval,
    association_of_items,
    exact_agreement,
    jackknife_interval,
    kappa_features,
    kappa_items_interval,
    kappa_of_features,
    kappas_of_sums,
    mean_error,
    mean_error_interval,
    mean_of_drawn,
    method_of,
    mirrored_bootstrap_mean,
    scaled_weights,
    wilson_interval,
)

Floats = NDArray[np.float64]

# More numbers than this would have to be held for an interval.
_MOST_CELLS = 20_000_000


@dataclass(frozen=True, slots=True)
class Figures:
    """Computes figures of one target; `seed` and `level` are those of its intervals.

    `weighted`: items have sampling weights, and figures count them by these.
    """

    measure: Measure
    seed: int
    level: float
    weighted: bool

    def of_pairs(self, patterns: Patterns) -> Measured:
        """Return kappa of readings against labels, in categories, with the interval that verdicts rest on."""
        quadratic, values = self.quadratic, self.measure.values
        clusters = [pairs_of(pattern) for pattern in patterns.each]
        features = [kappa_features(pairs, values, quadratic=quadratic) for pairs in clusters]
        times, weights = patterns.times, patterns.weights
        interval = kappa_items_interval(clusters, values, times, weights, quadratic=quadratic, level=self.level)
        return Measured.of(kappa_of_features(features, times, weights, quadratic=quadratic), interval)

    @property
    def quadratic(self) -> bool:
        """How kappa counts distances: only scores have any."""
        return self.measure.weighting == "quadratic"

    def kappa(self, features: Sequence[tuple[float, ...]], patterns: Patterns, *, quadratic: bool) -> Measured:
        """Return kappa of what the items of each pattern bring to it, over those that bring anything."""
        weights = patterns.weights or (1.0,) * len(features)
        kept = [each for each in zip(features, patterns.times, weights, strict=True) if any(each[0])]
        brought, counts, drawn = [each[0] for each in kept], [each[1] for each in kept], [each[2] for each in kept]
        found = kappa_of_features(brought, counts, drawn, quadratic=quadratic)
        if found.value is None:
            return self.without_interval(found)

        def kappas(sums: Floats) -> Floats:
            return kappas_of_sums(sums, quadratic)

        return Measured.of(found, jackknife_interval(brought, counts, kappas, drawn, level=self.level))

    def exact(self, patterns: Patterns) -> Measured:
        """Return the share of equal readings and labels, by item; Wilson's interval over items."""
        return self._share(patterns, lambda pairs: exact_agreement(*_columns(pairs)))

    def adjacent(self, patterns: Patterns) -> Measured:
        """Return the share of readings at most one step from the label; only scores have steps."""
        if self.measure.mode != "absolute":
            reason = "these categories have no neighbours"
            return Measured(None, 0, reason, Interval(None, None, self.level, "wilson", reason))
        return self._share(patterns, lambda pairs: adjacent_agreement(*_columns(pairs)))

    def association(self, patterns: Patterns, statistic: Association) -> Measured:
        """Return a correlation of item scores and mean labels."""
        clusters = [[pair] for pair in _means(patterns)]
        times, weights = patterns.times, patterns.weights
        found = association_of_items(clusters, statistic, times, weights)
        return Measured.of(found, association_interval(clusters, statistic, times, weights, level=self.level))

    def error(self, patterns: Patterns, which: ErrorMeasure) -> Measured:
        """Return the mean absolute error, or the bias, of item scores against mean labels."""
        pairs = _means(patterns)
        clusters, times, weights = [[pair] for pair in pairs], patterns.times, patterns.weights
        found = mean_error(clusters, which, times, weights)
        seed = derive_seed(self.seed, which)
        interval = mean_error_interval(clusters, which, times, weights, seed=seed, level=self.level)
        if interval.low is not None and which == "signed_bias" and self.measure.mode == "pairwise":
            rows = [[score - label] for score, label in pairs]
            interval = mirrored_bootstrap_mean(rows, times, weights=weights, seed=seed, level=self.level)
        return Measured.of(found, interval)

    def alphas(self, raw: Patterns, categories: Patterns, units: Callable[[Pattern], list[list[float]]]) -> Alphas:
        """Return Krippendorff's alpha of what `units` makes of an item's pattern; its units together count as one."""
        return Alphas(
            nominal=self._alpha(categories, "nominal", units),
            ordinal=self._alpha(categories, "ordinal", units),
            interval=self._alpha(raw, "interval", units),
        )

    def _alpha(self, patterns: Patterns, level: Level, units: Callable[[Pattern], list[list[float]]]) -> Measured:
        kept = patterns.where(lambda pattern: any(len(unit) > 1 for unit in units(pattern)))
        values, n = occurring(kept.each), kept.items
        if not n:
            return self.without_interval(Estimate(None, 0, "no item has two ratings"))
        width = {"nominal": len(values) + 1, "ordinal": len(values) ** 2, "interval": 4}[level]
        if (reason := self.too_many(kept, width)) is not None:
            total = _summed(kept, values, level, units)
            return self.without_interval(_alpha_estimate([total], [1], n, level), reason)
        brought = [_shared(units(pattern), values, level) for pattern in kept.each]
        found = _alpha_estimate(brought, kept.times, n, level, kept.weights)
        if found.value is None:
            return self.without_interval(found)

        def alphas(sums: Floats) -> Floats:
            return alphas_of_sums(sums, level)

        return Measured.of(found, jackknife_interval(brought, kept.times, alphas, kept.weights, level=self.level))

    def too_many(self, patterns: Patterns, width: int) -> str | None:
        """Return why patterns that bring `width` numbers each are too many for an interval, None where they are not."""
        if len(patterns.each) * width <= _MOST_CELLS:
            return None
        return f"{len(patterns.each):,} kinds of items with {width:,} sums each are too many for an interval"

    def without_interval(self, estimate: Estimate, reason: str | None = None) -> Measured:
        """Return an estimate whose interval is undefined, for the same reason as itself unless told another."""
        method = "jackknife, Fisher z, t"
        return Measured.of(estimate, Interval(None, None, self.level, method, reason or estimate.reason))

    def wilson(self, share: Estimate, patterns: Patterns) -> Interval:
        """Return Wilson's interval of a share of items, with weights of Kish's effective number of them."""
        found = wilson_interval((share.value or 0) * patterns.effective, patterns.effective, self.level)
        return replace(found, method=method_of(found.method, patterns.weights))

    def _share(self, patterns: Patterns, share: Callable[[list[tuple[float, float]]], Estimate]) -> Measured:
        shares = [share(pairs_of(pattern)).value or 0.0 for pattern in patterns.each]
        found = mean_of_drawn(shares, patterns.times, patterns.weights)
        estimate = found if found.value is not None else Estimate(None, 0, "no item has both a verdict and a label")
        return Measured.of(estimate, self.wilson(estimate, patterns))


def names_of(measure: Measure) -> tuple[str, ...]:
    """Return what people call the categories of a measure."""
    if measure.mode == "gate":
        return ("false", "true")
    return ("b", "tie", "a") if measure.mode == "pairwise" else tuple(str(value) for value in measure.values)


def judge_among_raters(pattern: Pattern) -> list[list[float]]:
    """Return an item's units in which the judge is one more rater: one a reading, or the labels alone."""
    scores, labels = pattern
    return [[score, *labels] for score in scores] or [list(labels)]


def raters_alone(pattern: Pattern) -> list[list[float]]:
    """Return an item's unit without the judge."""
    return [list(pattern[1])]


def _shared(units: list[list[float]], values: Sequence[float], level: Level) -> tuple[float, ...]:
    found = alpha_features(units, values, level)
    return found if len(units) == 1 else tuple(feature / len(units) for feature in found)


def _summed(
    patterns: Patterns, values: Sequence[float], level: Level, units: Callable[[Pattern], list[list[float]]]
) -> tuple[float, ...]:
    """Return what all items bring to alpha together, without holding what each of them brings."""
    by_weight: defaultdict[float, list[list[float]]] = defaultdict(list)
    weights = scaled_weights(patterns.weights, patterns.times).tolist()
    for pattern, times, weight in zip(patterns.each, patterns.times, weights, strict=True):
        found = units(pattern)
        by_weight[weight * times / len(found)] += found
    sums = [np.array(alpha_features(each, values, level)) * weight for weight, each in sorted(by_weight.items())]
    return tuple(np.sum(sums, axis=0).tolist())


def _alpha_estimate(
    features: Sequence[tuple[float, ...]],
    times: Sequence[int],
    n: int,
    level: Level,
    weights: Sequence[float] | None = None,
) -> Estimate:
    found = alpha_of_features(features, times, level, weights)
    return Estimate(found, n, None if found is not None else "all ratings are one and the same")


def _means(patterns: Patterns) -> list[tuple[float, float]]:
    return [(_mean(scores), _mean(labels)) for scores, labels in patterns.each]


def _mean(numbers: Sequence[float]) -> float:
    return math.fsum(numbers) / len(numbers)


def _columns(pairs: list[tuple[float, float]]) -> tuple[list[float], list[float]]:
    return [score for score, _ in pairs], [label for _, label in pairs]
