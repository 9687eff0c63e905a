"""What the YAML of a rubric may hold, as strict models; `build.py` turns them into the frozen records."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Discriminator, Field, StringConstraints, Tag

from agentanvil.rubric.gate_terms import GateTerms
from agentanvil.rubric.model import BuiltInRule
from agentanvil.rubric.wire_base import Id, Text, Wire
from agentanvil.rubric.wire_checks import CheckWire

RubricId = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*\z", max_length=64)]

# Where a key belongs, for people who put it in the wrong mapping.
HOMES: dict[str, str] = {
    "scale": "at the top level",
    "rules": "at the top level",
    "omit_built_in": "at the top level",
    "mode": "at the top level",
    "calls": "at the top level",
    "evidence": "at the top level",
    "overall": "at the top level",
    "gate": "at the top level: `gate: {overall: 4}`",
    "threshold": "at the top level as `gate: {<dimension>: 4}`",
    "confidence": "under `gate`",
    "pass_rate": "under `gate`",
    "mean": "under `gate` as `mean: {overall: 4}`",
    "win_rate": "under `gate`",
    "reply": "at the top level",
    "needs_source": "at the top level",
    "allow_expected": "at the top level",
    "min": "under `scale`",
    "max": "under `scale`",
    "question": "in one of `dimensions`",
    "anchors": "in one of `dimensions`",
    "scope": "in one of `dimensions`",
    "allow_na": "in one of `dimensions`",
    "check": "in one of `dimensions`",
    "in": "in a dimension's `scope`",
    "out": "in a dimension's `scope`",
    "what": "in an entry of `scope.out`",
    "judged_by": "in an entry of `scope.out`",
    "rule": "under `overall`",
    "weights": "under `overall`",
    "weight": "under `overall` as `weights: {<dimension>: 2}`",
    "format": "under `reply`",
    "marker": "under `reply`",
    "labels": "under `reply`",
    "select": "under `reply`",
    "pattern": "in a `check` of type regex or numeric_range",
    "flags": "in a `check` of type regex",
    "limit": "in a `check` of type max_words, or of another type that begins with max_",
    "on": "in a `check` of the text, not of the trace",
    "text": "in a `check` of type contains or not_contains",
    "schema": "in a `check` of type json_schema or argument_matches",
    "codes": "in a `check` of type language",
    "tool": "in a `check` of type must_call, must_not_call, max_calls or argument_matches",
    "tools": "in a `check` of type call_order",
    "strict": "in a `check` of type call_order",
    "function": "in a `check` of type python",
}


class ScaleWire(Wire):
    """`scale: {min: 1, max: 5}`."""

    min: int
    max: int


class ExclusionWire(Wire):
    """One entry of `scope.out`."""

    what: Text
    judged_by: Id | None = None


class ScopeWire(Wire):
    """`scope: {in: [...], out: [...]}`."""

    inside: list[Text] = Field(default_factory=list, alias="in")
    out: list[ExclusionWire] = Field(default_factory=list)


class DimensionWire(Wire):
    """A dimension that a judge scores."""

    id: Id
    question: Text
    anchors: dict[int, Text] = Field(default_factory=dict)
    scope: ScopeWire = ScopeWire()
    allow_na: bool = False


class CheckDimensionWire(Wire):
    """A dimension that code decides."""

    id: Id
    check: CheckWire


def dimension_tag(value: object) -> str:
    """Return the tag of a dimension's model: `check` makes the difference."""
    return "<checked>" if isinstance(value, dict) and "check" in value else "<judged>"


class OverallWire(Wire):
    """`overall: {rule: min}` or `{rule: weighted, weights: {...}}`."""

    rule: Literal["min", "weighted"]
    weights: dict[str, float] | None = None


class ReplyWire(Wire):
    """How a judge that cannot do JSON marks its verdict; what `labels` may hold is said in `replies.py`."""

    format: Literal["json", "label", "brackets"]
    marker: Text | None = None
    labels: object = None
    select: Literal["only", "first", "last"] = "only"


class GateWire(BaseModel):
    """`gate: {overall: 4, ...}`: thresholds by name, and beside them what the run as a whole must reach."""

    model_config = ConfigDict(strict=True, extra="allow", frozen=True, allow_inf_nan=False)
    __pydantic_extra__: dict[str, float] = Field(init=False)
    confidence: float | None = None
    pass_rate: float | None = None
    mean: dict[str, float] = Field(default_factory=dict)
    win_rate: float | None = None

    @property
    def thresholds(self) -> dict[str, float]:
        """What an item must reach."""
        return self.__pydantic_extra__

    @property
    def terms(self) -> GateTerms:
        """What the run must reach."""
        means = {name: float(threshold) for name, threshold in self.mean.items()}
        return GateTerms(self.confidence, self.pass_rate, means, self.win_rate)


GATE_TERMS = tuple(GateWire.model_fields)


class RubricWire(Wire):
    """The whole file."""

    version: int
    id: RubricId
    purpose: Text | None = None
    not_for: Text | None = None
    mode: Literal["absolute", "pairwise", "gate"] = "absolute"
    needs_source: bool = False
    allow_expected: bool = False
    scale: ScaleWire
    rules: list[Text] = Field(default_factory=list)
    omit_built_in: list[BuiltInRule] = Field(default_factory=list)
    calls: Literal["joint", "split"] = "joint"
    evidence: Literal["quoted", "pinpoint", "none"] = "quoted"
    reply: ReplyWire | None = None
    dimensions: list[
        Annotated[
            Annotated[DimensionWire, Tag("<judged>")] | Annotated[CheckDimensionWire, Tag("<checked>")],
            Discriminator(dimension_tag),
        ]
    ] = Field(min_length=1, max_length=64)
    overall: OverallWire = OverallWire(rule="min")
    gate: GateWire = GateWire()
