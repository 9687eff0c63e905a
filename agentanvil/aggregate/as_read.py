"""A verdict's cell as the chosen reading has it: the score itself, or what the judge's probabilities expect of it."""

from __future__ import annotations

import math
from dataclasses import replace

from agentanvil.verdict import NO_EVIDENCE, Cell, JudgeError, Scored

NO_READING = "no_probabilities"
"""The code of a verdict that is missing because it came without the probabilities that were to be read."""
PASSES_FROM = 0.5
"""The probability of a pass from which on a gate's dimension holds."""
# What is beyond them is left by arithmetic, and must not decide whether a threshold is met.
_DECIMALS = 9


def as_expected(cell: Cell) -> Cell:
    """Return a judged cell with its expected score in place of the score.

    A verdict without one is missing, whatever its score. The exception is a score that stands by rule, where evidence
    was asked for and none was given: the judge's probabilities have no part in it, so it is certain.
    """
    if not isinstance(cell, Scored):
        return cell
    if cell.expected_score is not None:
        return replace(cell, score=round(cell.expected_score, _DECIMALS) + 0.0)
    if NO_EVIDENCE in cell.flags:
        return cell
    return JudgeError(NO_READING, "the verdict came without the probabilities that the reading needs", cell.flags)


def nearest(score: float) -> float:
    """Return the whole score that is nearest, the higher of two: where an expected score counts among verdicts."""
    return float(math.floor(score + 0.5))
