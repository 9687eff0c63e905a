"""Probes that compare the readings of the same items before and after a change."""

from __future__ import annotations

import math
from collections import Counter

from agentanvil.aggregate.probe.findings import (
    ALPHA,
    LEVEL,
    POWER,
    SCORE_MARGIN,
    SHARE_MARGIN,
    Effect,
    Example,
    ProbeName,
)
from agentanvil.hashing import derive_seed
from agentanvil.stats import (
    BoundedScores,
    Estimate,
    Interval,
    bounded_mean_interval,
    clopper_pearson_interval,
    cluster_bootstrap_mean,
    least_detectable_difference_paired,
    mcnemar_exact,
    mean,
    paired_permutation_test,
    win_rate,
    win_rate_interval,
)

_EXAMPLES = 3
_FEWEST_FLIPS = 6
"""Items that must all go one way before an exact sign test falls below ALPHA: 2 · 0.5⁶ = 0.03."""


class Examples:
    """Keeps the items that changed most; of equals the first ones."""

    def __init__(self) -> None:
        self._kept: list[Example] = []

    def add(self, example: Example) -> None:
        """Offer one; what did not change is no example."""
        if example.before == example.after:
            return
        self._kept = sorted([*self._kept, example], key=lambda each: -abs(each.after - each.before))[:_EXAMPLES]

    @property
    def items(self) -> tuple[Example, ...]:
        return tuple(self._kept)


class DifferenceTally:
    """Counts how far one target's score moves, item by item."""

    def __init__(self, probe: ProbeName, measure: str, target: str, range_: float) -> None:
        self._names = (probe, measure, target)
        self._range = range_
        self._counts: Counter[float] = Counter()
        self._examples = Examples()
        self._missing = 0

    def add(self, item_id: str, before: float | None, after: float | None) -> None:
        """Count one item; one that lacks a reading is counted as missing."""
        if before is None or after is None:
            self._missing += 1
            return
        self._counts[round(after - before, 9) + 0.0] += 1
        self._examples.add(Example(item_id, before, after))

    def effect(self, seed: int) -> Effect:
        """Return the mean difference, after − before."""
        values, times = list(self._counts), list(self._counts.values())
        drawn = derive_seed(seed, *self._names)
        test = paired_permutation_test(values, times, seed=drawn)
        found = mean(values, times)
        return Effect(
            *self._names,
            unit="points",
            value=found,
            interval=self._interval(values, times, drawn),
            p_value=test.p_value,
            test=f"paired, {test.method}",
            margin=SCORE_MARGIN * self._range,
            contrast=self._bound(drawn),
            least=self._least(found),
            details={
                "raised": sum(n for value, n in self._counts.items() if value > 0),
                "lowered": sum(n for value, n in self._counts.items() if value < 0),
                "missing": self._missing,
            },
            examples=self._examples.items,
        )

    def _interval(self, values: list[float], times: list[int], seed: int) -> Interval:
        """A bootstrap of equal values has no width: where no item moved, the share that may move is bounded instead."""
        if set(values) != {0.0}:
            return cluster_bootstrap_mean([(value,) for value in values], times, seed=seed, level=LEVEL)
        most = self._range * (clopper_pearson_interval(0, sum(times), LEVEL).high or 0.0)
        return Interval(
            -most, most, LEVEL, "none moved: clopper-pearson bound of the share that moves, by the whole scale"
        )

    def _bound(self, seed: int) -> Interval | None:
        """Return an interval that knows of moves which few items have not shown, None where none moved at all.

        A resample of nine items that stay and one that moves has no other moves either.
        """
        if not any(self._counts):
            return None
        most = self._range
        counts: Counter[float] = Counter()
        for value, times in self._counts.items():
            counts[min(max(value, -most), most)] += times
        return bounded_mean_interval(BoundedScores(counts, -most, most), seed=seed, level=LEVEL)

    def _least(self, found: Estimate) -> Estimate:
        if found.value is None or found.n < 2:
            return Estimate(None, found.n, "fewer than two pairs")
        squares = math.fsum((value - found.value) ** 2 * n for value, n in self._counts.items())
        if not squares:
            return least_share(0, found.n)
        return least_detectable_difference_paired(found.n, math.sqrt(squares / (found.n - 1)), alpha=ALPHA, power=POWER)


class PreferenceTally:
    """Counts which of two versions of one response wins, where a judge compares them in both orders."""

    def __init__(self, probe: ProbeName, measure: str, target: str) -> None:
        self._names = (probe, measure, target)
        self._sides: Counter[int] = Counter()
        self._examples = Examples()
        self._missing = 0

    def add(self, item_id: str, favour: float | None) -> None:
        """Count one item; `favour` is positive where the changed version won."""
        if favour is None:
            self._missing += 1
            return
        self._sides[(favour > 0) - (favour < 0)] += 1
        self._examples.add(Example(item_id, 0.0, favour))

    def effect(self) -> Effect:
        """Return the win rate of the changed version, ties as half a win."""
        wins, ties, losses = self._sides[1], self._sides[0], self._sides[-1]
        n = wins + ties + losses
        return Effect(
            *self._names,
            unit="share won by the changed version",
            value=win_rate(wins, ties, losses),
            interval=win_rate_interval(wins, ties, losses, LEVEL),
            p_value=mcnemar_exact(wins, losses).p_value if n else None,
            test="sign test over items, exact",
            null=0.5,
            margin=SHARE_MARGIN / 2,
            least=least_share(wins + losses, n, half=True),
            details={"wins": wins, "ties": ties, "losses": losses, "missing": self._missing},
            examples=self._examples.items,
        )


def least_share(discordant: int, n: int, *, half: bool = False) -> Estimate:
    """Return the least difference of paired shares that n items let one find: (z + z) · √(discordant / n) / √n.

    At least as many as a sign test needs count as discordant. `half`: of a win rate, which moves half as far.
    """
    if n < _FEWEST_FLIPS:
        return Estimate(None, n, f"fewer than {_FEWEST_FLIPS} items show nothing in a sign test")
    shift = least_detectable_difference_paired(n, math.sqrt(discordant / n), alpha=ALPHA, power=POWER, kind="z").value
    least = max(_FEWEST_FLIPS / n, shift or 0.0)
    return Estimate(least / 2 if half else least, n)
