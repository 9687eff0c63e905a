"""The rubric as frozen records. What the YAML may hold is in `wire.py`; here is what it means."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from agentanvil.rubric.gate_terms import GateTerms

EvidenceMode = Literal["quoted", "pinpoint", "none"]
CallMode = Literal["joint", "split"]
Mode = Literal["absolute", "pairwise", "gate"]
BuiltInRule = Literal["only_what_is_there", "round_down", "ignore_style", "ignore_position", "source_alone"]
"""The names of the rules that every judge is told unless a rubric omits them; `prompt/` has their words."""

OVERALL = "overall"
"""The name under which the overall is gated and reported; no dimension may have it."""


@dataclass(frozen=True, slots=True)
class Scale:
    """Whole numbers from `min` to `max`, both offered to the judge."""

    min: int
    max: int

    @property
    def values(self) -> tuple[int, ...]:
        return tuple(range(self.min, self.max + 1))

    def normalise(self, score: float) -> float:
        """Return (score - min) / (max - min), in 0..1 for a score on the scale."""
        return (score - self.min) / (self.max - self.min)

    def offered(self, mode: Mode) -> Scale:
        """Return the verdicts on offer in a mode, as numbers.

        `absolute`: the scale itself. `gate`: 1 for pass, 0 for fail. `pairwise`: how many steps of the scale
        response_a is better than response_b, negative where it is worse, 0 for a tie.
        """
        if mode == "gate":
            return Scale(0, 1)
        if mode == "pairwise":
            return Scale(self.min - self.max, self.max - self.min)
        return self


@dataclass(frozen=True, slots=True)
class Exclusion:
    """Something a dimension must not judge, and the sibling dimension that owns it, if any."""

    what: str
    judged_by: str | None = None
    line: int | None = None


@dataclass(frozen=True, slots=True)
class Scope:
    """What a dimension judges (`inside`) and what it expressly does not (`outside`)."""

    inside: tuple[str, ...] = ()
    outside: tuple[Exclusion, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.inside or self.outside)


@dataclass(frozen=True, slots=True)
class Dimension:
    """One quality that the judge scores on `anchors` (score → what must be there, highest first)."""

    id: str
    question: str
    anchors: Mapping[int, str]
    scope: Scope = field(default_factory=Scope)
    allow_na: bool = False
    line: int | None = None


@dataclass(frozen=True, slots=True)
class CheckSpec:
    """A deterministic check: `type` from the registry in `checks/`, `on` names the field it reads.

    `on` is `response`, `request`, `source`, or a dotted path into the row such as `meta.ticket`.
    """

    type: str
    on: str = "response"
    params: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class CheckDimension:
    """One quality that code decides: a pass scores the scale's maximum, a failure its minimum."""

    id: str
    check: CheckSpec
    line: int | None = None


@dataclass(frozen=True, slots=True)
class Overall:
    """How an item's overall follows from its dimensions; weights only where the rule is `weighted`."""

    rule: Literal["min", "weighted"] = "min"
    weights: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ReplyFormat:
    """How a judge that cannot do JSON marks its verdict.

    `label`: a token from the closed list right after `marker` (at a word boundary), or the whole reply where
    there is no marker. `brackets`: a token between [[ and ]]. `labels` maps each accepted token (aliases
    included) to its score, in pairwise a signed one (positive: slot A is better); empty means the numbers on
    offer. With `select: only`, two different matches are ambiguous; `first` and `last` take one of them, and
    without a marker any line may begin with it.
    """

    format: Literal["json", "label", "brackets"] = "json"
    marker: str = ""
    labels: Mapping[str, int] = field(default_factory=dict)
    select: Literal["only", "first", "last"] = "only"


@dataclass(frozen=True, slots=True)
class Rubric:
    """A loaded contract. `hash` covers its meaning, not its layout or comments; `text` is the file itself.

    `omit_built_in` names the built-in rules that the judge is not told.
    `mode` is what is asked with it: a score per dimension, which of two responses is better and by how much, or
    whether a threshold is met. Another mode of the same contract is `dataclasses.replace(rubric, mode=...)`.
    `gate` holds what an item must reach, by dimension or `overall`, `terms` what the run must.
    """

    id: str
    version: int
    scale: Scale
    dimensions: tuple[Dimension | CheckDimension, ...]
    rules: tuple[str, ...] = ()
    omit_built_in: tuple[BuiltInRule, ...] = ()
    calls: CallMode = "joint"
    evidence: EvidenceMode = "quoted"
    overall: Overall = field(default_factory=Overall)
    gate: Mapping[str, float] = field(default_factory=dict)
    terms: GateTerms = field(default_factory=GateTerms)
    reply: ReplyFormat = field(default_factory=ReplyFormat)
    allow_expected: bool = False
    needs_source: bool = False
    mode: Mode = "absolute"
    purpose: str = ""
    not_for: str = ""
    hash: str = ""
    text: str = ""
    file: str | None = None

    @property
    def offered(self) -> Scale:
        """The verdicts on offer in this mode, as numbers."""
        return self.scale.offered(self.mode)

    def threshold(self, dimension: str) -> float:
        """Return what a dimension must reach to pass: its own gate, and the overall's where that is the minimum.

        Without either it is the top of the scale.
        """
        gates = [self.gate[dimension]] if dimension in self.gate else []
        if OVERALL in self.gate and self.overall.rule == "min":
            gates.append(self.gate[OVERALL])
        return max(gates, default=float(self.scale.max))

    @property
    def judged(self) -> tuple[Dimension, ...]:
        """The dimensions that go to a judge, in the rubric's order."""
        return tuple(d for d in self.dimensions if isinstance(d, Dimension))

    @property
    def checked(self) -> tuple[CheckDimension, ...]:
        """The dimensions that code decides, in the rubric's order."""
        return tuple(d for d in self.dimensions if isinstance(d, CheckDimension))
