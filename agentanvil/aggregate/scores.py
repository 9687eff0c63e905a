"""Counting score patterns: a run's statistics need how often each pattern of repeats occurs, not the rows."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence

from agentanvil.aggregate.frame import Frame
from agentanvil.aggregate.wording import plain
from agentanvil.hashing import derive_seed
from agentanvil.stats import (
    Estimate,
    Interval,
    cluster_bootstrap_mean,
    mean,
    mirrored_bootstrap_mean,
    modal_agreement,
    pooled_sd,
    unanimous_share,
)


class ScoreTally:
    """Counts item scores, and the patterns of the repeats behind them (ascending scores of one item).

    `signed`: the sign says which of two responses a score favours, so every figure must mirror.
    """

    def __init__(self, *, signed: bool = False) -> None:
        self._signed = signed
        self._items: Counter[tuple[float, tuple[float, ...]]] = Counter()

    def add(self, score: float, pattern: tuple[float, ...]) -> None:
        """Count one item."""
        self._items[score, pattern] += 1

    def patterns(self) -> Counter[tuple[float, ...]]:
        """Return how many items have each pattern of repeats."""
        counts: Counter[tuple[float, ...]] = Counter()
        for (_, pattern), n in self._items.items():
            counts[pattern] += n
        return counts

    def mean(self) -> Estimate:
        """Return the mean over items."""
        return mean([score for score, _ in self._items], list(self._items.values()))

    def interval(self, *seed: str | int) -> Interval:
        """Return the cluster-bootstrap interval of the mean over items."""
        clusters = [(score,) for score, _ in self._items]
        bootstrap = mirrored_bootstrap_mean if self._signed else cluster_bootstrap_mean
        return bootstrap(clusters, list(self._items.values()), seed=derive_seed(*seed))

    def reaching(self, score: float) -> Estimate:
        """Return the share of items with at least this score."""
        n = sum(self._items.values())
        reached = sum(times for (found, _), times in self._items.items() if found >= score)
        return Estimate(reached / n, n) if n else Estimate(None, 0, "no item was decided")

    def repeat_sd(self) -> Estimate:
        """Return the repeats' standard deviation, pooled within items."""
        return pooled_sd(*self._groups())

    def unanimous(self) -> Estimate:
        """Return the share of items whose repeats are all equal."""
        return unanimous_share(*self._groups())

    def modal_agreement(self) -> Estimate:
        """Return the mean share of the commonest score over items with two or more repeats."""
        patterns, times = self._groups()
        shares = mean([modal_agreement(pattern).value for pattern in patterns], times)
        return shares if shares.value is not None else Estimate(None, 0, "no item with two values")

    def of_items(self, frame: Frame) -> dict[str, int]:
        """Return how many items lie at each score, rounded down to the scale; away from 0 where the sign matters."""
        counts = _empty(frame)
        for (score, _), n in self._items.items():
            counts[str(math.ceil(score) if self._signed and score > 0 else math.floor(score))] += n
        return counts

    def _groups(self) -> tuple[Sequence[tuple[float, ...]], Sequence[int]]:
        return [pattern for _, pattern in self._items], list(self._items.values())


def cell_count(patterns: Mapping[tuple[float, ...], int]) -> int:
    """Return the number of scored cells in patterns that occur so often each."""
    return sum(len(pattern) * n for pattern, n in patterns.items())


def cell_distribution(frame: Frame, patterns: Mapping[tuple[float, ...], int]) -> dict[str, int]:
    """Return how many cells hold each score."""
    counts = _empty(frame)
    for pattern, n in patterns.items():
        for score in pattern:
            key = plain(score)
            counts[key] = counts.get(key, 0) + n
    return counts


def _empty(frame: Frame) -> dict[str, int]:
    return {str(value): 0 for value in frame.scale.values}
