"""Judge and people within groups of items: which response of several is best, and what tries of one task come to.

A group keeps a few numbers an item, since only at the end is it known to be whole.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from agentanvil.aggregate.calibration.group_summary import GroupedDimension, TopOne, Trials, WithinGroups
from agentanvil.aggregate.calibration.targets import Sides, Target
from agentanvil.aggregate.frame import Frame
from agentanvil.aggregate.measured import Measured
from agentanvil.hashing import derive_seed
from agentanvil.rubric import OVERALL
from agentanvil.stats import (
    Association,
    Estimate,
    Interval,
    cluster_bootstrap_mean,
    kendall_tau_b,
    mean,
    mean_pass_at_k,
    mean_pass_hat_k,
    pass_at_k,
    pass_hat_k,
    pearson,
    spearman,
    wilson_interval,
)

# Means of equal scores must be equal however they were added up.
_DECIMALS = 9
_MOST_TRIALS = 32
_METHOD = "cluster bootstrap percentile"
_MAJORITY = math.nextafter(0.5, 1.0)
_ASSOCIATIONS = {"spearman": spearman, "kendall_tau_b": kendall_tau_b, "pearson": pearson}


@dataclass(frozen=True, slots=True)
class _Member:
    """One item of a group: its score and label, and its scores repeat by repeat, None where one is missing."""

    score: float | None
    label: float
    repeats: tuple[float | None, ...]


class GroupTally:
    """Counts one target within groups. `threshold` is what passes, None where nothing says so."""

    def __init__(self, target: Target, frame: Frame) -> None:
        self.target = target
        self._threshold = _threshold(target, frame)
        # Of several raters of a boolean, more than half must have said true.
        self._label_threshold = _MAJORITY if frame.mode == "gate" else (self._threshold or 0.0)
        self._groups: defaultdict[str, list[_Member]] = defaultdict(list)

    def add(self, group: str, sides: Sides) -> None:
        """Count one item of a group; without a label on the scale it is no part of it."""
        label = sides.label
        if label is not None:
            self._groups[group].append(_Member(sides.score, label, sides.repeats))

    def result(self, seed: int, level: float) -> GroupedDimension:
        """Return what holds within the groups; resampling is by group."""
        groups = [self._groups[name] for name in sorted(self._groups)]
        figures = _GroupFigures(groups, derive_seed(seed, "groups", self.target.id), level)
        return GroupedDimension(
            id=self.target.id,
            groups=len(groups),
            spearman=figures.within("spearman"),
            kendall_tau_b=figures.within("kendall_tau_b"),
            pearson=figures.within("pearson"),
            top_one=figures.top_one(),
            threshold=self._threshold,
            trials=() if self._threshold is None else figures.trials(self._threshold, self._label_threshold),
        )


@dataclass(frozen=True, slots=True)
class _GroupFigures:
    groups: list[list[_Member]]
    seed: int
    level: float

    def within(self, name: Association) -> WithinGroups:
        """Return the mean of a correlation over the groups in which it is defined."""
        found: list[float] = []
        for members in self.groups:
            scores, labels = [member.score for member in members], [member.label for member in members]
            value = _ASSOCIATIONS[name](scores, labels).value
            if value is not None:
                found.append(value)
        return WithinGroups(self._mean(found, name), len(self.groups) - len(found))

    def top_one(self) -> tuple[TopOne, ...]:
        """Return whether the best response is found by the first repeat, by the first two, and so on."""
        most = max((len(member.repeats) for members in self.groups for member in members), default=0)
        return tuple(self._top_one(k) for k in range(1, most + 1))

    def trials(self, threshold: float, label_threshold: float) -> tuple[Trials, ...]:
        """Return pass@k and pass^k of the tries that a group's items are, by the judge and by the labels."""
        judge = [_passes([m.score for m in members if m.score is not None], threshold) for members in self.groups]
        label = [_passes([m.label for m in members], label_threshold) for members in self.groups]
        most = min(_MOST_TRIALS, max((tries for tries, _ in label), default=0))
        return tuple(
            Trials(
                k=k,
                judge_pass_at=self._trials(judge, k, "at"),
                judge_pass_hat=self._trials(judge, k, "hat"),
                label_pass_at=self._trials(label, k, "at"),
                label_pass_hat=self._trials(label, k, "hat"),
            )
            for k in range(1, most + 1)
        )

    def _top_one(self, k: int) -> TopOne:
        kept = correct = tied = dropped = 0
        for members in self.groups:
            labels = [member.label for member in members]
            if len(members) < 2 or min(labels) == max(labels):
                continue
            means = [_mean_of(member.repeats[:k]) for member in members]
            scores = [score for score in means if score is not None]
            if len(scores) < len(means):
                dropped += 1
                continue
            kept += 1
            best = [place for place, score in enumerate(scores) if score == max(scores)]
            tied += len(best) > 1
            correct += len(best) == 1 and labels[best[0]] == max(labels)
        return TopOne(k, kept, dropped, correct, tied, self._share(correct, kept), self._share(tied, kept))

    def _share(self, part: int, whole: int) -> Measured:
        estimate = Estimate(part / whole, whole) if whole else Estimate(None, 0, "no group has a best response to find")
        return Measured.of(estimate, wilson_interval(part, whole, self.level))

    def _trials(self, tasks: Sequence[tuple[int, int]], k: int, which: str) -> Measured:
        of_tasks, of_task = (mean_pass_at_k, pass_at_k) if which == "at" else (mean_pass_hat_k, pass_hat_k)
        tried = [task for task in tasks if task[0]]
        found = of_tasks(tried, k)
        if found.value is None:
            return Measured.of(found, Interval(None, None, self.level, _METHOD, found.reason))
        shares = [value for n, c in tried if (value := of_task(n, c, k).value) is not None]
        return Measured.of(found, self._interval(shares, f"pass {which} {k}"))

    def _mean(self, values: Sequence[float], name: str) -> Measured:
        found = mean(values)
        estimate = found if found.value is not None else Estimate(None, 0, "no group has it")
        return Measured.of(estimate, self._interval(values, name))

    def _interval(self, values: Sequence[float], name: str) -> Interval:
        if len(values) > 1 and min(values) == max(values):
            reason = "all groups have the same: there is no spread to judge the error by"
            return Interval(None, None, self.level, _METHOD, reason)
        return cluster_bootstrap_mean(
            [[value] for value in values], seed=derive_seed(self.seed, name), level=self.level
        )


def _passes(values: Sequence[float], threshold: float) -> tuple[int, int]:
    return len(values), sum(value >= threshold for value in values)


def _mean_of(scores: Sequence[float | None]) -> float | None:
    found = [score for score in scores if score is not None]
    return round(math.fsum(found) / len(found), _DECIMALS) if found else None


def _threshold(target: Target, frame: Frame) -> float | None:
    """Return the least score that passes: one half or more of a gate's booleans, else what the rubric's gate says."""
    if frame.mode == "gate":
        return next((least for name, place, least in frame.gated if place == target.place), 1.0)
    name = OVERALL if target.place is None else target.id
    return frame.thresholds.get(name)
