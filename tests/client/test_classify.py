"""Provider errors, as wire bodies, through the adapter: which branch of the error tree each one is."""

from __future__ import annotations

import json

import pytest

from agentanvil.client.adapter import Shape, WireReply
from agentanvil.client.chat_completions import ChatCompletions
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

ADAPTER = ChatCompletions(clock=lambda: 0.0)


def refusal(status: int, body: object, headers: dict[str, str] | None = None) -> CallError:
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    with pytest.raises(CallError) as caught:
        ADAPTER.read(WireReply(status, raw, headers or {}), Shape())
    return caught.value


def openai(
    message: str = "no", code: object = None, param: str | None = None, kind: str = "invalid_request_error"
) -> object:
    return {"error": {"message": message, "type": kind, "param": param, "code": code}}


@pytest.mark.parametrize(
    ("status", "body", "code"),
    [
        pytest.param(401, openai("Incorrect API key provided", "invalid_api_key"), "unauthorised", id="openai-key"),
        pytest.param(403, openai("no access"), "unauthorised", id="forbidden"),
        pytest.param(403, b"<html><title>Attention</title></html>", "unauthorised", id="proxy-page"),
        pytest.param(404, openai("The model `x` does not exist", "model_not_found"), "not_found", id="openai-model"),
        pytest.param(404, {"error": "model 'x' not found"}, "not_found", id="ollama-model"),
        pytest.param(404, {"detail": "Not Found"}, "not_found", id="fastapi-path"),
        pytest.param(404, b"404 page not found", "not_found", id="wrong-path"),
        pytest.param(404, {"error": {"code": "DeploymentNotFound", "message": "gone"}}, "not_found", id="azure"),
        pytest.param(400, openai("x is not a valid model ID"), "not_found", id="openrouter-model"),
        pytest.param(400, openai("nope", param="model"), "not_found", id="model-by-param"),
        pytest.param(
            400,
            [{"error": {"code": 400, "message": "API key not valid.", "details": [{"reason": "API_KEY_INVALID"}]}}],
            "unauthorised",
            id="google-key-is-a-400",
        ),
        pytest.param(402, {"error": {"code": 402, "message": "Insufficient credits"}}, "quota", id="openrouter-credit"),
        pytest.param(400, openai("Your credit balance is too low"), "quota", id="anthropic-credit"),
        pytest.param(405, b"", "endpoint", id="method"),
        *(
            pytest.param(status, openai(f"{name} is not a valid model ID"), "not_found", id=f"model-{status}-{name}")
            for status in (400, 404)
            for name in ("bytedance/seed-1.6", "tools-7b", "grammar")
        ),
        pytest.param(404, openai("models/seed-1.6 is not found, or is not supported"), "not_found", id="google-seed"),
        pytest.param(
            403,
            {"error": {"code": "data_residency_mismatch", "message": "wrong region"}},
            "unauthorised",
            id="wrong-region",
        ),
        pytest.param(410, openai("shut down"), "endpoint", id="gone"),
        pytest.param(501, openai("this server has no chat"), "endpoint", id="not-implemented"),
        *(
            pytest.param(429, openai("stop", name, kind="quota"), "quota", id=name)
            for name in (
                "insufficient_quota",
                "credit_balance_exhausted",
                "organization_spend_limit_exceeded",
                "project_spend_limit_exceeded",
                "organization_usage_limit_exceeded",
            )
        ),
        pytest.param(429, openai("stop", None, kind="insufficient_quota"), "quota", id="quota-as-type"),
        pytest.param(
            429,
            {
                "type": "error",
                "error": {"type": "rate_limit_error", "details": {"error_code": "enforced_spend_limit_reached"}},
            },
            "quota",
            id="anthropic-spend",
        ),
    ],
)
def test_what_no_request_will_pass_ends_the_run(status: int, body: object, code: str) -> None:
    error = refusal(status, body)
    assert isinstance(error, EndpointError)
    assert (error.code, error.status) == (code, status)
    assert str(status) in str(error)
    assert error.hint


@pytest.mark.parametrize("status", [300, 301, 302, 303, 307, 308])
def test_a_redirect_is_refused_and_its_address_not_repeated(status: int) -> None:
    error = refusal(status, b"", {"location": "https://u:CANARY@elsewhere.example/v1?k=CANARY"})
    assert isinstance(error, EndpointError)
    assert "elsewhere.example" in str(error)
    assert "CANARY" not in str(error)
    assert isinstance(refusal(status, b"", {"location": "http://[bad"}), EndpointError)


@pytest.mark.parametrize(
    ("status", "body", "kind"),
    [
        (429, openai("slow", "rate_limit_exceeded", kind="requests"), RateLimitedError),
        (429, b"", RateLimitedError),
        (429, openai("You exceeded your current quota, please check your plan"), RateLimitedError),
        (429, {"message": "Too many tokens, please wait before trying again."}, RateLimitedError),
        (400, openai("busy", "rate_limit_exceeded"), RateLimitedError),
        (408, b"", ServerFaultError),
        (409, b"", ServerFaultError),
        (425, b"", ServerFaultError),
        (500, openai("boom", kind="server_error"), ServerFaultError),
        (500, b"<html>", ServerFaultError),
        (502, b"bad gateway", ServerFaultError),
        (503, {"error": {"code": 503, "message": "Loading model", "type": "unavailable_error"}}, ServerFaultError),
        (503, openai("busy", "server_is_overloaded"), ServerFaultError),
        (524, b"", ServerFaultError),
        (529, {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}, ServerFaultError),
        (400, openai("Failed to generate JSON", "json_validate_failed"), MalformedBodyError),
    ],
)
def test_what_may_pass_on_retry(status: int, body: object, kind: type[CallError]) -> None:
    assert type(refusal(status, body)) is kind


@pytest.mark.parametrize(
    ("status", "headers", "wait_s"),
    [
        (429, {"x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": "1m30s"}, 90.0),
        (429, {"x-ratelimit-remaining-tokens": "0", "x-ratelimit-reset-tokens": "500ms"}, 0.5),
        (429, {"x-ratelimit-remaining-tokens": "0", "x-ratelimit-reset-tokens": "9s", "retry-after": "2"}, 2.0),
        (429, {"x-ratelimit-remaining-tokens": "0"}, None),
        (429, {"x-ratelimit-remaining-requests": "5", "x-ratelimit-reset-requests": "60s"}, None),
        (503, {"x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": "60s"}, None),
    ],
)
def test_a_limit_that_is_used_up_stands_for_a_missing_retry_after(
    status: int, headers: dict[str, str], wait_s: float | None
) -> None:
    error = refusal(status, {"error": {"message": "slow down"}}, headers)
    assert isinstance(error, RateLimitedError | ServerFaultError)
    assert error.retry_after == wait_s


def google(*details: object) -> object:
    return {"error": {"code": 429, "status": "RESOURCE_EXHAUSTED", "message": "Quota", "details": list(details)}}


@pytest.mark.parametrize(
    ("details", "headers", "wait_s"),
    [
        ([{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "31s"}], {}, 31.0),
        ([{"retryDelay": "0.5s"}], {}, 0.5),
        ([{"retryDelay": "31s"}], {"retry-after": "2"}, 2.0),
        ([{"links": []}, {"retryDelay": "7.25s"}], {}, 7.25),
        ([{"retryDelay": "soon"}], {}, None),
        ([{"retryDelay": 31}], {}, None),
        ([None, [], "x"], {}, None),
    ],
)
def test_a_wait_in_the_body_stands_for_a_missing_retry_after(
    details: list[object], headers: dict[str, str], wait_s: float | None
) -> None:
    for status in (429, 503):
        error = refusal(status, google(*details), headers)
        assert isinstance(error, RateLimitedError | ServerFaultError)
        assert error.retry_after == wait_s


@pytest.mark.parametrize(
    ("violations", "final"),
    [
        ([{"quotaId": "GenerateRequestsPerDayPerProjectPerModel-FreeTier"}], True),
        ([{"quotaId": "GenerateRequestsPerMinutePerProjectPerModel"}], False),
        ([{"quotaId": "RequestsPerMinute"}, {"quotaId": "RequestsPerDay"}], True),
        ([{"quotaId": None}, 4, None], False),
        ("PerDay", False),
    ],
)
def test_a_quota_of_the_day_that_is_used_up_ends_the_run(violations: object, final: bool) -> None:
    error = refusal(429, google({"violations": violations}, {"retryDelay": "3s"}))
    assert isinstance(error, EndpointError if final else RateLimitedError)
    assert error.code == ("quota" if final else "rate_limited")


def test_retry_after_is_carried_on() -> None:
    error = refusal(429, openai(), {"retry-after": "90"})
    assert isinstance(error, RateLimitedError)
    assert error.retry_after == 90.0
    later = refusal(503, b"", {"retry-after": "Thu, 01 Jan 1970 00:00:30 GMT"})
    assert isinstance(later, ServerFaultError)
    assert later.retry_after == 30.0


def test_the_provider_may_say_whether_a_retry_helps() -> None:
    assert isinstance(refusal(400, openai(), {"x-should-retry": "true"}), ServerFaultError)
    never = refusal(429, openai(), {"x-should-retry": "false"})
    assert isinstance(never, RejectedError)
    assert never.code == "rate_limited"
    paid = refusal(429, openai(code="insufficient_quota"), {"x-should-retry": "true"})
    assert isinstance(paid, EndpointError)


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (400, openai("too long", "context_length_exceeded", "messages")),
        (400, openai("This model's maximum context length is 4096 tokens. However, you requested 5000")),
        (
            400,
            openai(
                "'max_tokens' or 'max_completion_tokens' is too large: 100. This model's maximum context length is 50"
            ),
        ),
        (400, {"error": {"code": 400, "message": "too big", "type": "exceed_context_size_error", "n_ctx": 512}}),
        (400, {"type": "error", "error": {"type": "invalid_request_error", "message": "prompt is too long: 1 > 2"}}),
        (
            400,
            openai("Invalid 'messages[1].content': string too long", "string_above_max_length", "messages[1].content"),
        ),
        (413, b"<html><title>413 Request Entity Too Large</title></html>"),
        (422, {"detail": "Input is too long for this model"}),
        (
            429,
            openai(
                "Request too large for gpt-x on tokens per min (TPM): Limit 100, Requested 200", "rate_limit_exceeded"
            ),
        ),
        (500, {"error": {"code": 500, "message": "the request exceeds the available context size"}}),
    ],
)
def test_a_row_that_does_not_fit_is_told_as_such(status: int, body: object) -> None:
    assert isinstance(refusal(status, body), RequestTooLargeError)


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (
            400,
            {
                "error": {
                    "code": "content_filter",
                    "status": 400,
                    "innererror": {"code": "ResponsibleAIPolicyViolation"},
                }
            },
        ),
        (400, openai("flagged", "content_policy_violation")),
        (400, openai("Invalid prompt: it violates our content policy", "invalid_prompt")),
        (403, {"error": {"code": 403, "message": "Input was flagged by moderation", "metadata": {"reasons": ["x"]}}}),
        (403, {"error": {"code": 403, "message": "no", "metadata": {"reasons": ["x"], "flagged_input": "…"}}}),
        (400, {"error": {"code": "content_filter", "message": "filtered", "param": "prompt", "innererror": None}}),
    ],
)
def test_a_blocked_prompt_is_the_rows_own_matter(status: int, body: object) -> None:
    error = refusal(status, body)
    assert type(error) is RejectedError
    assert error.code == "blocked"


@pytest.mark.parametrize(
    ("status", "body", "parameter"),
    [
        pytest.param(400, openai("no", "unsupported_value", "temperature"), "temperature", id="O-A32"),
        pytest.param(
            400, {"error": {"param": "max_tokens", "code": "unsupported_parameter"}}, "max_tokens", id="O-A35"
        ),
        pytest.param(400, openai("Unsupported parameter", None, "temperature"), "temperature", id="code-null"),
        pytest.param(
            400,
            openai("not supported with reasoning models", "unsupported_parameter", "include"),
            "logprobs",
            id="include",
        ),
        pytest.param(
            400,
            {
                "error": {
                    "code": 400,
                    "status": "INVALID_ARGUMENT",
                    "message": "Invalid JSON payload received.",
                    "details": [{"fieldViolations": [{"field": "generation_config.seed", "description": "x"}]}],
                }
            },
            "seed",
            id="google-field-violation",
        ),
        pytest.param(400, openai("bad", "invalid_json_schema", "response_format"), "response_format", id="schema"),
        pytest.param(
            400, openai("bad", None, "response_format.json_schema.schema"), "response_format", id="schema-inner"
        ),
        pytest.param(400, openai("bad", None, "tools[0].function.parameters"), "tools", id="tools-inner"),
        pytest.param(400, openai("bad", None, "tool_choice"), "tools", id="tool-choice"),
        pytest.param(400, openai("bad", None, "top_p"), "top_p", id="one-we-never-send"),
        pytest.param(
            400,
            openai("'messages' must contain the word 'json' in some form, to use 'response_format'", None, "messages"),
            "response_format",
            id="the-word-json",
        ),
        pytest.param(400, openai("seed is not supported by this model"), "seed", id="prose"),
        pytest.param(400, openai("This response_format type is unavailable now"), "response_format", id="deepseek"),
        pytest.param(
            400, openai("This model does not support response format `json_schema`"), "response_format", id="groq"
        ),
        pytest.param(
            400, {"error": {"code": 400, "message": "Failed to parse grammar"}}, "response_format", id="llama.cpp"
        ),
        pytest.param(
            500, {"error": {"code": 500, "message": "tools param requires --jinja flag"}}, "tools", id="llama.cpp-500"
        ),
        pytest.param(400, {"error": {"message": "library/x does not support tools"}}, "tools", id="ollama"),
        pytest.param(404, openai("No endpoints found that support tool use"), "tools", id="openrouter-404"),
        pytest.param(
            400,
            {
                "object": "error",
                "message": "[{'type': 'extra_forbidden', 'loc': ('body', 'seed'), 'msg': 'Extra inputs'}]",
            },
            "seed",
            id="vllm-prose",
        ),
        pytest.param(
            422,
            {
                "object": "error",
                "message": {"detail": [{"type": "extra_forbidden", "loc": ["body", "seed"], "msg": "no"}]},
            },
            "seed",
            id="mistral-422",
        ),
        pytest.param(
            422, {"detail": [{"loc": ["body", "temperature"], "msg": "bad", "type": "x"}]}, "temperature", id="fastapi"
        ),
        pytest.param(
            400,
            {
                "error": {
                    "message": "Provider returned error",
                    "code": 400,
                    "metadata": {
                        "raw": '{"error":{"message":"Unsupported value: \'temperature\'","param":"temperature"}}'
                    },
                }
            },
            "temperature",
            id="openrouter-raw",
        ),
        pytest.param(
            403, openai("You are not allowed to request logprobs from this model"), "logprobs", id="openai-403"
        ),
        pytest.param(400, openai("Unsupported parameter", param="top_logprobs"), "logprobs", id="top-logprobs-by-name"),
        pytest.param(400, openai("'top_logprobs' must be at most 5"), "logprobs", id="too-many"),
        pytest.param(400, openai("This model does not support log probabilities"), "logprobs", id="in-words"),
        pytest.param(
            400,
            {"object": "error", "message": "Requested sample logprobs of 5, which is greater than max allowed: 0"},
            "logprobs",
            id="vllm-max-logprobs",
        ),
        pytest.param(
            422, {"detail": [{"loc": ["body", "logprobs"], "type": "extra_forbidden"}]}, "logprobs", id="extra-logprobs"
        ),
    ],
)
def test_a_refused_parameter_is_named(status: int, body: object, parameter: str) -> None:
    error = refusal(status, body)
    assert isinstance(error, ParameterRefusedError)
    assert error.parameter == parameter


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (400, openai()),
        (400, b""),
        (400, b"<html><title>Bad Request</title></html>"),
        (400, {"message": "nope"}),
        (400, openai("Invalid 'messages[0].role'", None, "messages[0].role")),
        (400, openai("Invalid 'messages[1].content': 'temperature is not supported'", None, "messages[1].content")),
        (422, {"detail": [{"loc": ["body", "messages", 0, "content"], "msg": "too odd", "type": "x"}]}),
        (422, {"detail": "no"}),
    ],
)
def test_a_refusal_that_nothing_explains_stays_open(status: int, body: object) -> None:
    error = refusal(status, body)
    assert type(error) is RejectedError
    assert error.code == "rejected"


def test_messages_are_one_short_printable_line() -> None:
    error = refusal(400, openai("a\x1b[31m\r\nb\u202e" + "x" * 5000))
    assert "\x1b" not in str(error)
    assert "\n" not in error.message
    assert "\u202e" not in str(error)
    assert len(error.message) < 400
    page = refusal(502, b"<html><head><title>502 Bad Gateway</title></head>" + b"<p>" * 9999)
    assert "502 Bad Gateway" in str(page)
    assert "<p>" not in str(page)
