"""What several judges of one run come to. Field order is the order in `summary.json`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from agentanvil.aggregate.jury import JuryRule
from agentanvil.aggregate.measure import Agreement
from agentanvil.aggregate.usage import Usage
from agentanvil.plan import Role
from agentanvil.stats import Estimate, Interval, Level
from agentanvil.verdict import Because, State

Sample = Literal["every item", "random share"]


@dataclass(frozen=True, slots=True)
class PanelJudge:
    """One judge on its own. `share` is that of the items which a seed chose for it, None where it is asked about all.

    `items` counts those that it was due on; `states` counts its cells and `codes` the reasons for missing ones.
    `labels` holds it against human labels, by dimension (`winner` in pairwise); a judge that is escalated to over its
    random share alone, since the others are no fair sample.
    """

    judge: str
    role: Literal["first"] | Role
    share: float | None
    items: int
    states: Mapping[State, int]
    codes: Mapping[State, Mapping[str, int]]
    labels: Mapping[str, Agreement]
    usage: Usage


@dataclass(frozen=True, slots=True)
class JudgePair:
    """Two judges over the items that both scored, each item counting once.

    `exact` is the share of equal scores (in pairwise of the same winner), `difference` the second's score minus the
    first's.
    """

    first: str
    second: str
    exact: Estimate
    exact_interval: Interval
    difference: Estimate
    interval: Interval


@dataclass(frozen=True, slots=True)
class Disagreement:
    """One of the items on which judges lie furthest apart: each judge's mean score, None where it has none."""

    index: int
    id: str
    range: float
    scores: Mapping[str, float | None]


@dataclass(frozen=True, slots=True)
class JudgeAgreement:
    """How far the judges agree on one dimension, or on the overall.

    `alpha` is Krippendorff's at `level`, over calls on which two or more judges brought a score; its n and its interval
    count items, whose calls depend on each other. Dimensions: verdicts on one call, whatever the run reads, ordinal on
    scales of up to eleven scores and else interval; in a gate booleans and in pairwise winners, both nominal. Overall:
    that which each judge alone gives to an item, at interval level (gate and pairwise as before). `mixed` counts items
    on which some judges scored a call and others found it not applicable.
    """

    id: str
    level: Level
    alpha: Estimate
    interval: Interval
    pairs: tuple[JudgePair, ...]
    mixed: int
    widest: tuple[Disagreement, ...]


@dataclass(frozen=True, slots=True)
class Escalation:
    """What the second judge was asked, and what came of it.

    `items` counts those it was asked about by their most telling reason (an item can have several), `calls` its calls,
    and `left_out` calls that were due and not made. `drawn` counts items of the random share that it was asked about,
    whatever the first judge said. `replaced` cells hold its verdict; in `changed` ones it is not the first judge's, and
    in `filled` ones the first had none. `decided_otherwise` counts items whose pass, or winner, became another one.

    Costs are in US dollars, None where a price is unknown. `everything_cost` is what asking the second judge alone
    about every call would have cost, by the mean of those it was asked; `saved` is that less what both judges cost,
    below 0 where escalating was the dearer way.
    """

    items: Mapping[Because, int]
    calls: Mapping[Because, int]
    left_out: Mapping[Because, int]
    drawn: int
    replaced: int
    changed: int
    filled: int
    decided_otherwise: int
    first_cost: float | None
    second_cost: float | None
    everything_cost: float | None
    saved: float | None


@dataclass(frozen=True, slots=True)
class PanelSummary:
    """The judges of a run that has several. `rule` and `quorum` are a jury's.

    `agreement` has the dimensions that a judge decides, then the overall. `agreement_over` says on which items it is
    measured: where a judge is asked because another was unsure, on a random share alone, since the unsure ones are no
    fair sample.
    """

    role: Role
    rule: JuryRule | None
    quorum: int | None
    judges: tuple[PanelJudge, ...]
    agreement_over: Sample
    agreement: tuple[JudgeAgreement, ...]
    escalation: Escalation | None
