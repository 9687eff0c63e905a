"""Booleans and winners as classes: confusion, accuracy and macro F1, with and without the verdicts that are missing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from agentanvil.aggregate.calibration.figures import Figures, names_of
from agentanvil.aggregate.calibration.patterns import Pattern, Patterns, pairs_of
from agentanvil.aggregate.calibration.summary import Classes, ClassFigure, ClassFigures, Confusion
from agentanvil.aggregate.measured import Measured
from agentanvil.hashing import derive_seed
from agentanvil.stats import confusion_of_items, macro_f1_interval

_LEFT_OUT = "items without a verdict are left out"


def confusion_table(figures: Figures, categories: Patterns) -> Confusion:
    """Return how often each verdict met each label; the last row are the items without a verdict."""
    clusters = [_with_missing(pattern) for pattern in categories.each]
    table = confusion_of_items(clusters, _values(figures), categories.times, categories.weights).table
    by_verdict = zip(*(row for row in table[:-1]), strict=True)
    return Confusion(names_of(figures.measure), tuple(tuple(row) for row in by_verdict))


def classes_of(figures: Figures, categories: Patterns) -> Classes | None:
    """Return the class figures of booleans and winners, None for scores."""
    measure = figures.measure
    if measure.mode == "absolute":
        return None
    # A gate lets nothing through that has no verdict; a comparison without one prefers nobody.
    counted, policy = 0.0, "a missing verdict counts as a tie"
    if measure.mode == "gate":
        policy = "a missing verdict counts as false"
    several = any(len(labels) > 1 for _, labels in categories.each)
    majority = _majorities(categories)
    return Classes(
        answered=_figures(figures, _answered(categories), _LEFT_OUT, "answered"),
        counted=_figures(figures, _filled(categories, counted), policy, "counted"),
        majority=_figures(figures, _answered(majority), _LEFT_OUT, "majority") if several else None,
        majority_counted=_figures(figures, _filled(majority, counted), policy, "majority counted") if several else None,
        split=categories.where(lambda pattern: bool(pattern[1])).items - majority.items,
    )


def _figures(figures: Figures, patterns: Patterns, policy: str, name: str) -> ClassFigures:
    clusters = [pairs_of(pattern) for pattern in patterns.each]
    values = _values(figures)
    found = confusion_of_items(clusters, values, patterns.times, patterns.weights)
    seed = derive_seed(figures.seed, "macro F1", name)
    f1_interval = macro_f1_interval(clusters, values, patterns.times, patterns.weights, seed=seed, level=figures.level)
    return ClassFigures(
        policy=policy,
        accuracy=Measured.of(found.accuracy, figures.wilson(found.accuracy, patterns)),
        macro_f1=Measured.of(found.macro_f1, f1_interval),
        macro_precision=found.macro_precision,
        macro_recall=found.macro_recall,
        kappa=figures.of_pairs(patterns),
        classes=tuple(
            ClassFigure(value, each.precision, each.recall, each.f1)
            for value, each in zip(names_of(figures.measure), found.classes, strict=True)
        ),
    )


def _answered(patterns: Patterns) -> Patterns:
    return patterns.where(lambda pattern: bool(pattern[0] and pattern[1]))


def _filled(patterns: Patterns, value: float) -> Patterns:
    return patterns.turned(lambda pattern: (pattern[0] or (value,), pattern[1]) if pattern[1] else None)


def _majorities(patterns: Patterns) -> Patterns:
    """Return the items whose raters have a majority, with it as the only label, and the verdict of most repeats."""

    def decided(pattern: Pattern) -> Pattern | None:
        verdict, label = _most(pattern[0]), _most(pattern[1])
        if label is None:
            return None
        return (verdict,) if verdict is not None else pattern[0], (label,)

    return patterns.turned(decided)


def _most(values: Sequence[float]) -> float | None:
    """Return the value of more than half, None where there is none."""
    return next((value for value, n in Counter(values).items() if 2 * n > len(values)), None)


def _with_missing(pattern: Pattern) -> list[tuple[float | None, float | None]]:
    scores, labels = pattern
    return [(score, label) for score in (scores or (None,)) for label in labels]


def _values(figures: Figures) -> list[float]:
    return [float(value) for value in figures.measure.values]
