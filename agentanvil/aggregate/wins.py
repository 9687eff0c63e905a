"""Wins, ties and losses: the win rate of one side, and the ranking of several models."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from agentanvil.aggregate.pair import POINTS
from agentanvil.hashing import derive_seed
from agentanvil.stats import (
    Estimate,
    Interval,
    Strengths,
    bradley_terry,
    bradley_terry_intervals,
    mirrored_bootstrap_mean,
    win_rate,
    win_rate_interval,
)
from agentanvil.verdict import Winner

MAX_MODELS = 50
_KEY_DIGITS = 16
_UNDECIDED = 0
_CODES: dict[Winner | None, int] = {None: _UNDECIDED, "b": 1, "tie": 2, "a": 3}
_WINNERS = {code: winner for winner, code in _CODES.items() if winner is not None}
# Beyond this many numbers the tables of all kinds of groups would not fit beside a run.
_MAX_CELLS = 20_000_000
_TURNED: dict[Winner, Winner] = {"a": "b", "b": "a", "tie": "tie"}

Pattern = tuple[tuple[int, int], ...]
"""What one request brought: places of a square table, and the halves of a win there."""


@dataclass(frozen=True, slots=True)
class WinRate:
    """Items that response_a won, tied and lost; `missing` have no winner in this reading.

    `rate` is (wins + ties / 2) / n. `interval` is Tango's score interval, and a bootstrap over requests where several
    items answer the same one.
    """

    wins: int
    ties: int
    losses: int
    missing: int
    rate: Estimate
    interval: Interval


@dataclass(frozen=True, slots=True)
class RankedModel:
    """One model among several. `strength` is its log strength, the mean over all models being 0."""

    rank: int | None
    model: str
    strength: Estimate
    interval: Interval
    wins: int
    ties: int
    losses: int


@dataclass(frozen=True, slots=True)
class Ranking:
    """Models by the Bradley-Terry model, ties as half a win each; strongest first, by name where nothing tells more.

    `reason` says why there are no strengths, where there are none.
    """

    method: str
    items: int
    models: tuple[RankedModel, ...]
    reason: str | None = None


class WinTally:
    """Counts the winners of items in one reading; a few bytes an item, to know which items share a request."""

    def __init__(self) -> None:
        self._winners = bytearray()

    def add(self, winner: Winner | None) -> None:
        """Count one item."""
        self._winners.append(_CODES[winner])

    def winners(self) -> Iterator[Winner | None]:
        """Yield the winners in the order in which items came."""
        return (_WINNERS.get(code) for code in self._winners)

    def result(self, groups: Sequence[int], seed: int) -> WinRate:
        """Return the win rate; `groups` holds the request of each item."""
        count = self._winners.count
        wins, ties, losses = (count(_CODES[winner]) for winner in ("a", "tie", "b"))
        return WinRate(
            wins=wins,
            ties=ties,
            losses=losses,
            missing=count(_UNDECIDED),
            rate=win_rate(wins, ties, losses),
            interval=self._clustered(groups, seed) or win_rate_interval(wins, ties, losses),
        )

    def _clustered(self, groups: Sequence[int], seed: int) -> Interval | None:
        """Return the interval over requests, None where each has one item."""
        sums: dict[int, tuple[float, int]] = {}
        items = 0
        for group, winner in zip(groups, self.winners(), strict=True):
            if winner is not None:
                total, size = sums.get(group, (0.0, 0))
                sums[group] = total + POINTS[winner] - 0.5, size + 1
                items += 1
        if len(sums) == items:
            return None
        patterns = Counter(sums.values())
        clusters = [[total, *[0.0] * (size - 1)] for total, size in patterns]  # of the same sum and size
        found = mirrored_bootstrap_mean(clusters, list(patterns.values()), seed=seed)
        if found.low is None or found.high is None:
            return found
        if found.low == found.high:
            return Interval(None, None, found.level, found.method, "every request came to the same")
        return Interval(found.low + 0.5, found.high + 0.5, found.level, found.method)


class ModelTally:
    """Remembers which pair of models each item compares."""

    def __init__(self) -> None:
        self._pairs: dict[tuple[str, str] | None, int] = {None: 0}
        self._codes = array("H")
        self._models: set[str] = set()

    def add(self, models: Sequence[str | None]) -> None:
        """Count one item; a pair with an unnamed model counts as unknown, and so does one beyond MAX_MODELS."""
        pair = None
        if len(models) == 2 and models[0] is not None and models[1] is not None:
            more = self._models | {models[0], models[1]}
            if len(more) <= MAX_MODELS:
                self._models, pair = more, (models[0], models[1])
        self._codes.append(self._pairs.setdefault(pair, len(self._pairs)))

    @property
    def uniform(self) -> tuple[str, str] | None:
        """The two models that every item compares, None where items differ or some are unknown."""
        known = [pair for pair in self._pairs if pair is not None]
        return known[0] if len(known) == 1 and 0 not in self._codes else None

    def ranking(self, tally: WinTally, groups: Sequence[int], seed: int) -> Ranking | None:
        """Return the ranking, None where fewer than two different pairs of models are compared."""
        if len(self._pairs) < 3:
            return None
        pairs = list(self._pairs)
        games = (
            (group, pair, winner)
            for group, code, winner in zip(groups, self._codes, tally.winners(), strict=True)
            if winner is not None and (pair := pairs[code]) is not None and pair[0] != pair[1]
        )
        return rank(sorted(self._models), games, seed)


def rank(models: Sequence[str], games: Iterable[tuple[int, tuple[str, str], Winner]], seed: int) -> Ranking:
    """Rank models by games of (request, models of response_a and response_b, winner)."""
    place = {model: index for index, model in enumerate(models)}
    size = len(models)
    groups: dict[int, Counter[int]] = {}
    counts = [Counter[Winner]() for _ in models]
    for group, pair, winner in games:
        one, other = place[pair[0]], place[pair[1]]
        points = groups.setdefault(group, Counter())
        # In halves of a win, which are whole numbers.
        points[one * size + other] += int(2 * POINTS[winner])
        points[other * size + one] += 2 - int(2 * POINTS[winner])
        counts[one][winner] += 1
        counts[other][_TURNED[winner]] += 1
    patterns = Counter(tuple(sorted(points.items())) for points in groups.values())
    totals = [0.0] * (size * size)
    for pattern, times in patterns.items():
        for cell, halves in pattern:
            totals[cell] += halves * times / 2
    found = bradley_terry([totals[row * size : (row + 1) * size] for row in range(size)])
    ranked = _ranked(models, counts, found, _intervals(patterns, size, seed, found.reason))
    return Ranking("bradley-terry, ties as half a win", sum(c.total() for c in counts) // 2, ranked, found.reason)


def _ranked(
    models: Sequence[str], counts: Sequence[Counter[Winner]], found: Strengths, intervals: Sequence[Interval]
) -> tuple[RankedModel, ...]:
    strengths: Sequence[float | None] = found.values or [None] * len(models)
    ranked = [
        RankedModel(
            rank=None if own is None else 1 + sum(other is not None and other > own for other in strengths),
            model=model,
            strength=Estimate(own, count.total(), found.reason),
            interval=interval,
            wins=count["a"],
            ties=count["tie"],
            losses=count["b"],
        )
        for model, own, count, interval in zip(models, strengths, counts, intervals, strict=True)
    ]
    return tuple(sorted(ranked, key=lambda entry: (entry.rank or 0, entry.model)))


def _intervals(patterns: Counter[Pattern], size: int, seed: int, reason: str | None) -> list[Interval]:
    if len(patterns) * size * size > _MAX_CELLS:
        reason = "too many different requests and models to resample"
    if reason is not None:
        return [Interval(None, None, 0.95, "cluster bootstrap percentile", reason)] * size
    tables = [_table(pattern, size) for pattern in patterns]
    return bradley_terry_intervals(tables, list(patterns.values()), size, seed=derive_seed(seed, "ranking"))


def _table(pattern: Pattern, size: int) -> list[float]:
    """Return a pattern's points, one row of the square table after the other."""
    table = [0.0] * (size * size)
    for cell, halves in pattern:
        table[cell] = halves / 2
    return table


def group_key(group: str, item_id: str) -> int:
    """Return a number for the request that an item answers; an unnamed request is the item's own."""
    return derive_seed("group", group) if group else derive_seed("item", item_id)
