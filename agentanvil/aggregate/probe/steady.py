"""Probes of the plain readings alone: whether the same call says the same, and whether the place decides."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace

from agentanvil.aggregate.pair import PairResult
from agentanvil.aggregate.position import PositionTally
from agentanvil.aggregate.probe.findings import LEVEL, SHARE_MARGIN, Effect, Example
from agentanvil.aggregate.probe.paired import Examples, least_share
from agentanvil.aggregate.probe.values import SIDES, Values
from agentanvil.hashing import derive_seed
from agentanvil.stats import (
    Estimate,
    Interval,
    cluster_bootstrap_mean,
    mean,
    wilson_interval,
    win_rate,
    win_rate_interval,
)


class RepeatTally:
    """Counts how often one target's first two readings of an item are equal, and how far they lie apart."""

    def __init__(self, target: str) -> None:
        self._target = target
        self._squares: Counter[float] = Counter()
        self._examples = Examples()
        self._missing = 0

    def add(self, item_id: str, values: Values) -> None:
        """Count one item; it needs both readings."""
        first, again = values[:2] if len(values) > 1 else (None, None)
        if first is None or again is None:
            self._missing += 1
            return
        self._squares[round((first - again) ** 2 / 2, 9)] += 1
        self._examples.add(Example(item_id, first, again))

    def effect(self, seed: int) -> Effect:
        """Return the share of equal pairs. The variance of one reading is the mean of (x − y)² / 2."""
        n, same = self._squares.total(), self._squares[0.0]
        values, times = list(self._squares), list(self._squares.values())
        drawn = derive_seed(seed, "repeatability", self._target)
        variance = mean(values, times)
        spread = cluster_bootstrap_mean([(value,) for value in values], times, seed=drawn, level=LEVEL)
        return Effect(
            "repeatability",
            "same call again",
            self._target,
            unit="share of equal readings",
            value=Estimate(same / n, n) if n else Estimate(None, 0, "no item was read twice"),
            interval=wilson_interval(same, n, LEVEL),
            null=1.0,
            noise=True,
            details={
                "sd_of_one_reading": replace(variance, value=_root(variance.value)),
                "sd_interval": replace(spread, low=_root(spread.low), high=_root(spread.high)),
                "missing": self._missing,
            },
            examples=self._examples.items,
        )


class PlaceTally:
    """Counts, in both orders, the items that lean to the response shown first or second."""

    def __init__(self) -> None:
        self._position = PositionTally("both")
        self._items = self._repeats = self._flips = 0
        self._examples = Examples()

    def add(self, item_id: str, pair: PairResult) -> None:
        """Count one pair; one without any winner does not count."""
        self._position.add(pair)
        self._items += any(call.picked is not None for call in pair.calls)
        self._repeats += len(pair.repeats)
        self._flips += sum(repeat.consistency == "inconsistent" for repeat in pair.repeats)
        for one, other in zip(pair.calls[::2], pair.calls[1::2], strict=True):
            if one.winner is not None and other.winner is not None:
                self._examples.add(Example(item_id, SIDES[one.winner], SIDES[other.winner]))

    def effect(self) -> Effect:
        """Return how often the first place wins an item, one that the place does not decide counting as half."""
        found = self._position.result()
        first, leaning = found.test.successes, found.test.n
        sides = (first, self._items - leaning, leaning - first)
        return Effect(
            "position",
            "both orders",
            "winner",
            unit="share of items won by the first place",
            value=win_rate(*sides) if self._items else Estimate(None, 0, "no pair brought a winner"),
            interval=win_rate_interval(*sides, LEVEL),
            p_value=found.test.p_value if leaning or not self._items else 1.0,
            test="sign test over items, exact",
            null=0.5,
            margin=SHARE_MARGIN / 2,
            least=least_share(leaning, self._items, half=True),
            details={
                "first_picks": found.first,
                "second_picks": found.second,
                "ties": found.tie,
                "first_pick_rate": found.rate,
                "first_pick_interval": found.interval,
                "lean_first": first,
                "lean_second": leaning - first,
                "flip_rate": self._flip_rate(),
                "flip_interval": self._flip_interval(),
            },
            examples=self._examples.items,
        )

    def _flip_rate(self) -> Estimate:
        n = self._repeats
        return Estimate(self._flips / n, n) if n else Estimate(None, 0, "no pair has a winner in both orders")

    def _flip_interval(self) -> Interval:
        """The repeats of one item count as one."""
        share = self._repeats / self._items if self._items else 1.0
        return wilson_interval(self._flips / share, self._repeats / share, LEVEL)


def _root(value: float | None) -> float | None:
    return None if value is None else math.sqrt(value)
