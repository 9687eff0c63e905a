"""What a run may spend: wire requests and US dollars, counted where they happen, inside the retry layer.

A run has one budget, however many judges it has; each judge spends from it through an account of its own, at its own
prices. A part of the budget may have a limit of its own.
"""

from __future__ import annotations

import asyncio
from collections import deque
from dataclasses import dataclass

from agentanvil.client.base import ChatClient, ChatReply, ChatRequest
from agentanvil.client.prices import PriceTable
from agentanvil.errors import BudgetReachedError, CallError, ConfigError

_HINT = "Raise the limit and run the same command again: it goes on where it stopped."
# What a reply without a cap of its own is taken to stay within.
_UNCAPPED_TOKENS = 32_000


@dataclass(frozen=True, slots=True)
class BudgetSettings:
    """Limits; None is no limit. `max_cost` is in US dollars, `flag` is what it is called by."""

    max_calls: int | None = None
    max_cost: float | None = None
    flag: str = "--max-cost"


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
    """What may be spent together. `spent` are the US dollars that earlier sittings of the same run paid.

    Dollars are held within one call's price, whatever is in flight: a call goes ahead as long as what was spent, and
    the most that the calls in flight may come to, is below the limit. A call whose cost nobody told counts with the
    most that it may have come to.
    """

    def __init__(self, settings: BudgetSettings, *, spent: float = 0.0, within: Budget | None = None) -> None:
        outer = () if within is None else within.purses
        self.purses: tuple[_Purse, ...] = (_Purse(settings, spent), *outer)

    def account(self, prices: PriceTable, model: str) -> Account:
        """Return the account of one judge. `model` is the name that its price is looked up by.

        Raises ConfigError where dollars are limited and the price is unknown: such a limit could not be kept.
        """
        limited = next((purse.settings.flag for purse in self.purses if purse.settings.max_cost is not None), None)
        if limited is not None and prices.find(model) is None:
            raise ConfigError(
                f"{limited} needs the price of {model}, which is not known",
                hint=f"Give dollars per million tokens in anvil.yaml: prices: {{{model}: {{input: …, output: …}}}}.",
            )
        return Account(self, prices, model)

    def part(self, settings: BudgetSettings, *, spent: float = 0.0) -> Budget:
        """Return a budget with limits of its own, whose spending counts here as well.

        `spent` is what earlier sittings paid within it; here they must have been counted already.
        """
        return Budget(settings, spent=spent, within=self)

    @property
    def limits_cost(self) -> bool:
        """Whether dollars are limited here or further out."""
        return any(purse.settings.max_cost is not None for purse in self.purses)

    def count_call(self) -> None:
        """Book one wire request before it is sent. Raises BudgetReachedError where none is left."""
        for purse in self.purses:
            limit = purse.settings.max_calls
            if limit is not None and purse.calls >= limit:
                raise BudgetReachedError(f"--max-calls {limit} reached", hint=_HINT)
        for purse in self.purses:
            purse.calls += 1

    async def reserve(self, most: float) -> None:
        """Set aside the US dollars that a call may come to; waits where those in flight may use up the rest.

        Raises BudgetReachedError.
        """
        while (full := next((purse for purse in self.purses if purse.is_full()), None)) is not None:
            await full.wait()
        for purse in self.purses:
            purse.take(most)

    def release(self, reserved: float, *, known: float = 0.0, unknown: float = 0.0) -> None:
        """Book what a call came to in place of what was set aside: what is known, or the most it may have been."""
        for purse in self.purses:
            purse.put_back(reserved, known, unknown)


class _Purse:
    """One limit, and what counts against it."""

    def __init__(self, settings: BudgetSettings, spent: float) -> None:
        self.settings = settings
        self.calls = 0
        self._known = spent
        self._unknown = 0.0
        self._reserved = 0.0
        self._in_flight = 0
        self._waiters: deque[asyncio.Future[None]] = deque()

    def is_full(self) -> bool:
        """Tell whether what was spent, and may be on its way, reaches the limit."""
        limit = self.settings.max_cost
        return limit is not None and self._known + self._unknown + self._reserved >= limit

    async def wait(self) -> None:
        """Wait until a call in flight has ended. Raises BudgetReachedError where none can bring money back."""
        limit = self.settings.max_cost or 0.0
        if self._known + self._unknown >= limit or not self._in_flight:
            self._wake()
            unknown = f", and up to ${self._unknown:.4f} for calls whose cost nobody told" if self._unknown else ""
            message = f"{self.settings.flag} {limit:g} reached: ${self._known:.4f} spent{unknown}"
            raise BudgetReachedError(message, hint=_HINT, flag=self.settings.flag)
        waiter: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiters.append(waiter)
        try:
            await waiter
        except asyncio.CancelledError:
            self._wake()
            raise
        if not self.is_full():
            self._wake()  # the one that was woken may have to wait for another purse

    def take(self, most: float) -> None:
        """Set money aside for a call."""
        self._in_flight += 1
        self._reserved += most
        self._wake()

    def put_back(self, reserved: float, known: float, unknown: float) -> None:
        """End a call."""
        self._in_flight -= 1
        self._reserved = self._reserved - reserved if self._in_flight else 0.0
        self._known += known
        self._unknown += unknown
        self._wake()

    def _wake(self) -> None:
        """Let the next in line look again; it wakes the one behind it."""
        while self._waiters:
            waiter = self._waiters.popleft()
            if not waiter.done():
                waiter.set_result(None)
                return


class Account:
    """What one judge spends from a budget, and what it got for it.

    `prepaid` says that the wire request which is about to be sent has been counted already.
    """

    def __init__(self, budget: Budget, prices: PriceTable, model: str) -> None:
        self.budget = budget
        self.prices = prices
        self.model = model
        self.prepaid = False
        self._calls = self._failed = self._unpriced = 0
        self._input_tokens = self._output_tokens = self._cached_tokens = 0
        self._cost = 0.0
        self._dearest = 0.0

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
        self.budget.count_call()
        self._calls += 1

    async def reserve(self, client: ChatClient, request: ChatRequest) -> float:
        """Set aside the most that a call may cost, and return it in US dollars. Raises BudgetReachedError.

        A token of the input has at least one byte, and the output at most the tokens that its cap lets through; a
        provider that passed its cap before is taken to do so again.
        """
        most = 0.0
        if self.budget.limits_cost:
            price = self.prices.find(self.model)
            if price is not None:
                output = request.sampling.max_tokens or _UNCAPPED_TOKENS
                most = max(price.ceiling(len(client.fingerprint(request)), output), self._dearest)
        await self.budget.reserve(most)
        return most

    def settle(self, reserved: float, reply: ChatReply, cost: float | None) -> None:
        """Book a reply and its cost."""
        self._input_tokens += reply.usage.input_tokens or 0
        self._output_tokens += reply.usage.output_tokens or 0
        self._cached_tokens += reply.usage.cached_tokens or 0
        self._book(reserved, cost)

    def fail(self, reserved: float, error: CallError, *, billed: bool) -> None:
        """Book a failed call; `billed`: where the provider is silent, it may charge for an answer all the same."""
        self._failed += 1
        if error.billed_tokens is None:
            self.budget.release(reserved, unknown=reserved if billed else 0.0)
            return
        given, written = error.billed_tokens
        self._input_tokens += given
        self._output_tokens += written
        self._book(reserved, error.cost)

    def _book(self, reserved: float, cost: float | None) -> None:
        if cost is None:
            self._unpriced += 1
            self.budget.release(reserved, unknown=reserved)
            return
        self._cost += cost
        self._dearest = max(cost, self._dearest)
        self.budget.release(reserved, known=cost)
