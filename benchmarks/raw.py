"""A raw client: the same bodies, aiohttp or httpx, nothing else. Prints calls a second.

python -m benchmarks.raw URL CALLS CONCURRENCY aiohttp|httpx|httpx-aiohttp
"""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Awaitable, Callable, Iterator

import aiohttp
import httpx
import orjson
from httpx_aiohttp import AiohttpTransport

try:
    import uvloop
except ImportError:
    uvloop = None

SYSTEM = "You grade one response to one request. " * 100
USER = "request and response of a row. " * 25


def body(number: int) -> bytes:
    messages = [{"role": "system", "content": SYSTEM}, {"role": "user", "content": f"{USER}{number}"}]
    return orjson.dumps({"model": "bench", "messages": messages, "temperature": 0.0})


async def crew(post: Callable[[bytes], Awaitable[bytes]], calls: Iterator[int]) -> None:
    for number in calls:
        orjson.loads(await post(body(number)))


async def drive(url: str, calls: int, concurrency: int, kind: str) -> float:
    headers = {"Content-Type": "application/json"}
    numbers = iter(range(calls))
    if kind == "aiohttp":
        async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session:

            async def post(data: bytes) -> bytes:
                async with session.post(url, data=data, headers=headers) as response:
                    return await response.read()

            started = time.perf_counter()
            await asyncio.gather(*(crew(post, numbers) for _ in range(concurrency)))
            return calls / (time.perf_counter() - started)
    limits = httpx.Limits(max_connections=None)
    transport = AiohttpTransport(limits=limits) if kind == "httpx-aiohttp" else httpx.AsyncHTTPTransport(limits=limits)
    async with httpx.AsyncClient(transport=transport, timeout=60) as client:

        async def post_httpx(data: bytes) -> bytes:
            return (await client.post(url, content=data, headers=headers)).content

        started = time.perf_counter()
        await asyncio.gather(*(crew(post_httpx, numbers) for _ in range(concurrency)))
        return calls / (time.perf_counter() - started)


def main() -> None:
    url, calls, concurrency, kind = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
    with asyncio.Runner(loop_factory=uvloop.new_event_loop if uvloop else None) as runner:
        print(runner.run(drive(url, calls, concurrency, kind)))


if __name__ == "__main__":
    main()
