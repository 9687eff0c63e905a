"""An HTTP answer before its API matters: its status, the error in its body, and its request id. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from urllib.parse import urlsplit

from agentanvil.client.adapter import WireReply
from agentanvil.client.classify import call_error
from agentanvil.client.envelope import read_body
from agentanvil.client.fault import fault_of, reported_error
from agentanvil.errors import CallError, EndpointError, MalformedBodyError

_ID_HEADERS = ("x-request-id", "request-id", "apim-request-id", "x-ms-request-id", "x-typesafe-request-id")
_ID_FIELDS = ("request_id", "responseId", "id")
_LONGEST_ID = 128


def answered(reply: WireReply, clock: Callable[[], float]) -> dict[str, object]:
    """Return the body of an answer that reports no error. `clock` gives Unix time, for dates in Retry-After.

    Raises CallError where the status, or an error inside a 200, says that nothing was answered, and MalformedBodyError
    where the body is no JSON object.
    """
    if not 200 <= reply.status < 300:
        raise refused(reply, clock)
    body = read_body(reply.body)
    error = reported_error(body)
    if error is not None:
        raise call_error(fault_of(error, None, reply.headers), clock())
    if not isinstance(body, dict):
        raise MalformedBodyError("the body is JSON, but not an object")
    return body


def refused(reply: WireReply, clock: Callable[[], float]) -> CallError:
    """Return the error that an answer outside 200..299 amounts to; a redirect is refused, never followed."""
    if reply.status < 400:
        return _redirected(reply)
    try:
        error = reported_error(read_body(reply.body))
    except MalformedBodyError:
        error = None
    if error is None:
        error = {"message": reply.body[:2000].decode("utf-8", "replace")}
    return call_error(fault_of(error, reply.status, reply.headers), clock())


def request_id(headers: Mapping[str, str], body: Mapping[str, object]) -> str | None:
    """Return the provider's id for support questions; anything but a short printable token is dropped."""
    candidates = [*(headers.get(name) for name in _ID_HEADERS), *(body.get(name) for name in _ID_FIELDS)]
    for value in candidates:
        if isinstance(value, str) and 0 < len(value) <= _LONGEST_ID and value.isascii() and value.isprintable():
            return value
    return None


def _redirected(reply: WireReply) -> EndpointError:
    try:
        target = urlsplit(reply.headers.get("location", "")).hostname
    except ValueError:
        target = None
    place = f" to {target}" if target and target.isprintable() else ""
    return EndpointError(
        f"the judge answered {reply.status}, a redirect{place}; redirects are refused: they could carry the key away",
        status=reply.status,
        hint="Name the final address in --judge.",
    )
