"""Handing a Chat Completions body to LiteLLM, and its answer or exception back as if they had come over the wire.

LiteLLM was chosen for the providers without an adapter here because it knows some hundred of them. It does nothing
else: retries, budget, cache and prices stay this program's own. On its way to OpenAI-compatible servers redirects are
refused as everywhere; its clients for the other providers follow them, which nothing here can tell them not to.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import re
import warnings
from collections.abc import Mapping
from http import HTTPStatus
from types import ModuleType
from typing import Any

import httpx

from agentanvil.client.adapter import WireReply
from agentanvil.client.envelope import write_body
from agentanvil.client.proxies import proxy_secrets
from agentanvil.client.secret import Secret
from agentanvil.errors import ConnectionFaultError, DeadlineError, EndpointError, JudgeSetupError, MalformedBodyError

_OFFLINE = {
    "LITELLM_OFFLINE_MODE": "true",  # nothing is fetched on its own: no price list, no tokenizer
    "LITELLM_LOCAL_MODEL_COST_MAP": "true",  # the same for releases without the former
    "LITELLM_MODE": "PRODUCTION",  # no .env file is read
}
_NO_KEY = "none"  # OpenAI's client, which LiteLLM uses for compatible servers, refuses to start without a key
_SECRET_NAME = re.compile(r"(?:KEY|TOKEN|SECRET|PASSWORD)\Z", re.IGNORECASE)
_PROXY_NAME = re.compile(r"_PROXY\Z", re.IGNORECASE)
_CLASS = r"(?:litellm\.)?[A-Za-z_]{0,60}(?:Error|Exception|Timeout)"
_PREFIX = re.compile(rf"(?:{_CLASS}(?: {_CLASS})?(?:: | - ))+")
_BODY = re.compile(r"""(?:b?['"])?(\{.*\})['"]?\s*\Z""", re.DOTALL)
_TRACEBACK = "Traceback (most recent call last)"  # LiteLLM puts its own into some messages
_NO_CREDENTIALS = re.compile(r"missing credentials|missing [^.]{0,40}api.key", re.IGNORECASE)
_NAMES = {
    "ContextWindowExceededError": "context_length_exceeded",
    "ContentPolicyViolationError": "content_policy_violation",
    "PaymentRequiredError": "billing_error",
}


class LitellmTransport:
    """Asks `model` by way of LiteLLM, which finds keys in the environment unless `key` is given.

    A key of the environment belongs to its provider's own address: at `base_url` none is sent but `key`. Each attempt
    has `timeout_s` seconds in all. Raises JudgeSetupError where LiteLLM is not installed. Belongs to the event loop
    that first sends with it.
    """

    def __init__(self, base_url: str | None, key: Secret | None, *, timeout_s: float) -> None:
        self._litellm: Any = _load()
        self._timeout_s = timeout_s
        self._fixed: dict[str, object] = {
            "timeout": timeout_s,
            "num_retries": 0,
            "max_retries": 0,
            "drop_params": False,  # what is refused is to come to light, whatever LITELLM_DROP_PARAMS says
        }
        if base_url is not None:
            self._fixed["base_url"] = base_url
        if key is not None or base_url is not None:
            self._fixed["api_key"] = _NO_KEY if key is None else key.reveal()
        self._session: httpx.AsyncClient | None = None

    async def send(self, body: bytes) -> WireReply:
        """Raises CallError where no whole answer came back."""
        if self._litellm.aclient_session is None:
            self._session = self._litellm.aclient_session = httpx.AsyncClient(
                follow_redirects=False, timeout=self._timeout_s, limits=httpx.Limits(max_connections=None)
            )
        try:
            async with asyncio.timeout(self._timeout_s):
                return _answered(await self._litellm.acompletion(**json.loads(body), **self._fixed))
        except (TimeoutError, self._litellm.Timeout):
            raise DeadlineError(
                f"no whole answer within {self._timeout_s:g} s",
                hint="Raise --timeout, or ask for less at once with --concurrency.",
            ) from None
        except MalformedBodyError:
            raise
        except Exception as error:  # LiteLLM's own, those of the clients it calls, and whatever breaks inside it
            return self._failed(error)

    async def close(self) -> None:
        if self._session is not None:
            await self._session.aclose()
            self._session = self._litellm.aclient_session = None
            await self._litellm.close_litellm_async_clients()
            self._litellm.in_memory_llm_clients_cache.flush_cache()

    def _failed(self, error: Exception) -> WireReply:
        missing = _import_error(error)
        if missing is not None:
            raise EndpointError(
                f"LiteLLM needs a package for this provider that is not there: {missing}",
                hint="Install it into the environment that agentanvil runs in.",
            ) from error
        if isinstance(error, self._litellm.APIConnectionError):
            raise ConnectionFaultError(f"LiteLLM could not reach the judge: {_message(error)}") from error
        response = getattr(error, "response", None)
        headers = _lower(getattr(error, "litellm_response_headers", None) or getattr(response, "headers", None))
        if "location" in headers:
            return WireReply(HTTPStatus.TEMPORARY_REDIRECT, b"", headers)
        return WireReply(_status(error), json.dumps(_reported(error)).encode(), headers)


def environment_secrets(environ: Mapping[str, str]) -> tuple[Secret, ...]:
    """Return what LiteLLM may take for a key, so that it can be removed from whatever it says."""
    keys = [Secret(value) for name, value in environ.items() if _SECRET_NAME.search(name)]
    proxies = [value for name, value in environ.items() if _PROXY_NAME.search(name) and "@" in value]
    return (*keys, *(secret for proxy in proxies for secret in proxy_secrets(proxy)))


def _load() -> ModuleType:
    """Import LiteLLM, silent and without a network. Raises JudgeSetupError where it is not installed."""
    for name, value in _OFFLINE.items():
        os.environ.setdefault(name, value)
    logging.getLogger("LiteLLM").disabled = True  # its debug output shows requests, and keys in them
    try:
        import litellm  # noqa: PLC0415  # takes seconds, and only these judges need it
    except ImportError as error:
        raise JudgeSetupError(
            "judges by way of LiteLLM need a package that is not installed",
            hint="pip install 'agentanvil-judge[litellm]'",
        ) from error
    warnings.filterwarnings("ignore", "Pydantic serializer warnings", UserWarning)  # of an answer of a wrong type
    litellm.suppress_debug_info = True
    return litellm


def _answered(response: Any) -> WireReply:
    hidden = getattr(response, "_hidden_params", None)
    headers = hidden.get("headers") if isinstance(hidden, Mapping) else None
    try:
        fields: dict[str, object] = response.model_dump(warnings=False)
        usage = fields.get("usage")
        if isinstance(usage, dict) and not usage.get("total_tokens"):
            del fields["usage"]  # counts that the provider did not give: LiteLLM fills in zeros
        body = write_body(fields)
    except (AttributeError, TypeError, ValueError, RecursionError) as error:
        raise MalformedBodyError(f"LiteLLM's answer cannot be written as JSON: {type(error).__name__}") from error
    return WireReply(200, body, _lower(headers))


def _status(error: Exception) -> int:
    """Return the HTTP status of an error; what broke before anything was sent has a 500, or none."""
    if _NO_CREDENTIALS.search(_message(error)):
        return HTTPStatus.UNAUTHORIZED
    status = getattr(error, "status_code", None)
    return status if isinstance(status, int) and 400 <= status <= 599 else HTTPStatus.INTERNAL_SERVER_ERROR


def _reported(error: Exception) -> dict[str, object]:
    """Return the provider's own error body where LiteLLM quotes it, else one that says what is known."""
    message = _message(error)
    quoted = _BODY.match(message)
    if quoted is not None:
        try:
            body = json.loads(quoted[1])
        except (ValueError, RecursionError):
            body = None
        if isinstance(body, dict) and body.get("error"):
            return body
    told = getattr(error, "body", None)
    known = {name: told.get(name) for name in ("type", "param", "code")} if isinstance(told, dict) else {}
    named = next((_NAMES[kind.__name__] for kind in type(error).__mro__ if kind.__name__ in _NAMES), None)
    return {"error": {**known, "message": message, **({"reason": named} if named else {})}}


def _message(error: Exception) -> str:
    """Return what the provider said, without the names of the classes that LiteLLM wrapped it in."""
    text = str(getattr(error, "message", None) or error).partition(_TRACEBACK)[0]
    return _PREFIX.sub("", text, count=1) if _PREFIX.match(text) else text


def _lower(headers: object) -> dict[str, str]:
    items = headers.items() if isinstance(headers, Mapping) else ()
    return {str(name).lower(): str(value) for name, value in items}


def _import_error(error: BaseException) -> ImportError | None:
    """Return the missing package that an exception began with, None where it did not."""
    cause: BaseException | None = error
    for _ in range(10):
        if cause is None or isinstance(cause, ImportError):
            return cause
        cause = cause.__cause__ or cause.__context__
    return None
