"""One task → one outcome: the call to a judge, and the pure reading of its reply."""

from agentanvil.judge.judge import CallSettings, build_request, judge, read_reply
from agentanvil.judge.parse import parse_reply
from agentanvil.judge.verdicts import Parsed, ParseFault, Verdict

__all__ = [
    "CallSettings",
    "ParseFault",
    "Parsed",
    "Verdict",
    "build_request",
    "judge",
    "parse_reply",
    "read_reply",
]
