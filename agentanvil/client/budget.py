"""What a run may spend: wire requests and US dollars, counted where they happen, inside the retry layer."""

from __future__ import annotations

import asyncio
from collections import deque
from dataclasses import dataclass, replace

from agentanvil.client.adapter import WireReply
from agentanvil.client.base import ChatClient, ChatReply, ChatRequest, Usage
from agentanvil.client.prices import PriceTable
from agentanvil.client.transport import Transport
from agentanvil.errors import BudgetReachedError, CallError, ConfigError, DeadlineError, MalformedBodyError

_HINT = "Raise the limit and run the same command again: it goes on where it stopped."
_ANSWER_TOKENS = 300


@dataclass(frozen=True, slots=True)
class BudgetSettings:
    """Limits of one run; None is no limit. `max_cost` is in US dollars."""

    max_calls: int | None = None
    max_cost: float | None = None


@dataclass(frozen=True, slots=True)
class Totals:
    """What was spent. `calls` are wire requests, failed ones included; tokens are those that replies stated.

    `cost` is in US dollars, None where the price of any reply is unknown: `unpriced` counts those.
    """

    calls: int = 0
    failed: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    unpriced: int = 0
    cost: float | None = 0.0


class Budget:
    """The account of one run and judge, shared by the parts that spend from it.

    `model` is the name the price is looked up by. Raises ConfigError where dollars are limited and the price
    is unknown, since such a limit could not be kept.
    """

    def __init__(self, settings: BudgetSettings, prices: PriceTable, model: str) -> None:
        if settings.max_cost is not None and prices.find(model) is None:
            raise ConfigError(
                f"--max-cost needs the price of {model}, which is not known",
                hint=f"Give dollars per million tokens in anvil.yaml: prices: {{{model}: {{input: …, output: …}}}}.",
            )
        self.prices = prices
        self.model = model
        self.prepaid = False
        self._settings = settings
        self._calls = self._failed = self._unpriced = 0
        self._input_tokens = self._output_tokens = self._cached_tokens = 0
        self._cost = 0.0
        self._committed = 0.0
        self._reserved = 0.0
        self._in_flight = 0
        self._dearest: float | None = None
        self._waiters: deque[asyncio.Future[None]] = deque()

    @property
    def totals(self) -> Totals:
        return Totals(
            calls=self._calls,
            failed=self._failed,
            input_tokens=self._input_tokens,
            output_tokens=self._output_tokens,
            cached_tokens=self._cached_tokens,
            unpriced=self._unpriced,
            cost=None if self._unpriced else self._cost,
        )

    def count_call(self) -> None:
        """Book one wire request before it is sent. Raises BudgetReachedError where none is left."""
        limit = self._settings.max_calls
        if limit is not None and self._calls >= limit:
            raise BudgetReachedError(f"--max-calls {limit} reached", hint=_HINT)
        self._calls += 1

    async def reserve(self, request: ChatRequest) -> float:
        """Set aside what a call may cost, in US dollars; waits for calls in flight where those may use up the rest.

        A call goes ahead as long as spent and reserved money is below the limit, so that the limit is passed
        by one call's price at most. Raises BudgetReachedError.
        """
        limit = self._settings.max_cost
        if limit is None:
            self._in_flight += 1
            return 0.0
        while self._committed + self._reserved >= limit:
            if self._committed >= limit or not self._in_flight:
                self._wake()
                raise BudgetReachedError(f"--max-cost {limit:g} reached: ${self._committed:.4f} spent", hint=_HINT)
            waiter: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._waiters.append(waiter)
            try:
                await waiter
            except asyncio.CancelledError:
                self._wake()
                raise
        amount = self._expected(request)
        self._in_flight += 1
        self._reserved += amount
        self._wake()
        return amount

    def settle(self, reserved: float, reply: ChatReply, cost: float | None) -> None:
        """Book a reply and its cost in place of the reservation; an unknown cost is taken to be the reserved one."""
        self._input_tokens += reply.usage.input_tokens or 0
        self._output_tokens += reply.usage.output_tokens or 0
        self._cached_tokens += reply.usage.cached_tokens or 0
        if cost is None:
            self._unpriced += 1
        else:
            self._cost += cost
            self._dearest = max(cost, self._dearest or 0.0)
        self._release(reserved, reserved if cost is None else cost)

    def fail(self, reserved: float, *, billed: bool) -> None:
        """Book a failed call; `billed`: the provider may have written an answer that it charges for."""
        self._failed += 1
        self._release(reserved, reserved if billed else 0.0)

    def release(self, reserved: float) -> None:
        """Give back what was set aside for a call that was not made."""
        self._release(reserved, 0.0)

    def _release(self, reserved: float, spent: float) -> None:
        self._in_flight -= 1
        self._reserved = self._reserved - reserved if self._in_flight else 0.0
        self._committed += spent
        self._wake()

    def _wake(self) -> None:
        """Let the next in line look again; it wakes the one behind it."""
        while self._waiters:
            waiter = self._waiters.popleft()
            if not waiter.done():
                waiter.set_result(None)
                return

    def _expected(self, request: ChatRequest) -> float:
        """Return the dearest call so far, before the first one a guess from the request's length."""
        if self._dearest is not None:
            return self._dearest
        size = sum(len(message.content) for message in request.messages) // 4
        return self.prices.cost(Usage(size, _ANSWER_TOKENS), self.model) or 0.0


class BudgetClient:
    """Spends from a budget: innermost, around the provider. Sets `cost` on every reply where it is known."""

    def __init__(self, inner: ChatClient, budget: Budget) -> None:
        self._inner = inner
        self._budget = budget

    async def complete(self, request: ChatRequest) -> ChatReply:
        """Raises BudgetReachedError before a call that the budget does not allow, else what `inner` raises."""
        budget = self._budget
        reserved = await budget.reserve(request)
        try:
            budget.count_call()
            budget.prepaid = True
            reply = await self._inner.complete(request)
        except CallError as error:
            budget.fail(reserved, billed=isinstance(error, DeadlineError | MalformedBodyError))
            raise
        except BaseException:
            budget.release(reserved)
            raise
        cost = reply.cost
        if cost is None:
            cost = budget.prices.cost(reply.usage, budget.model, reply.model)
        budget.settle(reserved, reply, cost)
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

    def __init__(self, inner: Transport, budget: Budget) -> None:
        self._inner = inner
        self._budget = budget

    async def send(self, body: bytes) -> WireReply:
        """Raises BudgetReachedError where no request is left."""
        if self._budget.prepaid:
            self._budget.prepaid = False
        else:
            self._budget.count_call()
        return await self._inner.send(body)

    async def close(self) -> None:
        await self._inner.close()
