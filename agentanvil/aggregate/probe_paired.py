"""Probes that compare the readings of the same items before and after a change."""

from __future__ import annotations

import math
from collections import Counter

from agentanvil.aggregate.probe import ALPHA, LEVEL, POWER, SCORE_MARGIN, SHARE_MARGIN, Effect, Example, ProbeName
from agentanvil.hashing import derive_seed
from agentanvil.stats import (
    Estimate,
    cluster_bootstrap_mean,
    least_detectable_difference_paired,
    mcnemar_exact,
    mean,
    paired_permutation_test,
    wilson_interval,
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
            interval=cluster_bootstrap_mean([(value,) for value in values], times, seed=drawn, level=LEVEL),
            p_value=test.p_value,
            test=f"paired, {test.method}",
            margin=SCORE_MARGIN * self._range,
            least=self._least(found),
            details={
                "raised": sum(n for value, n in self._counts.items() if value > 0),
                "lowered": sum(n for value, n in self._counts.items() if value < 0),
                "missing": self._missing,
            },
            examples=self._examples.items,
        )

    def _least(self, found: Estimate) -> Estimate:
        if found.value is None or found.n < 2:
            return Estimate(None, found.n, "fewer than two pairs")
        squares = math.fsum((value - found.value) ** 2 * n for value, n in self._counts.items())
        spread = math.sqrt(squares / (found.n - 1))
        return least_detectable_difference_paired(found.n, spread, alpha=ALPHA, power=POWER)


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


class PlantedTally:
    """Counts what instructions of one kind raise, against what the same call asked again raises by itself.

    An item that stands at the `top` already cannot rise and is no trial. `to_top`: only what reaches the top has risen.
    """

    def __init__(self, kind: str, top: float, *, to_top: bool) -> None:
        self._kind = kind
        self._top = top
        self._to_top = to_top
        self._examples = Examples()
        self._n = self._rises = self._floor = self._planted_only = self._again_only = 0
        self._missing = self._at_top = self._lowered = 0

    def add(self, item_id: str, before: float | None, again: float | None, after: float | None) -> None:
        """Count one item: its reading, that of the same call again, and that with the instruction planted."""
        if before is None or again is None or after is None:
            self._missing += 1
            return
        if before >= self._top:
            self._at_top += 1
            return
        raised, by_itself = self._is_rise(before, after), self._is_rise(before, again)
        self._n += 1
        self._rises += raised
        self._floor += by_itself
        self._planted_only += raised and not by_itself
        self._again_only += by_itself and not raised
        self._lowered += after < before
        if raised:
            self._examples.add(Example(item_id, before, after))

    def effect(self) -> Effect:
        """Return the share that rises, and how far it lies above the share that rises by itself."""
        n, planted, again = self._n, self._planted_only, self._again_only
        excess = win_rate_interval(planted, n - planted - again, again, LEVEL)
        if excess.low is not None and excess.high is not None:
            method = "tango score, of the difference to the repeat"
            excess = type(excess)(2 * excess.low - 1, 2 * excess.high - 1, LEVEL, method)
        nothing = "every item stands at the top already, none can rise" if self._at_top else "no item was read"
        return Effect(
            "injection",
            "planted instruction",
            self._kind,
            unit="share flipped to the planted side" if self._to_top else "share of items raised",
            value=Estimate(self._rises / n, n) if n else Estimate(None, 0, nothing),
            interval=wilson_interval(self._rises, n, LEVEL),
            p_value=mcnemar_exact(planted, again).p_value if n else None,
            test="mcnemar exact, planted against asked again",
            null=self._floor / n if n else 0.0,
            margin=SHARE_MARGIN,
            contrast=excess,
            least=least_share(planted + again, n),
            upward=True,
            details=self._details(),
            examples=self._examples.items,
        )

    def _is_rise(self, before: float, after: float) -> bool:
        return after >= self._top if self._to_top else after > before

    def _details(self) -> dict[str, object]:
        return {
            "raised": self._rises,
            "lowered": self._lowered,
            "raised_by_itself": self._floor,
            "at_top": self._at_top,
            "missing": self._missing,
        }


def least_share(discordant: int, n: int, *, half: bool = False) -> Estimate:
    """Return the least difference of paired shares that n items let one find: (z + z) · √(discordant / n) / √n.

    At least as many as a sign test needs count as discordant. `half`: of a win rate, which moves half as far.
    """
    if not n:
        return Estimate(None, 0, "no items")
    shift = least_detectable_difference_paired(n, math.sqrt(discordant / n), alpha=ALPHA, power=POWER, kind="z").value
    least = max(_FEWEST_FLIPS / n, shift or 0.0)
    return Estimate(least / 2 if half else least, n)
