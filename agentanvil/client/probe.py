"""Asking an endpoint for log-probabilities beside the answer, to find out whether it has any."""

from __future__ import annotations

import math
from typing import Any

import orjson

from agentanvil.client.adapter import Adapter, Shape, WireReply
from agentanvil.client.base import ChatReply, ChatRequest
from agentanvil.client.envelope import read_body

ALTERNATIVES = 5
"""How many alternatives a token are asked for: the most that every provider with log-probabilities was seen to take."""


class LogprobsProbe:
    """An adapter of Chat Completions, with `logprobs` added to the body while `asking` is set.

    `tokens` counts the tokens of the last reply that came with a finite log-probability, `alternatives` the most
    that any of them had. Both are 0 where there were none.
    """

    def __init__(self, inner: Adapter) -> None:
        self.asking = False
        self.tokens = 0
        self.alternatives = 0
        self._inner = inner

    @property
    def api(self) -> str:
        return self._inner.api

    @property
    def path(self) -> str:
        return self._inner.path

    def headers(self, key: str | None) -> dict[str, str]:
        return self._inner.headers(key)

    def build(self, model: str, request: ChatRequest, shape: Shape) -> bytes:
        body = self._inner.build(model, request, shape)
        if not self.asking:
            return body
        return orjson.dumps(orjson.loads(body) | {"logprobs": True, "top_logprobs": ALTERNATIVES})

    def read(self, reply: WireReply, shape: Shape) -> ChatReply:
        """Raises CallError as the inner adapter does."""
        answer = self._inner.read(reply, shape)
        if self.asking:
            found = [entry for entry in _entries(reply.body) if _is_known(entry)]
            self.tokens = len(found)
            self.alternatives = max((len(_listed(entry, "top_logprobs")) for entry in found), default=0)
        return answer


def _entries(body: bytes) -> list[Any]:
    """Return `choices[0].logprobs.content`, empty where any part of it is missing."""
    choices = _listed(read_body(body), "choices")
    choice = choices[0] if choices else None
    return _listed(choice.get("logprobs") if isinstance(choice, dict) else None, "content")


def _listed(holder: object, name: str) -> list[Any]:
    value = holder.get(name) if isinstance(holder, dict) else None
    return value if isinstance(value, list) else []


def _is_known(entry: object) -> bool:
    value = entry.get("logprob") if isinstance(entry, dict) else None
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
