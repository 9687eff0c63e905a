"""The summary of a run: everything a person or a pipeline reads about it. It depends on the outcomes alone.

Never on arrival order, wall clock, cache or machine. Field order is the order in `summary.json`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from agentanvil.aggregate.frame import Kind, Reading, Rule
from agentanvil.aggregate.gate.summary import Gate
from agentanvil.aggregate.measure import Agreement
from agentanvil.aggregate.pair_summary import Pairwise
from agentanvil.aggregate.panel.summary import PanelSummary
from agentanvil.aggregate.readings import ReadingSummary
from agentanvil.aggregate.usage import Usage
from agentanvil.aggregate.variance import Variance
from agentanvil.rubric import Mode
from agentanvil.stats import Estimate, Interval
from agentanvil.verdict import State

FORMAT = 1


@dataclass(frozen=True, slots=True)
class Coverage:
    """How many of the expected cells hold a verdict, scored or not applicable. `share` is None without cells."""

    expected: int
    covered: int
    share: float | None
    states: Mapping[State, int]


@dataclass(frozen=True, slots=True)
class CallWays:
    """How the scores of one dimension differ between joint and split calls, over items that have both.

    Each repeat is compared with the same repeat asked the other way, and each item counts once. `difference` is split
    minus joint, `equal` the share of equal scores, `missing` counts items that lack a score in either way.
    """

    id: str
    joint: Estimate
    split: Estimate
    difference: Estimate
    interval: Interval
    equal: Estimate
    missing: int


@dataclass(frozen=True, slots=True)
class Straddle:
    """Two neighbouring anchors between which the repeats of some items could not decide: wording to be tightened.

    The texts are the rubric's, empty at an end of the scale that has no anchor. `share` is that of the items with two
    scored repeats or more, `interval` Wilson's. It speaks of the run's own verdicts: where several judges make them
    together, of the jury's, not of where its judges differ from each other.
    """

    below: int
    above: int
    below_text: str
    above_text: str
    items: int
    share: Estimate
    interval: Interval
    examples: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class WideItem:
    """One of the items whose repeats lie furthest apart; `scores` ascend."""

    index: int
    id: str
    scores: tuple[float, ...]
    mean: float
    population_sd: float
    sample_sd: float | None
    range: float
    modal_agreement: float | None
    straddles: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class ScoreSummary:
    """What the overall and every dimension share.

    `mean` is over the items' scores, each item once; `interval` resamples items. `distribution` counts scores (of
    cells for a dimension; of items for the overall, rounded down to the scale, in pairwise away from the tie).
    `repeat_sd` is pooled within items, `unanimous` the share of items whose repeats are all equal, `modal_agreement`
    the mean share of the commonest score: these three over items with two or more scored repeats. `variance` is there
    where judges read items more than once: in repeats, in both orders, or by several judges.
    """

    id: str
    mean: Estimate
    interval: Interval
    distribution: Mapping[str, int]
    states: Mapping[State, int]
    repeat_sd: Estimate
    unanimous: Estimate
    modal_agreement: Estimate
    agreement: Agreement | None
    variance: Variance | None


@dataclass(frozen=True, slots=True)
class OverallSummary(ScoreSummary):
    """The overall; `states` counts items, and repeat figures are of the overall that each repeat alone gives."""

    rule: Rule
    weights: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class DimensionSummary(ScoreSummary):
    """One dimension; `states` counts cells, and `codes` the reasons for missing ones by state.

    `evidence_found` is the share of verdicts whose quotes all occur in the judged text, among those that were
    looked up; `no_evidence` counts verdicts that came without any. `widest` names the items whose repeats
    disagree most. `mixed` counts items on which some repeats
    scored and others said `not applicable`. `pass_rate` is there for checks and in a gate: items, all of whose repeats
    passed; by expected scores, items with a mean probability of one half or more. `readings` is there where a judge
    decides.
    """

    kind: Kind
    codes: Mapping[State, Mapping[str, int]]
    evidence_found: Estimate
    no_evidence: int
    flags: Mapping[str, int]
    straddled: tuple[Straddle, ...]
    widest: tuple[WideItem, ...]
    mixed: int
    pass_rate: Estimate | None
    pass_interval: Interval | None
    readings: ReadingSummary | None


@dataclass(frozen=True, slots=True)
class WorstItem:
    """One of the items with the lowest overall: its lowest dimension, and what the judge wrote in its lowest repeat."""

    index: int
    id: str
    overall: float
    dimension: str
    score: float
    evidence: tuple[str, ...]
    evidence_found: bool | None
    reason: str


@dataclass(frozen=True, slots=True)
class MissingItem:
    """One of the items that lack a verdict, and why."""

    index: int
    id: str
    dimension: str
    state: State
    code: str
    message: str


@dataclass(frozen=True, slots=True)
class MoreRepeats:
    """Of a run that repeats more often where readings disagree: how many `items` got more than the `first` repeats.

    Figures of how far repeats lie apart are of the first ones alone, since these are not chosen by what they say.
    """

    first: int
    items: int


@dataclass(frozen=True, slots=True)
class Summary:
    """One run. `repeats` are the most that an item may have, `more_repeats` is there where not every item has as many.

    `reading` tells what scores, gates and winners were read from. `pairwise` is there in that mode, `call_ways` where
    joint and split calls were both asked, `panel` where there are several judges: `judge` is the first of them then,
    and all other figures are those of what they came to together. `usage` is that of all judges. `flags` counts items
    whose row or replies carry a flag; `notes` are sentences for people.
    """

    format: int
    rubric_id: str
    rubric_hash: str
    mode: Mode
    judge: str
    repeats: int
    more_repeats: MoreRepeats | None
    reading: Reading
    items: int
    coverage: Coverage
    gate: Gate
    overall: OverallSummary
    dimensions: tuple[DimensionSummary, ...]
    pairwise: Pairwise | None
    call_ways: tuple[CallWays, ...]
    panel: PanelSummary | None
    worst: tuple[WorstItem, ...]
    missing: tuple[MissingItem, ...]
    usage: Usage
    flags: Mapping[str, int]
    notes: tuple[str, ...]
