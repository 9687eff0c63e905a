"""What reading a reply yields: a verdict for each dimension, or the reason why there is none."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from agentanvil.plan.order import Slot


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a judge said about one dimension. `score` was on offer; None means `not applicable`, which was too.

    Pairwise, all as the judge saw it: `score` is positive where slot A is better, `evidence` is from slot A and
    `rival_evidence` from slot B. `preference` is the probability that the judge names slot A.

    `expected_score` is the mean of the scores on offer, none in pairwise, and `entropy` that of their distribution in
    0..1; `label_mass` is the probability that all verdicts on offer had. None where no probabilities are known.
    """

    score: int | None
    evidence: tuple[str, ...] = ()
    reason: str = ""
    flags: tuple[str, ...] = ()
    rival_evidence: tuple[str, ...] = ()
    preference: float | None = None
    label_mass: float | None = None
    expected_score: float | None = None
    entropy: float | None = None


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
    `stated` is the slot that a pairwise judge named as the winner over all dimensions, None where it named none.
    """

    verdicts: Mapping[str, Verdict | ParseFault]
    flags: tuple[str, ...] = field(default=())
    stated: Slot | None = None

    @property
    def complete(self) -> bool:
        """Whether every dimension has its verdict."""
        return not any(isinstance(verdict, ParseFault) for verdict in self.verdicts.values())
