"""A client that answers again what was answered before. It stands outermost: a hit passes no limit and no retry."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

from agentanvil.client.base import ChatClient, ChatReply, ChatRequest
from agentanvil.client.cache_entry import Entry, decode_reply, encode_reply
from agentanvil.client.cache_store import CacheStore
from agentanvil.hashing import digest

_MOST_OPEN = 4096


class CachedClient:
    """Looks in the store first, and keeps a reply once the judge has confirmed its verdict.

    The key covers everything that is sent, the address and the API, and also the repeat and the prompt's
    version. `judge` names the judge in the cache's statistics; it must hold no secret. Two calls for the same
    key at the same time are both made.
    """

    def __init__(
        self,
        inner: ChatClient,
        store: CacheStore,
        judge: str = "",
        *,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._inner = inner
        self._store = store
        self._judge = judge
        self._clock = clock
        self._open: dict[int, tuple[ChatRequest, bytes]] = {}

    async def complete(self, request: ChatRequest) -> ChatReply:
        key = self._key(request)
        kept = self._store.get(key)
        reply = None if kept is None else decode_reply(kept)
        if reply is not None:
            return reply
        self._remember(request, key)
        return await self._inner.complete(request)

    def fingerprint(self, request: ChatRequest) -> bytes:
        return self._inner.fingerprint(request)

    async def confirm(self, request: ChatRequest, reply: ChatReply) -> None:
        """Keep the reply, unless it came from the store or is not complete."""
        if not reply.cached:
            _, key = self._open.pop(id(request), (None, None))
            value = encode_reply(reply)
            if value is not None:
                entry = Entry(key or self._key(request), value, self._judge, reply.model or "", self._clock())
                self._store.put(entry)
        await self._inner.confirm(request, reply)

    async def close(self) -> None:
        """Close the store, with everything confirmed on disk, and the inner client."""
        try:
            await asyncio.to_thread(self._store.close)
        finally:
            await self._inner.close()

    def _key(self, request: ChatRequest) -> bytes:
        return reply_key(self._inner.fingerprint(request), request)

    def _remember(self, request: ChatRequest, key: bytes) -> None:
        """Spare `confirm` the hashing. Holding the request keeps its identity; those never confirmed are few."""
        if len(self._open) >= _MOST_OPEN:
            del self._open[next(iter(self._open))]
        self._open[id(request)] = (request, key)


def reply_key(fingerprint: bytes, request: ChatRequest) -> bytes:
    """Return the key that the reply to a call is kept under."""
    return bytes.fromhex(digest(fingerprint, str(request.repeat), request.prompt_version))
