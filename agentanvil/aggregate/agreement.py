"""Judge against human labels: how often each pattern of scores meets each pattern of labels."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from agentanvil.aggregate.frame import Frame
from agentanvil.aggregate.item import ItemResult
from agentanvil.aggregate.measure import Agreement, Measure
from agentanvil.aggregate.measured import Measured
from agentanvil.aggregate.trust import trust_of
from agentanvil.stats import (
    Estimate,
    Interval,
    adjacent_agreement,
    exact_agreement,
    kappa_features,
    kappa_items_interval,
    kappa_of_features,
    mean,
    wilson_interval,
)
from agentanvil.verdict import NotApplicable, Scored

# Below 0.6 agreement is at best "moderate" on the usual reading of kappa (Landis and Koch 1977).
KAPPA_BAR = 0.6
_Pairs = tuple[tuple[float, float], ...]


class AgreementTally:
    """Pairs of judge score and label for one dimension, or for the overall."""

    def __init__(self, measure: Measure) -> None:
        self._measure = measure
        self._items: Counter[_Pairs] = Counter()
        self._labelled = 0
        self._off_scale = 0

    def add(self, scores: Sequence[float], labels: Sequence[float]) -> None:
        """Count one item: the judge's scores of its repeats (none if missing) and the raters' labels."""
        if not labels:
            return
        self._labelled += 1
        usable = sorted([found for label in labels if (found := self._measure.label(label)) is not None])
        self._off_scale += len(labels) - len(usable)
        if scores and usable:
            read = [self._measure.read(score) for score in scores]
            self._items[tuple(sorted([(score, label) for score in read for label in usable]))] += 1

    def result(self) -> Agreement | None:
        """Return the agreement, None where nobody labelled anything."""
        if not self._labelled:
            return None
        counted = self._ordered()
        patterns, times = [pattern for pattern, _ in counted], [n for _, n in counted]
        kappa, interval = self._kappa(patterns, times)
        exact = _per_item([exact_agreement(*_columns(pairs)) for pairs in patterns], times)
        adjacent = _per_item([adjacent_agreement(*_columns(pairs)) for pairs in patterns], times)
        if self._measure.mode == "gate":
            adjacent = Estimate(None, 0, "true and false have no neighbours")
        verdict, reading, _ = trust_of(Measured.of(kappa, interval), KAPPA_BAR)
        return Agreement(
            labelled=self._labelled,
            off_scale=self._off_scale,
            exact=exact,
            exact_interval=wilson_interval((exact.value or 0) * exact.n, exact.n),
            adjacent=adjacent,
            kappa=kappa,
            kappa_weights=self._measure.weighting,
            kappa_interval=interval,
            verdict=verdict,
            reading=reading,
        )

    def _ordered(self) -> list[tuple[_Pairs, int]]:
        """Return the patterns in an order that depends neither on which item came first nor on the sides' names."""
        counted = sorted(self._items.items())
        if self._measure.mode != "pairwise":
            return counted
        turned = sorted(
            (tuple(sorted((-score, -label) for score, label in pattern)), times) for pattern, times in counted
        )
        return min(counted, turned)

    def _kappa(self, patterns: Sequence[_Pairs], times: Sequence[int]) -> tuple[Estimate, Interval]:
        values, quadratic = self._measure.values, self._measure.weighting == "quadratic"
        interval = kappa_items_interval(patterns, values, times, quadratic=quadratic)
        n = sum(times)
        if n == 0:
            return Estimate(None, 0, "no item has both a score and a label"), interval
        features = [kappa_features(pairs, values, quadratic=quadratic) for pairs in patterns]
        value = kappa_of_features(features, times, quadratic=quadratic).value
        reason = None if value is not None else "judge and labels are one and the same score on every item"
        return Estimate(value, n, reason), interval


def comparable_overalls(frame: Frame, result: ItemResult) -> tuple[list[float], list[float]]:
    """Return the minimum over the judged dimensions, for each repeat and for each rater, in their measure.

    Checks are left out on both sides, since code agrees with code. A repeat needs a verdict on each of them;
    raters need a label on each, except where the rubric's dimension may be not applicable and has none.
    """
    pairs = [(d, r) for d, r in zip(frame.dimensions, result.dimensions, strict=True) if d.kind == "judged"]
    columns: list[list[float | None]] = []
    for layout, _ in pairs:
        labels = result.labels.get(layout.id, ())
        if labels:
            measure = Measure.of(frame, layout.threshold)
            # Off the scale of scores a label still tells that the overall's label is off it too.
            columns.append([label if frame.mode == "absolute" else measure.label(label) for label in labels])
        elif not layout.allow_na:
            return [], []
    if not columns or len({len(column) for column in columns}) != 1:
        return [], []
    rows = [[label for label in row if label is not None] for row in zip(*columns, strict=True)]
    raters = [min(row) for row in rows if len(row) == len(columns)]
    return sorted([least for least in judged_minimums(frame, result) if least is not None]), raters


def judged_minimums(frame: Frame, result: ItemResult) -> list[float | None]:
    """Return the minimum over the judged dimensions in each repeat, None in one that lacks a verdict on any of them."""
    judged = [r for d, r in zip(frame.dimensions, result.dimensions, strict=True) if d.kind == "judged"]
    minimums: list[float | None] = []
    repeats = min([frame.repeats, *(len(found.cells) for found in judged)])
    for repeat in range(repeats):
        cells = [found.cells[repeat] for found in judged]
        scores = [cell.score for cell in cells if isinstance(cell, Scored)]
        whole = bool(scores) and all(isinstance(cell, Scored | NotApplicable) for cell in cells)
        minimums.append(min(scores) if whole else None)
    return minimums


def _columns(pairs: _Pairs) -> tuple[list[float], list[float]]:
    return [score for score, _ in pairs], [label for _, label in pairs]


def _per_item(shares: Sequence[Estimate], times: Sequence[int]) -> Estimate:
    found = mean([share.value for share in shares], times)
    return found if found.value is not None else Estimate(None, 0, "no item has both a score and a label")
