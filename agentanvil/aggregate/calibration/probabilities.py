"""The score that a judge's probabilities expect, against people: the reading that a run was not made by."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

from agentanvil.aggregate.calibration.figures import Figures
from agentanvil.aggregate.calibration.patterns import Drawn, Patterns
from agentanvil.aggregate.calibration.summary import Probabilities
from agentanvil.aggregate.measure import Measure
from agentanvil.aggregate.measured import Measured
from agentanvil.hashing import derive_seed
from agentanvil.stats import Estimate, brier_score, cluster_bootstrap_mean, expected_calibration_error

# What is beyond them is left by arithmetic.
_DECIMALS = 9


class ProbabilityTally:
    """Counts expected scores and mean labels; they are continuous, so that there may be as many pairs as items."""

    def __init__(self, measure: Measure) -> None:
        self._measure = measure
        self._pairs: Counter[Drawn] = Counter()

    def add(self, expected: float, labels: Sequence[float], weight: float) -> None:
        """Count one item with one label or more, in the measure's numbers, and its sampling weight."""
        label = math.fsum(labels) / len(labels)
        self._pairs[((round(expected, _DECIMALS),), (label,)), weight] += 1

    def result(self, figures: Figures) -> Probabilities | None:
        """Return the figures, None where no probabilities came back."""
        if not self._pairs:
            return None
        patterns = Patterns.of(self._pairs, weighted=figures.weighted)
        brier, error = self._as_probabilities(figures, patterns) if self._measure.mode == "gate" else (None, None)
        return Probabilities(
            spearman=figures.association(patterns, "spearman"),
            kendall_tau_b=figures.association(patterns, "kendall_tau_b"),
            pearson=figures.association(patterns, "pearson"),
            mean_absolute_error=figures.error(patterns, "mean_absolute_error"),
            bias=figures.error(patterns, "signed_bias"),
            brier=brier,
            calibration_error=error,
        )

    def _as_probabilities(self, figures: Figures, patterns: Patterns) -> tuple[Measured, Estimate]:
        """Return the Brier score and the calibration error against most raters; a split counts for nothing."""
        stated: list[float] = []
        happened: list[bool] = []
        weights: list[float] = []
        every = patterns.weights or (1.0,) * len(patterns.each)
        for ((expected,), (label,)), times, weight in zip(patterns.each, patterns.times, every, strict=True):
            if label != 0.5:
                stated += [min(1.0, max(0.0, expected))] * times
                happened += [label > 0.5] * times
                weights += [weight] * times
        errors = [[(p - came) ** 2] for p, came in zip(stated, happened, strict=True)]
        seed = derive_seed(figures.seed, "Brier")
        interval = cluster_bootstrap_mean(errors, weights=weights, seed=seed, level=figures.level)
        brier = Measured.of(brier_score(stated, happened, weights), interval)
        return brier, expected_calibration_error(stated, happened, weights=weights)
