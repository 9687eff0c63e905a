"""The one retry layer. What may pass later is sent again; what will not is raised at once."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace

import tenacity

from agentanvil.client.base import ChatClient, ChatReply, ChatRequest
from agentanvil.errors import CallError, TransientError

_LATE = 0.1  # a tenth of what was asked for, so that those who were told the same time do not return together


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """How often and how long; times are in seconds.

    `max_attempts` counts all of them. The wait before attempt n + 1 is drawn between 0 and `base_s` · 2ⁿ⁻¹,
    at most `cap_s` (full jitter), and is never shorter than the provider asked for. A provider that asks for
    more than `max_retry_after_s` is not waited for.
    """

    max_attempts: int = 5
    base_s: float = 0.5
    cap_s: float = 30.0
    max_retry_after_s: float = 120.0


class RetryingClient:
    """Retries TransientError around another client. `sleep` and `draw` (in [0, 1)) are the outside world."""

    def __init__(
        self,
        inner: ChatClient,
        policy: RetryPolicy | None = None,
        *,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        draw: Callable[[], float] = random.random,
    ) -> None:
        self._inner = inner
        self._policy = policy or RetryPolicy()
        self._sleep = sleep
        self._draw = draw

    def fingerprint(self, request: ChatRequest) -> bytes:
        return self._inner.fingerprint(request)

    async def complete(self, request: ChatRequest) -> ChatReply:
        """Raises the last attempt's CallError; its `attempts`, like a reply's, counts all wire requests."""
        try:
            return await self._inner.complete(request)
        except TransientError as error:
            return await self._again(request, error)

    async def confirm(self, request: ChatRequest, reply: ChatReply) -> None:
        await self._inner.confirm(request, reply)

    async def close(self) -> None:
        await self._inner.close()

    async def _again(self, request: ChatRequest, first: TransientError) -> ChatReply:
        """Enter the retry loop with an attempt that already failed, so that a call that passes pays nothing."""
        failed: TransientError | None = first
        spent = 0

        async def attempt() -> ChatReply:
            nonlocal failed, spent
            try:
                if failed is not None:
                    error, failed = failed, None
                    raise error
                reply = await self._inner.complete(request)
            except CallError as error:
                spent += error.attempts
                error.attempts = spent
                raise
            return replace(reply, attempts=spent + reply.attempts)

        loop = tenacity.AsyncRetrying(
            sleep=self._sleep,
            stop=self._gives_up,
            wait=self._pause,
            retry=tenacity.retry_if_exception_type(TransientError),
            reraise=True,
        )
        return await loop(attempt)

    def _gives_up(self, state: tenacity.RetryCallState) -> bool:
        asked = _asked_for(state)
        return state.attempt_number >= self._policy.max_attempts or (
            asked is not None and asked > self._policy.max_retry_after_s
        )

    def _pause(self, state: tenacity.RetryCallState) -> float:
        policy = self._policy
        span = min(policy.cap_s, policy.base_s * 2.0 ** (state.attempt_number - 1))
        asked = _asked_for(state)
        jittered = span * self._draw()
        return jittered if asked is None else max(jittered, asked * (1.0 + _LATE * self._draw()))


def _asked_for(state: tenacity.RetryCallState) -> float | None:
    """Return the provider's Retry-After in seconds, as the last attempt's error holds it."""
    error = state.outcome.exception() if state.outcome is not None else None
    return error.retry_after if isinstance(error, TransientError) else None
