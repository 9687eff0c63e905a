"""Several judges' verdicts on one task → the jury's."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from agentanvil.aggregate.preference import combined
from agentanvil.rubric import Mode
from agentanvil.verdict import NO_EVIDENCE, Cell, InputFault, JudgeError, NotApplicable, NotRun, Scored, Winner

JuryRule = Literal["median", "mean", "min", "majority"]
"""How the verdicts of a jury become one."""
Vote = tuple[str, Cell]
"""A judge's name, and what it said."""

QUORUM = "quorum"
NO_MAJORITY = "no_majority"


@dataclass(frozen=True, slots=True)
class JuryTerms:
    """How a jury decides: by `rule`, where at least `quorum` of its judges brought a verdict.

    `median`: the middle score, the mean of the two middle ones where their number is even. `mean`: the mean.
    `min`: the lowest. `majority`: the score that more than half chose. In pairwise `min` is the mean of the lowest and
    the highest lead, which is the lowest as both sides see it, and `majority` the median lead of those that see the
    same winner, if they are more than half. In a gate a verdict is true or false and nothing between: `min` needs all,
    every other rule more than half. Where more than half say `not applicable`, so does the jury; else those that scored
    count.
    """

    rule: JuryRule
    quorum: int

    @classmethod
    def of(cls, judges: int, rule: JuryRule | None = None, quorum: int | None = None) -> JuryTerms:
        """Return the terms of so many judges: the median, and more than half of them, where nothing else is said."""
        return cls(rule or "median", judges // 2 + 1 if quorum is None else quorum)

    def decide(self, mode: Mode, votes: Sequence[Vote]) -> Cell:
        """Return what a jury of one or more came to on one dimension of one task.

        The words are those of the judge whose score is nearest to the result. Probabilities are combined where a quorum
        brought some: expected scores by the same rule, preferences by their mean log-odds, entropies by their mean.
        """
        if len(votes) == 1:
            return votes[0][1]
        verdicts = [cell for _, cell in votes if isinstance(cell, Scored | NotApplicable)]
        if len(verdicts) < self.quorum:
            return self._too_few(votes, len(verdicts))
        scored = [cell for cell in verdicts if isinstance(cell, Scored)]
        if 2 * len(scored) < len(verdicts):
            return next(cell for cell in verdicts if isinstance(cell, NotApplicable))
        score = _score(self.rule, mode, sorted([cell.score for cell in scored]))
        if score is None:
            said = "; ".join(f"{judge} {_told(cell)}" for judge, cell in votes)
            return JudgeError(NO_MAJORITY, f"no verdict has more than half of the votes: {said}")
        return self._scored(score, scored)

    def _scored(self, score: float, scored: Sequence[Scored]) -> Scored:
        words = min(scored, key=lambda cell: (abs(cell.score - score), not cell.evidence))
        return Scored(
            score=score,
            evidence=words.evidence,
            evidence_found=words.evidence_found,
            reason=words.reason,
            flags=words.flags,
            rival_evidence=words.rival_evidence,
            preference=self._read(combined, [cell.preference for cell in scored]),
            label_mass=self._read(_mean, [cell.label_mass for cell in scored]),
            expected_score=self._read(_EXPECTED[self.rule], _expected(scored)),
            entropy=self._read(_mean, [cell.entropy for cell in scored]),
        )

    def _read(self, rule: Callable[[Sequence[float]], float], values: Sequence[float | None]) -> float | None:
        present = sorted([value for value in values if value is not None])
        return rule(present) if present and len(present) >= self.quorum else None

    def _too_few(self, votes: Sequence[Vote], verdicts: int) -> Cell:
        """Return what kept a quorum away: judges that were never asked, if they could still make one."""
        missing = [(judge, cell) for judge, cell in votes if not isinstance(cell, Scored | NotApplicable)]
        unasked = [cell for _, cell in missing if isinstance(cell, NotRun)]
        if unasked and verdicts + len(unasked) >= self.quorum:
            return unasked[0]
        faults = [cell for _, cell in votes if isinstance(cell, InputFault)]
        if len(faults) == len(votes):
            return faults[0]
        why = "; ".join(f"{judge} {cell.code}" for judge, cell in missing)
        return JudgeError(QUORUM, f"{verdicts} of {len(votes)} judges brought a verdict, {self.quorum} must: {why}")


def stated_by(winners: Sequence[Winner | None]) -> Winner | None:
    """Return the winner that more than half of the judges who stated one named."""
    stated = [winner for winner in winners if winner is not None]
    return next((winner for winner in set(stated) if 2 * stated.count(winner) > len(stated)), None)


def _score(rule: JuryRule, mode: Mode, scores: Sequence[float]) -> float | None:
    """Apply a rule to ascending scores, one or more; None where it needs a majority and there is none."""
    if mode == "gate":
        return _boolean(rule, scores)
    if mode == "pairwise":
        return _lead(rule, scores)
    if rule == "majority":
        return next((score for score in scores if 2 * scores.count(score) > len(scores)), None)
    return _RULES[rule](scores)


def _boolean(rule: JuryRule, scores: Sequence[float]) -> float | None:
    if rule == "min":
        return scores[0]
    held = 2 * sum(scores)
    return None if held == len(scores) else float(held > len(scores))


def _lead(rule: JuryRule, scores: Sequence[float]) -> float | None:
    if rule == "majority":
        sides = [[s for s in scores if s < 0], [s for s in scores if s == 0], [s for s in scores if s > 0]]
        return next((_median(side) for side in sides if 2 * len(side) > len(scores)), None)
    return _worst_of_both(scores) if rule == "min" else _RULES[rule](scores)


def _expected(scored: Sequence[Scored]) -> list[float | None]:
    """Return the expected scores. One that stands by rule, since no evidence was given, is certain beside others."""
    if all(cell.expected_score is None for cell in scored):
        return []
    return [
        cell.score if cell.expected_score is None and NO_EVIDENCE in cell.flags else cell.expected_score
        for cell in scored
    ]


def _median(ascending: Sequence[float]) -> float:
    middle = len(ascending) // 2
    return ascending[middle] if len(ascending) % 2 else (ascending[middle - 1] + ascending[middle]) / 2


def _mean(values: Sequence[float]) -> float:
    # The mean of equal numbers is that number, to its last bit.
    return values[0] if values[0] == values[-1] else math.fsum(values) / len(values)


def _lowest(ascending: Sequence[float]) -> float:
    return ascending[0]


def _worst_of_both(ascending: Sequence[float]) -> float:
    return (ascending[0] + ascending[-1]) / 2


def _told(cell: Cell) -> str:
    return f"{cell.score:g}" if isinstance(cell, Scored) else cell.state


_RULES: Mapping[JuryRule, Callable[[Sequence[float]], float]] = {"median": _median, "mean": _mean, "min": _lowest}
# Expected scores hardly ever coincide, so that a majority of them is their median.
_EXPECTED: Mapping[JuryRule, Callable[[Sequence[float]], float]] = {**_RULES, "majority": _median}
