"""What two runs over the same items come to beside each other. Field order is the order in `comparison.json`.

Every difference is B − A, of items that have a number in both runs. A higher number is the better one; in pairwise all
numbers are response_a's.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from agentanvil.rubric import Mode
from agentanvil.stats import Estimate, Interval, SignificanceTest

FigureKind = Literal["overall", "dimension", "pass_rate", "preference"]
Finding = Literal["worse", "no_worse", "inconclusive"]
RegressionVerdict = Literal["pass", "fail", "missing", "inconclusive"]


@dataclass(frozen=True, slots=True)
class Unlikeness:
    """Something that the two runs' instruments do not have in common."""

    what: str
    a: str
    b: str

    @property
    def text(self) -> str:
        """The difference in words."""
        return f"{self.what} differs: {self.a} / {self.b}"


@dataclass(frozen=True, slots=True)
class ComparedRun:
    """One of the two runs. `state` is how it stands: what is not complete lacks verdicts that were never asked for."""

    run: str
    fingerprint: str
    state: str
    rubric: str
    rubric_hash: str
    data: str
    data_hash: str
    judge: str
    repeats: int
    items: int


@dataclass(frozen=True, slots=True)
class Unpaired:
    """Items of both runs that this figure cannot pair: a verdict is missing in A alone, in B alone, or in both.

    `not_applicable` are those that a judge found not applicable in either run, none of which counts as missing.
    """

    a: int
    b: int
    both: int
    not_applicable: int

    @property
    def missing(self) -> int:
        """How many items lack a verdict."""
        return self.a + self.b + self.both


@dataclass(frozen=True, slots=True)
class Bounds:
    """What the difference would be if every missing verdict were the worst for B, and if it were the best."""

    low: float | None
    high: float | None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class ComparedFigure:
    """One number of every item in both runs, over the `n` items that have it in both, in `clusters` of one request.

    `wins` are the items on which B is better. `test` is of no difference (with a margin, of a drop by just the margin),
    `adjusted_p` its p-value by Holm over all figures that are `tested`. `least_detectable` is the difference that this
    many clusters find with probability 0.8 at alpha 0.05. `correlation` is Spearman's of both runs' numbers. `finding`
    is whether B is worse than A by more than the margin.
    """

    id: str
    kind: FigureKind
    tested: bool
    n: int
    clusters: int
    mean_a: Estimate
    mean_b: Estimate
    difference: Estimate
    interval: Interval
    test: SignificanceTest
    adjusted_p: float | None
    finding: Finding
    wins: int
    ties: int
    losses: int
    least_detectable: Estimate
    correlation: Estimate
    correlation_interval: Interval
    unpaired: Unpaired
    bounds: Bounds


@dataclass(frozen=True, slots=True)
class SharedItems:
    """The join of both runs by item id. `examples` name the first of those that only one run has.

    `other_requests` are items whose request differs between the runs; None where `unchecked` says why nobody knows.
    """

    both: int
    only_a: int
    only_b: int
    only_a_examples: tuple[str, ...]
    only_b_examples: tuple[str, ...]
    other_requests: int | None
    unchecked: str | None


@dataclass(frozen=True, slots=True)
class RegressedSide:
    """What one run said of a regressed item: its numbers, the judge's evidence and reason, and the response it read.

    `score`, `evidence` and `reason` are of the regression's dimension; the texts are None where the data is not at
    hand. In pairwise `response` is response_a, and what is the rival's stands in `rival_evidence` and `rival_response`.
    """

    overall: float | None
    score: float | None
    evidence: tuple[str, ...]
    evidence_found: bool | None
    reason: str
    rival_evidence: tuple[str, ...] = ()
    response: str | None = None
    rival_response: str | None = None


@dataclass(frozen=True, slots=True)
class Regression:
    """One of the items that got worse by most. `dimension` is the one that fell furthest, None where none fell."""

    id: str
    drop: float | None
    dimension: str | None
    a: RegressedSide
    b: RegressedSide
    request: str | None = None


@dataclass(frozen=True, slots=True)
class RegressionGate:
    """Whether B may replace A: `fail` where a figure is worse, `missing` where too few items of A have a pair,
    `inconclusive` where a figure is.

    `margin` is the largest drop that counts as none, in the figures' own units. `coverage` is the share of A's items
    with a pair, on the figure where it is least.
    """

    margin: float
    min_coverage: float
    coverage: float | None
    verdict: RegressionVerdict
    reasons: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two runs side by side. `brand` is there where they are not like with like, and stands in every report.

    `normalised` is whether scores were put on 0–1, because the two scales differ.
    """

    format: int
    mode: Mode
    a: ComparedRun
    b: ComparedRun
    brand: str | None
    differences: tuple[Unlikeness, ...]
    normalised: bool
    items: SharedItems
    only_a_dimensions: tuple[str, ...]
    only_b_dimensions: tuple[str, ...]
    correction: str
    figures: tuple[ComparedFigure, ...]
    gate: RegressionGate
    regressions: tuple[Regression, ...]
    texts_missing: str | None
    notes: tuple[str, ...]
