"""A scriptable judge endpoint on the loopback: what to answer, and how badly, is chosen per call.

    with FakeServer([error(429, "slow", headers={"Retry-After": "1"}), chat('{"score": 4}')]) as server:
        ...  # talk to server.url, which ends in /v1
    assert len(server.requests) == 2

A script is one answer (for every call), a sequence (one per call, the last one repeated), or a function from
the recorded request to an answer. The server runs in a thread of its own, so it serves any event loop, and
several loops one after the other.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import socket
import struct
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import TracebackType
from typing import Any, Self


@dataclass(frozen=True)
class Recorded:
    """One request as it came in. Header names are lower case; `index` counts from 0 in order of arrival."""

    index: int
    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


@dataclass(frozen=True)
class Answer:
    """One HTTP answer, and what goes wrong with it.

    `delay_s` passes before anything is sent. `trickle_s` passes before each byte of the body. `cut_at` closes
    the connection after so many bytes of the body, although its whole length was announced. `reset` aborts
    the connection instead of an answer (with `cut_at`: after those bytes). `hang` never answers; with
    `headers_first` the status and headers are sent, and then nothing. `close` ends the connection
    afterwards; `chunked` sends the body in chunks instead of announcing its length.
    """

    status: int = 200
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)
    delay_s: float = 0.0
    trickle_s: float = 0.0
    cut_at: int | None = None
    reset: bool = False
    hang: bool = False
    headers_first: bool = False
    close: bool = False
    chunked: bool = False

    def but(self, **changes: Any) -> Answer:
        return replace(self, **changes)


Script = Answer | Sequence[Answer] | Callable[[Recorded], Answer]


def answer_json(value: object, status: int = 200, **how: Any) -> Answer:
    headers = {"Content-Type": "application/json", **how.pop("headers", {})}
    return Answer(status=status, body=json.dumps(value).encode(), headers=headers, **how)


def chat(
    text: str | None, finish: str | None = "stop", message: Mapping[str, object] | None = None, **how: Any
) -> Answer:
    """A Chat Completions reply whose message holds `text`, and what else `message` says."""
    return answer_json(chat_body(text, finish, message), **how)


def chat_body(
    text: str | None, finish: str | None = "stop", message: Mapping[str, object] | None = None
) -> dict[str, Any]:
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "model": "fake-judge-1",
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": text, **(message or {})},
                "finish_reason": finish,
            }
        ],
        "usage": {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120},
    }


def tool_call(arguments: object, name: str = "verdict", **how: Any) -> Answer:
    """A reply that calls the tool; `arguments` goes out as it is given."""
    call = {"id": "c1", "type": "function", "function": {"name": name, "arguments": arguments}}
    return chat(None, "tool_calls", {"tool_calls": [call]}, **how)


def error(
    status: int, message: str = "no", *, code: object = None, param: str | None = None, kind: str = "error", **how: Any
) -> Answer:
    """An OpenAI-style error body."""
    return answer_json({"error": {"message": message, "type": kind, "param": param, "code": code}}, status, **how)


def redirect(to: str, status: int = 302) -> Answer:
    return Answer(status=status, headers={"Location": to})


class FakeServer:
    """A loopback HTTP/1.1 server; use it as a context manager. Every request is kept in `requests`."""

    def __init__(self, script: Script = Answer()) -> None:
        self.requests: list[Recorded] = []
        self.connections = 0
        self.in_flight = 0
        self.peak_in_flight = 0
        self.port = 0
        self._script = script
        self._loop = asyncio.new_event_loop()
        self._connected_tasks: set[asyncio.Task[None]] = set()
        self._started = threading.Event()
        self._thread = threading.Thread(target=self._run, name="fake-judge", daemon=True)

    @property
    def origin(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def url(self) -> str:
        return f"{self.origin}/v1"

    @property
    def bodies(self) -> list[Any]:
        """The JSON bodies of all requests so far."""
        return [request.json for request in self.requests]

    def __enter__(self) -> Self:
        self._thread.start()
        self._started.wait(10)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(10)

    def _run(self) -> None:
        try:
            self._loop.run_until_complete(self._serve())
        finally:
            self._loop.close()

    async def _serve(self) -> None:
        self._stop = asyncio.Event()
        server = await asyncio.start_server(self._connected, "127.0.0.1", 0, backlog=1024)
        self.port = server.sockets[0].getsockname()[1]
        self._started.set()
        await self._stop.wait()
        await asyncio.sleep(0.01)  # what was accepted just now becomes a connection, and is closed below
        server.close()
        for task in self._connected_tasks:
            task.cancel()
        await asyncio.gather(*self._connected_tasks, return_exceptions=True)
        await server.wait_closed()
        await asyncio.sleep(0)  # aborted connections are closed in the loop's next turn

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._connected_tasks.add(task)
        self.connections += 1
        try:
            with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
                while await self._one(reader, writer):
                    pass
        finally:
            writer.close()
            try:
                await writer.wait_closed()
            except ConnectionError:
                pass
            except asyncio.CancelledError:
                writer.transport.abort()
            self._connected_tasks.discard(task)

    async def _one(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """Serve one request; tell whether the connection may serve another."""
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        method, path, _ = head[0].split(" ", 2)
        headers = {k.strip().lower(): v.strip() for k, _, v in (line.partition(":") for line in head[1:] if line)}
        body = await reader.readexactly(int(headers.get("content-length", 0)))
        request = Recorded(len(self.requests), method, path, headers, body)
        self.requests.append(request)
        self.in_flight += 1
        self.peak_in_flight = max(self.peak_in_flight, self.in_flight)
        try:
            return await self._answer(self._choose(request), writer)
        finally:
            self.in_flight -= 1

    def _choose(self, request: Recorded) -> Answer:
        if isinstance(self._script, Answer):
            return self._script
        if callable(self._script):
            return self._script(request)
        return self._script[min(request.index, len(self._script) - 1)]

    async def _answer(self, answer: Answer, writer: asyncio.StreamWriter) -> bool:
        await asyncio.sleep(answer.delay_s)
        if answer.headers_first or not (answer.hang or (answer.reset and answer.cut_at is None)):
            writer.write(_head(answer))
            await self._send_body(answer, writer)
        if answer.hang:
            await self._stop.wait()
        if answer.reset:
            _abort(writer)
        return not (answer.reset or answer.close or answer.hang or answer.cut_at is not None)

    async def _send_body(self, answer: Answer, writer: asyncio.StreamWriter) -> None:
        body = answer.body if answer.cut_at is None else answer.body[: answer.cut_at]
        if answer.hang:
            body = b""
        pieces = [body[i : i + 1] for i in range(len(body))] if answer.trickle_s else [body]
        for piece in pieces:
            if answer.trickle_s:
                await asyncio.sleep(answer.trickle_s)
            writer.write(b"%x\r\n%s\r\n" % (len(piece), piece) if answer.chunked and piece else piece)
            await writer.drain()
        if answer.chunked and answer.cut_at is None and not answer.hang:
            writer.write(b"0\r\n\r\n")
            await writer.drain()


def _head(answer: Answer) -> bytes:
    framing = {"Transfer-Encoding": "chunked"} if answer.chunked else {"Content-Length": str(len(answer.body))}
    lines = [f"HTTP/1.1 {answer.status} Scripted"]
    lines += [f"{name}: {value}" for name, value in {**framing, **answer.headers}.items()]
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")


def _abort(writer: asyncio.StreamWriter) -> None:
    """Send RST rather than FIN."""
    sock: socket.socket | None = writer.get_extra_info("socket")
    if sock is not None:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()


def unused_port() -> int:
    """A loopback port on which nobody listens."""
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        port: int = sock.getsockname()[1]
        return port
