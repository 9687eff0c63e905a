"""Two arms of a study → what the clause does that only one of them was told."""

from __future__ import annotations

import math
from array import array
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations

from agentanvil.aggregate.ablation.readings import UNDECIDED, ArmReadings
from agentanvil.aggregate.ablation.tally import Change, ClauseEffect, DimensionEffect, Flips, PairEffect
from agentanvil.hashing import derive_seed
from agentanvil.rubric import OVERALL
from agentanvil.rubric.variant import Clause
from agentanvil.stats import (
    Estimate,
    Interval,
    PairedChange,
    clopper_pearson_interval,
    cluster_bootstrap_mean,
    correlation_change,
    kappa_change,
    kappa_features,
    mean_interval,
    mirrored_bootstrap_mean,
    paired_permutation_test,
)

_EQUAL = 1e-9
_LEVEL = 0.95
_NO_SCORES = "no item has a score in both arms"
_NOT_STATED = "no item states it in both arms"
_Pairs = Mapping[tuple[float, float], int]
"""How often each figure with the clause and without it occurs."""


@dataclass(frozen=True, slots=True)
class Chances:
    """The seed of a study, and how many exchanges are drawn where a test draws them."""

    seed: int
    draws: int


def clause_effect(whole: ArmReadings, without: ArmReadings, chances: Chances, clause: Clause | None) -> ClauseEffect:
    """Return what leaving a clause out does; None for arms that were told the same.

    Both arms hold the same items in the same order.
    """
    name = "again" if clause is None else clause.id
    study = _Comparison(whole, without, Chances(derive_seed(chances.seed, name), chances.draws))
    judged = [dimension for dimension in whole.columns if dimension != OVERALL]
    about = [dimension for dimension in judged if clause is None or clause.dimension in (None, dimension)]
    parted = set() if clause is None else {clause.dimension, clause.judged_by}
    pairs = [pair for pair in combinations(judged, 2) if set(pair) & set(about)]
    pairs.sort(key=lambda pair: set(pair) != parted)
    return ClauseEffect(
        tuple(study.dimension(dimension, about=dimension in about) for dimension in whole.columns),
        tuple(study.pair(one, other, separates={one, other} == parted) for one, other in pairs),
        study.decided(),
        _amount(whole.input_tokens, without.input_tokens),
        _amount(whole.output_tokens, without.output_tokens),
        _amount(whole.cost, without.cost),
    )


class _Comparison:
    """Two arms, and every figure of their difference."""

    def __init__(self, whole: ArmReadings, without: ArmReadings, chances: Chances) -> None:
        self._whole = whole
        self._without = without
        self._chances = chances
        self._means = whole.codes.means()
        dimensions = [column for name, column in whole.columns.items() if name != OVERALL]
        self._labelled = any(any(column.labels) for column in dimensions)

    def dimension(self, name: str, *, about: bool) -> DimensionEffect:
        first, second = self._whole.columns[name], self._without.columns[name]
        pairs: Counter[tuple[float, float]] = Counter()
        unpaired = 0
        for (one, other), times in Counter(zip(first.scores, second.scores, strict=True)).items():
            before, after = self._means[one], self._means[other]
            if before is not None and after is not None:
                pairs[before, after] += times
            elif before is not None or after is not None:
                unpaired += times
        figures = self._mean_change(name, pairs)
        # Where labels are given to the dimensions, the overall's kappa says the same once more.
        kappa, distance = self._agreement(name, tested=name != OVERALL or not self._labelled)
        return DimensionEffect(
            id=name,
            about=about,
            unpaired=unpaired,
            mean=Change.of(figures, tested=name != OVERALL),
            flips=_flips(pairs),
            sd=_sd(pairs),
            kappa=kappa,
            distance=distance,
        )

    def pair(self, one: str, other: str, *, separates: bool) -> PairEffect:
        columns = [arm.columns[name].scores for arm in (self._whole, self._without) for name in (one, other)]
        points: Counter[tuple[tuple[float, float], tuple[float, float]]] = Counter()
        for codes, times in Counter(zip(*columns, strict=True)).items():
            a, b, x, y = (self._means[code] for code in codes)
            if a is not None and b is not None and x is not None and y is not None:
                points[(a, b), (x, y)] += times
        ordered = sorted(points)
        found = correlation_change(
            ordered, [points[point] for point in ordered], seed=self._seed(f"{one} {other}"), draws=self._chances.draws
        )
        return PairEffect((one, other), separates, Change.of(found, tested=separates))

    def decided(self) -> Flips | None:
        both = Counter(zip(self._whole.decided, self._without.decided, strict=True))
        known = {(float(a), float(b)): times for (a, b), times in both.items() if UNDECIDED not in (a, b)}
        return _flips(known) if known else None

    def _agreement(self, name: str, *, tested: bool) -> tuple[Change | None, Change | None]:
        first, second = self._whole.columns[name], self._without.columns[name]
        spelt, known = self._whole.codes.patterns, []
        for kind, times in Counter(zip(first.compared, second.compared, first.labels, strict=True)).items():
            if all(kind):
                known.append((tuple(spelt[code] for code in kind), times))
        if not known:
            return None, None
        known.sort()
        quadratic = first.measure.weights is not None
        values = first.measure.values
        features: list[tuple[tuple[float, ...], tuple[float, ...]]] = []
        distances: Counter[tuple[float, float]] = Counter()
        for (before, after, labels), times in known:
            one, other = ([(score, label) for score in scores for label in labels] for scores in (before, after))
            features.append(
                (kappa_features(one, values, quadratic=quadratic), kappa_features(other, values, quadratic=quadratic))
            )
            distances[_distance(one), _distance(other)] += times
        kappa = kappa_change(
            features,
            [times for _, times in known],
            quadratic=quadratic,
            seed=self._seed(f"{name} kappa"),
            draws=self._chances.draws,
        )
        instead = kappa.test.p_value is None
        distance = self._mean_change(f"{name} distance", distances)
        return Change.of(kappa, tested=tested and not instead), Change.of(distance, tested=tested and instead)

    def _mean_change(self, name: str, pairs: _Pairs) -> PairedChange:
        """Return how the mean changes; the sign of a comparison's is a matter of naming."""
        n = sum(pairs.values())
        test = paired_permutation_test(*_changes(pairs), seed=self._seed(name))
        if not n:
            empty = Estimate(None, 0, _NO_SCORES)
            return PairedChange(
                empty, empty, empty, Interval(None, None, _LEVEL, "cluster bootstrap", _NO_SCORES), test
            )
        first, second = (math.fsum(pair[side] * times for pair, times in pairs.items()) / n for side in (0, 1))
        change = math.fsum((after - before) * times for (before, after), times in pairs.items()) / n
        return PairedChange(
            Estimate(first, n), Estimate(second, n), Estimate(change, n), self._interval(name, pairs), test
        )

    def _interval(self, name: str, pairs: _Pairs) -> Interval:
        changes, times = _changes(pairs)
        bootstrap = mirrored_bootstrap_mean if self._whole.frame.mode == "pairwise" else cluster_bootstrap_mean
        found = bootstrap([[change] for change in changes], times, seed=self._seed(name))
        if any(changes) or found.low is None:
            return found
        return Interval(
            None, None, found.level, found.method, "no item changes, so that nothing tells how far it could"
        )

    def _seed(self, name: str) -> int:
        return derive_seed(self._chances.seed, name)


def _amount(first: array[float], second: array[float]) -> Change:
    """Return how the mean of an amount changes over the items that state it in both arms."""
    both = [(a, b) for a, b in zip(first, second, strict=True) if not math.isnan(a) and not math.isnan(b)]
    n = len(both)
    interval = mean_interval([b - a for a, b in both], level=_LEVEL)
    if not n:
        empty = Estimate(None, 0, _NOT_STATED)
        return Change(empty, empty, empty, interval)
    whole, without = (math.fsum(pair[side] for pair in both) / n for side in (0, 1))
    return Change(Estimate(whole, n), Estimate(without, n), Estimate(without - whole, n), interval)


def _changes(pairs: _Pairs) -> tuple[list[float], list[int]]:
    """Return the distinct changes, ascending, and how many items have each."""
    counts: Counter[float] = Counter()
    for (before, after), times in pairs.items():
        change = after - before
        counts[0.0 if abs(change) < _EQUAL else change] += times
    ordered = sorted(counts)
    return ordered, [counts[change] for change in ordered]


def _flips(pairs: _Pairs) -> Flips:
    changes, counts = _changes(pairs)
    n = sum(counts)
    up = sum(times for change, times in zip(changes, counts, strict=True) if change > 0)
    down = sum(times for change, times in zip(changes, counts, strict=True) if change < 0)
    share = Estimate((up + down) / n, n) if n else Estimate(None, 0, "no item has a result in both arms")
    return Flips(n, up, down, share, clopper_pearson_interval(up + down, n))


def _sd(pairs: _Pairs) -> Estimate:
    """Return the sample standard deviation of the changes."""
    changes, counts = _changes(pairs)
    n = sum(counts)
    if n < 2:
        return Estimate(None, n, "fewer than two items have a score in both arms")
    centre = math.fsum(change * times for change, times in zip(changes, counts, strict=True)) / n
    squares = math.fsum((change - centre) ** 2 * times for change, times in zip(changes, counts, strict=True))
    return Estimate(math.sqrt(squares / (n - 1)), n)


def _distance(pairs: list[tuple[float, float]]) -> float:
    return math.fsum(abs(score - label) for score, label in pairs) / len(pairs)
