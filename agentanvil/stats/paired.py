"""How often one of two sides wins, ties counted as half a win each."""

from __future__ import annotations

import math
from statistics import NormalDist

from agentanvil.stats.estimate import Estimate, Interval

_HALVINGS = 200


def win_rate(wins: int, ties: int, losses: int) -> Estimate:
    """Return (wins + ties / 2) / n."""
    n = wins + ties + losses
    return Estimate((wins + ties / 2) / n, n) if n else Estimate(None, 0, "nothing was compared")


def win_rate_interval(wins: float, ties: float, losses: float, level: float = 0.95) -> Interval:
    """Return the score interval of the win rate with ties as half a win each.

    The win rate is (1 + (wins − losses) / n) / 2, so its interval is that of a difference of paired proportions: the
    score interval of Tango (1998). Without ties it is Wilson's; it is defined for ties alone, and has some width
    there; wins and losses exchanged mirror it exactly.
    """
    method = "tango score, ties as half a win"
    n = wins + ties + losses
    if n == 0:
        return Interval(None, None, level, method, "nothing was compared")
    z = NormalDist().inv_cdf(1 - (1 - level) / 2)
    low, high = _lower_difference(wins, losses, n, z), -_lower_difference(losses, wins, n, z)
    return Interval((1 + low) / 2, (1 + high) / 2, level, method)


def _lower_difference(wins: float, losses: float, n: float, z: float) -> float:
    """Return the difference that lies `z` standard errors, as they are under it, below the observed one."""
    low, high = -1.0, (wins - losses) / n
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        if middle in (low, high):
            break
        if wins - losses - n * middle > z * math.sqrt(_variance(middle, wins, losses, n)):
            low = middle
        else:
            high = middle
    return (low + high) / 2


def _variance(difference: float, wins: float, losses: float, n: float) -> float:
    """Return the variance of wins − losses, the share of losses being the likeliest one under that difference."""
    a = 2 * n
    b = -wins - losses + (2 * n - wins + losses) * difference
    c = -losses * difference * (1 - difference)
    share = (math.sqrt(max(0.0, b * b - 4 * a * c)) - b) / (2 * a)
    return max(0.0, n * (2 * share + difference * (1 - difference)))
