"""HTTP for batch APIs: small JSON answers, files that go out and come in as streams.

The rules are those of every judge call: certificates are verified, redirects refused, no cookies, the proxy that the
environment names, and no secret in any message.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Mapping
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import cast
from urllib.parse import urlencode

import aiohttp
import httpx
import tenacity

from agentanvil.client.adapter import WireReply
from agentanvil.client.envelope import read_body
from agentanvil.client.http_answer import refused
from agentanvil.client.secret import Redactor, Secret
from agentanvil.client.transport import connection_fault, open_transport
from agentanvil.errors import (
    AnvilError,
    CallError,
    DeadlineError,
    MalformedBodyError,
    RateLimitedError,
    RejectedError,
    TransientError,
)

MAX_ANSWER_BYTES = 16 * 2**20
MAX_LINE_BYTES = 64 * 2**20
_CHUNK_BYTES = 1 << 18
_LONGEST_WAIT_S = 120.0


class FileBody:
    """A request body of a file between two pieces of bytes, read anew for each attempt."""

    def __init__(self, path: Path, before: bytes = b"", after: bytes = b"") -> None:
        self._path = path
        self._before = before
        self._after = after

    def __len__(self) -> int:
        return len(self._before) + self._path.stat().st_size + len(self._after)

    async def __aiter__(self) -> AsyncIterator[bytes]:
        if self._before:
            yield self._before
        with self._path.open("rb") as file:
            while chunk := file.read(_CHUNK_BYTES):
                yield chunk
        if self._after:
            yield self._after


@dataclass(frozen=True, slots=True)
class Clockwork:
    """The time as a batch's part of the program sees it: `clock` gives Unix time, `sleep` waits some seconds."""

    clock: Callable[[], float] = time.time
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep


@dataclass(frozen=True, slots=True)
class Address:
    """Where an API is and how it is asked. `secrets` are taken out of every message."""

    base_url: str
    headers: Mapping[str, str]
    secrets: tuple[Secret, ...] = ()
    proxy: str | None = None


class BatchHttp:
    """Speaks with one API.

    `idle_s` is how long a connection may give no sign of life; a file takes as long as it takes. `attempts` bounds how
    often a request that may be repeated is sent.
    """

    def __init__(self, address: Address, *, idle_s: float, attempts: int, time_: Clockwork) -> None:
        self._base_url = address.base_url
        self._place = httpx.URL(address.base_url).netloc.decode()
        self._transport, straight = open_transport(address.base_url, address.proxy)
        own = {name: value for name, value in address.headers.items() if name.lower() != "content-type"}
        self._headers = {"Accept-Encoding": "identity", "Host": self._place, **straight, **own}
        self._clean = Redactor(address.secrets)
        self._idle_s = idle_s
        self._attempts = attempts
        self._sleep = time_.sleep
        self._clock = time_.clock

    async def get(self, path: str, query: Mapping[str, str | int] | None = None) -> dict[str, object]:
        """Return the JSON object at a path; sent again where that may help. Raises CallError."""
        where = f"{path}?{urlencode(query)}" if query else path
        return await self._again("GET", where, None, "", TransientError)

    async def post(
        self, path: str, body: bytes | FileBody = b"", kind: str = "application/json", *, repeatable: bool = False
    ) -> dict[str, object]:
        """Send a body and return the JSON object that answers it. Raises CallError.

        Unless it is `repeatable` it is sent again only where the provider said that it turned it away.
        """
        may = TransientError if repeatable else RateLimitedError
        return await self._again("POST", path, body, kind, may)

    async def lines(self, path: str) -> AsyncGenerator[bytes, None]:
        """Yield the lines of a file, without their line feeds, as they come in. Raises CallError.

        Where the connection breaks it begins again from the first line.
        """
        for attempt in range(1, self._attempts + 1):
            try:
                async with aclosing(self._lines(path)) as lines:
                    async for line in lines:
                        yield line
            except TransientError as error:
                if attempt == self._attempts or (error.retry_after or 0.0) > _LONGEST_WAIT_S:
                    raise
                await self._sleep(_pause(error, attempt))
            else:
                return

    async def close(self) -> None:
        """Close the connections."""
        await self._transport.aclose()

    async def _lines(self, path: str) -> AsyncGenerator[bytes, None]:
        parts: list[bytes] = []
        size = 0
        async with self._sent("GET", path, None, "") as response:
            async for chunk in _chunks(response):
                first, *rest = chunk.split(b"\n")
                parts.append(first)
                size += len(first)
                for piece in rest:
                    yield b"".join(parts)
                    parts, size = [piece], len(piece)
                if size > MAX_LINE_BYTES:
                    raise RejectedError(f"a line of the results is larger than {MAX_LINE_BYTES} bytes")
        if size:
            yield b"".join(parts)

    async def _answer(self, method: str, path: str, body: bytes | FileBody | None, kind: str) -> dict[str, object]:
        async with self._sent(method, path, body, kind) as response:
            answer = read_body(await _whole(response))
        if not isinstance(answer, dict):
            raise MalformedBodyError("the batch API answered JSON that is no object")
        return answer

    @asynccontextmanager
    async def _sent(
        self, method: str, path: str, body: bytes | FileBody | None, kind: str
    ) -> AsyncIterator[httpx.Response]:
        """Send a request and give its answer, which is no error; every failure on the way becomes a CallError."""
        try:
            response = await self._transport.handle_async_request(self._request(method, path, body, kind))
            try:
                if not 200 <= response.status_code < 300:
                    headers = {name.lower(): value for name, value in response.headers.items()}
                    raise refused(WireReply(response.status_code, await _whole(response), headers), self._clock)
                yield response
            finally:
                await cast("httpx.AsyncByteStream", response.stream).aclose()
        except (httpx.HTTPError, aiohttp.ClientError, OSError) as error:
            raise self._cleaned(self._broken(error)) from error
        except CallError as error:
            raise self._cleaned(error) from error.__cause__

    def _request(self, method: str, path: str, body: bytes | FileBody | None, kind: str) -> httpx.Request:
        headers = dict(self._headers)
        content: bytes | AsyncIterator[bytes] | None = body if not isinstance(body, FileBody) else aiter(body)
        if body is not None:
            headers |= {"Content-Type": kind, "Content-Length": str(len(body))}
        times = dict.fromkeys(("connect", "read", "write", "pool"), self._idle_s)
        return httpx.Request(
            method, f"{self._base_url}{path}", headers=headers, content=content, extensions={"timeout": times}
        )

    def _broken(self, error: Exception) -> CallError:
        # httpx's name for it is no help: a refused connection comes as a time-out of the pool
        cause = error.__cause__ if isinstance(error.__cause__, Exception) else error
        if isinstance(cause, TimeoutError | httpx.TimeoutException):
            return DeadlineError(f"{self._place} gave no sign of life for {self._idle_s:g} s")
        return connection_fault(error, self._place)

    def _cleaned(self, error: CallError) -> CallError:
        error.message = self._clean(error.message)
        error.hint = None if error.hint is None else self._clean(error.hint)
        error.args = (error.message,)
        return error

    async def _again(
        self, method: str, path: str, body: bytes | FileBody | None, kind: str, may: type[AnvilError]
    ) -> dict[str, object]:
        loop = tenacity.AsyncRetrying(
            sleep=self._sleep,
            stop=self._gives_up,
            wait=lambda state: _pause(_error_of(state), state.attempt_number),
            retry=tenacity.retry_if_exception_type(may),
            reraise=True,
        )
        return await loop(self._answer, method, path, body, kind)

    def _gives_up(self, state: tenacity.RetryCallState) -> bool:
        error = _error_of(state)
        asked = error.retry_after if isinstance(error, TransientError) else None
        return state.attempt_number >= self._attempts or (asked or 0.0) > _LONGEST_WAIT_S


def _error_of(state: tenacity.RetryCallState) -> BaseException | None:
    return state.outcome.exception() if state.outcome is not None else None


def _pause(error: BaseException | None, attempt: int) -> float:
    """Return what the provider asked for, and full jitter over a span that doubles, in seconds."""
    asked = error.retry_after if isinstance(error, TransientError) else None
    jitter = random.random() * min(30.0, 2.0 ** (attempt - 1))  # noqa: S311 - no secret
    return jitter if asked is None else asked + 0.1 * jitter


def _chunks(response: httpx.Response) -> AsyncIterator[bytes]:
    encoded = "content-encoding" in response.headers  # a server may compress unasked
    return response.aiter_bytes() if encoded else aiter(cast("httpx.AsyncByteStream", response.stream))


async def _whole(response: httpx.Response) -> bytes:
    parts: list[bytes] = []
    size = 0
    async for chunk in _chunks(response):
        size += len(chunk)
        if size > MAX_ANSWER_BYTES:
            raise RejectedError(f"the batch API's answer is larger than {MAX_ANSWER_BYTES} bytes")
        parts.append(chunk)
    return b"".join(parts)
