"""Probabilities that response_a is better, as log-odds that are exactly opposite for response_b."""

from __future__ import annotations

import math
from collections.abc import Sequence

from agentanvil.stats import log_odds, sigmoid

# Log-probabilities come as short floats, and for the likeliest tokens only: what is rarer than this cannot be told
# from what is impossible, and must not outweigh every other call.
PREFERENCE_FLOOR = 1e-6
_DECIMALS = 12


def odds_of(preference: float | None) -> float | None:
    """Return the log-odds of a preference, None for none."""
    if preference is None:
        return None
    rarer = max(round(min(preference, 1 - preference), _DECIMALS), PREFERENCE_FLOOR)
    return log_odds(rarer) if preference <= 0.5 else -log_odds(rarer)


def preference_of(odds: float | None) -> float | None:
    """Return the preference that has these log-odds, None for none."""
    return None if odds is None else round(sigmoid(odds), _DECIMALS)


def combined(preferences: Sequence[float]) -> float:
    """Return the preference that has the mean log-odds of one or more."""
    odds = [found for preference in preferences if (found := odds_of(preference)) is not None]
    return round(sigmoid(math.fsum(odds) / len(odds)), _DECIMALS)
