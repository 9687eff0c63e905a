"""Sending one request over HTTP and getting the whole answer back, within one deadline.

httpx is the interface, aiohttp does the work: httpx's own transport slows down with the square of the open
connections. The transport is called directly, without an `httpx.AsyncClient`, whose cookies, redirects, event
hooks and authentication flows a judge call has no use for.
"""

from __future__ import annotations

import asyncio
import base64
import ssl
from collections.abc import Mapping
from typing import Protocol, cast
from urllib.parse import urlsplit

import aiohttp
import httpx
from httpx_aiohttp import AiohttpTransport

from agentanvil.client.adapter import WireReply
from agentanvil.errors import (
    ConnectionFaultError,
    DeadlineError,
    EndpointError,
    JudgeSetupError,
    MalformedBodyError,
    RejectedError,
)

MAX_BODY_BYTES = 64 * 2**20
IDLE_S = 4.0  # below the 5 s after which common servers (uvicorn) hang up on an idle connection


class Transport(Protocol):
    """Sends one request body to one fixed address. Raises CallError where no whole answer came back."""

    async def send(self, body: bytes) -> WireReply: ...

    async def close(self) -> None: ...


class HttpTransport:
    """POSTs to `url` with fixed `headers`.

    Each attempt has `timeout_s` seconds in all: connecting, sending, waiting and reading. There are as many
    connections as calls in flight, so none waits for a free one; certificates are verified; redirects are
    not followed. Belongs to the event loop that first sends with it.
    """

    def __init__(
        self,
        url: str,
        headers: Mapping[str, str],
        *,
        timeout_s: float,
        proxy: str | None = None,
        max_body_bytes: int = MAX_BODY_BYTES,
    ) -> None:
        try:
            self._url = httpx.URL(url)
        except httpx.InvalidURL as error:
            raise JudgeSetupError("the judge's address cannot be used", hint=str(error)) from None
        self._http, straight = open_transport(url, proxy)
        self._headers = httpx.Headers(
            {"Accept-Encoding": "identity", "Host": self._url.netloc.decode(), **straight, **headers}
        )
        self._timeout_s = timeout_s
        self._max_body_bytes = max_body_bytes

    async def send(self, body: bytes) -> WireReply:
        try:
            async with asyncio.timeout(self._timeout_s):
                return await self._exchange(body)
        except TimeoutError:
            raise DeadlineError(
                f"no whole answer within {self._timeout_s:g} s",
                hint="Raise --timeout, or ask for less at once with --concurrency.",
            ) from None
        except httpx.DecodingError as error:
            raise MalformedBodyError(f"the body's compression is damaged: {error}") from error
        except (httpx.HTTPError, aiohttp.ClientError, OSError) as error:
            raise connection_fault(error, self._url.netloc.decode()) from error

    async def close(self) -> None:
        await self._http.aclose()

    async def _exchange(self, body: bytes) -> WireReply:
        response = await self._http.handle_async_request(_Post(self._url, self._headers, body))
        stream = cast("httpx.AsyncByteStream", response.stream)
        try:
            headers = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in response.headers.raw}
            parts: list[bytes] = []
            size = 0
            # a server may compress unasked; httpx then decompresses
            async for part in response.aiter_bytes() if "content-encoding" in headers else stream:
                size += len(part)
                if size > self._max_body_bytes:
                    raise RejectedError(f"the body is larger than {self._max_body_bytes} bytes", code="malformed_body")
                parts.append(part)
        finally:
            await stream.aclose()
        return WireReply(response.status_code, b"".join(parts), headers)


class _Post(httpx.Request):
    """A POST that shares its address and headers with all others of its endpoint.

    Building a plain `httpx.Request` normalises both again on every call, a fifth of what a call costs.
    """

    def __init__(self, url: httpx.URL, headers: httpx.Headers, body: bytes) -> None:
        self.method = "POST"
        self.url = url
        self.headers = headers
        self.extensions = {}
        self.stream = httpx.ByteStream(body)
        self._body = body

    @property
    def content(self) -> bytes:
        return self._body


def open_transport(url: str, proxy: str | None) -> tuple[AiohttpTransport, dict[str, str]]:
    """Return the transport for an address, and the headers that each request needs besides its own.

    It keeps no cookies and as many connections as there are requests at once, and verifies certificates.
    """
    via, proxy_headers = _proxy(proxy)
    tls = tls_context(url)

    def open_session() -> aiohttp.ClientSession:
        return aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=0, ssl=tls, keepalive_timeout=IDLE_S),
            cookie_jar=aiohttp.DummyCookieJar(),
            trust_env=False,  # the wiring reads the environment; per request it would cost a thread hop
        )

    # over plain http there is no tunnel: the request itself asks the proxy
    straight = proxy_headers if urlsplit(url).scheme == "http" else {}
    return AiohttpTransport(verify=tls, proxy=via, client=open_session), straight


def _proxy(address: str | None) -> tuple[httpx.Proxy | None, dict[str, str]]:
    """Return the proxy, and the header with the credentials that stood in its address."""
    if address is None:
        return None, {}
    url = httpx.URL(address)
    headers: dict[str, str] = {}
    if url.username or url.password:
        token = base64.b64encode(f"{url.username}:{url.password}".encode()).decode()
        headers["Proxy-Authorization"] = f"Basic {token}"
    return httpx.Proxy(url.copy_with(username=None, password=None), headers=headers), headers


def tls_context(url: str) -> ssl.SSLContext:
    """Return a verifying context: certifi's roots, or those of `SSL_CERT_FILE` and `SSL_CERT_DIR`.

    For plain http it trusts nobody, which spares reading the roots.
    """
    if urlsplit(url).scheme == "https":
        return httpx.create_ssl_context()
    return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)


def connection_fault(error: Exception, place: str) -> ConnectionFaultError | EndpointError:
    """Return what went wrong on the way, in words; aiohttp's own error says more than httpx's translation."""
    cause = error.__cause__ if isinstance(error.__cause__, Exception) else error
    if isinstance(cause, aiohttp.ClientConnectorCertificateError | aiohttp.ServerFingerprintMismatch):
        return EndpointError(
            f"the certificate of {place} cannot be trusted: {cause}",
            hint="Add the issuing authority's certificate with SSL_CERT_FILE.",
        )
    if isinstance(cause, aiohttp.ClientHttpProxyError) and cause.status == 407:
        return EndpointError("the proxy refuses its user and password", code="unauthorised", status=407)
    return ConnectionFaultError(_what_broke(cause, place))


def _what_broke(cause: Exception, place: str) -> str:
    match cause:
        case aiohttp.ClientHttpProxyError():
            return f"the proxy answered {cause.status} and opened no tunnel to {place}"
        case aiohttp.ClientConnectorError():
            return f"cannot connect to {cause.host}:{cause.port}: {_reason(cause.os_error)}"
        case aiohttp.ServerDisconnectedError():
            return f"{place} closed the connection without an answer"
        case aiohttp.ClientPayloadError():
            return f"{place} closed the connection in the middle of its answer"
        case _:
            return f"the connection to {place} failed: {_reason(cause)}"


def _reason(error: BaseException) -> str:
    if isinstance(error, OSError) and error.strerror:
        return error.strerror.lower()
    return str(error) or type(error).__name__
