"""The limiter against providers of every usual kind, on a clock that jumps: rejections, walls and losses are exact."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable
from dataclasses import dataclass

import pytest

from agentanvil.client.base import ChatReply, ChatRequest, Message, Question, Usage
from agentanvil.client.headers import RateHeaders, RateWindow
from agentanvil.client.limited import LimitedClient, LimitSettings
from agentanvil.client.retrying import RetryingClient
from agentanvil.client.scripted import ScriptedClient
from agentanvil.client.throttle import estimate_tokens
from agentanvil.errors import (
    BudgetReachedError,
    CallError,
    ConnectionFaultError,
    DeadlineError,
    RateLimitedError,
    RejectedError,
    ServerFaultError,
)
from tests.fakes.limited_servers import FixedWindow, Provider, SlidingWindow, TokenBucket
from tests.fakes.virtual_time import run_virtual

REQUEST = ChatRequest(messages=(Message("user", "x" * 400),))


@dataclass
class Drive:
    """How a run of many calls went. `rejected` is a share of the calls asked for."""

    wall_s: float
    answered: int
    lost: int
    rejected: float


def drive(provider: Provider, calls: int, workers: int | None = None, **told: float | None) -> Drive:
    """Send `calls` through retries and limiter, with as many workers as the concurrency told."""
    settings = LimitSettings(**told)  # type: ignore[arg-type]

    async def main() -> Drive:
        client = RetryingClient(LimitedClient(provider, settings), draw=random.Random(7).random)
        loop = asyncio.get_running_loop()
        began = loop.time()
        todo = iter(range(calls))
        answered = lost = 0

        async def work() -> None:
            nonlocal answered, lost
            for _ in todo:
                try:
                    await client.complete(REQUEST)
                    answered += 1
                except CallError:
                    lost += 1

        await asyncio.gather(*(work() for _ in range(workers or settings.concurrency)))
        wall_s = loop.time() - began
        await client.close()
        return Drive(wall_s, answered, lost, provider.refused / calls)

    return run_virtual(main())


NETWORKS = [
    pytest.param(0.005, 0.002, id="loopback"),
    pytest.param(0.05, 0.002, id="mock"),
    pytest.param(1.0, 0.05, id="provider"),
]


@pytest.mark.parametrize(("latency_s", "refusal_s"), NETWORKS)
@pytest.mark.parametrize(
    ("rpm", "calls", "in_window", "window_s"),
    [(600, 72, 10, 1.0), (1200, 200, 20, 1.0), (90, 12, 3, 2.0), (30, 6, 1, 2.0), (6000, 900, 100, 1.0)],
)
def test_told_a_limit_nothing_is_rejected_and_little_is_lost(
    rpm: int, calls: int, in_window: int, window_s: float, latency_s: float, refusal_s: float
) -> None:
    run = drive(
        Provider(SlidingWindow(in_window, window_s).refuse, latency_s, refusal_s), calls, concurrency=200, rpm=rpm
    )
    assert run.answered == calls
    assert run.rejected == 0
    assert run.wall_s <= 1.03 * 60 * (calls - 1) / rpm + 2.5 * latency_s + 0.1


def test_200_calls_told_20_a_second_take_little_more_than_10_seconds() -> None:
    run = drive(Provider(SlidingWindow(20, 1.0).refuse), 200, concurrency=64, rpm=1200)
    assert run.wall_s <= 10.3
    assert run.rejected < 0.01


def test_a_told_limit_holds_over_a_minute_too() -> None:
    run = drive(Provider(FixedWindow(600, 60.0, 20.0).refuse), 2000, concurrency=64, rpm=600)
    assert run.rejected == 0
    assert run.wall_s <= 205


@pytest.mark.parametrize(("latency_s", "refusal_s"), NETWORKS)
@pytest.mark.parametrize(
    ("server", "calls", "concurrency", "most_rejected", "most_wall_s"),
    [
        pytest.param(lambda: SlidingWindow(10, 1.0), 72, 16, 0.10, 9.0, id="10 in any second"),
        pytest.param(lambda: SlidingWindow(20, 1.0), 200, 64, 0.10, 12.0, id="20 in any second"),
        pytest.param(lambda: SlidingWindow(600, 60.0), 2000, 64, 0.05, 202.0, id="600 in any minute"),
        pytest.param(lambda: FixedWindow(600, 60.0, 20.0), 2000, 64, 0.05, 202.0, id="600 by the clock"),
        pytest.param(lambda: TokenBucket(60, 10), 2000, 64, 0.05, 198.0, id="bucket of 60"),
        pytest.param(
            lambda: TokenBucket(60, 10, whole_seconds=True), 2000, 64, 0.05, 198.0, id="bucket, whole seconds"
        ),
        pytest.param(lambda: TokenBucket(10, 10), 200, 64, 0.12, 21.0, id="bucket of 10"),
    ],
)
def test_an_untold_limit_is_learned(
    server: Callable[[], SlidingWindow | FixedWindow | TokenBucket],
    calls: int,
    concurrency: int,
    most_rejected: float,
    most_wall_s: float,
    latency_s: float,
    refusal_s: float,
) -> None:
    run = drive(Provider(server().refuse, latency_s, refusal_s), calls, concurrency=concurrency)
    assert run.answered == calls
    assert run.rejected <= most_rejected
    assert run.wall_s <= most_wall_s


def test_a_told_limit_above_the_real_one_is_corrected() -> None:
    run = drive(Provider(SlidingWindow(10, 1.0).refuse), 200, concurrency=64, rpm=1200)
    assert run.answered == 200
    assert run.rejected <= 0.1
    assert run.wall_s <= 23


@pytest.mark.parametrize("status", [429, 503, 529])
@pytest.mark.parametrize(
    ("slots", "concurrency", "calls"),
    [pytest.param(39, 80, 200, id="O-C03"), (4, 64, 120), (1, 16, 30)],
)
def test_a_limit_of_calls_at_once_is_found_without_a_hint(
    slots: int, concurrency: int, calls: int, status: int
) -> None:
    def full() -> CallError:
        if status == 429:
            return RateLimitedError("too many at once", status=429)
        return ServerFaultError("overloaded", status=status)

    provider = Provider(latency_s=1.0, refusal_s=0.02, slots=slots, full=full)
    run = drive(provider, calls, concurrency=concurrency)
    assert run.answered == calls
    assert provider.most_working <= slots
    if status == 429:
        late = provider.outs[len(provider.outs) // 2 :]
        assert max(late) <= slots + 1
        assert sum(out > slots for out in late) <= 2
    assert run.wall_s <= 1.6 * calls / slots + 4


@pytest.mark.parametrize(
    ("calls", "concurrency", "latency_s", "most"),
    [(2000, 100, 0.2, 1.12), (10_000, 500, 0.2, 1.14), (1000, 100, 8.0, 1.25), (64, 16, 0.2, 1.1)],
)
def test_a_slow_start_costs_little(calls: int, concurrency: int, latency_s: float, most: float) -> None:
    provider = Provider(latency_s=latency_s)
    run = drive(provider, calls, concurrency=concurrency)
    assert run.wall_s <= most * calls * latency_s / concurrency + 0.05
    assert provider.most_working == concurrency


@pytest.mark.parametrize(
    "make",
    [
        pytest.param(lambda: ServerFaultError("x", status=500), id="500"),
        pytest.param(lambda: ServerFaultError("x", status=502), id="502"),
        pytest.param(lambda: ConnectionFaultError("x"), id="connection"),
        pytest.param(lambda: DeadlineError("x"), id="deadline"),
        pytest.param(lambda: RejectedError("x", status=400), id="rejected"),
    ],
)
def test_other_failures_do_not_take_the_concurrency_away(make: Callable[[], CallError]) -> None:
    dice = random.Random(3)
    provider = Provider(lambda: make() if dice.random() < 0.3 else None, latency_s=1.0, refusal_s=1.0)
    drive(provider, 2000, workers=100, concurrency=24)
    assert max(provider.outs[1000:]) >= 20


def test_rare_overloads_are_bad_luck() -> None:
    dice = random.Random(3)
    provider = Provider(lambda: ServerFaultError("x", status=503) if dice.random() < 0.02 else None, 1.0, 1.0)
    run = drive(provider, 2000, concurrency=100)
    assert run.answered == 2000
    assert max(provider.outs[1000:]) >= 90


def headers_of_a_bucket(bucket: TokenBucket) -> Callable[[], RateHeaders]:
    def say() -> RateHeaders:
        reset_s = (bucket.capacity - bucket.level) / bucket.rate
        return RateHeaders(requests=RateWindow(int(bucket.capacity), int(bucket.level), reset_s))

    return say


def headers_of_a_window(window: FixedWindow) -> Callable[[], RateHeaders]:
    def say() -> RateHeaders:
        at = asyncio.get_running_loop().time() + window.offset_s
        reset_s = (window.number + 1) * window.window_s - at
        return RateHeaders(requests=RateWindow(window.limit, window.limit - window.count, reset_s))

    return say


@pytest.mark.parametrize(("latency_s", "refusal_s"), NETWORKS)
def test_headers_of_a_bucket_slow_calls_down_before_any_is_rejected(latency_s: float, refusal_s: float) -> None:
    bucket = TokenBucket(60, 10)
    provider = Provider(bucket.refuse, latency_s, refusal_s, rates=headers_of_a_bucket(bucket))
    run = drive(provider, 600, concurrency=32)
    assert run.rejected <= 0.01
    assert run.wall_s <= 58


@pytest.mark.parametrize(("latency_s", "refusal_s"), NETWORKS)
def test_headers_of_a_fixed_window_are_kept_to(latency_s: float, refusal_s: float) -> None:
    window = FixedWindow(100, 10.0, 4.0)
    provider = Provider(window.refuse, latency_s, refusal_s, rates=headers_of_a_window(window))
    run = drive(provider, 600, concurrency=32)
    assert run.answered == 600
    assert run.rejected <= 0.05
    assert run.wall_s <= 62


def test_headers_that_say_nothing_is_left_are_obeyed() -> None:
    said = iter([RateHeaders(requests=RateWindow(100, 0, 5.0)), None, None, None])
    provider = Provider(rates=lambda: next(said))
    run = drive(provider, 4, concurrency=1)
    assert provider.sent_at[1] - provider.sent_at[0] >= 5.0
    assert run.answered == 4


def test_token_headers_hold_back_what_would_not_fit() -> None:
    said = iter([RateHeaders(tokens=RateWindow(10_000, 100, 6.0)), None])
    provider = Provider(rates=lambda: next(said), usage=Usage(300, 10))
    drive(provider, 2, concurrency=1)
    assert provider.sent_at[1] - provider.sent_at[0] >= 6.0


def test_tokens_a_minute_are_kept_to_by_what_calls_really_used() -> None:
    """Estimates are far too low here (300 against 1,000): settling must still hold the rate."""
    provider = Provider(usage=Usage(input_tokens=900, output_tokens=100))
    run = drive(provider, 120, concurrency=8, tpm=60_000)
    assert 110 <= run.wall_s <= 125


@pytest.mark.parametrize(
    ("tpm", "tokens", "calls", "wall_s"),
    [
        pytest.param(100, 200, 2, 120.0, id="O-C05"),
        pytest.param(100, 100, 3, 120.0, id="exactly"),
        pytest.param(1000, 5000, 2, 300.0, id="x5"),
    ],
)
def test_an_oversized_request_neither_waits_for_ever_nor_passes_uncounted(
    tpm: int, tokens: int, calls: int, wall_s: float
) -> None:
    provider = Provider(usage=Usage(tokens, 0))

    async def main() -> float:
        client = LimitedClient(provider, LimitSettings(concurrency=4, tpm=tpm), lambda _: float(tokens))
        loop = asyncio.get_running_loop()
        began = loop.time()
        await asyncio.gather(*(client.complete(REQUEST) for _ in range(calls)))
        return loop.time() - began

    assert run_virtual(main()) == pytest.approx(wall_s, rel=0.05)


@pytest.mark.parametrize("retry_after", [0.0, 0.5, 30.0, 90.0])
def test_everyone_waits_as_long_as_the_provider_asked(retry_after: float) -> None:
    first = [RateLimitedError("slow down", status=429, retry_after=retry_after)]
    provider = Provider(lambda: first.pop() if first else None)
    run = drive(provider, 30, concurrency=8)
    refused_at = provider.sent_at[0] + 0.002
    early = [at for at in provider.sent_at if refused_at + 0.001 < at < refused_at + retry_after]
    assert early == []
    assert run.answered == 30


def test_a_pause_beyond_the_limit_fails_at_once_without_a_call() -> None:
    provider = Provider(lambda: RateLimitedError("tomorrow", status=429, retry_after=3600.0))
    run = drive(provider, 50, concurrency=4, max_pause_s=120.0)
    assert run.lost == 50
    assert len(provider.sent_at) <= 4
    assert run.wall_s < 1.0


def test_a_refusal_without_a_call_counts_no_attempt() -> None:
    async def main() -> int:
        client = LimitedClient(
            ScriptedClient(RateLimitedError("no", retry_after=500.0, status=429)), LimitSettings(concurrency=1)
        )
        with pytest.raises(RateLimitedError):
            await client.complete(REQUEST)
        with pytest.raises(RateLimitedError) as caught:
            await client.complete(REQUEST)
        return caught.value.attempts

    assert run_virtual(main()) == 0


@pytest.mark.parametrize("concurrency", [1, 2, 16, 100])
def test_never_more_in_flight_than_told(concurrency: int) -> None:
    provider = Provider(latency_s=0.3)
    drive(provider, 5 * concurrency, concurrency=concurrency)

    async def crowd() -> int:
        crowded = Provider(latency_s=0.3)
        client = LimitedClient(crowded, LimitSettings(concurrency=concurrency))
        await asyncio.gather(*(client.complete(REQUEST) for _ in range(10 * concurrency)))
        return max(crowded.outs)

    assert provider.most_working <= concurrency
    assert run_virtual(crowd()) <= concurrency


def test_calls_are_let_through_in_the_order_they_came() -> None:
    order: list[str] = []

    def note(request: ChatRequest) -> str:
        order.append(request.task_id)
        return "{}"

    async def main() -> None:
        client = LimitedClient(ScriptedClient(note), LimitSettings(concurrency=1, rpm=600))
        requests = [ChatRequest(messages=(), task_id=str(i)) for i in range(20)]
        await asyncio.gather(*(client.complete(request) for request in requests))

    run_virtual(main())
    assert order == [str(i) for i in range(20)]


def test_cancelled_calls_leak_no_slot() -> None:
    """Calls are cancelled while they wait, while they are being let through, and while they are out."""

    async def main() -> tuple[int, int]:
        provider = Provider(latency_s=1.0)
        client = LimitedClient(provider, LimitSettings(concurrency=4))
        tasks = [asyncio.ensure_future(client.complete(REQUEST)) for _ in range(12)]
        await asyncio.sleep(0.5)
        for task in tasks[2:10]:
            task.cancel()
        await asyncio.sleep(0)
        tasks[10].cancel()
        done = await asyncio.gather(*tasks, return_exceptions=True)
        survivors = sum(isinstance(reply, ChatReply) for reply in done)
        await asyncio.gather(*(client.complete(REQUEST) for _ in range(4)))
        return survivors, client.in_flight

    assert run_virtual(main()) == (3, 0)


def test_a_call_cancelled_in_the_moment_it_is_let_through_passes_its_turn_on() -> None:
    async def main() -> int:
        provider = Provider(latency_s=1.0)
        client = LimitedClient(provider, LimitSettings(concurrency=1))
        first = asyncio.ensure_future(client.complete(REQUEST))
        second = asyncio.ensure_future(client.complete(REQUEST))
        third = asyncio.ensure_future(client.complete(REQUEST))
        await first
        second.cancel()  # its turn has been granted, but it has not run yet
        await third
        await asyncio.gather(second, return_exceptions=True)
        return client.in_flight

    assert run_virtual(main()) == 0


@pytest.mark.parametrize("error", [BudgetReachedError("enough"), RejectedError("no"), DeadlineError("late")])
def test_a_slot_comes_back_whatever_the_call_raised(error: Exception) -> None:
    async def main() -> int:
        client = LimitedClient(ScriptedClient(error), LimitSettings(concurrency=1))  # type: ignore[arg-type]
        for _ in range(5):
            with pytest.raises(type(error)):
                await client.complete(REQUEST)
        return client.in_flight

    assert run_virtual(main()) == 0


def test_draining_finishes_what_is_out_and_gives_up_what_waits() -> None:
    async def main() -> list[object]:
        client = LimitedClient(Provider(latency_s=1.0), LimitSettings(concurrency=2))
        tasks = [asyncio.ensure_future(client.complete(REQUEST)) for _ in range(4)]
        await asyncio.sleep(0.5)
        client.drain()
        done = await asyncio.gather(*tasks, client.complete(REQUEST), return_exceptions=True)
        return [type(outcome) for outcome in done]

    assert run_virtual(main()) == [ChatReply, ChatReply, *[BudgetReachedError] * 3]


def test_only_what_is_out_is_in_flight() -> None:
    async def main() -> int:
        client = LimitedClient(Provider(latency_s=1.0), LimitSettings(concurrency=2))
        tasks = [asyncio.ensure_future(client.complete(REQUEST)) for _ in range(5)]
        await asyncio.sleep(0.5)
        out = client.in_flight
        await asyncio.gather(*tasks)
        return out

    assert run_virtual(main()) == 2


def test_what_is_asked_of_the_inner_client_is_passed_on() -> None:
    async def main() -> None:
        inner = ScriptedClient("{}")
        client = LimitedClient(inner, LimitSettings())
        reply = await client.complete(REQUEST)
        await client.confirm(REQUEST, reply)
        await client.close()
        assert client.fingerprint(REQUEST) == inner.fingerprint(REQUEST)
        assert inner.confirmed == [REQUEST]
        assert inner.closed

    run_virtual(main())


def test_the_words_of_typed_questions_count_as_tokens() -> None:
    message = Message("user", "x" * 400)
    assert estimate_tokens(ChatRequest((message,))) > 100
    asked = Question("clear", "score", "y" * 100, (("1", "z" * 39), ("5", "z" * 59)))
    assert estimate_tokens(ChatRequest((message,), questions=(asked,))) == (400 + 100 + 1 + 39 + 1 + 59) / 4
