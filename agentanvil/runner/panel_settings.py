"""Which further judges a run has besides its first, and what each of them is there for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import get_args

from agentanvil.aggregate import JuryRule
from agentanvil.errors import UsageError

DEFAULT_WHEN = "entropy>0.6 or near_gate"
DEFAULT_ESCALATED_SHARE = 0.05
DEFAULT_CROSS_SAMPLE = 0.2


@dataclass(frozen=True, slots=True)
class PanelSettings:
    """Judges as `--judge` names them.

    `jury` are those beside the first whose verdicts are combined with its own by `jury_rule` (None: the median), where
    at least `quorum` of all brought one (None: more than half). `cross_judge` is asked about a seeded sample of
    the rows, `cross_sample` of them. `escalate_to` is asked where `escalate_when` holds for what the first said, and
    about a seeded share of all rows, `escalate_share`, for at most `escalate_max_cost` US dollars.
    """

    jury: tuple[str, ...] = ()
    jury_rule: JuryRule | None = None
    quorum: int | None = None
    cross_judge: str | None = None
    cross_sample: float | None = None
    escalate_to: str | None = None
    escalate_when: str | None = None
    escalate_share: float | None = None
    escalate_max_cost: float | None = None

    def __post_init__(self) -> None:
        """Raise UsageError for what cannot be meant."""
        if self.jury_rule is not None and self.jury_rule not in get_args(JuryRule):
            raise UsageError(f"--jury is one of {', '.join(get_args(JuryRule))}, not {self.jury_rule!r}")
        _needs("--jury and --quorum", bool(self.jury), self.jury_rule, self.quorum, what="a second --judge")
        _needs("--cross-sample", self.cross_judge is not None, self.cross_sample, what="--cross-judge")
        escalation = (self.escalate_when, self.escalate_share, self.escalate_max_cost)
        _needs("--escalate-…", self.escalate_to is not None, *escalation, what="--escalate-to")
        if self.quorum is not None and not 1 <= self.quorum <= len(self.jury) + 1:
            raise UsageError(f"--quorum is between 1 and the number of judges, {len(self.jury) + 1}")
        _share("--cross-sample", self.cross_sample)
        _share("--escalate-share", self.escalate_share)
        if self.escalate_max_cost is not None and not 0 <= self.escalate_max_cost < float("inf"):
            raise UsageError(f"--escalate-max-cost must be at least 0, not {self.escalate_max_cost:g}")
        if sum((bool(self.jury), self.cross_judge is not None, self.escalate_to is not None)) > 1:
            raise UsageError(
                "a jury, a cross judge and an escalation exclude one another",
                hint="each says in another way which judge decides; choose one of them",
            )


def _needs(flags: str, given: bool, *values: object, what: str) -> None:
    if not given and any(value is not None for value in values):
        raise UsageError(f"{flags} means nothing without {what}")


def _share(flag: str, value: float | None) -> None:
    if value is not None and not 0 <= value <= 1:
        raise UsageError(f"{flag} is a share between 0 and 1, not {value:g}")
