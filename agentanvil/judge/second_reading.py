"""A comparison's verdicts with the probabilities that stood behind them, where the reply brought them."""

from __future__ import annotations

from dataclasses import replace

from agentanvil.client import ChatReply
from agentanvil.judge.logprobs import read_preference
from agentanvil.judge.verdicts import Parsed, ParseFault, Verdict
from agentanvil.prompt import Contract


def with_preferences(read: Parsed | ParseFault, reply: ChatReply, contract: Contract) -> Parsed | ParseFault:
    """Return the verdicts, each with how likely slot A was to be named; as they are without log-probabilities."""
    if isinstance(read, ParseFault) or not reply.tokens:
        return read
    return replace(
        read, verdicts={name: _read(name, verdict, reply, contract) for name, verdict in read.verdicts.items()}
    )


def _read(name: str, verdict: Verdict | ParseFault, reply: ChatReply, contract: Contract) -> Verdict | ParseFault:
    if isinstance(verdict, ParseFault) or verdict.score is None:
        return verdict
    place = (name, contract.verdict_key) if contract.nested else (contract.verdict_key,)
    found = read_preference(reply, place)
    return verdict if found is None else replace(verdict, preference=found.p_first, label_mass=found.mass)
