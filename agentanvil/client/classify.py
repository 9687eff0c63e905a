"""Which error of the tree a reported fault amounts to: for one row, for all, or only for now. Pure."""

from __future__ import annotations

import re

from agentanvil.client.fault import BLOCKED_INPUT, DAY_USED_UP, Fault
from agentanvil.client.headers import parse_rate_headers, parse_retry_after
from agentanvil.client.refusals import LOGPROBS, refused_parameter
from agentanvil.errors import (
    CallError,
    EndpointError,
    MalformedBodyError,
    ParameterRefusedError,
    RateLimitedError,
    RejectedError,
    RequestTooLargeError,
    ServerFaultError,
)

_KEY_HINT = "Check the key: the provider's own variable, such as OPENAI_API_KEY, or the one that --api-key-env names."
_MODEL_HINT = "Check the model's name and the base URL in --judge (most base URLs end in /v1)."
_QUOTA_HINT = "Add credit or raise the limit with the provider, then run the same command again to resume."

_UNPAID = frozenset(
    {
        "insufficient_quota",
        "credit_balance_exhausted",
        "organization_spend_limit_exceeded",
        "project_spend_limit_exceeded",
        "organization_usage_limit_exceeded",
        "enforced_spend_limit_reached",
        "billing_hard_limit_reached",
        "billing_not_active",
        "billing_error",
        "insufficient_credits",
        "payment_required",
        DAY_USED_UP,
    }
)
_TOO_LARGE = frozenset(
    {
        "context_length_exceeded",
        "context_window_exceeded",
        "exceed_context_size_error",
        "string_above_max_length",
        "request_too_large",
        "tokens_limit_reached",
        "input_too_long",
        "token_limit_exceeded",
        "string_too_long",
        "payload_too_large",
    }
)
_BLOCKED = frozenset(
    {
        "content_filter",
        "content_policy_violation",
        "responsibleaipolicyviolation",
        "data_inspection_failed",
        "invalid_prompt",
        "bio_policy",
        "misalignment_policy_violation",
        "image_content_policy_violation",
        BLOCKED_INPUT,
    }
)
_MISGENERATED = frozenset({"json_validate_failed", "tool_use_failed", "output_parse_failed"})
_STATUS_OF = {
    "rate_limit_exceeded": 429,
    "rate_limit_error": 429,
    "rate_limited": 429,
    "rate_limit": 429,
    "too_many_requests": 429,
    "slow_down": 429,
    "resource_exhausted": 429,
    "requests": 429,
    "tokens": 429,
    "overloaded_error": 529,
    "provider_overloaded": 529,
    "server_is_overloaded": 503,
    "provider_unavailable": 503,
    "unavailable_error": 503,
    "overloaded": 503,
    "service_unavailable": 503,
    "unavailable": 503,
    "server_error": 500,
    "internal_error": 500,
    "internal_server_error": 500,
    "internal": 500,
    "internalservererror": 500,
    "api_error": 500,
    "timeout": 504,
    "timeout_error": 504,
    "deadline_exceeded": 504,
    "vector_store_timeout": 504,
    "invalid_api_key": 401,
    "authentication_error": 401,
    "authentication": 401,
    "unauthorized": 401,
    "unauthenticated": 401,
    "permission_error": 403,
    "permission_denied": 403,
    "data_residency_mismatch": 403,
    "model_not_found": 404,
    "not_found_error": 404,
    "notfounderror": 404,
    "not_found": 404,
    "deploymentnotfound": 404,
    "api_key_invalid": 401,
    "invalid_request_error": 400,
    "badrequesterror": 400,
    "bad_request": 400,
    "invalid_request": 400,
    "invalid_argument": 400,
}
_TOO_LARGE_TEXT = re.compile(
    r"maximum context length|context (?:length|limit|window|size)|prompt is too long|input is too long"
    r"|too many (?:input |prompt )?tokens|reduce the length|longer than the (?:model|maximum)"
    r"|exceeds? the (?:model|maximum|available)[^.]{0,40}(?:token|context)",
    re.IGNORECASE,
)
_OVER_THE_MINUTE_TEXT = re.compile(r"request too large for", re.IGNORECASE)
_BLOCKED_TEXT = re.compile(
    r"content (?:management |usage )?polic|content filter|safety system|flagged|moderation", re.IGNORECASE
)
_MODEL_TEXT = re.compile(
    r"\b(?:unknown|invalid|no such|not a valid) model\b"
    r"|\bmodels?\b(?:[^.]|\.(?=\S)){0,120}?\b(?:does not exist|not found|not exist)",
    re.IGNORECASE,
)
_KEY_TEXT = re.compile(
    r"api[ _-]?key (?:not valid|invalid|expired)|(?:invalid|incorrect|missing) api[ _-]?key", re.IGNORECASE
)
_UNPAID_TEXT = re.compile(r"credit balance|insufficient (?:credit|balance|fund)|billing", re.IGNORECASE)
_RATE_TEXT = re.compile(r"rate.?limit|too many requests|slow down|throttl", re.IGNORECASE)


def call_error(fault: Fault, now: float) -> CallError:
    """Return the error that `fault` amounts to. `now` is Unix time, for dates in Retry-After.

    A 400 or 422 that nothing explains is a RejectedError with the code `rejected`; whether it concerns one
    row or all is for the caller to find out.
    """
    status = fault.status
    if fault.names & _UNPAID or status == 402:
        return EndpointError(fault.said, code="quota", status=status, hint=_QUOTA_HINT)
    asked = fault.headers.get("x-should-retry", "").strip().lower()
    if asked == "true":
        return _transient(fault, status or 500, now)
    about_content = _about_content(fault)
    if about_content is not None:
        return about_content
    told = _effective_status(fault)
    parameter = _refused(fault, told)
    if parameter is not None:
        return ParameterRefusedError(fault.said, parameter=parameter, status=status)
    if told in {408, 409, 425, 429} or (told >= 500 and told not in {501, 505}):
        error = _transient(fault, told, now)
        return error if asked != "false" else RejectedError(fault.said, code=error.code, status=status)
    return _final(fault, told)


def _about_content(fault: Fault) -> CallError | None:
    """Return the error where this request's own content is the reason, whatever status it came with."""
    status = fault.status
    told = _effective_status(fault)
    wording = {400: _TOO_LARGE_TEXT, 422: _TOO_LARGE_TEXT, 500: _TOO_LARGE_TEXT, 429: _OVER_THE_MINUTE_TEXT}.get(told)
    if fault.names & _TOO_LARGE or status == 413 or (wording is not None and wording.search(fault.message)):
        return RequestTooLargeError(
            fault.said, status=status, hint="Shorten the row, split it, or take a judge with a longer context."
        )
    if fault.names & _BLOCKED or (told in {400, 403} and _BLOCKED_TEXT.search(fault.message)):
        return RejectedError(fault.said, code="blocked", status=status)
    if fault.names & _MISGENERATED:
        return MalformedBodyError(fault.said, status=status)
    return None


def _refused(fault: Fault, told: int) -> str | None:
    """Return the parameter that is refused. A 403 is about the key, but where it forbids log-probabilities."""
    if told == 403:
        return LOGPROBS if refused_parameter(fault.message, fault.param) == LOGPROBS else None
    if told not in {400, 404, 422, 500, 501} or (fault.param is None and _MODEL_TEXT.search(fault.message)):
        return None  # a model may be named after a parameter, as the Seed family is
    return refused_parameter(fault.message, fault.param, certain_only=told not in {400, 422})


def _transient(fault: Fault, status: int, now: float) -> RateLimitedError | ServerFaultError:
    wait_s = parse_retry_after(fault.headers, now)
    wait_s = fault.wait_s if wait_s is None else wait_s
    if status != 429:
        return ServerFaultError(fault.said, status=fault.status, retry_after=wait_s)
    if wait_s is None:
        wait_s = parse_rate_headers(fault.headers, now).wait_s
    return RateLimitedError(fault.said, status=fault.status, retry_after=wait_s)


def _final(fault: Fault, told: int) -> CallError:
    status = fault.status
    if told in {401, 403, 407} or _KEY_TEXT.search(fault.message):
        return EndpointError(f"not authorised: {fault.said}", code="unauthorised", status=status, hint=_KEY_HINT)
    if told == 404 or fault.param == "model" or _MODEL_TEXT.search(fault.message):
        return EndpointError(f"not found: {fault.said}", code="not_found", status=status, hint=_MODEL_HINT)
    if told in {400, 422} and _UNPAID_TEXT.search(fault.message):
        return EndpointError(fault.said, code="quota", status=status, hint=_QUOTA_HINT)
    if told in {400, 422}:
        return RejectedError(fault.said, status=status)
    return EndpointError(fault.said, status=status, hint=_MODEL_HINT)


def _effective_status(fault: Fault) -> int:
    """Return the status that decides: a 400 may carry another code, an error inside a 200 may have only a name."""
    if fault.status is None:
        named = min((_STATUS_OF[name] for name in fault.names if name in _STATUS_OF), key=_informs, default=0)
        return named or (429 if _RATE_TEXT.search(fault.message) else 500)
    if fault.status in {400, 422}:
        named = min((_STATUS_OF[name] for name in fault.names if name in _STATUS_OF), key=_informs, default=400)
        return named if named in {401, 403, 404, 429} else fault.status
    return fault.status


def _informs(status: int) -> tuple[bool, int]:
    """Order codes by how much they tell: `invalid_request_error` stands beside most others."""
    return (status in {400, 500}, status)
