"""One task → one outcome: the call to a judge, and the pure reading of its reply."""

from agentanvil.judge.decide import build_decision, decide, read_decisions
from agentanvil.judge.judge import CallSettings, build_request, judge, read_reply
from agentanvil.judge.parse import parse_reply
from agentanvil.judge.verdicts import Parsed, ParseFault, Verdict

__all__ = [
    "CallSettings",
    "ParseFault",
    "Parsed",
    "Verdict",
    "build_decision",
    "build_request",
    "decide",
    "judge",
    "parse_reply",
    "read_decisions",
    "read_reply",
]
