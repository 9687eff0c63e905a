"""The limiter with real sockets and the real clock: few calls, and nothing asserted about speed."""

from __future__ import annotations

import asyncio
import threading
import time
from collections import deque

from agentanvil.client.base import ChatRequest, Message
from agentanvil.client.chat_completions import ChatCompletions
from agentanvil.client.limited import LimitedClient, LimitSettings
from agentanvil.client.provider import Endpoint, ProviderClient
from agentanvil.client.retrying import RetryingClient, RetryPolicy
from agentanvil.client.transport import HttpTransport
from tests.fakes.server import Answer, FakeServer, Recorded, chat, error

REQUEST = ChatRequest(messages=(Message("user", "Grade."),))


def send(server: FakeServer, calls: int, settings: LimitSettings, base_s: float = 0.02) -> int:
    async def main() -> int:
        adapter = ChatCompletions()
        transport = HttpTransport(f"{server.url}{adapter.path('m')}", adapter.headers(None), timeout_s=20)
        provider = ProviderClient(adapter, transport, Endpoint(server.url, "m"))
        policy = RetryPolicy(max_attempts=8, base_s=base_s)
        client = RetryingClient(LimitedClient(provider, settings), policy)
        try:
            replies = await asyncio.gather(*(client.complete(REQUEST) for _ in range(calls)))
        finally:
            await client.close()
        return len(replies)

    return asyncio.run(main())


class PerSecond:
    """Accepts `limit` in any trailing second."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.hits: deque[float] = deque()
        self.rejected = 0

    def __call__(self, request: Recorded) -> Answer:
        now = time.monotonic()
        while self.hits and self.hits[0] < now - 1:
            self.hits.popleft()
        if len(self.hits) >= self.limit:
            self.rejected += 1
            return error(429, "slow down", headers={"Retry-After": f"{self.hits[0] + 1 - now:.3f}"})
        self.hits.append(now)
        return chat("{}", delay_s=0.01)


def test_a_told_limit_is_kept_on_the_wire() -> None:
    limit = PerSecond(20)
    with FakeServer(limit) as server:
        assert send(server, 25, LimitSettings(concurrency=25, rpm=1200)) == 25
    assert limit.rejected <= 1


def test_an_untold_limit_loses_nothing() -> None:
    limit = PerSecond(20)
    with FakeServer(limit) as server:
        assert send(server, 30, LimitSettings(concurrency=16)) == 30
    assert limit.rejected <= 16  # what is out at once; how few it can be is tested on a clock that no load disturbs


def test_a_server_that_takes_few_at_once_is_asked_few_at_once() -> None:
    """Its limit stands in no header, only in its refusals."""
    busy = 0
    lock = threading.Lock()

    def answer(request: Recorded) -> Answer:
        nonlocal busy
        with lock:
            now = time.monotonic()
            while done and done[0] <= now:
                done.popleft()
            if len(done) >= 5:
                busy += 1
                return error(429, "at most 5 at once")
            done.append(now + 0.05)
        return chat("{}", delay_s=0.05)

    done: deque[float] = deque()
    with FakeServer(answer) as server:
        assert send(server, 60, LimitSettings(concurrency=40)) == 60
    assert busy <= 30


def test_what_the_headers_say_is_left_is_obeyed() -> None:
    arrivals: list[float] = []

    def answer(request: Recorded) -> Answer:
        arrivals.append(time.monotonic())
        left = {"x-ratelimit-limit-requests": "60", "x-ratelimit-remaining-requests": "0"}
        return chat("{}", headers={**left, "x-ratelimit-reset-requests": "300ms"} if request.index == 0 else {})

    with FakeServer(answer) as server:
        assert send(server, 2, LimitSettings(concurrency=1)) == 2
    assert arrivals[1] - arrivals[0] >= 0.28
