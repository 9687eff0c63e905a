from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from agentanvil.client import ChatReply, ChatRequest, Message, ReplySchema, Sampling, Usage
from agentanvil.client.adapter import RUNGS, Endpoint, Rung, Shape, WireReply
from agentanvil.client.gemini import Gemini
from agentanvil.client.provider import ProviderClient
from agentanvil.client.refusals import EFFORT
from agentanvil.client.secret import Secret
from agentanvil.client.spec import parse_judge
from agentanvil.client.transport import HttpTransport
from agentanvil.errors import (
    CallError,
    EndpointError,
    MalformedBodyError,
    ParameterRefusedError,
    RateLimitedError,
    RequestTooLargeError,
    ServerFaultError,
)
from tests.fakes.golden import assert_golden
from tests.fakes.hosted import gemini, gemini_error
from tests.fakes.json_values import JSON_VALUES, bent
from tests.fakes.server import Answer, FakeServer, Recorded, answer_json

ADAPTER = Gemini(clock=lambda: 0.0)
SCHEMA = ReplySchema(
    "verdict",
    {
        "type": "object",
        "properties": {
            "evidence": {"type": "array", "items": {"type": "string", "maxLength": 300}, "maxItems": 3},
            "pattern": {
                "type": "object",
                "properties": {
                    "score": {"type": ["integer", "null"], "enum": [1, 3, 5, None]},
                    "pass": {"type": ["boolean", "null"]},
                },
                "required": ["score", "pass"],
                "additionalProperties": False,
            },
        },
        "required": ["evidence", "pattern"],
        "additionalProperties": False,
    },
)
MESSAGES = (Message("system", "Grade."), Message("user", "Zwölf €"))
REQUEST = ChatRequest(MESSAGES, SCHEMA, Sampling(seed=7, max_tokens=4000, effort="low"), logprobs=5)
BAD = "INVALID_ARGUMENT"


def build(request: ChatRequest, shape: Shape | None = None) -> Any:
    return json.loads(ADAPTER.build("m", request, shape or Shape()))


def read(body: object, rung: Rung = "json_schema") -> ChatReply:
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    return ADAPTER.read(WireReply(200, raw), Shape(rung))


def refused(answer: Answer) -> CallError:
    with pytest.raises(CallError) as caught:
        ADAPTER.read(WireReply(answer.status, answer.body), Shape())
    return caught.value


def call(args: object) -> dict[str, object]:
    return {"functionCall": {"name": "verdict", "args": args}}


@pytest.mark.parametrize("rung", RUNGS)
def test_the_request_of_each_rung(rung: Rung) -> None:
    assert_golden(f"gemini_{rung}", ADAPTER.build("m", REQUEST, Shape(rung)))


def test_keywords_that_are_not_taken_are_left_out_wherever_they_stand() -> None:
    part = {"type": "array", "uniqueItems": True, "items": {"type": "string", "pattern": "^a", "enum": ["pattern"]}}
    taken = {"type": "array", "items": {"type": "string", "enum": ["pattern"]}}
    union = {"type": ["object", "null"], "properties": {"pattern": part}, "$comment": "x"}
    sent = build(ChatRequest(MESSAGES, ReplySchema("verdict", {"anyOf": [part, union], "$defs": {"pattern": part}})))
    offered = {"type": "object", "properties": {"pattern": taken}, "propertyOrdering": ["pattern"]}
    assert sent["generationConfig"]["responseJsonSchema"] == {
        "anyOf": [taken, {"anyOf": [offered, {"type": "null"}]}],
        "$defs": {"pattern": taken},
    }


def test_a_reask_shows_the_models_own_turn() -> None:
    turns = (*MESSAGES, Message("assistant", "4?"), Message("user", "As JSON."))
    request = ChatRequest(turns, SCHEMA, Sampling(temperature=None))
    assert_golden("gemini_reask", ADAPTER.build("m", request, Shape("plain")))


def test_what_was_dropped_is_not_sent() -> None:
    dropped = frozenset({"temperature", "seed", EFFORT, "max_tokens", "logprobs"})
    assert build(REQUEST, Shape("plain", dropped)).keys() == {"systemInstruction", "contents"}


def test_a_lone_surrogate_in_a_prompt_does_not_stop_the_call() -> None:
    assert build(ChatRequest((Message("user", "a\ud800b"),)))["contents"][0]["parts"][0]["text"] == "a�b"


@pytest.mark.parametrize(
    ("model", "path"),
    [
        ("gemini-4-flash", "/models/gemini-4-flash:generateContent"),
        ("models/gemini-4-flash", "/models/gemini-4-flash:generateContent"),
        ("a/../b?key=x#y", "/models/a%2F..%2Fb%3Fkey%3Dx%23y:generateContent"),
    ],
)
def test_the_model_is_one_step_of_the_path(model: str, path: str) -> None:
    assert ADAPTER.path(model) == path


@pytest.mark.parametrize("path", ["", "/", "/v1beta", "/v1beta/models/gemini-x:generateContent"])
def test_an_address_without_a_path_is_completed_and_a_pasted_one_cut(path: str) -> None:
    assert parse_judge(f"gemini:gemini-x@https://gateway.example{path}").base_url == "https://gateway.example/v1beta"


def test_a_whole_reply_is_read() -> None:
    body = gemini({"text": "hmm", "thought": True}, '{"score":', " 4}") | {
        "usageMetadata": {
            "promptTokenCount": 1200,
            "cachedContentTokenCount": 800,
            "candidatesTokenCount": 20,
            "thoughtsTokenCount": 64,
            "totalTokenCount": 1284,
        }
    }
    assert read(body) == ChatReply(
        text='{"score": 4}',
        reasoning=True,
        usage=Usage(1200, 84, 800, 64),
        model="gemini-fake-1",
        request_id="resp_1",
        rung="json_schema",
    )


@pytest.mark.parametrize(
    ("usage", "expected"),
    [
        (None, Usage()),
        ({}, Usage()),
        ("many", Usage()),
        ({"promptTokenCount": 12, "totalTokenCount": 12}, Usage(12, 0)),
        ({"promptTokenCount": 12, "thoughtsTokenCount": 5}, Usage(12, 5, None, 5)),
        ({"promptTokenCount": -1, "candidatesTokenCount": "5"}, Usage()),
    ],
)
def test_token_counts(usage: object, expected: Usage) -> None:
    assert read(gemini("x") | {"usageMetadata": usage}).usage == expected


@pytest.mark.parametrize(
    ("finish", "stop"),
    [
        ("STOP", "stop"),
        (None, "stop"),
        ("MAX_TOKENS", "length"),
        ("SAFETY", "blocked"),
        ("RECITATION", "blocked"),
        ("LANGUAGE", "blocked"),
        ("BLOCKLIST", "blocked"),
        ("PROHIBITED_CONTENT", "blocked"),
        ("SPII", "blocked"),
    ],
)
def test_stop_reasons(finish: str | None, stop: str) -> None:
    assert read(gemini('{"score": 4}', finish=finish)).stop == stop


@pytest.mark.parametrize(
    ("finish", "kind"),
    [
        ("MALFORMED_RESPONSE", MalformedBodyError),
        ("MALFORMED_FUNCTION_CALL", MalformedBodyError),
        ("OTHER", ServerFaultError),
        ("FINISH_REASON_UNSPECIFIED", ServerFaultError),
        ("SOMETHING_NEW", ServerFaultError),
        (7, ServerFaultError),
    ],
)
def test_an_answer_that_ended_for_no_good_reason_is_no_verdict(finish: Any, kind: type[CallError]) -> None:
    with pytest.raises(kind):
        read(gemini('{"score": 4}', finish=finish))


def test_a_blocked_prompt_has_no_candidate() -> None:
    """O-A31."""
    body = {"promptFeedback": {"blockReason": "SAFETY"}, "usageMetadata": {"promptTokenCount": 12}}
    reply = read(body)
    assert (reply.text, reply.stop, reply.usage) == ("", "blocked", Usage(12, 0))


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"<html>",
        b"null",
        b"{}",
        b'{"candidates": []}',
        b'{"candidates": [4]}',
        b'{"promptFeedback": {"safetyRatings": []}}',
        b'{"promptFeedback": "no"}',
        b'{"candidates": [{"content": "4"}]}',
        b'{"candidates": [{"content": {"parts": "4"}}]}',
        b'{"candidates": [{"content": {"parts": [{"text": 4}]}}]}',
    ],
)
def test_a_200_without_an_answer_may_pass_on_retry(body: bytes) -> None:
    with pytest.raises(MalformedBodyError):
        read(body)


@pytest.mark.parametrize(
    ("candidate", "text", "reasoning"),
    [
        pytest.param({"finishReason": "MAX_TOKENS"}, "", False, id="no-content"),
        pytest.param({"content": {"role": "model"}}, "", False, id="no-parts"),
        pytest.param({"content": {"parts": []}}, "", False, id="empty"),
        pytest.param({"content": {"parts": [{"text": "so 3", "thought": True}]}}, "", True, id="thought-alone"),
        pytest.param({"content": {"parts": [5, {"inlineData": {}}, {"text": "a"}]}}, "a", False, id="odd"),
    ],
)
def test_the_visible_parts_are_the_text(candidate: dict[str, object], text: str, reasoning: bool) -> None:
    reply = read({"candidates": [candidate]})
    assert (reply.text, reply.reasoning) == (text, reasoning)


def test_a_forced_call_is_handed_on_as_text() -> None:
    assert read(gemini("Sure!", call({"score": 1})), "tool").text == '{"score":1}'
    assert read(gemini("Sure!", call({"score": 1}))).text == "Sure!"
    twice = json.dumps(gemini(call({"score": 1}))).replace('"score": 1', '"score": 1, "score": 5')
    assert read(twice.encode(), "tool").text == '{"score":1,"score":5}'


def test_log_probabilities_are_laid_over_the_text() -> None:
    def token(text: str, logprob: float) -> dict[str, object]:
        return {"token": text, "tokenId": 1, "logProbability": logprob}

    result = {
        "chosenCandidates": [token('{"winner":"', -0.1), token("A", -0.25), token('"}', 0.0)],
        "topCandidates": [{"candidates": []}, {"candidates": [token("A", -0.25), token("B", -1.5)]}],
    }
    tokens = read(gemini('{"winner":"A"}', logprobsResult=result)).tokens
    assert [(t.at, t.text, t.logprob) for t in tokens] == [(0, '{"winner":"', -0.1), (11, "A", -0.25), (12, '"}', 0.0)]
    assert tokens[1].top == (("A", -0.25), ("B", -1.5))
    assert read(gemini("x", logprobsResult={"chosenCandidates": [3]})).tokens == ()


def retry_info(delay: str) -> dict[str, object]:
    return {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": delay}


def quota(quota_id: str) -> dict[str, object]:
    return {"@type": "type.googleapis.com/google.rpc.QuotaFailure", "violations": [{"quotaId": quota_id}]}


BAD_KEY = {"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "API_KEY_INVALID"}
PER_MINUTE, PER_DAY = "GenerateRequestsPerMinutePerProject", "GenerateRequestsPerDayPerProjectPerModel-FreeTier"


@pytest.mark.parametrize(
    ("answer", "kind", "code"),
    [
        (gemini_error(429, "RESOURCE_EXHAUSTED"), RateLimitedError, "rate_limited"),
        (gemini_error(200, "RESOURCE_EXHAUSTED"), RateLimitedError, "rate_limited"),
        (gemini_error(429, "RESOURCE_EXHAUSTED", "Quota", quota(PER_MINUTE)), RateLimitedError, "rate_limited"),
        (gemini_error(429, "RESOURCE_EXHAUSTED", "Quota", quota(PER_DAY), retry_info("3s")), EndpointError, "quota"),
        (gemini_error(500, "INTERNAL"), ServerFaultError, "server_error"),
        (gemini_error(503, "UNAVAILABLE", "The model is overloaded."), ServerFaultError, "server_error"),
        (gemini_error(504, "DEADLINE_EXCEEDED"), ServerFaultError, "server_error"),
        (gemini_error(400, BAD, "API key not valid.", BAD_KEY), EndpointError, "unauthorised"),
        (gemini_error(403, "PERMISSION_DENIED"), EndpointError, "unauthorised"),
        (gemini_error(404, "NOT_FOUND", "models/x is not found for API version v1beta"), EndpointError, "not_found"),
        (
            gemini_error(400, BAD, "The input token count (1200000) exceeds the maximum number of tokens (1048576)."),
            RequestTooLargeError,
            "request_too_large",
        ),
    ],
)
def test_errors(answer: Answer, kind: type[CallError], code: str) -> None:
    error = refused(answer)
    assert (type(error), error.code) == (kind, code)


@pytest.mark.parametrize(("delay", "seconds"), [("31s", 31.0), ("0.5s", 0.5), ("soon", None)])
def test_the_wait_that_is_asked_for_is_in_the_body(delay: str, seconds: float | None) -> None:
    error = refused(gemini_error(429, "RESOURCE_EXHAUSTED", "Quota", retry_info(delay)))
    assert isinstance(error, RateLimitedError)
    assert error.retry_after == seconds


@pytest.mark.parametrize(
    ("message", "parameter"),
    [
        ("Logprobs is not enabled for this model", "logprobs"),
        ("JSON mode is not enabled for this model", "response_format"),
        ("Unknown name \"responseJsonSchema\" at 'generation_config': Cannot find field.", "response_format"),
        ("A schema in GenerationConfig in the request exceeds the maximum allowed nesting depth.", "response_format"),
        ("Function calling is not enabled for models/gemma", "tools"),
        ("Thinking level is not supported for this model.", EFFORT),
        ("Unable to submit request because thinking_level MINIMAL is not supported", EFFORT),
        ("Invalid value at 'generation_config.seed' (TYPE_INT32), 99999999999", "seed"),
        ("maxOutputTokens value of 9000 but the supported range is from 1 to 8193", "max_tokens"),
    ],
)
def test_the_parameter_that_is_refused_is_found_in_the_message(message: str, parameter: str) -> None:
    error = refused(gemini_error(400, BAD, message))
    assert isinstance(error, ParameterRefusedError)
    assert error.parameter == parameter


@given(st.one_of(JSON_VALUES, bent(gemini({"text": "h", "thought": True}, "4", call({"score": 1})))))
@example(gemini("4", finish=[]))  # type: ignore[arg-type]
def test_any_json_is_a_reply_or_a_call_error(body: object) -> None:
    try:
        reply = read(body, "tool")
    except CallError:
        return
    assert isinstance(reply.text, str)


def test_the_ladder_goes_down_and_the_key_stays_in_its_header() -> None:
    """O-H03."""

    def old_model(request: Recorded) -> Answer:
        config, body = request.json["generationConfig"], request.json
        said = (
            "Logprobs is not enabled for this model"
            if "logprobs" in config
            else "Thinking level is not supported for this model"
            if "thinkingConfig" in config
            else "Unknown name \"responseJsonSchema\" at 'generation_config': Cannot find field."
            if "responseJsonSchema" in config
            else "Function calling is not enabled for models/m"
            if "tools" in body
            else None
        )
        return gemini_error(400, BAD, said) if said else answer_json(gemini('{"score": 4}'))

    async def run(url: str) -> tuple[ChatReply, Shape]:
        transport = HttpTransport(url + ADAPTER.path("m"), ADAPTER.headers("CANARY-6"), timeout_s=5)
        client = ProviderClient(ADAPTER, transport, Endpoint(url, "m"), secrets=[Secret("CANARY-6")])
        try:
            return await client.complete(REQUEST), client.shape
        finally:
            await client.close()

    with FakeServer(old_model) as server:
        reply, shape = asyncio.run(run(server.url))
    assert (reply.text, reply.rung, reply.attempts) == ('{"score": 4}', "json_object", 5)
    assert shape.dropped == {"logprobs", EFFORT}
    last = server.requests[-1]
    assert (last.path, last.headers["x-goog-api-key"]) == ("/v1/models/m:generateContent", "CANARY-6")
    assert "CANARY" not in last.path + last.body.decode()
