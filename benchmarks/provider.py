"""A loopback judge that costs next to nothing: constant verdicts, a latency, a limit in a sliding window of one second.

    python -m benchmarks.provider PORT LATENCY_S CALLS_PER_S(0: none)

GET /stats tells calls, rejections and the time from the first call to the last; GET /reset forgets them.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from collections import deque
from typing import cast

try:
    import uvloop
except ImportError:
    uvloop = None

DIMENSIONS = ("faithfulness", "completeness", "instruction_following", "safety")
VERDICT = {d: {"evidence": ["the answer"], "reason": "It is there.", "score": 5} for d in DIMENSIONS}
REPLY = {
    "id": "c",
    "object": "chat.completion",
    "model": "bench",
    "choices": [
        {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": json.dumps(VERDICT)}}
    ],
    "usage": {"prompt_tokens": 1000, "completion_tokens": 120, "total_tokens": 1120},
}
BODY = json.dumps(REPLY).encode()


def http(status: int, body: bytes, extra: str = "") -> bytes:
    head = f"HTTP/1.1 {status} X\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n{extra}\r\n"
    return head.encode() + body


ANSWER = http(200, BODY)


class Counters:
    def __init__(self) -> None:
        self.calls = self.rejected = self.in_flight = self.peak = 0
        self.first = self.last = 0.0
        self.accepted: deque[float] = deque()

    def as_bytes(self) -> bytes:
        span = self.last - self.first
        return json.dumps({"calls": self.calls, "rejected": self.rejected, "peak": self.peak, "span_s": span}).encode()


class Provider(asyncio.Protocol):
    latency_s = 0.0
    per_second = 0
    counters = Counters()

    def __init__(self) -> None:
        self.buffer = bytearray()
        self.transport: asyncio.Transport

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast("asyncio.Transport", transport)

    def data_received(self, data: bytes) -> None:
        self.buffer += data
        while (end := self.buffer.find(b"\r\n\r\n")) >= 0:
            head = bytes(self.buffer[:end])
            length = 0
            at = head.lower().find(b"content-length:")
            if at >= 0:
                length = int(head[at + 15 :].split(b"\r\n", 1)[0])
            if len(self.buffer) < end + 4 + length:
                return
            del self.buffer[: end + 4 + length]
            self.answer(head.split(b" ", 2)[1])

    def answer(self, path: bytes) -> None:
        if path == b"/reset":
            Provider.counters = Counters()
            self.transport.write(http(200, b"{}"))
            return
        if path == b"/stats":
            self.transport.write(http(200, Provider.counters.as_bytes()))
            return
        counters, now = Provider.counters, time.monotonic()
        counters.calls += 1
        counters.first = counters.first or now
        counters.last = now
        if self.per_second:
            while counters.accepted and counters.accepted[0] <= now - 1.0:
                counters.accepted.popleft()
            if len(counters.accepted) >= self.per_second:
                counters.rejected += 1
                wait = counters.accepted[0] + 1.0 - now
                body = b'{"error":{"message":"slow down","type":"requests","code":"rate_limit_exceeded"}}'
                self.transport.write(http(429, body, f"Retry-After: {wait:.3f}\r\n"))
                return
            counters.accepted.append(now)
        counters.in_flight += 1
        counters.peak = max(counters.peak, counters.in_flight)
        if self.latency_s:
            asyncio.get_running_loop().call_later(self.latency_s, self.reply)
        else:
            self.reply()

    def reply(self) -> None:
        Provider.counters.in_flight -= 1
        if not self.transport.is_closing():
            self.transport.write(ANSWER)


async def serve(port: int) -> None:
    server = await asyncio.get_running_loop().create_server(Provider, "127.0.0.1", port, backlog=4096)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


def main() -> None:
    port, latency_s, per_second = int(sys.argv[1]), float(sys.argv[2]), int(sys.argv[3])
    Provider.latency_s, Provider.per_second = latency_s, per_second
    with asyncio.Runner(loop_factory=uvloop.new_event_loop if uvloop else None) as runner:
        runner.run(serve(port))


if __name__ == "__main__":
    main()
