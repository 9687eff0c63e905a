"""What a reply must hold, as data: the prompt states it, the schema enforces it, the parser checks it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from agentanvil.errors import RubricError, Where
from agentanvil.plan import CallPlan
from agentanvil.rubric import Dimension, EvidenceMode, Mode, ReplyFormat, Rubric

# A grammar-bound small model may otherwise go on quoting until its output limit; more quotes are still read.
MAX_QUOTES = 3


@dataclass(frozen=True, slots=True)
class ContractDimension:
    """One verdict of the reply: the scores on offer, and whether the judge may say `not applicable`.

    `scores` are the verdicts on offer as numbers, ascending; in pairwise a score is positive where slot A is better.
    `threshold` is the rubric's gate for it. It is not part of the reply: the parser holds a `pass` that the judge
    volunteers against it.
    """

    id: str
    scores: tuple[int, ...]
    allow_na: bool = False
    threshold: float | None = None

    @property
    def lowest(self) -> int:
        """The score of a verdict without evidence."""
        return self.scores[0]


@dataclass(frozen=True, slots=True)
class Contract:
    """The reply of one call.

    `nested`: one object per dimension under its id (a joint call); otherwise the single dimension's keys
    stand at the top. In each: `evidence` (absent where the mode is `none`), `reason`, then `score`. A reply
    format other than JSON has no place for evidence to be read from: its mode is `none`.
    """

    dimensions: tuple[ContractDimension, ...]
    nested: bool
    evidence: EvidenceMode
    reply: ReplyFormat
    schema: Mapping[str, object]
    overall_rule: Literal["min", "weighted"] = "min"
    mode: Mode = "absolute"


@dataclass(frozen=True, slots=True)
class Prompt:
    """The two messages of a call, and the contract that its reply must meet."""

    system: str
    user: str
    contract: Contract


def build_contract(rubric: Rubric, call: CallPlan) -> Contract:
    """Return what the reply to `call` must hold.

    Raises RubricError where a reply format that has room for one verdict meets several dimensions.
    """
    chosen = tuple(d for d in rubric.judged if d.id in call.dimensions)
    as_json = rubric.reply.format == "json"
    if len(chosen) > 1 and not as_json:
        raise RubricError(
            f"a reply in the format `{rubric.reply.format}` holds one verdict, but a joint call asks for {len(chosen)}",
            where=Where(file=rubric.file, key="reply.format"),
            hint="set `calls: split`, or let the judge reply in JSON",
        )
    nested = len(chosen) > 1
    evidence: EvidenceMode = rubric.evidence if as_json else "none"
    dimensions = tuple(ContractDimension(d.id, rubric.offered.values, d.allow_na, rubric.gate.get(d.id)) for d in chosen)
    schema = _schema(dimensions, evidence, nested=nested)
    return Contract(dimensions, nested, evidence, rubric.reply, schema, rubric.overall.rule, rubric.mode)


def chosen_dimensions(rubric: Rubric, contract: Contract) -> tuple[Dimension, ...]:
    """Return the rubric's dimensions that a contract asks for, in its order."""
    wanted = {d.id for d in contract.dimensions}
    return tuple(d for d in rubric.judged if d.id in wanted)


def _schema(dimensions: tuple[ContractDimension, ...], evidence: EvidenceMode, *, nested: bool) -> dict[str, object]:
    verdicts = {d.id: _verdict(d, evidence) for d in dimensions}
    return _closed(dict(verdicts)) if nested else verdicts[dimensions[0].id]


def _verdict(dimension: ContractDimension, evidence: EvidenceMode) -> dict[str, object]:
    properties: dict[str, object] = {}
    if evidence != "none":
        properties["evidence"] = {"type": "array", "items": {"type": "string"}, "maxItems": MAX_QUOTES}
    properties["reason"] = {"type": "string"}
    properties["score"] = (
        {"type": ["integer", "null"], "enum": [*dimension.scores, None]}
        if dimension.allow_na
        else {"type": "integer", "enum": list(dimension.scores)}
    )
    return _closed(properties)


def _closed(properties: dict[str, object]) -> dict[str, object]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }
