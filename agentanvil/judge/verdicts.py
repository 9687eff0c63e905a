"""What reading a reply yields: a verdict for each dimension, or the reason why there is none."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a judge said about one dimension. `score` was on offer; None means `not applicable`, which was too."""

    score: int | None
    evidence: tuple[str, ...] = ()
    reason: str = ""
    flags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ParseFault:
    """Why a reply, or one dimension of it, brought no verdict.

    Codes: `unparseable`, `schema_mismatch`, `missing_verdict`, `type`, `bad_label` (of form, may be asked again);
    `ambiguous`, `duplicate_key`, `non_finite`, `out_of_range`, `refusal`, `blocked`, `truncated`, `empty_content`;
    and the code of the CallError where no reply came.
    """

    code: str
    message: str


@dataclass(frozen=True, slots=True)
class Parsed:
    """A reply that could be read: for each dimension of the contract a verdict or a fault of its own.

    `flags` concern the reply as a whole, such as `contradiction` for an `overall` that its scores do not give.
    """

    verdicts: Mapping[str, Verdict | ParseFault]
    flags: tuple[str, ...] = field(default=())

    @property
    def complete(self) -> bool:
        """Whether every dimension has its verdict."""
        return not any(isinstance(verdict, ParseFault) for verdict in self.verdicts.values())
