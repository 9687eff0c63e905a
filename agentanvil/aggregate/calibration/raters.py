"""People against each other: what agreement a judge can be asked for, and how it fares with each of them."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations

from agentanvil.aggregate.calibration.figures import Figures, Floats, raters_alone
from agentanvil.aggregate.calibration.patterns import Drawn, Patterns, occurring, pairs_of
from agentanvil.aggregate.calibration.summary import Humans, RaterKappa, RaterPair
from agentanvil.aggregate.measure import Measure
from agentanvil.aggregate.measured import Measured
from agentanvil.stats import (
    Estimate,
    fleiss_kappa,
    jackknife_interval,
    kappa_features,
    kappa_features_among,
    kappas_of_sums,
    mean,
)

# Their pairs are listed and kept in memory: 190 of them.
_MOST_RATERS = 20


class RaterTally:
    """Counts what each pair of raters said of the same items. `named`: a rater's name is the same person everywhere.

    Labels in rows are known by their place alone, and a row with fewer labels than others does not tell whose are
    missing: raters are then told apart by the rows with the most labels.
    """

    def __init__(self, measure: Measure, *, named: bool) -> None:
        self._measure = measure
        self._named = named
        self._most = 0
        self._told = self._untold = 0
        self._raters: set[str] = set()
        self._pairs: defaultdict[tuple[str, str], Counter[Drawn]] = defaultdict(Counter)
        self._judge: defaultdict[str, Counter[Drawn]] = defaultdict(Counter)

    def add(self, scores: Sequence[float], ratings: Sequence[tuple[str, float]], weight: float) -> None:
        """Count one item: readings and (rater, label), both in the measure's numbers, and its sampling weight."""
        if not self._named and not self._of_the_most(len(ratings)):
            return
        self._raters.update(rater for rater, _ in ratings)
        if len(self._raters) > _MOST_RATERS:
            self._pairs.clear()
            self._judge.clear()
            return
        read = [(rater, label) for rater, given in ratings if (label := self._measure.label(given)) is not None]
        readings = tuple(sorted(map(self._measure.read, scores)))
        for rater, label in read:
            self._judge[rater][(readings, (label,)), weight] += 1
        for (a, one), (b, other) in combinations(sorted(read), 2):
            self._pairs[a, b][((one,), (other,)), weight] += 1

    def result(self, figures: Figures, raw: Patterns, categories: Patterns) -> Humans | None:
        """Return how people agree, None where no item has two labels."""
        several = categories.where(lambda pattern: len(pattern[1]) > 1)
        if not several.items:
            return None
        judge, humans, difference = self._pooled(figures, several)
        pairs = tuple(RaterPair(a, b, self._kappa(figures, counts)) for (a, b), counts in sorted(self._pairs.items()))
        beside = tuple(
            RaterKappa(rater, sum(counts.values()), self._kappa(figures, counts))
            for rater, counts in sorted(self._judge.items())
        )
        return Humans(
            items=several.items,
            raters=len(self._raters),
            kappa=humans,
            judge=judge,
            difference=difference,
            fleiss=_fleiss(figures, several),
            alpha=figures.alphas(raw, categories, raters_alone),
            mean_pair_kappa=_mean_kappa([pair.kappa for pair in pairs]),
            mean_judge_kappa=_mean_kappa([each.kappa for each in beside]),
            pairs=pairs,
            judge_pairs=beside,
            notes=tuple(self._notes()),
        )

    def _of_the_most(self, many: int) -> bool:
        if many > self._most:
            self._untold += self._told
            self._told = 0
            self._raters.clear()
            self._pairs.clear()
            self._judge.clear()
            self._most = many
        self._told += many == self._most
        self._untold += many < self._most
        return many == self._most

    def _pooled(self, figures: Figures, several: Patterns) -> tuple[Measured, Measured, Measured]:
        """Return the judge against one person, one person against another, and the difference, on the same items."""
        values, quadratic = figures.measure.values, figures.quadratic
        judge = [kappa_features(pairs_of(pattern), values, quadratic=quadratic) for pattern in several.each]
        humans = [kappa_features_among(labels, values, quadratic=quadratic) for _, labels in several.each]
        against = figures.kappa(judge, several, quadratic=quadratic)
        among = figures.kappa(humans, several, quadratic=quadratic)
        joined = [one + other for one, other in zip(judge, humans, strict=True)]
        return against, among, _difference(figures, (against, among), joined, several)

    def _kappa(self, figures: Figures, counts: Counter[Drawn]) -> Measured:
        return figures.of_pairs(Patterns.of(counts, weighted=figures.weighted))

    def _notes(self) -> list[str]:
        notes = []
        if len(self._raters) > _MOST_RATERS:
            notes.append(f"{len(self._raters)} raters are too many to be held against each other one by one")
        if self._untold:
            notes.append(
                f"{self._untold} item(s) have fewer labels than others, and labels in rows do not say whose they are: "
                "they count in the pooled figures, not rater by rater; a labels file names its raters"
            )
        return notes


def _difference(
    figures: Figures, kappas: tuple[Measured, Measured], joined: list[tuple[float, ...]], several: Patterns
) -> Measured:
    """Return the judge's kappa minus people's; each item brings to both, and is left out of both."""
    against, among = kappas
    n = min(against.n, among.n)
    if against.value is None or among.value is None:
        return figures.without_interval(Estimate(None, n, against.reason or among.reason))
    half = len(joined[0]) // 2

    def halved(sums: Floats) -> Floats:  # of -2..2, so that it lies in -1..1
        one, other = (kappas_of_sums(part, figures.quadratic) for part in (sums[:, :half], sums[:, half:]))
        return (one - other) / 2

    found = jackknife_interval(joined, several.times, halved, several.weights, level=figures.level)
    if found.low is not None and found.high is not None:
        found = replace(found, low=2 * found.low, high=2 * found.high)
    return Measured.of(Estimate(against.value - among.value, n), found)


def _fleiss(figures: Figures, several: Patterns) -> Measured:
    """Return Fleiss' kappa, which for equal numbers of raters is their plain kappa with the margins of all of them."""
    values = occurring((((), labels) for _, labels in several.each))
    place = {value: index for index, value in enumerate(values)}
    counts: list[list[int]] = []
    weights: list[float] = []
    every = several.weights or (1.0,) * len(several.each)
    for (_, labels), times, weight in zip(several.each, several.times, every, strict=True):
        row = [0] * len(values)
        for label in labels:
            row[place[label]] += 1
        counts += [row] * times
        weights += [weight] * times
    found = fleiss_kappa(counts, weights)
    reason = found.reason or figures.too_many(several, len(values) ** 2)
    if reason is not None:
        return figures.without_interval(found, reason)
    features = [kappa_features_among(labels, values, quadratic=False) for _, labels in several.each]
    return Measured.of(found, figures.kappa(features, several, quadratic=False).interval)


def _mean_kappa(kappas: Sequence[Measured]) -> Estimate:
    found = mean([kappa.value for kappa in kappas])
    return found if found.value is not None else Estimate(None, 0, "no pair has a kappa")
