"""Verdicts with the probabilities that stood behind them, where the reply brought log-probabilities.

In an absolute grade the mean over the scale, in a gate the probability of a pass, in pairwise that of either response;
and in all of them the entropy over what was on offer. A verdict `not applicable` has no reading, and what others gave
to it lies outside the scale.
"""

from __future__ import annotations

from dataclasses import replace

from agentanvil.client import ChatReply, TokenLogprob
from agentanvil.judge.logprobs import preference
from agentanvil.judge.places import value_places
from agentanvil.judge.score_tokens import Spelling, number_spelling, read_value, value_tokens, word_spelling
from agentanvil.judge.verdicts import Parsed, ParseFault, Verdict
from agentanvil.prompt import Contract, ContractDimension
from agentanvil.prompt.contract import SLOTS

_SLOTS = word_spelling(tuple(zip(SLOTS, (1, -1, 0), strict=True)))
_PASSES = word_spelling((("true", 1), ("pass", 1), ("false", 0), ("fail", 0)))


def with_readings(
    read: Parsed | ParseFault, reply: ChatReply, contract: Contract
) -> tuple[Parsed | ParseFault, ChatReply]:
    """Return the verdicts with their readings, and the reply with only the tokens that these were read from.

    Both are as they were without log-probabilities, or without verdicts. The few tokens are what a cache keeps: from
    them the readings are the same.
    """
    if isinstance(read, ParseFault) or not reply.tokens:
        return read, reply
    paths = {d.id: _path(d.id, contract) for d in contract.dimensions}
    places = value_places(reply.text, paths.values())
    verdicts: dict[str, Verdict | ParseFault] = {}
    kept: set[TokenLogprob] = set()
    for dimension in contract.dimensions:
        verdict, at = read.verdicts[dimension.id], places.get(paths[dimension.id])
        if isinstance(verdict, Verdict) and verdict.score is not None and at is not None:
            tokens = value_tokens(reply.tokens, at, _spelling(dimension, contract))
            kept.update(tokens)
            read_verdict = _preferred if contract.mode == "pairwise" else _expected
            verdict = read_verdict(verdict, verdict.score, tokens, at, _spelling(dimension, contract))
        verdicts[dimension.id] = verdict
    few = tuple(sorted(kept, key=lambda token: token.at))
    return replace(read, verdicts=verdicts), replace(reply, tokens=few)


def _path(name: str, contract: Contract) -> tuple[str, ...]:
    return (name, contract.verdict_key) if contract.nested else (contract.verdict_key,)


def _spelling(dimension: ContractDimension, contract: Contract) -> Spelling:
    if contract.mode == "absolute":
        return number_spelling(dimension.scores)
    return _PASSES if contract.mode == "gate" else _SLOTS


def _expected(verdict: Verdict, score: int, tokens: tuple[TokenLogprob, ...], at: int, spelling: Spelling) -> Verdict:
    found = read_value(tokens, at, spelling, score)
    if found is None:
        return verdict
    return replace(verdict, expected_score=found.expected, entropy=found.entropy, label_mass=found.mass)


def _preferred(verdict: Verdict, score: int, tokens: tuple[TokenLogprob, ...], at: int, spelling: Spelling) -> Verdict:
    preferred = preference(tokens, at, SLOTS)
    if preferred is None:
        return verdict
    found = read_value(tokens, at, spelling, (score > 0) - (score < 0))
    entropy = None if found is None else found.entropy
    return replace(verdict, preference=preferred.p_first, label_mass=preferred.mass, entropy=entropy)
