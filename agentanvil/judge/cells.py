"""A dimension's verdict → its cell, by the rubric's own rules, and from the slots back to the two responses."""

from __future__ import annotations

from itertools import chain

from agentanvil.hashing import well_formed
from agentanvil.judge.evidence import is_blank
from agentanvil.judge.seen import Seen
from agentanvil.judge.verdicts import ParseFault, Verdict
from agentanvil.plan import Order, unswap_delta, unswap_probability
from agentanvil.plan.order import BA
from agentanvil.prompt import Contract
from agentanvil.verdict import NO_EVIDENCE, Cell, JudgeError, NotApplicable, Scored


def to_cell(verdict: Verdict | ParseFault, contract: Contract, seen: Seen, order: Order) -> Cell:
    """Return the cell of one dimension, told of response_a and response_b whichever was shown first.

    Where the rubric asks for evidence and none was given, the verdict is the lowest score, a failed gate or a tie,
    flagged `no_evidence` and `judge_said_N`. A quote that is not found changes no score: it is a finding of its own.
    Probabilities are of what the judge said: where the rule has put a score in its place they are left out. In pairwise
    they stay, since a preference beside a tie by rule is no other answer to the same question.
    """
    if isinstance(verdict, ParseFault):
        return JudgeError(verdict.code, well_formed(verdict.message))
    slots = tuple(_said(side) for side in (verdict.evidence, verdict.rival_evidence)[: seen.slots])
    sides = slots[::-1] if order == BA else slots
    if verdict.score is None:
        return NotApplicable(verdict.reason, tuple(chain.from_iterable(sides)), verdict.flags)
    score, flags, found = _delta(verdict.score, contract, order), verdict.flags, None
    read = (verdict.label_mass, verdict.expected_score, verdict.entropy)
    if contract.evidence != "none" and not any(sides):
        said = (f"judge_said_{score:g}",) if score != contract.unsupported else ()
        score, flags = float(contract.unsupported), (*flags, NO_EVIDENCE, *said)
        read = read if contract.mode == "pairwise" else (None, None, None)
    else:
        found = seen.holds(slots, contract.evidence)
    rival = sides[1] if len(sides) > 1 else ()
    preference = None if verdict.preference is None else unswap_probability(verdict.preference, order)
    return Scored(score, sides[0], found, verdict.reason, flags, rival, preference, *read)


def _said(evidence: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(piece for piece in evidence if not is_blank(piece))


def _delta(score: int, contract: Contract, order: Order) -> float:
    return unswap_delta(float(score), order) if contract.mode == "pairwise" else float(score)
