"""How far several judges agree on one dimension, or on the overall: counted by patterns of their scores."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

from agentanvil.aggregate.frame import Frame
from agentanvil.aggregate.item import ItemResult
from agentanvil.aggregate.panel.summary import Disagreement, JudgeAgreement, JudgePair
from agentanvil.hashing import derive_seed
from agentanvil.rubric import OVERALL
from agentanvil.stats import (
    Estimate,
    Interval,
    Level,
    alpha_features,
    alpha_interval,
    alpha_of_features,
    cluster_bootstrap_mean,
    mean,
    mirrored_bootstrap_mean,
    wilson_interval,
)

Unit = tuple[float | None, ...]
"""What each judge gave for one and the same thing, None where it gave no score."""
_MOST_ORDINAL = 11
_WIDEST = 3
_NO_BOTH = "no item has a score of both"


@dataclass(frozen=True, slots=True)
class Ground:
    """On what judges are compared: the values that may occur, ascending, and what their distances mean."""

    level: Level
    values: tuple[float, ...]
    pairs: bool

    @classmethod
    def of(cls, frame: Frame, name: str) -> Ground:
        """Return the ground of a dimension, or of the overall."""
        if frame.mode == "pairwise":
            return cls("nominal", (-1.0, 0.0, 1.0), pairs=True)
        values = tuple(map(float, frame.scale.values))
        if frame.mode == "gate":
            return cls("nominal", values, pairs=False)
        level: Level = "ordinal" if name != OVERALL and len(values) <= _MOST_ORDINAL else "interval"
        return cls(level, values, pairs=False)

    def read(self, score: float) -> float:
        """Return the value that a score counts as: in pairwise its winner."""
        return float((score > 0) - (score < 0)) if self.pairs else score


class JudgeAgreementTally:
    """Counts one dimension, or the overall.

    Alpha asks what was given, and not by whom; each two judges ask how often and how far they differ. Neither has many
    distinct patterns, however many judges and rows there are.
    """

    def __init__(self, name: str, judges: Sequence[str], ground: Ground) -> None:
        self._name = name
        self._judges = judges
        self._ground = ground
        self._given: Counter[tuple[tuple[float, ...], ...]] = Counter()
        pairs = combinations(range(len(judges)), 2)
        self._pairs: dict[tuple[int, int], Counter[tuple[float, float]]] = {pair: Counter() for pair in pairs}
        self._mixed = 0
        self._widest: list[Disagreement] = []

    def add(self, item: ItemResult, units: Sequence[Unit], *, mixed: bool = False) -> None:
        """Count one item by what the judges gave for each of its calls."""
        self._mixed += mixed
        shared = tuple([unit for unit in units if sum(score is not None for score in unit) > 1])
        if shared:
            given = [tuple(sorted([score for score in unit if score is not None])) for unit in shared]
            self._given[tuple(sorted(given))] += 1
            for (one, other), counts in self._pairs.items():
                both = [(x, y) for unit in shared if (x := unit[one]) is not None and (y := unit[other]) is not None]
                if both:
                    counts[self._compared(both)] += 1
            self._consider(item, shared)

    def result(self, seed: int) -> JudgeAgreement:
        """Return the agreement; `seed` drives its resampling."""
        alpha, interval = self._alpha(derive_seed(seed, "alpha", self._name))
        return JudgeAgreement(
            id=self._name,
            level=self._ground.level,
            alpha=alpha,
            interval=interval,
            pairs=tuple([self._pair(*pair, seed) for pair in self._pairs]),
            mixed=self._mixed,
            widest=tuple(self._widest),
        )

    def _consider(self, item: ItemResult, units: Sequence[Unit]) -> None:
        means = [_mean([score for score in column if score is not None]) for column in zip(*units, strict=True)]
        present = [score for score in means if score is not None]
        width = max(present) - min(present)
        if not width or (len(self._widest) == _WIDEST and width < self._widest[-1].range):
            return
        scores = dict(zip(self._judges, means, strict=True))
        self._widest.append(Disagreement(item.index, item.id, width, scores))
        self._widest.sort(key=lambda kept: (-kept.range, kept.index))
        del self._widest[_WIDEST:]

    def _alpha(self, seed: int) -> tuple[Estimate, Interval]:
        n = sum(self._given.values())
        level = self._ground.level
        counted = self._features(1)
        if self._ground.pairs:
            # Which response is called a must not show in the draws.
            counted = min(counted, self._features(-1))
        features, times = [found for found, _ in counted], [n for _, n in counted]
        interval = alpha_interval(features, times, level, seed=seed)
        if not n:
            return Estimate(None, 0, "no item has scores of two judges"), interval
        alpha = alpha_of_features(features, times, level)
        return Estimate(alpha, n, None if alpha is not None else "all scores are one and the same"), interval

    def _features(self, sign: int) -> list[tuple[tuple[float, ...], int]]:
        """Return what the items bring to alpha, in an order that depends neither on theirs nor on the judges'."""
        counts: Counter[tuple[float, ...]] = Counter()
        for units, times in self._given.items():
            read = [[self._ground.read(sign * score) for score in unit] for unit in units]
            # Fractions are added in one order, whatever the order of calls, judges and names.
            counts[alpha_features(sorted(map(sorted, read)), self._ground.values, self._ground.level)] += times
        return sorted(counts.items())

    def _pair(self, one: int, other: int, seed: int) -> JudgePair:
        first, second = self._judges[one], self._judges[other]
        counts = self._pairs[one, other]
        equal = [share for share, _ in counts]
        differences = [difference for _, difference in counts]
        times = list(counts.values())
        exact, n = mean(equal, times), sum(times)
        bootstrap = mirrored_bootstrap_mean if self._ground.pairs else cluster_bootstrap_mean
        clusters = [(difference,) for difference in differences]
        return JudgePair(
            first=first,
            second=second,
            exact=exact if n else Estimate(None, 0, _NO_BOTH),
            exact_interval=wilson_interval((exact.value or 0) * n, n),
            difference=mean(differences, times) if n else Estimate(None, 0, _NO_BOTH),
            interval=bootstrap(clusters, times, seed=derive_seed(seed, "judges", self._name, first, second)),
        )

    def _compared(self, both: Sequence[tuple[float, float]]) -> tuple[float, float]:
        """Return the share of equal scores among one item's, and the mean difference."""
        equal = sum(self._ground.read(x) == self._ground.read(y) for x, y in both)
        return equal / len(both), math.fsum([y - x for x, y in both]) / len(both)


def _mean(scores: Sequence[float]) -> float | None:
    return math.fsum(scores) / len(scores) if scores else None
