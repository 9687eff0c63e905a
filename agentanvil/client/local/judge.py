"""`local` as a transport and an adapter: the server starts with the first call that no cache could answer."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from copy import copy
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

import orjson

from agentanvil.client.adapter import Shape, WireReply
from agentanvil.client.base import ChatRequest, ReplySchema
from agentanvil.client.chat_completions import ChatCompletions
from agentanvil.client.local.grammar import compact_grammar
from agentanvil.client.local.models import Bytes
from agentanvil.client.local.schema import tighten
from agentanvil.client.local.server import LocalServer
from agentanvil.client.transport import HttpTransport
from agentanvil.errors import AnvilError, ConnectionFaultError, EndpointError

_GRACE_S = 1.0  # a process that dies breaks its connections a moment before it is gone


class LocalCompletions(ChatCompletions):
    """Chat Completions whose replies are kept short: on a CPU every token of a verdict costs 20 to 45 ms."""

    def build(self, model: str, request: ChatRequest, shape: Shape) -> bytes:
        """Return the body with a tightened schema, as a grammar of llama.cpp's where it can be one."""
        if request.schema is None:
            return super().build(model, request, shape)
        tight, grammar = _shortened(orjson.dumps(request.schema.schema))
        if grammar is None or shape.rung != "json_schema":
            return super().build(model, replace(request, schema=ReplySchema(request.schema.name, tight)), shape)
        body = super().build(model, replace(request, schema=None), shape)
        return b'%s,"grammar":%s}' % (body[:-1], grammar)


@lru_cache(maxsize=64)
def _shortened(schema: bytes) -> tuple[dict[str, object], bytes | None]:
    """Return the tight schema, and its grammar as JSON. A run asks for few of them, once a row."""
    tight = tighten(orjson.loads(schema))
    grammar = compact_grammar(tight)
    return tight, None if grammar is None else orjson.dumps(grammar)


class LocalTransport:
    """Sends to a server that it starts when it is first needed, and stops when it is closed.

    `fetch` returns the model's file and tells of its bytes; it may take long and runs in a thread, while `told`
    hears of them on the event loop. `serve` makes a server of that file, which is not running yet. A start that
    failed is not tried again: all that wait for it meet the same error.
    """

    def __init__(
        self, fetch: Callable[[Bytes], Path], serve: Callable[[Path], LocalServer], told: Bytes, timeout_s: float
    ) -> None:
        self._fetch = fetch
        self._serve = serve
        self._told = told
        self._timeout_s = timeout_s
        self._starting = asyncio.Lock()
        self._failure: AnvilError | None = None
        self._server: LocalServer | None = None
        self._http: HttpTransport | None = None

    @property
    def ready(self) -> bool:
        """Whether the server is up. Until then nothing was sent to it, whatever waits here."""
        return self._http is not None

    async def send(self, body: bytes) -> WireReply:
        """Raises JudgeSetupError where the server does not start, EndpointError where it died."""
        http = self._http or await self._started(body)
        try:
            return await http.send(body)
        except ConnectionFaultError as error:
            if self._server is not None and await self._server.ended(_GRACE_S):
                raise EndpointError(f"the local server is gone: {self._server.last_words()}") from error
            raise

    async def close(self) -> None:
        """Stop the server. What was not started is left so."""
        try:
            if self._http is not None:
                await self._http.close()
        finally:
            if self._server is not None:
                await self._server.__aexit__(None, None, None)

    async def _started(self, body: bytes) -> HttpTransport:
        async with self._starting:
            if self._failure is not None:
                raise copy(self._failure)
            if self._http is None:
                try:
                    server = self._server or await self._begun()
                except AnvilError as error:
                    self._failure = error
                    raise
                await server.share_prefix(body)
                adapter = LocalCompletions()
                url = server.base_url + adapter.path("")
                self._http = HttpTransport(url, adapter.headers(None), timeout_s=self._timeout_s)
        return self._http

    async def _begun(self) -> LocalServer:
        # On the loop's own thread, which lasts: the kernel ends the server with the thread that started it.
        server = await self._serve(await self._fetched()).__aenter__()
        self._server = server
        return server

    async def _fetched(self) -> Path:
        """Fetch in a thread. It cannot be cancelled, so it is told to stop when it next tells of its progress."""
        loop = asyncio.get_running_loop()
        cancelled = threading.Event()

        def progress(done: int, total: int) -> None:
            if cancelled.is_set():
                raise _StoppedError
            loop.call_soon_threadsafe(self._told, done, total)

        try:
            return await asyncio.to_thread(self._fetch, progress)
        except asyncio.CancelledError:
            cancelled.set()
            raise


class _StoppedError(Exception):
    """Nobody waits for the model any more."""
