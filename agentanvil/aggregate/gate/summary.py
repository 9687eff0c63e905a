"""What the run's gate comes to. Field order is the order in `summary.json`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from agentanvil.aggregate.wording import plain, telling
from agentanvil.stats import Estimate, Interval

GateVerdict = Literal["pass", "fail", "inconclusive", "undecided", "none"]
GateRule = Literal["every_item", "worse_than_baseline", "interval"]
FigureVerdict = Literal["pass", "fail", "inconclusive"]


@dataclass(frozen=True, slots=True)
class KnownFailures:
    """Gated values, an item and a name each, against the baseline.

    `known` fell short there too, `newly_failing` did not, `newly_passing` fell short there and meet their threshold
    now. What has no verdict now is in none of them.
    """

    known: int
    newly_failing: int
    newly_passing: int


@dataclass(frozen=True, slots=True)
class GateFigure:
    """A figure of the run against its threshold: `pass` and `fail` where the whole interval is on one side.

    `value` is over the `n` items that have one; `interval` is two-sided at `confidence` and counts each of the
    `missing` items as the worst for its lower end and as the best for its upper one. `more_rows` says how many more
    would decide if they are like those that are there: 0 where verdicts that are missing are all it needs, None where
    it is decided or no number would do. `more_repeats` is there where the repeats' own spread keeps it open, and says
    how many more of each item would decide instead. `reason` says why it is inconclusive, None where it is not.
    """

    name: str
    value: float | None
    n: int
    missing: int
    interval: Interval
    threshold: float
    confidence: float
    verdict: FigureVerdict
    more_rows: int | None
    more_repeats: int | None
    reason: str | None

    @property
    def measured(self) -> str:
        """The value and its interval in words, with enough digits to see on which side of the threshold they lie."""
        if self.value is None or self.interval.low is None or self.interval.high is None:
            return f"{self.name} –"
        low, high = telling(self.interval.low, self.threshold), telling(self.interval.high, self.threshold)
        return f"{self.name} {telling(self.value, self.threshold)} [{low}, {high}]"

    @property
    def text(self) -> str:
        """The comparison in words."""
        if self.value is None:
            return f"{self.name}: {self.reason}"
        if self.verdict == "inconclusive":
            return f"{self.measured} against {plain(self.threshold)}: {self.reason}"
        side = "reaches" if self.verdict == "pass" else "is below"
        return f"{self.measured} {side} {plain(self.threshold)}"


@dataclass(frozen=True, slots=True)
class Gate:
    """The run's gate, by one rule.

    `every_item`: the run passes if every item meets every threshold (>=). `worse_than_baseline`: it passes if no item
    falls short of a threshold that it did not fall short of in the baseline; an item then counts as passed although it
    fails as it did before. `interval`: `figures` of the whole run decide; items pass or fail by the thresholds all the
    same, and fail nothing but the figures that count them. `thresholds` are on the rubric's scale; in a gate the judge
    holds them itself.

    `verdict` is `fail` as soon as one item falls short, `undecided` if items are left without a decision or
    none has one, `none` where the rubric has no gate. Of figures, `fail` if one fails, else `inconclusive` if one is.
    Where the judge must be calibrated and is not, nothing passes: `inconclusive`, unless it fails. `reasons` says in
    sentences why it did not pass, as far as no item's own report does. `pass_rate` is passed / (passed + failed),
    `interval` Wilson's; `lower_bound` and `upper_bound` count every undecided item as failed, or as passed.
    """

    rule: GateRule
    thresholds: Mapping[str, float]
    verdict: GateVerdict
    passed: int
    failed: int
    undecided: int
    not_applicable: int
    pass_rate: Estimate
    interval: Interval
    lower_bound: float | None
    upper_bound: float | None
    baseline: KnownFailures | None
    figures: tuple[GateFigure, ...]
    reasons: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class GateCircumstances:
    """What a gate must know beside the items: records of the data that could not be read, and doubts about the judge.

    `doubts` are the reasons for which its judge cannot be relied on, none where it can; they count only where
    calibration is `required`.
    """

    unread: int = 0
    required: bool = False
    doubts: tuple[str, ...] = ()
