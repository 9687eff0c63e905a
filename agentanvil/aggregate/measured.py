"""A figure and how sure it is, in one record."""

from __future__ import annotations

from dataclasses import dataclass

from agentanvil.stats import Estimate, Interval


@dataclass(frozen=True, slots=True)
class Measured:
    """An estimate of `n` items (or of what the field says) with its interval."""

    value: float | None
    n: int
    reason: str | None
    interval: Interval

    @classmethod
    def of(cls, estimate: Estimate, interval: Interval) -> Measured:
        """Join an estimate and its interval."""
        return cls(estimate.value, estimate.n, estimate.reason, interval)
