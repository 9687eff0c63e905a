"""What a reply must hold, as data: the prompt states it, the schema enforces it, the parser checks it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from agentanvil.rubric import EvidenceMode, ReplyFormat


@dataclass(frozen=True, slots=True)
class ContractDimension:
    """One verdict of the reply: the scores on offer, and whether the judge may say `not applicable`."""

    id: str
    scores: tuple[int, ...]
    allow_na: bool = False


@dataclass(frozen=True, slots=True)
class Contract:
    """The reply of one call.

    `nested`: one object per dimension under its id (a joint call); otherwise the single dimension's keys
    stand at the top. In each: `evidence` (absent where the mode is `none`), `reason`, then `score`.
    """

    dimensions: tuple[ContractDimension, ...]
    nested: bool
    evidence: EvidenceMode
    reply: ReplyFormat
    schema: Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Prompt:
    """The two messages of a call, the contract that its reply must meet, and the text quotes may come from."""

    system: str
    user: str
    contract: Contract
