"""Providers with limits of every usual kind, as clients on the event loop's clock."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

from agentanvil.client.base import ChatReply, ChatRequest, Usage
from agentanvil.client.headers import RateHeaders
from agentanvil.errors import CallError, RateLimitedError


def _now() -> float:
    return asyncio.get_running_loop().time()


class SlidingWindow:
    """At most `limit` accepted in any trailing `window_s`; Retry-After is exact."""

    def __init__(self, limit: int, window_s: float) -> None:
        self.limit, self.window_s = limit, window_s
        self.hits: deque[float] = deque()

    def refuse(self) -> CallError | None:
        now = _now()
        while self.hits and self.hits[0] < now - self.window_s:
            self.hits.popleft()
        if len(self.hits) >= self.limit:
            wait = max(0.01, self.hits[0] + self.window_s - now)
            return RateLimitedError("slow down", status=429, retry_after=round(wait, 2))
        self.hits.append(now)
        return None


class FixedWindow:
    """At most `limit` in each clock window of `window_s`, which began `offset_s` before the run."""

    def __init__(self, limit: int, window_s: float, offset_s: float = 0.0) -> None:
        self.limit, self.window_s, self.offset_s = limit, window_s, offset_s
        self.count, self.number = 0, -1

    def refuse(self) -> CallError | None:
        at = _now() + self.offset_s
        number = int(at // self.window_s)
        if number != self.number:
            self.number, self.count = number, 0
        if self.count >= self.limit:
            return RateLimitedError("slow down", status=429, retry_after=(number + 1) * self.window_s - at)
        self.count += 1
        return None


class TokenBucket:
    """`capacity` at once, then `rate` a second; Retry-After may be rounded up to whole seconds."""

    def __init__(self, capacity: float, rate: float, *, whole_seconds: bool = False) -> None:
        self.capacity, self.rate, self.whole_seconds = capacity, rate, whole_seconds
        self.level, self.at = capacity, -1.0

    def refuse(self) -> CallError | None:
        now = _now()
        if self.at >= 0:
            self.level = min(self.capacity, self.level + (now - self.at) * self.rate)
        self.at = now
        if self.level < 1:
            wait = (1 - self.level) / self.rate
            if self.whole_seconds:
                wait = float(int(wait) + 1)
            return RateLimitedError("slow down", status=429, retry_after=wait)
        self.level -= 1
        return None


@dataclass
class Provider:
    """Answers after `latency_s`; a refusal comes back after `refusal_s`, as fast as the network is.

    `refuse` looks at the request when it arrives, half a `refusal_s` after it was sent. `slots` bounds what
    is at work at once; more than that is refused with `full()`. `rates` gives the headers of an answer. `outs`
    holds, for each call, how many were out when it was sent.
    """

    refuse: Callable[[], CallError | None] = lambda: None
    latency_s: float = 0.05
    refusal_s: float = 0.002
    slots: int | None = None
    full: Callable[[], CallError] = lambda: RateLimitedError("too many at once", status=429)
    usage: Usage = field(default_factory=lambda: Usage(input_tokens=100, output_tokens=50))
    rates: Callable[[], RateHeaders | None] = lambda: None
    refused: int = 0
    working: int = 0
    most_working: int = 0
    out: int = 0
    outs: list[int] = field(default_factory=list)
    sent_at: list[float] = field(default_factory=list)

    async def complete(self, request: ChatRequest) -> ChatReply:
        self.sent_at.append(_now())
        self.out += 1
        self.outs.append(self.out)
        try:
            await asyncio.sleep(self.refusal_s / 2)
            self._admit()
            rates = self.rates()
            await self._work()
        except CallError:
            await asyncio.sleep(self.refusal_s / 2)
            raise
        finally:
            self.out -= 1
        return ChatReply(text="{}", usage=self.usage, rates=rates)

    def _admit(self) -> None:
        error = self.refuse()
        if error is None and self.slots is not None and self.working >= self.slots:
            error = self.full()
        if error is not None:
            self.refused += 1
            raise error

    async def _work(self) -> None:
        self.working += 1
        self.most_working = max(self.most_working, self.working)
        try:
            await asyncio.sleep(self.latency_s)
        finally:
            self.working -= 1

    def fingerprint(self, request: ChatRequest) -> bytes:
        return b"provider"

    async def confirm(self, request: ChatRequest, reply: ChatReply) -> None: ...

    async def close(self) -> None: ...
