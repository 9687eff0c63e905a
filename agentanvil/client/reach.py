"""Is anybody there? A connection without a request, so that an unreachable judge is told before anything is spent."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import ssl
from urllib.parse import urlsplit

from agentanvil.client.transport import tls_context
from agentanvil.errors import JudgeSetupError

DEFAULT_PATIENCE_S = 10.0


async def reach(base_url: str, *, proxy: str | None = None, patience_s: float = DEFAULT_PATIENCE_S) -> None:
    """Connect to `base_url` (or to the proxy on the way to it) and hang up. Raises JudgeSetupError.

    Over https without a proxy the handshake is part of it, so that a bad certificate is told as well.
    """
    target = urlsplit(proxy or base_url)
    host = target.hostname or ""
    port = target.port or (443 if target.scheme == "https" else 80)
    tls = tls_context(base_url) if target.scheme == "https" and proxy is None else None
    try:
        async with asyncio.timeout(patience_s):
            _, writer = await asyncio.open_connection(host, port, ssl=tls)
    except (OSError, UnicodeError) as error:
        raise _unreachable(f"{host}:{port}", error, patience_s, by_proxy=proxy is not None) from error
    writer.close()
    with contextlib.suppress(OSError):
        await writer.wait_closed()


def _unreachable(place: str, error: Exception, patience_s: float, *, by_proxy: bool) -> JudgeSetupError:
    whom = f"the proxy {place} on the way to the judge" if by_proxy else f"the judge at {place}"
    if isinstance(error, ssl.SSLCertVerificationError):
        return JudgeSetupError(
            f"the certificate of {place} cannot be trusted: {error.verify_message}",
            hint="Add the issuing authority's certificate with SSL_CERT_FILE.",
        )
    hint = "Start the server, or check host and port in --judge."
    if by_proxy:
        hint = "Check HTTPS_PROXY and HTTP_PROXY, or exempt the judge's host with NO_PROXY."
    return JudgeSetupError(f"{whom} cannot be reached: {_reason(error, patience_s)}", hint=hint)


def _reason(error: Exception, patience_s: float) -> str:
    if isinstance(error, TimeoutError):
        return f"no connection within {patience_s:g} s"
    if isinstance(error, ConnectionRefusedError):
        return "connection refused"
    if isinstance(error, socket.gaierror | UnicodeError):
        return "the host's name is not known"
    if isinstance(error, ssl.SSLError):
        return f"it does not speak TLS ({error.reason or 'handshake failed'})"
    text = error.strerror if isinstance(error, OSError) else None
    return (text or str(error) or type(error).__name__).lower()
