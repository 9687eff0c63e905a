"""One target of a calibration, counted item by item: its memory grows with the distinct patterns alone."""

from __future__ import annotations

from collections import Counter

from agentanvil.aggregate.calibration.classes import classes_of, confusion_table
from agentanvil.aggregate.calibration.figures import Figures, judge_among_raters
from agentanvil.aggregate.calibration.patterns import Drawn, Patterns
from agentanvil.aggregate.calibration.probabilities import ProbabilityTally
from agentanvil.aggregate.calibration.raters import RaterTally
from agentanvil.aggregate.calibration.summary import DimensionCalibration
from agentanvil.aggregate.calibration.targets import Sides, Target
from agentanvil.aggregate.trust import trust_of
from agentanvil.hashing import derive_seed
from agentanvil.verdict import STATES, State


class TargetTally:
    """Counts what judge and people said of one target. `named`: raters are known by name, not by their place."""

    def __init__(self, target: Target, *, named: bool) -> None:
        self.target = target
        self._patterns: Counter[Drawn] = Counter()
        self._missing: Counter[State] = Counter()
        self._labelled = self._labels = self._off_scale = 0
        self._raters = RaterTally(target.measure, named=named)
        self._probabilities = ProbabilityTally(target.measure)

    @property
    def labelled(self) -> int:
        """How many items have a label here."""
        return self._labelled

    def add(self, sides: Sides, weight: float) -> None:
        """Count one labelled item with its sampling weight, or UNWEIGHTED."""
        self._labelled += 1
        self._labels += len(sides.ratings) + sides.off_scale
        self._off_scale += sides.off_scale
        if not sides.scores:
            self._missing[sides.state] += 1
        labels = [label for _, label in sides.ratings]
        self._off_scale += sum(self.target.measure.label(label) is None for label in labels)
        if labels:
            self._patterns[(sides.scores, tuple(sorted(labels))), weight] += 1
            self._raters.add(sides.scores, sides.ratings, weight)
            if sides.expected is not None:
                self._probabilities.add(sides.expected, labels, weight)

    def result(self, seed: int, level: float, min_kappa: float, *, weighted: bool) -> DimensionCalibration:
        """Return every figure, with intervals at `level`, and the verdict against `min_kappa`.

        Where items are `weighted`, those without a sampling weight are left out of every figure.
        """
        measure = self.target.measure
        figures = Figures(measure, derive_seed(seed, "calibration", self.target.id), level, weighted)
        raw = Patterns.of(self._patterns, weighted=weighted)
        categories = raw.in_categories(measure)
        both = raw.where(lambda pattern: bool(pattern[0]))
        paired = categories.where(lambda pattern: bool(pattern[0] and pattern[1]))
        kappa = figures.of_pairs(paired)
        verdict, reading, further = trust_of(kappa, min_kappa)
        nobody = not self._labelled
        return DimensionCalibration(
            id=self.target.id,
            kind=self.target.kind,
            verdict=None if nobody else verdict,
            reading="nobody labelled it, so nothing is known of it" if nobody else reading,
            further=None if nobody else further,
            labelled=self._labelled,
            labels=self._labels,
            off_scale=self._off_scale,
            weighted=weighted,
            unweighted=sum(self._patterns.values()) - raw.items,
            effective_n=paired.effective if weighted else None,
            missing={state: self._missing[state] for state in STATES if state != "scored"},
            kappa=kappa,
            kappa_weights=measure.weighting,
            exact=figures.exact(paired),
            adjacent=figures.adjacent(paired),
            spearman=figures.association(both, "spearman"),
            kendall_tau_b=figures.association(both, "kendall_tau_b"),
            pearson=figures.association(both, "pearson"),
            alpha=figures.alphas(raw, categories, judge_among_raters),
            mean_absolute_error=figures.error(both, "mean_absolute_error"),
            bias=figures.error(both, "signed_bias"),
            confusion=confusion_table(figures, categories),
            classes=classes_of(figures, categories),
            humans=self._raters.result(figures, raw, categories),
            probabilities=self._probabilities.result(figures),
        )
