"""One of several processes that share a reply cache: `python -m tests.fakes.cache_process FILE ROWS OFFSET`.

Prints how many rows hit, how many were called, and what trouble was told.
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from agentanvil.client.base import ChatRequest, Message
from agentanvil.client.cache_store import CacheStore
from agentanvil.client.cached import CachedClient
from agentanvil.client.scripted import ScriptedClient


async def _run(path: Path, rows: int, offset: int) -> str:
    trouble: list[str] = []
    inner = ScriptedClient(lambda request: f"answer to {request.messages[0].content}")
    client = CachedClient(inner, CacheStore(path, trouble.append))
    hits = 0
    for row in range(offset, offset + rows):
        request = ChatRequest(messages=(Message("user", f"row {row}"),))
        reply = await client.complete(request)
        if reply.text != f"answer to row {row}":
            raise AssertionError(reply.text)
        hits += reply.cached
        await client.confirm(request, reply)
        await asyncio.sleep(0.001)
    await client.close()
    return f"{hits} {len(inner.requests)} {trouble}"


if __name__ == "__main__":
    print(asyncio.run(_run(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))))
