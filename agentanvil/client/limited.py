"""A client that keeps to limits, told or learned. It sits inside the retry layer: every attempt passes it."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable

from agentanvil.client.base import ChatClient, ChatReply, ChatRequest
from agentanvil.client.throttle import LimitSettings, Permit, Throttle, estimate_tokens
from agentanvil.errors import BudgetReachedError, CallError, RateLimitedError

__all__ = ["LimitSettings", "LimitedClient"]


class LimitedClient:
    """Holds calls back until the provider may be expected to take them; first come, first served.

    State belongs to one event loop. Raises what `inner` raises, and RateLimitedError without a call while the
    provider has asked for a longer pause than the settings allow.
    """

    def __init__(
        self,
        inner: ChatClient,
        settings: LimitSettings,
        estimate: Callable[[ChatRequest], float] = estimate_tokens,
        seed: int = 0,
    ) -> None:
        self._inner = inner
        self._throttle = Throttle(settings, estimate, seed)
        self._in_flight = 0
        self._resting = 0
        self._draining = False
        self._waiters: deque[tuple[asyncio.Future[Permit], float]] = deque()
        self._timer: asyncio.Handle | None = None
        self._wake_at = 0.0

    @property
    def in_flight(self) -> int:
        """The calls that are out; those that wait here are not."""
        return self._in_flight - self._resting

    def drain(self) -> None:
        """Let what is in flight finish and nothing else leave: calls that wait, now or later, are given up.

        They raise BudgetReachedError, as a run that ends early does.
        """
        self._draining = True
        while self._waiters:
            future, _ = self._waiters.popleft()
            if not future.done():
                future.set_exception(_ended())

    async def complete(self, request: ChatRequest) -> ChatReply:
        loop = asyncio.get_running_loop()
        permit = await self._enter(loop, self._throttle.weigh(request))
        rest_s = 0.0
        try:
            reply = await self._inner.complete(request)
            self._throttle.answered(permit, reply, self._in_flight, loop.time())
        except CallError as error:
            rest_s = self._throttle.failed(permit, error, self._in_flight, loop.time())
            raise
        finally:
            if rest_s > 0:
                self._resting += 1
                loop.call_later(rest_s, self._end_rest, loop)
            else:
                self._leave(loop)
        return reply

    def fingerprint(self, request: ChatRequest) -> bytes:
        return self._inner.fingerprint(request)

    async def confirm(self, request: ChatRequest, reply: ChatReply) -> None:
        await self._inner.confirm(request, reply)

    async def close(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        await self._inner.close()

    async def _enter(self, loop: asyncio.AbstractEventLoop, weight: float) -> Permit:
        if self._draining:
            raise _ended()
        now = loop.time()
        if not self._waiters and self._in_flight < self._throttle.slots and self._throttle.ready_at(now, weight) <= now:
            return self._grant(now, weight)
        closed_s = self._throttle.closed_for(now)
        if closed_s is not None:
            raise _closed(closed_s)
        future: asyncio.Future[Permit] = loop.create_future()
        self._waiters.append((future, weight))
        if len(self._waiters) == 1:
            self._admit(loop)
        try:
            return await future
        except asyncio.CancelledError:
            if future.done() and not future.cancelled() and future.exception() is None:
                self._leave(loop)
            raise

    def _grant(self, now: float, weight: float) -> Permit:
        self._in_flight += 1
        return self._throttle.grant(now, weight, self._in_flight)

    def _leave(self, loop: asyncio.AbstractEventLoop) -> None:
        self._in_flight -= 1
        if self._waiters:
            self._admit(loop)

    def _end_rest(self, loop: asyncio.AbstractEventLoop) -> None:
        self._resting -= 1
        self._leave(loop)

    def _admit(self, loop: asyncio.AbstractEventLoop) -> None:
        """Let the head of the queue go, as many as may; set one timer for the next where time is the reason."""
        now = loop.time()
        closed_s = self._throttle.closed_for(now)
        while self._waiters:
            future, weight = self._waiters[0]
            if future.done():
                self._waiters.popleft()
                continue
            if closed_s is not None:
                self._waiters.popleft()
                future.set_exception(_closed(closed_s))
                continue
            if self._in_flight >= self._throttle.slots:
                return
            at = self._throttle.ready_at(now, weight)
            if at > now:
                self._wake(loop, at)
                return
            self._waiters.popleft()
            future.set_result(self._grant(now, weight))

    def _wake(self, loop: asyncio.AbstractEventLoop, at: float) -> None:
        if self._timer is not None:
            if self._wake_at <= at:
                return
            self._timer.cancel()
        self._wake_at = at
        self._timer = loop.call_at(at, self._on_timer, loop)

    def _on_timer(self, loop: asyncio.AbstractEventLoop) -> None:
        self._timer = None
        self._admit(loop)


def _closed(seconds: float) -> RateLimitedError:
    error = RateLimitedError(
        f"the provider asked for a pause that has {seconds:.0f} s to go", retry_after=seconds, status=429
    )
    error.attempts = 0
    return error


def _ended() -> BudgetReachedError:
    return BudgetReachedError("the run is ending; this call was not sent")
