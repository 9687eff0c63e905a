from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest

from agentanvil.client.adapter import WireReply
from agentanvil.client.base import ChatReply, ChatRequest, Message, Usage
from agentanvil.client.budget import Account, Budget, BudgetSettings
from agentanvil.client.budget_client import BudgetClient, MeteredTransport
from agentanvil.client.prices import PriceTable
from agentanvil.client.retrying import RetryingClient
from agentanvil.client.scripted import ScriptedClient
from agentanvil.errors import (
    AnvilError,
    BudgetReachedError,
    CallError,
    ConfigError,
    ConnectionFaultError,
    DeadlineError,
    MalformedBodyError,
    RateLimitedError,
    RejectedError,
    ServerFaultError,
)
from tests.fakes.limited_servers import Provider
from tests.fakes.virtual_time import run_virtual

DOLLAR_A_TOKEN = PriceTable.read({"m": {"input": 1e6, "output": 1e6}})
REQUEST = ChatRequest(messages=(Message("user", "x" * 40),))
TEN_TOKENS = ChatReply("{}", usage=Usage(6, 4))


def budget(max_calls: int | None = None, max_cost: float | None = None, prices: PriceTable = DOLLAR_A_TOKEN) -> Account:
    return Budget(BudgetSettings(max_calls, max_cost)).account(prices, "m")


async def spend(client: BudgetClient | RetryingClient, calls: int) -> int:
    """Make calls one after the other until the budget ends; return how many were answered."""
    for done in range(calls):
        try:
            await client.complete(REQUEST)
        except BudgetReachedError:
            return done
    return calls


@pytest.mark.parametrize("limit", [0, 1, 7])
def test_no_call_is_made_beyond_the_limit(limit: int) -> None:
    inner = ScriptedClient(TEN_TOKENS)
    assert asyncio.run(spend(BudgetClient(inner, budget(max_calls=limit)), 20)) == limit
    assert len(inner.requests) == limit


def test_failed_attempts_are_calls_too() -> None:
    script: Sequence[AnvilError | ChatReply] = [ServerFaultError("x", status=500), TEN_TOKENS]
    account = budget(max_calls=2)

    async def sleep(_: float) -> None:
        await asyncio.sleep(0)

    async def main() -> int:
        return await spend(RetryingClient(BudgetClient(ScriptedClient(script), account), sleep=sleep), 5)

    assert asyncio.run(main()) == 1
    assert account.totals.calls == 2
    assert account.totals.failed == 1


def test_many_at_once_do_not_pass_the_limit_of_calls() -> None:
    provider = Provider(latency_s=1.0)

    async def main() -> list[object]:
        client = BudgetClient(provider, budget(max_calls=10))
        return await asyncio.gather(*(client.complete(REQUEST) for _ in range(30)), return_exceptions=True)

    outcomes = run_virtual(main())
    assert sum(isinstance(outcome, ChatReply) for outcome in outcomes) == 10
    assert sum(isinstance(outcome, BudgetReachedError) for outcome in outcomes) == 20
    assert len(provider.sent_at) == 10


def test_the_message_says_what_was_reached_and_how_to_go_on() -> None:
    with pytest.raises(BudgetReachedError, match="--max-calls 0") as caught:
        asyncio.run(BudgetClient(ScriptedClient("{}"), budget(max_calls=0)).complete(REQUEST))
    assert "same command" in str(caught.value)


def test_a_reply_carries_its_cost() -> None:
    account = budget()
    reply = asyncio.run(BudgetClient(ScriptedClient(TEN_TOKENS), account).complete(REQUEST))
    assert reply.cost == pytest.approx(10.0)
    assert account.totals.cost == pytest.approx(10.0)


def test_a_cost_that_the_provider_states_is_taken() -> None:
    stated = ChatReply("{}", usage=Usage(6, 4), cost=0.25)
    reply = asyncio.run(BudgetClient(ScriptedClient(stated), budget()).complete(REQUEST))
    assert reply.cost == 0.25


def test_without_a_price_the_cost_is_unknown_and_the_tokens_are_shown() -> None:
    """O-G06"""
    account = budget(prices=PriceTable.read({}))
    reply = asyncio.run(BudgetClient(ScriptedClient(TEN_TOKENS), account).complete(REQUEST))
    assert reply.cost is None
    totals = account.totals
    assert (totals.input_tokens, totals.output_tokens, totals.cost, totals.unpriced) == (6, 4, None, 1)


def test_one_reply_without_a_known_cost_makes_the_sum_unknown() -> None:
    account = budget()
    client = BudgetClient(ScriptedClient([TEN_TOKENS, ChatReply("{}")]), account)
    asyncio.run(spend(client, 2))
    assert account.totals.cost is None
    assert account.totals.unpriced == 1


def test_nothing_spent_costs_nothing() -> None:
    assert budget().totals.cost == 0.0


def test_every_attempt_counts_towards_the_tokens() -> None:
    """O-G04: a reply that could not be parsed and the one after it."""
    account = budget()
    replies = [ChatReply("no", usage=Usage(100, 20)), ChatReply("{}", usage=Usage(120, 20, 50))]
    asyncio.run(spend(BudgetClient(ScriptedClient(replies), account), 2))
    totals = account.totals
    assert (totals.calls, totals.input_tokens, totals.output_tokens, totals.cached_tokens) == (2, 220, 40, 50)


@pytest.mark.parametrize(("limit", "calls"), [(100.0, 10), (95.0, 10), (101.0, 11), (5.0, 1), (0.0, 0)])
def test_dollars_end_the_run_within_one_calls_price(limit: float, calls: int) -> None:
    account = budget(max_cost=limit)
    assert asyncio.run(spend(BudgetClient(ScriptedClient(TEN_TOKENS), account), 50)) == calls
    assert account.totals.cost == pytest.approx(10.0 * calls)


@pytest.mark.parametrize("concurrency", [1, 8, 64])
@pytest.mark.parametrize("limit", [100.0, 333.0])
def test_dollars_hold_with_many_calls_in_flight(limit: float, concurrency: int) -> None:
    account = budget(max_cost=limit)
    provider = Provider(latency_s=1.0, usage=Usage(10, 10))

    async def main() -> None:
        client = BudgetClient(provider, account)
        await asyncio.gather(*(spend(client, 100) for _ in range(concurrency)))

    run_virtual(main())
    cost = account.totals.cost
    assert cost is not None
    assert limit <= cost <= limit + 20.0 * concurrency


def test_reserved_money_keeps_the_overshoot_to_one_call_once_prices_are_known() -> None:
    account = budget(max_cost=205.0)
    provider = Provider(latency_s=1.0, usage=Usage(10, 10))

    async def main() -> None:
        client = BudgetClient(provider, account)
        await client.complete(REQUEST)
        await asyncio.gather(*(spend(client, 100) for _ in range(64)))

    run_virtual(main())
    assert account.totals.cost == pytest.approx(220.0)


def test_a_guess_that_is_too_high_does_not_end_the_run_early() -> None:
    account = budget(max_cost=100.0)  # one call is guessed at 310 dollars and costs 10
    provider = Provider(latency_s=1.0, usage=Usage(6, 4))

    async def main() -> int:
        client = BudgetClient(provider, account)
        return sum(await asyncio.gather(*(spend(client, 100) for _ in range(8))))

    assert run_virtual(main()) >= 10


def test_a_call_cancelled_while_it_waits_for_money_blocks_nobody() -> None:
    provider = Provider(latency_s=1.0, usage=Usage(6, 4))

    async def main() -> list[object]:
        client = BudgetClient(provider, budget(max_cost=1000.0))
        account = asyncio.ensure_future(client.complete(ChatRequest(messages=(Message("user", "x" * 4000),))))
        await asyncio.sleep(0.1)
        waiting = [asyncio.ensure_future(client.complete(REQUEST)) for _ in range(3)]
        await asyncio.sleep(0.1)
        waiting[0].cancel()
        return await asyncio.gather(account, *waiting, return_exceptions=True)

    outcomes = run_virtual(main())
    assert sum(isinstance(outcome, ChatReply) for outcome in outcomes) == 3


@pytest.mark.parametrize(
    ("error", "billed"),
    [
        (DeadlineError("late"), True),
        (MalformedBodyError("half"), True),
        (ServerFaultError("x", status=500), False),
        (RateLimitedError("x", status=429), False),
        (ConnectionFaultError("refused"), False),
        (RejectedError("x", status=400), False),
    ],
)
def test_an_answer_that_was_written_but_never_came_may_have_been_billed(error: CallError, billed: bool) -> None:
    account = budget(max_cost=1000.0)
    client = BudgetClient(ScriptedClient([TEN_TOKENS, error]), account)

    async def main() -> int:
        await client.complete(REQUEST)
        for done in range(200):
            try:
                await client.complete(REQUEST)
            except BudgetReachedError:
                return done
            except CallError:
                pass
        return 200

    assert (asyncio.run(main()) < 200) is billed
    assert account.totals.cost == pytest.approx(10.0)


def test_a_limit_in_dollars_needs_a_price() -> None:
    with pytest.raises(ConfigError, match="brand-new-1"):
        Budget(BudgetSettings(max_cost=1.0)).account(DOLLAR_A_TOKEN, "brand-new-1")
    Budget(BudgetSettings(max_cost=1.0)).account(PriceTable.free(), "any")
    Budget(BudgetSettings(max_calls=1)).account(PriceTable.read({}), "brand-new-1")


class Wire:
    def __init__(self) -> None:
        self.sent = 0
        self.closed = False

    async def send(self, body: bytes) -> WireReply:
        self.sent += 1
        await asyncio.sleep(0)
        return WireReply(200, body)

    async def close(self) -> None:
        self.closed = True


class Steps:
    """A provider that needs `steps` requests to answer, as one that climbs down the ladder does."""

    def __init__(self, wire: MeteredTransport, steps: int) -> None:
        self.wire, self.steps = wire, steps

    async def complete(self, request: ChatRequest) -> ChatReply:
        for _ in range(self.steps):
            await self.wire.send(b"")
        return TEN_TOKENS

    def fingerprint(self, request: ChatRequest) -> bytes:
        return b"steps"

    async def confirm(self, request: ChatRequest, reply: ChatReply) -> None: ...

    async def close(self) -> None:
        await self.wire.close()


@pytest.mark.parametrize(("steps", "together"), [(1, 1), (3, 1), (3, 8)])
def test_each_request_on_the_wire_is_counted_once(steps: int, together: int) -> None:
    wire, account = Wire(), budget()

    async def main() -> None:
        client = BudgetClient(Steps(MeteredTransport(wire, account), steps), account)
        await asyncio.gather(*(client.complete(REQUEST) for _ in range(together)))
        await client.close()

    asyncio.run(main())
    assert account.totals.calls == wire.sent == steps * together
    assert wire.closed


def test_requests_on_the_way_down_the_ladder_do_not_pass_the_limit() -> None:
    wire, account = Wire(), budget(max_calls=5)

    async def main() -> None:
        client = BudgetClient(Steps(MeteredTransport(wire, account), 3), account)
        await asyncio.gather(*(client.complete(REQUEST) for _ in range(4)), return_exceptions=True)

    asyncio.run(main())
    assert wire.sent == 5


def test_what_is_asked_of_the_inner_client_is_passed_on() -> None:
    async def main() -> None:
        inner = ScriptedClient("{}")
        client = BudgetClient(inner, budget())
        await client.confirm(REQUEST, TEN_TOKENS)
        await client.close()
        assert client.fingerprint(REQUEST) == inner.fingerprint(REQUEST)
        assert inner.confirmed == [REQUEST]
        assert inner.closed

    asyncio.run(main())
