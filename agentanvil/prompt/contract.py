"""What a reply must hold, as data: the prompt states it, the schema enforces it, the parser checks it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Literal

from agentanvil.errors import RubricError, Where
from agentanvil.plan import CallPlan
from agentanvil.prompt.material import Material
from agentanvil.rubric import Dimension, EvidenceMode, Mode, ReplyFormat, Rubric

# A grammar-bound small model may otherwise go on quoting until its output limit; more quotes are still read.
MAX_QUOTES = 3

SLOTS = ("A", "B", "tie")
"""What `winner` may say: the response shown first, the one shown second, or neither."""
WINNER_KEY = "winner"
"""Where a judge of pairs names the better response: on a dimension, and at the end of a joint call over all of them.

Not `better`: measured on the local model, a key that begins with the letter of a slot draws the verdict to that slot.
"""
VERDICT_KEYS: Mapping[Mode, str] = {"absolute": "score", "gate": "pass", "pairwise": WINNER_KEY}
"""The key that holds a dimension's verdict."""
EVIDENCE_KEYS: Mapping[Mode, tuple[str, ...]] = {
    "absolute": ("evidence",),
    "gate": ("evidence",),
    "pairwise": ("evidence_a", "evidence_b"),
}


@dataclass(frozen=True, slots=True)
class ContractDimension:
    """One verdict of the reply: the scores on offer, and whether the judge may say `not applicable`.

    `scores` are the verdicts on offer as numbers, ascending: the scale's; 0 and 1 for a gate; in pairwise the steps by
    which slot A is better, negative where B is. `threshold` is what a gate asks for, and in an absolute grade the
    rubric's gate, against which the parser holds a `pass` that the judge volunteers.
    """

    id: str
    scores: tuple[int, ...]
    allow_na: bool = False
    threshold: float | None = None


@dataclass(frozen=True, slots=True)
class Contract:
    """The reply of one call.

    `nested`: one object per dimension under its id (a joint call); otherwise the single dimension's keys
    stand at the top. The keys of a verdict, in this order:

    - `absolute`: `evidence`, `reason`, `score`.
    - `gate`: `evidence`, `reason`, `pass` (a boolean).
    - `pairwise`: `evidence_a`, `evidence_b`, `reason`, `winner` (one of SLOTS), and `margin`, how many scores lie
      between the two, unless only one can. A nested reply ends with `winner` (one of SLOTS).

    Evidence is absent where its mode is `none`, and with it the reason of a pairwise verdict, so that the token that
    carries `winner` is written by what was read alone. A reply format other than JSON has no place for evidence to be
    read from: its mode is `none`.
    """

    dimensions: tuple[ContractDimension, ...]
    nested: bool
    evidence: EvidenceMode
    reply: ReplyFormat
    schema: Mapping[str, object]
    overall_rule: Literal["min", "weighted"] = "min"
    mode: Mode = "absolute"

    @property
    def verdict_key(self) -> str:
        """The key that holds a dimension's verdict."""
        return VERDICT_KEYS[self.mode]

    @property
    def evidence_keys(self) -> tuple[str, ...]:
        """The keys that hold a dimension's evidence; none where it is not asked for."""
        return EVIDENCE_KEYS[self.mode] if self.evidence != "none" else ()

    @property
    def reasoned(self) -> bool:
        """Whether a verdict comes with its reason."""
        return self.mode != "pairwise" or self.evidence != "none"

    @property
    def unsupported(self) -> int:
        """The verdict that stands where evidence is asked for and none was given: the lowest score, or a tie."""
        return 0 if self.mode == "pairwise" else self.dimensions[0].scores[0]

    @property
    def steps(self) -> int:
        """The largest margin between two responses that a reply can state."""
        return max(map(abs, self.reply.labels.values()), default=self.dimensions[0].scores[-1])


@dataclass(frozen=True, slots=True)
class Prompt:
    """The two messages of a call, the contract that its reply must meet, and what its quotes must stand in."""

    system: str
    user: str
    contract: Contract
    material: Material


def build_contract(rubric: Rubric, call: CallPlan) -> Contract:
    """Return what the reply to `call` must hold.

    Raises RubricError where a reply format that has room for one verdict meets several dimensions, and where its
    labels stand for verdicts that the mode does not offer.
    """
    chosen = tuple(d for d in rubric.judged if d.id in call.dimensions)
    as_json = rubric.reply.format == "json"
    if not as_json:
        _refuse_misfit(rubric, len(chosen))
    evidence: EvidenceMode = rubric.evidence if as_json else "none"
    scores = rubric.offered.values
    dimensions = tuple(ContractDimension(d.id, scores, d.allow_na, _threshold(rubric, d.id)) for d in chosen)
    contract = Contract(
        dimensions, len(chosen) > 1, evidence, rubric.reply, {}, overall_rule=rubric.overall.rule, mode=rubric.mode
    )
    return replace(contract, schema=_schema(contract))


def chosen_dimensions(rubric: Rubric, contract: Contract) -> tuple[Dimension, ...]:
    """Return the rubric's dimensions that a contract asks for, in its order."""
    wanted = {d.id for d in contract.dimensions}
    return tuple(d for d in rubric.judged if d.id in wanted)


def _threshold(rubric: Rubric, dimension: str) -> float | None:
    return rubric.threshold(dimension) if rubric.mode == "gate" else rubric.gate.get(dimension)


def _refuse_misfit(rubric: Rubric, dimensions: int) -> None:
    if dimensions > 1:
        raise RubricError(
            f"a reply in the format `{rubric.reply.format}` holds one verdict, but a joint call asks for {dimensions}",
            where=Where(file=rubric.file, key="reply.format"),
            hint="set `calls: split`, or let the judge reply in JSON",
        )
    offered = rubric.offered
    for label, score in rubric.reply.labels.items():
        if not offered.min <= score <= offered.max:
            raise RubricError(
                f"the label `{label}` stands for {score}, and mode {rubric.mode} offers {offered.min} to {offered.max}",
                where=Where(file=rubric.file, key="reply.labels"),
                hint="labels fit one mode; write those of this one",
            )


def _schema(contract: Contract) -> dict[str, object]:
    verdicts: dict[str, object] = {d.id: _closed(_verdict(d, contract)) for d in contract.dimensions}
    if not contract.nested:
        return _closed(_verdict(contract.dimensions[0], contract))
    winner: dict[str, object] = {WINNER_KEY: _choice(SLOTS)} if contract.mode == "pairwise" else {}
    return _closed({**verdicts, **winner})


def _verdict(dimension: ContractDimension, contract: Contract) -> dict[str, object]:
    quotes = {"type": "array", "items": {"type": "string"}, "maxItems": MAX_QUOTES}
    properties: dict[str, object] = dict.fromkeys(contract.evidence_keys, quotes)
    if contract.reasoned:
        properties["reason"] = {"type": "string"}
    return {**properties, **_value(dimension, contract)}


def _value(dimension: ContractDimension, contract: Contract) -> dict[str, object]:
    optional = dimension.allow_na
    if contract.mode == "gate":
        return {"pass": {"type": ["boolean", "null"] if optional else "boolean"}}
    if contract.mode == "absolute":
        return {"score": _number(dimension.scores, optional=optional)}
    margin = {"margin": _number(range(1, contract.steps + 1))} if contract.steps > 1 else {}
    return {"winner": _choice(SLOTS, optional=optional), **margin}


def _number(offered: Iterable[int], *, optional: bool = False) -> dict[str, object]:
    if optional:
        return {"type": ["integer", "null"], "enum": [*offered, None]}
    return {"type": "integer", "enum": [*offered]}


def _choice(offered: Iterable[str], *, optional: bool = False) -> dict[str, object]:
    if optional:
        return {"type": ["string", "null"], "enum": [*offered, None]}
    return {"type": "string", "enum": [*offered]}


def _closed(properties: dict[str, object]) -> dict[str, object]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }
