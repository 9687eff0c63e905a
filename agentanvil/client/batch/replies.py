"""A judge whose replies are collected already: it answers the one call that it has the reply to, and no other."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from agentanvil.client.adapter import Adapter, Endpoint, Shape, WireReply
from agentanvil.client.base import ChatClient, ChatReply, ChatRequest
from agentanvil.client.ladder import Ladder
from agentanvil.client.prices import PriceTable
from agentanvil.client.provider import call_identity, cleaned, shape_for
from agentanvil.client.secret import SHORTEST_IN_REPLIES, Redactor, Secret
from agentanvil.errors import CallError, ParameterRefusedError, RejectedError

NOT_HERE = "not_in_batch"
"""The code of a call that no reply was collected for: nothing was sent, and nothing is known about it."""


class CollectedClient:
    """Reads collected replies as a live call would have: by the same adapter, under the same cache key.

    What a refused parameter teaches goes to `ladder`. `secrets` never leave it.
    """

    def __init__(
        self,
        adapter: Adapter,
        endpoint: Endpoint,
        ladder: Ladder,
        prices: PriceTable,
        secrets: Iterable[Secret] = (),
    ) -> None:
        secrets = tuple(secrets)
        self._adapter = adapter
        self._endpoint = endpoint
        self._identity = call_identity(adapter, endpoint)
        self._ladder = ladder
        self._prices = prices
        self._clean = Redactor(secrets)
        self._clean_reply = Redactor(secrets, SHORTEST_IN_REPLIES)
        self._task_id: str | None = None
        self._reply = WireReply(0, b"")
        self._shape = endpoint.first

    def hand(self, task_id: str, reply: WireReply, shape: Shape) -> None:
        """Lay out the reply to a task's first call, which was asked in this shape."""
        self._task_id, self._reply, self._shape = task_id, reply, shape

    async def complete(self, request: ChatRequest) -> ChatReply:
        """Raises CallError as a live call does, and one with the code NOT_HERE where there is no reply."""
        if request.task_id != self._task_id:
            missing = RejectedError("no reply to this call was collected", code=NOT_HERE)
            missing.attempts = 0
            raise missing
        try:
            reply = self._adapter.read(self._reply, shape_for(self._shape, request))
        except ParameterRefusedError as refusal:
            refusal.message = self._clean(refusal.message)
            self._ladder.learn(self._shape, refusal, request)
            raise
        except CallError as error:
            error.message = self._clean(error.message)
            raise
        reply = cleaned(reply, self._clean_reply)
        return replace(reply, cost=self._prices.cost(reply.usage, self._endpoint.model, reply.model, batch=True))

    def fingerprint(self, request: ChatRequest) -> bytes:
        return self._identity + self._adapter.build(self._endpoint.model, request, self._endpoint.first)

    async def confirm(self, request: ChatRequest, reply: ChatReply) -> None:
        """Nothing to keep."""

    async def close(self) -> None:
        """Nothing is open."""


class KeepingClient:
    """Asks `inner`, and lets `keeper` keep what the judge confirms: a reply that is paid for is not looked up first."""

    def __init__(self, inner: ChatClient, keeper: ChatClient) -> None:
        self._inner = inner
        self._keeper = keeper

    async def complete(self, request: ChatRequest) -> ChatReply:
        return await self._inner.complete(request)

    def fingerprint(self, request: ChatRequest) -> bytes:
        return self._inner.fingerprint(request)

    async def confirm(self, request: ChatRequest, reply: ChatReply) -> None:
        await self._keeper.confirm(request, reply)

    async def close(self) -> None:
        await self._keeper.close()
