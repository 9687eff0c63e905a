"""Counting score patterns: a run's statistics need how often each pattern of repeats occurs, not the rows."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence

from agentanvil.aggregate.as_read import nearest
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
    population_sd,
    unanimous_share,
)

# Sums are exact, however the items come: they are kept in units of 2**-60.
_UNIT_BITS = 60
# Expected scores are hardly ever equal. An interval over rows needs them no finer than this.
_DECIMALS = 2


class ItemMean:
    """The mean of one number an item, whatever their order; `without` is said where no item has any."""

    def __init__(self, without: str = "no values") -> None:
        self._without = without
        self._sum = self._n = 0

    def add(self, value: float | None) -> None:
        """Count one item, unless it has no number."""
        if value is not None:
            self._sum += round(math.ldexp(value, _UNIT_BITS))
            self._n += 1

    def result(self) -> Estimate:
        """Return the mean."""
        if not self._n:
            return Estimate(None, 0, self._without)
        return Estimate(math.ldexp(self._sum / self._n, -_UNIT_BITS), self._n)


class _Sums:
    """What is counted of scores where hardly two are equal, so that patterns of repeats would be as many as items."""

    def __init__(self) -> None:
        self.mean = ItemMean()
        self.nearest: Counter[float] = Counter()
        self._items = self._freedom = self._squares = self._unanimous = 0
        self._modal: Counter[float | None] = Counter()

    def add(self, score: float, pattern: tuple[float, ...]) -> None:
        """Count one item and the ascending scores of its repeats."""
        self.mean.add(score)
        self.nearest[nearest(score)] += 1
        n = len(pattern)
        if n < 2:
            return
        self._items += 1
        self._freedom += n - 1
        self._squares += round(math.ldexp((population_sd(pattern).value or 0.0) ** 2 * n, _UNIT_BITS))
        self._unanimous += pattern[0] == pattern[-1]
        self._modal[modal_agreement(pattern).value] += 1

    def sd(self) -> Estimate:
        """Return the standard deviation, pooled within items as `pooled_sd` does."""
        if not self._items:
            return pooled_sd(())
        return Estimate(math.sqrt(math.ldexp(self._squares / self._freedom, -_UNIT_BITS)), self._items)

    def unanimous(self) -> Estimate:
        """Return the share of items whose repeats are all equal."""
        return Estimate(self._unanimous / self._items, self._items) if self._items else unanimous_share(())

    def modal(self) -> Estimate:
        """Return the mean share of the commonest score."""
        return mean(list(self._modal), list(self._modal.values()))


class ScoreTally:
    """Counts item scores, and the patterns of the repeats behind them (ascending scores of one item).

    `signed`: the sign says which of two responses a score favours, so every figure must mirror. `continuous`: scores
    are no few whole numbers but lie anywhere between. Then no pattern is kept, and the interval is of scores rounded to
    two decimals; all else is of the scores as they are.
    """

    def __init__(self, *, signed: bool = False, continuous: bool = False) -> None:
        self._signed = signed
        self._items: Counter[tuple[float, tuple[float, ...]]] = Counter()
        self._sums = _Sums() if continuous else None

    def add(self, score: float, pattern: tuple[float, ...]) -> None:
        """Count one item."""
        if self._sums is None:
            self._items[score, pattern] += 1
        else:
            self._items[round(score, _DECIMALS), ()] += 1
            self._sums.add(score, pattern)

    def patterns(self) -> Counter[tuple[float, ...]]:
        """Return how many items have each pattern of repeats."""
        counts: Counter[tuple[float, ...]] = Counter()
        for (_, pattern), n in self._items.items():
            counts[pattern] += n
        return counts

    def mean(self) -> Estimate:
        """Return the mean over items."""
        if self._sums is not None:
            return self._sums.mean.result()
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
        return self._sums.sd() if self._sums is not None else pooled_sd(*self._groups())

    def unanimous(self) -> Estimate:
        """Return the share of items whose repeats are all equal."""
        return self._sums.unanimous() if self._sums is not None else unanimous_share(*self._groups())

    def modal_agreement(self) -> Estimate:
        """Return the mean share of the commonest score over items with two or more repeats."""
        if self._sums is not None:
            shares = self._sums.modal()
        else:
            patterns, times = self._groups()
            shares = mean([modal_agreement(pattern).value for pattern in patterns], times)
        return shares if shares.value is not None else Estimate(None, 0, "no item with two values")

    def of_items(self, frame: Frame) -> dict[str, int]:
        """Return how many items lie at each score, rounded down to the scale; away from 0 where the sign matters.

        Expected scores count at the nearest one.
        """
        counts = _empty(frame)
        if self._sums is not None:
            return counts | {plain(score): n for score, n in self._sums.nearest.items()}
        for (score, _), n in self._items.items():
            counts[str(math.ceil(score) if self._signed and score > 0 else math.floor(score))] += n
        return counts

    def _groups(self) -> tuple[Sequence[tuple[float, ...]], Sequence[int]]:
        return [pattern for _, pattern in self._items], list(self._items.values())


def cell_count(patterns: Mapping[tuple[float, ...], int]) -> int:
    """Return the number of scored cells in patterns that occur so often each."""
    return sum(len(pattern) * n for pattern, n in patterns.items())


def cell_distribution(frame: Frame, patterns: Mapping[tuple[float, ...], int]) -> dict[str, int]:
    """Return how many cells hold each score; one between two, as a jury's may be, counts at the nearer.

    Halfway that is the higher one, in pairwise the one away from the tie, so that both sides see the same.
    """
    counts = _empty(frame)
    for pattern, n in patterns.items():
        for score in pattern:
            mirrored = frame.mode == "pairwise" and score < 0
            counts[plain((-nearest(-score) if mirrored else nearest(score)) + 0.0)] += n
    return counts


def _empty(frame: Frame) -> dict[str, int]:
    return {str(value): 0 for value in frame.scale.values}
