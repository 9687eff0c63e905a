"""A dimension's verdict → its cell, by the rubric's own rules."""

from __future__ import annotations

from agentanvil.hashing import well_formed
from agentanvil.judge.evidence import JudgedText, is_blank
from agentanvil.judge.verdicts import ParseFault, Verdict
from agentanvil.prompt import Contract, ContractDimension
from agentanvil.verdict import NO_EVIDENCE, Cell, JudgeError, NotApplicable, Scored


def to_cell(verdict: Verdict | ParseFault, dimension: ContractDimension, contract: Contract, text: JudgedText) -> Cell:
    """Return the cell of one dimension.

    Where the rubric asks for evidence and none was given, the score is the lowest, flagged `no_evidence` and
    `judge_said_N`. A quote that is not found changes no score: it is a finding of its own.
    """
    if isinstance(verdict, ParseFault):
        return JudgeError(verdict.code, well_formed(verdict.message))
    evidence = tuple(piece for piece in verdict.evidence if not is_blank(piece))
    if verdict.score is None:
        return NotApplicable(verdict.reason, evidence, verdict.flags)
    score, flags = verdict.score, verdict.flags
    if contract.evidence == "none":
        return Scored(float(score), evidence, None, verdict.reason, flags)
    if not evidence:
        said = (f"judge_said_{score}",) if score != dimension.lowest else ()
        return Scored(float(dimension.lowest), (), None, verdict.reason, (*flags, NO_EVIDENCE, *said))
    found = text.holds_all(evidence) if contract.evidence == "quoted" else None
    return Scored(float(score), evidence, found, verdict.reason, flags)
