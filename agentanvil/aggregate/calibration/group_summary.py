"""What a calibration tells of groups of items, such as several responses to one request."""

from __future__ import annotations

from dataclasses import dataclass

from agentanvil.aggregate.measured import Measured


@dataclass(frozen=True, slots=True)
class WithinGroups:
    """The mean over groups of a measure within each. n counts the groups that have it, `undefined` those that do not.

    Resampled by group.
    """

    mean: Measured
    undefined: int


@dataclass(frozen=True, slots=True)
class TopOne:
    """Whether the judge finds the best of a group by the mean of its first `k` repeats.

    `groups` have a score for each of their labelled responses; the others are `dropped`. `correct` are those whose
    single highest mean belongs to a response with the highest label, and `tied` those that share the highest mean.
    """

    k: int
    groups: int
    dropped: int
    correct: int
    tied: int
    accuracy: Measured
    tie_rate: Measured


@dataclass(frozen=True, slots=True)
class Trials:
    """pass@k (one of k tries passes) and pass^k (all k do), the mean over groups with k tries or more."""

    k: int
    judge_pass_at: Measured
    judge_pass_hat: Measured
    label_pass_at: Measured
    label_pass_hat: Measured


@dataclass(frozen=True, slots=True)
class GroupedDimension:
    """One dimension, or the overall, within groups. `trials` is empty where nothing says what passes."""

    id: str
    groups: int
    spearman: WithinGroups
    kendall_tau_b: WithinGroups
    pearson: WithinGroups
    top_one: tuple[TopOne, ...]
    threshold: float | None
    trials: tuple[Trials, ...]


@dataclass(frozen=True, slots=True)
class Grouped:
    """What holds within the groups that share a value of `field`, such as several responses to one request."""

    field: str
    groups: int
    items: int
    without: int
    dimensions: tuple[GroupedDimension, ...]
