"""A judge behind an endpoint: builds the request, sends it, reads the reply, and learns what is accepted."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import TypeGuard

from agentanvil.client.adapter import Adapter, Endpoint, Shape
from agentanvil.client.base import ChatReply, ChatRequest
from agentanvil.client.failed_usage import billed_tokens
from agentanvil.client.headers import parse_rate_headers
from agentanvil.client.ladder import Ladder, ShapeStore
from agentanvil.client.proof import Proof
from agentanvil.client.refusals import CAPS, LOGPROBS
from agentanvil.client.secret import SHORTEST_IN_REPLIES, Redactor, Secret
from agentanvil.client.transport import Transport
from agentanvil.errors import (
    AnvilError,
    CallError,
    EndpointError,
    OtherContractError,
    ParameterRefusedError,
    RejectedError,
)

_UNEXPLAINED = RejectedError.code


class ProviderClient:
    """Answers one ChatRequest with one wire request, or a few while it learns what the endpoint refuses.

    `store` remembers what was learnt. `secrets` never leave it, neither in an error nor in a reply that echoes
    them. `clock` gives Unix time.
    """

    def __init__(
        self,
        adapter: Adapter,
        transport: Transport,
        endpoint: Endpoint,
        *,
        store: ShapeStore | None = None,
        secrets: Iterable[Secret] = (),
        clock: Callable[[], float] = time.time,
    ) -> None:
        secrets = tuple(secrets)
        self._adapter = adapter
        self._transport = transport
        self._endpoint = endpoint
        self._identity = call_identity(adapter, endpoint)
        self._ladder = Ladder(adapter, endpoint, store)
        self._trial = asyncio.Lock()
        self._proven: Shape | None = None
        self._proof = Proof()
        self._logprobs_passed = False
        self._clean = Redactor(secrets)
        self._clean_reply = Redactor(secrets, SHORTEST_IN_REPLIES)
        self._clock = clock

    @property
    def shape(self) -> Shape:
        """What the endpoint and model were found to accept so far."""
        return self._ladder.shape

    @property
    def dropped(self) -> tuple[str, ...]:
        """The parameters that were refused and are no longer sent, for the manifest."""
        return tuple(sorted(self.shape.dropped))

    def fingerprint(self, request: ChatRequest) -> bytes:
        """Return API kind, address and full body as they would be sent if nothing were refused.

        What was learnt on the way is left out: it follows from the endpoint, and with it the first calls of a
        run would have other keys than the same calls in the next one.
        """
        return self._identity + self._adapter.build(self._endpoint.model, request, self._endpoint.first)

    async def complete(self, request: ChatRequest) -> ChatReply:
        """Raises CallError, and ConfigError for a refused parameter that the user set."""
        used = self._ladder.shape
        try:
            with self._proof.call():
                try:
                    return await self._attempt(request, used, 1)
                except ParameterRefusedError as refusal:
                    return await self._descend(request, used, refusal)
        except AnvilError as error:
            judged = await self._judged(error)
            if _is_unexplained(error) and not self._logprobs_passed and _asks_by_default(request, used):
                return await self._spared(request, error)
            raise judged from error.__cause__

    async def confirm(self, request: ChatRequest, reply: ChatReply) -> None:
        """Nothing to keep."""

    async def close(self) -> None:
        await self._transport.close()

    async def _descend(self, request: ChatRequest, used: Shape, refusal: ParameterRefusedError) -> ChatReply:
        """Send again with what the refusal taught.

        All calls in flight are refused alike. One of them goes ahead and the others wait for what it meets, so
        that an endpoint that refuses in vain costs little more than was in flight.
        """
        steps = 1
        try:
            while True:
                async with self._trial:
                    while used == self._ladder.shape or self._ladder.shape != self._proven:
                        self._ladder.learn(used, refusal, request)
                        used = self._ladder.shape
                        steps += 1
                        try:
                            reply = await self._attempt(request, used, steps)
                        except ParameterRefusedError as again:
                            refusal = again
                        else:
                            self._proven = used
                            return reply
                    used = self._ladder.shape
                steps += 1
                try:
                    return await self._attempt(request, used, steps)
                except ParameterRefusedError as again:
                    refusal = again
        except CallError as error:
            error.attempts = steps
            raise

    async def _spared(self, request: ChatRequest, refused: RejectedError) -> ChatReply:
        """Send once more without the log-probabilities, which no verdict needs; if that passes, they were to blame.

        Some servers refuse what they do not know without a word that tells what it was.
        """
        try:
            reply = await self.complete(replace(request, logprobs=None))
        except CallError as error:
            error.attempts += refused.attempts
            raise
        shape = self._ladder.shape
        if LOGPROBS not in shape.dropped and not self._logprobs_passed:
            self._ladder.learn(shape, ParameterRefusedError(refused.message, parameter=LOGPROBS), request)
        return replace(reply, attempts=reply.attempts + refused.attempts)

    async def _attempt(self, request: ChatRequest, shape: Shape, attempts: int) -> ChatReply:
        shape = shape_for(shape, request)
        body = self._adapter.build(self._endpoint.model, request, shape)
        started = time.perf_counter()
        answer = await self._transport.send(body)
        latency = time.perf_counter() - started
        try:
            reply = self._adapter.read(answer, shape)
        except CallError as error:
            error.billed_tokens = billed_tokens(answer)
            raise
        self._logprobs_passed |= request.logprobs is not None and LOGPROBS not in shape.dropped
        rates = parse_rate_headers(answer.headers, self._clock())
        return replace(
            cleaned(reply, self._clean_reply),
            attempts=attempts,
            latency_s=latency,
            rates=rates if rates.known else None,
        )

    async def _judged(self, error: AnvilError) -> AnvilError:
        """Return the error as it leaves: without secrets, and an unexplained refusal settled by the proof."""
        if _is_unexplained(error) and not await self._proof.passed():
            endpoint = EndpointError(
                f"no request has passed yet, and the judge refuses: {error.message}",
                status=error.status,
                hint="Check the model's name, the base URL and the parameters.",
            )
            endpoint.attempts = error.attempts
            error = endpoint
        elif isinstance(error, OtherContractError) and not await self._proof.passed():
            error = EndpointError(error.message, status=error.status, hint=error.hint)
        error.message = self._clean(error.message)
        error.hint = None if error.hint is None else self._clean(error.hint)
        error.args = (error.message,)
        return error


def _is_unexplained(error: AnvilError) -> TypeGuard[RejectedError]:
    return isinstance(error, RejectedError) and error.code == _UNEXPLAINED


def _asks_by_default(request: ChatRequest, shape: Shape) -> bool:
    """Tell whether a request was sent with log-probabilities that the user did not ask for."""
    return request.logprobs is not None and LOGPROBS not in (shape.dropped | request.sampling.explicit)


def call_identity(adapter: Adapter, endpoint: Endpoint) -> bytes:
    """Return what a call's fingerprint begins with, before the body: API kind and address."""
    return f"{adapter.api}\n{endpoint.base_url}{adapter.path(endpoint.model)}\n".encode()


def cleaned(reply: ChatReply, clean: Redactor) -> ChatReply:
    """Return a reply without the secrets that it may echo."""
    text = clean(reply.text)
    return replace(
        reply,
        text=text,
        tokens=reply.tokens if text == reply.text else (),  # they spell what was there before
        refusal=None if reply.refusal is None else clean(reply.refusal),
        model=None if reply.model is None else clean(reply.model),
        request_id=None if reply.request_id is None else clean(reply.request_id),
    )


def shape_for(shape: Shape, request: ChatRequest) -> Shape:
    """Return the shape for this very request: plain without a schema, and what the user set is sent in any case.

    A memory of an earlier run may say that the endpoint refuses it; the refusal must then come to light.
    """
    if request.schema is None and shape.rung != "plain":
        shape = replace(shape, rung="plain")
    explicit = request.sampling.explicit
    if shape.dropped and explicit:
        wanted = explicit | CAPS | {shape.cap_field} if "max_tokens" in explicit else explicit
        shape = replace(shape, dropped=shape.dropped - wanted)
    return shape
