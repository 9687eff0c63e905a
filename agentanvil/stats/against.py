"""Intervals that are to be held against a threshold, where the usual ones are too narrow to.

Score intervals (Wilson's, Tango's) take the normal curve for the binomial under the threshold, which needs n·t·(1 − t)
of five or more, as the textbooks' rule for that curve has it. With fewer, one end misses far more often than it says:
two of three are "below 0.95", although 14 runs of 100 at 0.95 come to that. There the exact interval of Clopper and
Pearson is taken, whose ends miss no more often than they say for any n. From five on the score interval's ends miss in
no more than twice as many cases as they say.
"""

from __future__ import annotations

from agentanvil.stats.binomial import clopper_pearson_interval
from agentanvil.stats.estimate import Interval
from agentanvil.stats.interval import wilson_interval
from agentanvil.stats.paired import win_rate_interval

_ENOUGH = 5


def share_against(successes: float, n: float, threshold: float, *, level: float = 0.95) -> Interval:
    """Return the interval of a share that is held against `threshold`, in 0..1: Wilson's, with few trials the exact."""
    if _is_enough(n, threshold):
        return wilson_interval(successes, n, level)
    return clopper_pearson_interval(successes, n, level)


def win_rate_against(wins: float, ties: float, losses: float, threshold: float, *, level: float = 0.95) -> Interval:
    """Return the same of a win rate: Tango's, with few comparisons the exact one of (wins + ties / 2) of n.

    Ties vary less than wins and losses that add up to the same, so that the exact one errs on the safe side. Wins and
    losses exchanged, and the threshold with them, mirror it.
    """
    n = wins + ties + losses
    if _is_enough(n, threshold):
        return win_rate_interval(wins, ties, losses, level)
    return clopper_pearson_interval(wins + ties / 2, n, level)


def _is_enough(n: float, threshold: float) -> bool:
    return n * threshold * (1 - threshold) >= _ENOUGH
