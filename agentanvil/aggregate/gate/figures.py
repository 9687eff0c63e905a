"""The figures on which a gate decides: each counted item by item, held against its threshold by its interval."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from typing import Protocol

from agentanvil.aggregate.frame import Frame
from agentanvil.aggregate.gate.decision import Measured, decided, hull, verdict_on
from agentanvil.aggregate.gate.summary import GateFigure
from agentanvil.aggregate.item import ItemResult
from agentanvil.aggregate.pair import POINTS
from agentanvil.aggregate.scores import ItemMean
from agentanvil.aggregate.wins import group_key
from agentanvil.hashing import derive_seed
from agentanvil.rubric import OVERALL, GatedFigure
from agentanvil.stats import (
    BoundedScores,
    Interval,
    bounded_mean_interval,
    clopper_pearson_interval,
    least_deciding,
    sample_sd,
    win_rate_against,
)
from agentanvil.verdict import Winner

MOST_REPEATS = 100
# A projection is a rough number anyway: fewer draws, and scores told apart less finely.
_PROJECTION_DRAWS = 2_000
_PROJECTION_VALUES = 50
_DECIMALS = 2
_DOMINATES = 0.5


class FigureTally(Protocol):
    """Counts one figure."""

    def add(self, result: ItemResult) -> None: ...

    def result(self, unread: int) -> GateFigure:
        """Decide; `unread` records of the data have no verdict either."""
        ...


def figure_tallies(frame: Frame, seed: int) -> tuple[FigureTally, ...]:
    """Return a tally for each figure that the gate of this run decides on; `seed` drives the draws of intervals."""
    return tuple(_tally(frame, figure, seed) for figure in frame.figures)


class ShareTally:
    """The share of items that pass, by `ItemResult.passed` alone; items to which nothing applies are left out."""

    def __init__(self, frame: Frame, figure: GatedFigure) -> None:
        self._frame, self._figure = frame, figure
        self._passed = self._failed = self._missing = 0

    def add(self, result: ItemResult) -> None:
        """Count one item."""
        if result.passed is not None:
            self._passed += result.passed
            self._failed += not result.passed
        elif result.gap is not None:
            self._missing += 1

    def result(self, unread: int) -> GateFigure:
        """Decide by the exact interval."""
        n, missing, level = self._passed + self._failed, self._missing + unread, self._frame.confidence

        def gauge(times: float, missing: float) -> Interval:
            passed, items = self._passed * times, n * times + missing
            worst = clopper_pearson_interval(passed, items, level)
            return hull(worst, clopper_pearson_interval(passed + missing, items, level))

        value = self._passed / n if n else None
        return decided(self._figure, self._frame.confidence, Measured(value, n, missing, gauge(1, missing), gauge))


class MeanTally:
    """The mean of the overall or of a dimension over items; it keeps a count for each different score."""

    def __init__(self, frame: Frame, figure: GatedFigure, seed: int) -> None:
        self._frame, self._figure, self._seed = frame, figure, seed
        names = [layout.id for layout in frame.dimensions]
        self._place = None if figure.of == OVERALL else names.index(figure.of)
        self._scores: Counter[float] = Counter()
        self._missing = 0
        self._mean, self._within = ItemMean(), ItemMean()

    def add(self, result: ItemResult) -> None:
        """Count one item."""
        if self._place is None:
            state, value, pattern = result.state, result.overall, result.repeat_overalls
        else:
            found = result.dimensions[self._place]
            state, value = found.state, found.score
            pattern = () if found.spread is None else found.spread.scores
        if value is None:
            self._missing += state != "not_applicable"
            return
        self._mean.add(value)
        self._scores[round(value, _DECIMALS) if self._frame.expects else value] += 1
        spread = sample_sd(pattern).value
        self._within.add(None if spread is None else spread**2)

    def result(self, unread: int) -> GateFigure:
        """Decide by the interval of a mean on a scale."""
        mean, missing = self._mean.result(), self._missing + unread
        scores, level = self._bounded(self._scores, missing), self._frame.confidence
        own = bounded_mean_interval(scores, seed=self._seed, level=level)
        coarse = _coarse(self._scores, self._frame)

        def gauge(times: float, missing: float) -> Interval:
            return self._projected({score: n * times for score, n in coarse.items()}, missing)

        def repeats() -> int | None:
            return self._more_repeats(coarse)

        return decided(self._figure, self._frame.confidence, Measured(mean.value, mean.n, missing, own, gauge, repeats))

    def _on_scale(self, score: float) -> float:
        """Return a score without what arithmetic left beyond the scale's ends."""
        return min(max(score, float(self._frame.scale.min)), float(self._frame.scale.max))

    def _bounded(self, counts: Mapping[float, float], missing: float) -> BoundedScores:
        scale = self._frame.scale
        return BoundedScores(counts, scale.min, scale.max, missing)

    def _projected(self, counts: Mapping[float, float], missing: float) -> Interval:
        scores, level = self._bounded(counts, missing), self._frame.confidence
        return bounded_mean_interval(scores, seed=self._seed, level=level, draws=_PROJECTION_DRAWS)

    def _more_repeats(self, counts: Mapping[float, float]) -> int | None:
        """Return how many more readings of each item would decide, where their spread is most of what is seen.

        An item's score varies by what the item is and by 1/R of what one reading is; more repeats take from the second
        part alone. The scores are drawn together to their mean accordingly.
        """
        now, within, n = self._frame.repeats, self._within.result().value, math.fsum(counts.values())
        if within is None or now < 2 or n < 2 or self._frame.plan.adaptive:
            return None
        mean = math.fsum(score * times for score, times in counts.items()) / n
        total = math.fsum(times * (score - mean) ** 2 for score, times in counts.items()) / (n - 1)
        if not total or within / now < _DOMINATES * total:
            return None

        def decides(repeats: int) -> bool:
            drawn = min(1.0, math.sqrt((max(0.0, total - within / now) + within / repeats) / total))
            shrunk: defaultdict[float, float] = defaultdict(float)
            for score, times in counts.items():
                shrunk[self._on_scale(mean + (score - mean) * drawn)] += times
            return verdict_on(self._projected(shrunk, 0), self._figure.threshold) != "inconclusive"

        needed = least_deciding(decides, now, MOST_REPEATS)
        return None if needed is None else needed - now


class WinTally:
    """The win rate of response_a by the chosen reading, ties as half a win; missing results count for either side.

    Items that answer the same request depend on each other: they count as if they all said the same, which is as few
    comparisons as they can be worth.
    """

    def __init__(self, frame: Frame, figure: GatedFigure) -> None:
        self._frame, self._figure = frame, figure
        self._winners: Counter[Winner] = Counter()
        self._groups: Counter[int] = Counter()
        self._missing = 0

    def add(self, result: ItemResult) -> None:
        """Count one pair."""
        pair = result.pair
        winner = None if pair is None else pair.winner if self._frame.reading == "verdict" else pair.expected
        if pair is None or winner is None:
            self._missing += result.state != "not_applicable"
            return
        self._winners[winner] += 1
        self._groups[group_key(pair.group, result.id)] += 1

    def result(self, unread: int) -> GateFigure:
        """Decide by Tango's interval, or by an exact one that reaches farther."""
        n, missing = self._winners.total(), self._missing + unread
        wins, ties, losses = (self._winners[winner] for winner in ("a", "tie", "b"))
        worth = _effective(self._groups.values()) / n if n else 1.0
        at, level = self._figure.threshold, self._frame.confidence

        def gauge(times: float, missing: float) -> Interval:
            won, tied, lost, unknown = (n * worth for n in (wins * times, ties * times, losses * times, missing))
            worst = win_rate_against(won, tied, lost + unknown, at, level=level)
            return hull(worst, win_rate_against(won + unknown, tied, lost, at, level=level))

        points = sum(POINTS[winner] * times for winner, times in self._winners.items())
        value = points / n if n else None
        return decided(self._figure, self._frame.confidence, Measured(value, n, missing, gauge(1, missing), gauge))


def _tally(frame: Frame, figure: GatedFigure, seed: int) -> FigureTally:
    if figure.kind == "mean":
        return MeanTally(frame, figure, derive_seed(seed, "gate", figure.name))
    return ShareTally(frame, figure) if figure.kind == "pass_rate" else WinTally(frame, figure)


def _effective(sizes: Iterable[int]) -> float:
    """Return how many independent items clusters of these sizes are worth if all of a cluster say the same (Kish)."""
    sizes = list(sizes)
    return sum(sizes) ** 2 / sum(size * size for size in sizes)


def _coarse(scores: Counter[float], frame: Frame) -> dict[float, float]:
    """Return the counts with at most some fifty different scores."""
    if len(scores) <= _PROJECTION_VALUES:
        return dict(scores)
    step = (frame.scale.max - frame.scale.min) / _PROJECTION_VALUES
    merged: Counter[float] = Counter()
    for score, times in scores.items():
        merged[frame.scale.min + round((score - frame.scale.min) / step) * step] += times
    return {min(score, float(frame.scale.max)): times for score, times in merged.items()}
