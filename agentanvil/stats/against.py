"""Intervals that are to be held against a threshold, where the usual ones are too narrow to.

Score intervals (Wilson's, Tango's) take a curve for a distribution that has steps: of 25 items of which 0.7 pass in
truth, Wilson's lies wholly above 0.7 in 3.3 runs of 100 and wholly below in 4.4, where 2.5 are meant each. The ends of
the exact interval (Clopper and Pearson) miss no more often than they say for any number of items; a share needs no
other. Of a win rate with ties there is none for all cases, so the wider of two is taken.
"""

from __future__ import annotations

from agentanvil.stats.binomial import clopper_pearson_interval
from agentanvil.stats.estimate import Interval
from agentanvil.stats.paired import win_rate_interval

_ENOUGH = 5


def win_rate_against(wins: float, ties: float, losses: float, threshold: float, *, level: float = 0.95) -> Interval:
    """Return the interval of a win rate, ties as half a win, that is held against `threshold`, in 0..1.

    With few comparisons, n·t·(1 − t) below five, it is the exact interval of (wins + ties / 2) of n: ties vary less
    than wins and losses that add up to the same, so that it errs on the safe side. From there on it reaches as far as
    Tango's or, where that is farther, as the exact one of the wins among wins and losses, which given the number of
    ties holds for a threshold of one half, the sign test's, and without ties for any. Wins and losses exchanged, and
    the threshold with them, mirror it.
    """
    n = wins + ties + losses
    if n * threshold * (1 - threshold) < _ENOUGH:
        return clopper_pearson_interval(wins + ties / 2, n, level)
    score = win_rate_interval(wins, ties, losses, level)
    exact = clopper_pearson_interval(wins, wins + losses, level)
    if score.low is None or score.high is None or exact.low is None or exact.high is None:
        return score
    low, high = ((ties / 2 + (wins + losses) * end) / n for end in (exact.low, exact.high))
    method = "tango score, or exact among wins and losses where wider"
    return Interval(min(score.low, low), max(score.high, high), level, method)
