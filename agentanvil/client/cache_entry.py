"""What the cache keeps of a reply, as JSON. Reading is strict: what is not exactly that is no entry."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import cast

import orjson

from agentanvil.client.base import ChatReply, StopReason, TokenLogprob, Usage

_FIELDS = frozenset({"text", "reasoning", "usage", "model", "request_id", "rung", "cost"})
_TOKENS = "tokens"  # only there where log-probabilities came back
_COUNTS = 5
_COMPLETE: StopReason = "stop"


@dataclass(frozen=True, slots=True)
class Entry:
    """One kept reply. `key` is the call's digest, `value` the reply's JSON, `created` Unix time.

    `judge` and `model` are for the statistics alone.
    """

    key: bytes
    value: bytes
    judge: str
    model: str
    created: float


def encode_reply(reply: ChatReply) -> bytes | None:
    """Return the JSON of a complete reply, or None for one that must not be kept: cut short, refused, blocked."""
    if reply.stop != _COMPLETE or reply.refusal is not None:
        return None
    usage = reply.usage
    kept: dict[str, object] = {
        "text": reply.text,
        "reasoning": reply.reasoning,
        "usage": [
            usage.input_tokens,
            usage.output_tokens,
            usage.cached_tokens,
            usage.reasoning_tokens,
            usage.cache_write_tokens,
        ],
        "model": reply.model,
        "request_id": reply.request_id,
        "rung": reply.rung,
        "cost": None if reply.cost is None else float(reply.cost),
    }
    if reply.tokens:
        kept[_TOKENS] = [_written(token) for token in reply.tokens]
    try:
        return orjson.dumps(kept)
    except orjson.JSONEncodeError:
        return None


def decode_reply(value: bytes) -> ChatReply | None:
    """Return the reply as a hit gives it, or None where `value` is not what `encode_reply` writes.

    It is flagged as cached and made no wire request. Its usage and cost are what was stated and paid when it was
    made: the verdict's price, which a hit saves.
    """
    try:
        kept = orjson.loads(value)
    except orjson.JSONDecodeError:
        return None
    return _reply(kept) if isinstance(kept, dict) and kept.keys() - {_TOKENS} == _FIELDS else None


def _reply(kept: Mapping[str, object]) -> ChatReply | None:
    text, reasoning, usage = kept["text"], kept["reasoning"], kept["usage"]
    model, request_id, rung, cost = kept["model"], kept["request_id"], kept["rung"], kept["cost"]
    if type(text) is not str or type(reasoning) is not bool or type(usage) is not list or len(usage) != _COUNTS:
        return None
    for name in (model, request_id, rung):
        if name is not None and type(name) is not str:
            return None
    for count in usage:
        if count is not None and (type(count) is not int or count < 0):
            return None
    tokens = _tokens(kept.get(_TOKENS, []))
    if tokens is None:
        return None
    if cost is not None and not (type(cost) is float and math.isfinite(cost) and cost >= 0):
        return None
    return ChatReply(
        text=text,
        stop=_COMPLETE,
        reasoning=reasoning,
        usage=Usage(*usage),
        model=cast("str | None", model),
        request_id=cast("str | None", request_id),
        rung=cast("str | None", rung),
        attempts=0,
        cached=True,
        cost=cost,
        tokens=tokens,
    )


def _written(token: TokenLogprob) -> tuple[int, str, float, list[tuple[str, float]]]:
    return token.at, token.text, float(token.logprob), [(text, float(logprob)) for text, logprob in token.top]


def _tokens(kept: object) -> tuple[TokenLogprob, ...] | None:
    """Return the tokens of an entry, or None where they are not as `encode_reply` writes them."""
    if type(kept) is not list:
        return None
    tokens: list[TokenLogprob] = []
    for item in kept:
        match item:
            case [int(at), str(text), float(logprob), list(top)] if type(at) is int and all(map(_is_alternative, top)):
                tokens.append(TokenLogprob(at, text, logprob, tuple((name, value) for name, value in top)))
            case _:
                return None
    return tuple(tokens)


def _is_alternative(item: object) -> bool:
    match item:
        case [str(), float()]:
            return True
    return False
