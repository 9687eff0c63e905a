"""`local` as a transport and an adapter: the server starts with the first call that no cache could answer."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace

import orjson

from agentanvil.client.adapter import Shape, WireReply
from agentanvil.client.base import ChatRequest, ReplySchema
from agentanvil.client.chat_completions import ChatCompletions
from agentanvil.client.local.grammar import compact_grammar
from agentanvil.client.local.schema import tighten
from agentanvil.client.local.server import LocalServer
from agentanvil.client.transport import HttpTransport
from agentanvil.errors import ConnectionFaultError, EndpointError


class LocalCompletions(ChatCompletions):
    """Chat Completions whose replies are kept short: on a CPU every token of a verdict costs 20 to 45 ms."""

    def build(self, model: str, request: ChatRequest, shape: Shape) -> bytes:
        """Return the body with a tightened schema, as a grammar of llama.cpp's where it can be one."""
        if request.schema is None:
            return super().build(model, request, shape)
        tight = tighten(request.schema.schema)
        grammar = compact_grammar(tight) if shape.rung == "json_schema" else None
        if grammar is None:
            return super().build(model, replace(request, schema=ReplySchema(request.schema.name, tight)), shape)
        body = orjson.loads(super().build(model, replace(request, schema=None), shape))
        return orjson.dumps({**body, "grammar": grammar})


class LocalTransport:
    """Sends to a server that it starts when it is first needed, and stops when it is closed.

    `start` makes a server that is not running yet; it may take long and tell its progress itself.
    """

    def __init__(self, start: Callable[[], LocalServer], timeout_s: float, path: str) -> None:
        self._start = start
        self._timeout_s = timeout_s
        self._path = path
        self._starting = asyncio.Lock()
        self._server: LocalServer | None = None
        self._http: HttpTransport | None = None

    async def send(self, body: bytes) -> WireReply:
        """Raises JudgeSetupError where the server does not start, EndpointError where it died."""
        http = self._http or await self._started(body)
        try:
            return await http.send(body)
        except ConnectionFaultError as error:
            if self._server is not None and not self._server.alive:
                raise EndpointError(f"the local server is gone: {self._server.last_words()}") from error
            raise

    async def close(self) -> None:
        if self._http is not None:
            await self._http.close()
        if self._server is not None:
            await self._server.__aexit__(None, None, None)

    async def _started(self, body: bytes) -> HttpTransport:
        async with self._starting:
            if self._http is None:
                server = self._server or await self._begun()
                await server.share_prefix(body)
                headers = ChatCompletions().headers(None)
                self._http = HttpTransport(server.base_url + self._path, headers, timeout_s=self._timeout_s)
        return self._http

    async def _begun(self) -> LocalServer:
        server = await asyncio.to_thread(self._start)
        await server.__aenter__()
        self._server = server
        return server
