"""How long a judge takes for so many calls: from its limits, and from how long one call took before."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal
from urllib.parse import urlsplit

from agentanvil.client.spec import JudgeSpec, is_loopback
from agentanvil.runner.meter import Amount
from agentanvil.runner.settings import JudgeSettings

ASSUMED_S = 3.0
"""Seconds for a hosted judge to write a verdict, where it has not been asked yet."""
ASSUMED_DECISION_S = 0.3
"""The same for one that decides typed questions: vendors speak of 150 to 250 ms."""
_MINUTE_S = 60.0


@dataclass(frozen=True, slots=True)
class Latency:
    """Seconds for one call, and how they are known; None where they are not."""

    seconds: float | None
    source: Literal["earlier calls", "assumed", "unknown"]


def latency_of(spec: JudgeSpec, seconds: float, calls: int) -> Latency:
    """Return the mean of `calls` that took `seconds` together, without any an assumption about a hosted judge.

    A machine of one's own may take any time.
    """
    if calls:
        return Latency(seconds / calls, "earlier calls")
    if spec.provider == "recorded":
        return Latency(0.0, "earlier calls")
    host = None if spec.base_url is None else urlsplit(spec.base_url).hostname
    if spec.provider == "local" or (host is not None and is_loopback(host)):
        return Latency(None, "unknown")
    return Latency(ASSUMED_DECISION_S if spec.rules.decides else ASSUMED_S, "assumed")


def duration(amount: Amount, settings: JudgeSettings, latency: Latency) -> float | None:
    """Return the seconds that the slowest of the limits asks for: calls at once, a minute's requests, its tokens.

    None where nobody knows how long a call takes.
    """
    if not amount.calls:
        return 0.0
    if latency.seconds is None:
        return None
    rounds = -(-amount.calls // settings.concurrency)
    tokens = amount.input_tokens + amount.output_tokens
    return max(
        rounds * latency.seconds,
        amount.calls / settings.rpm * _MINUTE_S if settings.rpm is not None else 0.0,
        tokens / settings.tpm * _MINUTE_S if settings.tpm is not None else 0.0,
    )
