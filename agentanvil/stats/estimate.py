"""What every statistic of this room returns: a number with its n, or no number and the reason."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Estimate:
    """A point estimate from `n` observations. `value` is None exactly when `reason` says why."""

    value: float | None
    n: int
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Interval:
    """A two-sided interval at confidence `level`. Both ends are None exactly when `reason` says why."""

    low: float | None
    high: float | None
    level: float
    method: str
    reason: str | None = None
