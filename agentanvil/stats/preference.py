"""Preferences as probabilities: log-odds and back, and one preference out of several."""

from __future__ import annotations

import math
from collections.abc import Sequence

from agentanvil.stats.estimate import Estimate


def log_odds(probability: float) -> float:
    """Return ln(p / (1 − p)), infinite at 0 and 1. `log_odds(1 − p)` is its negative to the last bit of 1 − p."""
    if probability > 0.5:
        return -log_odds(1 - probability)
    return math.log(probability / (1 - probability)) if probability > 0 else -math.inf


def sigmoid(value: float) -> float:
    """Return 1 / (1 + e^−value), the inverse of `log_odds`."""
    if value >= 0:
        return 1 / (1 + math.exp(-value))
    return math.exp(value) / (1 + math.exp(value))


def combined_preference(probabilities: Sequence[float]) -> Estimate:
    """Return the sigmoid of the mean log-odds; over both orders of a pair it cancels a preference for a position.

    Undefined without probabilities, and where certainties contradict each other.
    """
    odds = [log_odds(p) for p in probabilities]
    if not odds:
        return Estimate(None, 0, "no probabilities")
    if math.inf in odds and -math.inf in odds:
        return Estimate(None, len(odds), "certain of both: the log-odds are infinite in both directions")
    return Estimate(sigmoid(math.fsum(odds) / len(odds)), len(odds))
