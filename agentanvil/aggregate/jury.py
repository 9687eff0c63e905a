"""Several judges' verdicts on one task → the jury's."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

JuryRule = Literal["median", "mean", "min", "majority"]
"""How the verdicts of a jury become one."""


@dataclass(frozen=True, slots=True)
class JuryTerms:
    """How a jury decides: by `rule`, where at least `quorum` of its judges brought a verdict."""

    rule: JuryRule
    quorum: int

    @classmethod
    def of(cls, judges: int, rule: JuryRule | None = None, quorum: int | None = None) -> JuryTerms:
        """Return the terms of so many judges: the median, and more than half of them, where nothing else is said."""
        return cls(rule or "median", judges // 2 + 1 if quorum is None else quorum)
