"""Spending from a judge's account, call by call and request by request."""

from __future__ import annotations

from dataclasses import replace

from agentanvil.client.adapter import WireReply
from agentanvil.client.base import ChatClient, ChatReply, ChatRequest, Usage
from agentanvil.client.budget import Account
from agentanvil.client.transport import Transport
from agentanvil.errors import CallError, DeadlineError, MalformedBodyError


class BudgetClient:
    """Spends from an account: innermost, around the provider. Sets `cost` on every reply where it is known."""

    def __init__(self, inner: ChatClient, account: Account) -> None:
        self._inner = inner
        self._account = account

    async def complete(self, request: ChatRequest) -> ChatReply:
        """Raises BudgetReachedError before a call that the budget does not allow, else what `inner` raises."""
        account = self._account
        reserved = await account.reserve(self._inner, request)
        try:
            account.count_call()
            account.prepaid = True
            reply = await self._inner.complete(request)
        except CallError as error:
            if error.billed_tokens is not None:
                error.cost = account.prices.cost(Usage(*error.billed_tokens), account.model)
            account.fail(reserved, error, billed=isinstance(error, DeadlineError | MalformedBodyError))
            raise
        except BaseException:
            account.budget.release(reserved)
            raise
        cost = reply.cost
        if cost is None:
            cost = account.prices.cost(reply.usage, account.model, reply.model)
        account.settle(reserved, reply, cost)
        return reply if cost is None else replace(reply, cost=cost)

    def fingerprint(self, request: ChatRequest) -> bytes:
        return self._inner.fingerprint(request)

    async def confirm(self, request: ChatRequest, reply: ChatReply) -> None:
        await self._inner.confirm(request, reply)

    async def close(self) -> None:
        await self._inner.close()


class MeteredTransport:
    """Counts the requests that a provider sends beyond the first of a call, while it learns what is refused.

    The client around it has booked the first one. Nothing is awaited between that booking and the first
    send, so the two always belong to the same call.
    """

    def __init__(self, inner: Transport, account: Account) -> None:
        self._inner = inner
        self._account = account

    async def send(self, body: bytes) -> WireReply:
        """Raises BudgetReachedError where no request is left."""
        if self._account.prepaid:
            self._account.prepaid = False
        else:
            self._account.count_call()
        return await self._inner.send(body)

    async def close(self) -> None:
        await self._inner.close()
