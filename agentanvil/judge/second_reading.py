"""A comparison's verdicts with the probabilities that stood behind them, where the reply brought them."""

from __future__ import annotations

from dataclasses import replace

from agentanvil.client import ChatReply
from agentanvil.judge.logprobs import read_preference, verdict_tokens
from agentanvil.judge.verdicts import Parsed, ParseFault, Verdict
from agentanvil.prompt import Contract


def with_preferences(read: Parsed | ParseFault, reply: ChatReply, contract: Contract) -> Parsed | ParseFault:
    """Return the verdicts, each with how likely slot A was to be named; as they are without log-probabilities."""
    if isinstance(read, ParseFault) or not reply.tokens:
        return read
    return replace(
        read, verdicts={name: _read(name, verdict, reply, contract) for name, verdict in read.verdicts.items()}
    )


def pared(reply: ChatReply, contract: Contract) -> ChatReply:
    """Return the reply with only the tokens that its preferences are read from, few of many, for a cache to keep."""
    if not reply.tokens:
        return reply
    return replace(reply, tokens=verdict_tokens(reply, (_place(d.id, contract) for d in contract.dimensions)))


def _place(name: str, contract: Contract) -> tuple[str, ...]:
    """Return the path of a dimension's verdict in the reply."""
    return (name, contract.verdict_key) if contract.nested else (contract.verdict_key,)


def _read(name: str, verdict: Verdict | ParseFault, reply: ChatReply, contract: Contract) -> Verdict | ParseFault:
    if isinstance(verdict, ParseFault) or verdict.score is None:
        return verdict
    found = read_preference(reply, _place(name, contract))
    return verdict if found is None else replace(verdict, preference=found.p_first, label_mass=found.mass)
