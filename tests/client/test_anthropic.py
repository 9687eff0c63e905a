from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from agentanvil.client import ChatReply, ChatRequest, Message, ReplySchema, Sampling, Usage
from agentanvil.client.adapter import Endpoint, Rung, Shape, WireReply
from agentanvil.client.anthropic import RUNGS, AnthropicMessages
from agentanvil.client.provider import ProviderClient
from agentanvil.client.providers import providers
from agentanvil.client.refusals import EFFORT
from agentanvil.client.spec import parse_judge
from agentanvil.client.transport import HttpTransport
from agentanvil.errors import (
    CallError,
    ConfigError,
    EndpointError,
    MalformedBodyError,
    ParameterRefusedError,
    RateLimitedError,
    RequestTooLargeError,
    ServerFaultError,
)
from tests.fakes.golden import assert_golden
from tests.fakes.hosted import claude, claude_error
from tests.fakes.json_values import JSON_VALUES, bent
from tests.fakes.server import Answer, FakeServer, Recorded, answer_json

ADAPTER = AnthropicMessages(clock=lambda: 0.0)
SCHEMA = ReplySchema(
    "verdict",
    {
        "type": "object",
        "properties": {
            "evidence": {"type": "array", "items": {"type": "string", "maxLength": 300}, "maxItems": 3},
            "maximum": {
                "type": "object",
                "properties": {"score": {"type": ["integer", "null"], "enum": [1, 3, 5, None], "minimum": 1}},
                "required": ["score"],
                "additionalProperties": False,
            },
        },
        "required": ["evidence", "maximum"],
        "additionalProperties": False,
    },
)
MESSAGES = (Message("system", "Grade."), Message("user", "Zwölf €"))
REQUEST = ChatRequest(MESSAGES, SCHEMA, Sampling(seed=7, max_tokens=4000, effort="low"), logprobs=5)
THINKING = {"type": "thinking", "thinking": "", "signature": "s"}


def build(request: ChatRequest, shape: Shape | None = None) -> Any:
    return json.loads(ADAPTER.build("claude-x", request, shape or Shape()))


def read(body: object, rung: Rung = "json_schema", headers: Mapping[str, str] | None = None) -> ChatReply:
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    return ADAPTER.read(WireReply(200, raw, headers or {}), Shape(rung))


def refused(answer: Answer, **headers: str) -> CallError:
    with pytest.raises(CallError) as caught:
        ADAPTER.read(WireReply(answer.status, answer.body, headers), Shape())
    return caught.value


def tool(value: object) -> dict[str, object]:
    return {"type": "tool_use", "id": "t", "name": "verdict", "input": value}


@pytest.mark.parametrize("rung", RUNGS)
def test_the_request_of_each_rung(rung: Rung) -> None:
    assert_golden(f"anthropic_{rung}", ADAPTER.build("claude-x", REQUEST, Shape(rung)))


def test_keywords_that_are_refused_are_left_out_wherever_they_stand() -> None:
    part = {"type": "array", "minItems": 2, "items": {"type": "number", "multipleOf": 5, "description": "minLength"}}
    taken = {"type": "array", "items": {"type": "number", "description": "minLength"}}
    whole = {"$defs": {"minItems": part}, "anyOf": [part, {"type": "array", "minItems": 1}], "enum": ["maximum"]}
    sent = build(ChatRequest(MESSAGES, ReplySchema("verdict", whole)))["output_config"]["format"]["schema"]
    assert sent == {
        "$defs": {"minItems": taken},
        "anyOf": [taken, {"type": "array", "minItems": 1}],
        "enum": ["maximum"],
    }


def test_a_reask_ends_in_a_users_turn() -> None:
    turns = (*MESSAGES, Message("assistant", "4?"), Message("user", "As JSON."))
    assert_golden("anthropic_reask", ADAPTER.build("claude-x", ChatRequest(turns, SCHEMA), Shape("plain")))


def test_what_was_dropped_is_not_sent_but_for_the_cap_that_the_api_demands() -> None:
    dropped = frozenset({"temperature", "seed", EFFORT, "max_tokens"})
    assert build(REQUEST, Shape("plain", dropped)).keys() == {"model", "max_tokens", "system", "messages"}
    assert build(ChatRequest(MESSAGES))["max_tokens"] > 0


def test_a_judge_without_instructions_sends_no_empty_system_block() -> None:
    assert "system" not in build(ChatRequest((Message("user", "x"),)))


def test_only_the_last_block_of_instructions_ends_what_is_cached() -> None:
    system = build(ChatRequest((Message("system", "a"), Message("system", "b"), Message("user", "x"))))["system"]
    assert [block.get("cache_control") for block in system] == [None, {"type": "ephemeral"}]


def test_a_lone_surrogate_in_a_prompt_does_not_stop_the_call() -> None:
    assert build(ChatRequest((Message("user", "a\ud800b"),)))["messages"][0]["content"] == "a�b"


def test_the_key_is_in_a_header_only() -> None:
    headers = ADAPTER.headers("CANARY-6")
    assert headers["x-api-key"] == "CANARY-6"
    assert headers["anthropic-version"] == "2023-06-01"
    assert "x-api-key" not in ADAPTER.headers(None)
    assert "CANARY" not in ADAPTER.path("m")


@pytest.mark.parametrize("url", ["", "@https://api.anthropic.com", "@https://api.anthropic.com/v1/messages"])
def test_an_address_without_a_path_is_completed_and_a_pasted_one_cut(url: str) -> None:
    assert parse_judge(f"anthropic:claude-x{url}").base_url == "https://api.anthropic.com/v1"


def test_a_whole_reply_is_read() -> None:
    usage = {
        "input_tokens": 10,
        "cache_creation_input_tokens": 1000,
        "cache_read_input_tokens": 2000,
        "output_tokens": 50,
        "output_tokens_details": {"thinking_tokens": 30},
    }
    reply = read(claude('{"score": 4}', usage=usage), headers={"request-id": "req_9"})
    assert reply == ChatReply(
        text='{"score": 4}',
        usage=Usage(3010, 50, 2000, 30, 1000),
        model="claude-fake-1",
        request_id="req_9",
        rung="json_schema",
    )


@pytest.mark.parametrize(
    ("usage", "expected"),
    [
        (None, Usage()),
        ("many", Usage()),
        ({"input_tokens": 5}, Usage(input_tokens=5)),
        ({"cache_read_input_tokens": 5, "output_tokens": 1}, Usage(None, 1, 5)),
        ({"input_tokens": -1, "output_tokens": True, "output_tokens_details": 3}, Usage()),
    ],
)
def test_unknown_token_counts_stay_unknown(usage: object, expected: Usage) -> None:
    assert read(claude("x", usage=usage)).usage == expected


@pytest.mark.parametrize(
    ("reason", "stop"),
    [
        ("end_turn", "stop"),
        ("stop_sequence", "stop"),
        ("tool_use", "stop"),
        (None, "stop"),
        ("max_tokens", "length"),
        ("model_context_window_exceeded", "length"),
        ("refusal", "refusal"),
        ("pause_turn", "other"),
        ("something_new", "other"),
    ],
)
def test_stop_reasons(reason: str | None, stop: str) -> None:
    assert read(claude('{"score": 0.9, "rea', stop=reason)).stop == stop


@pytest.mark.parametrize(
    ("details", "said"),
    [
        ({"category": "cyber", "explanation": "Not this."}, "cyber: Not this."),
        ({"category": "cyber", "explanation": None}, "cyber"),
        (None, None),
        ([1], None),
    ],
)
def test_a_refusal_is_told_with_its_reason(details: object, said: str | None) -> None:
    reply = read(claude('{"score": 4}', stop="refusal", stop_details=details))
    assert (reply.stop, reply.refusal) == ("refusal", said)


@pytest.mark.parametrize(
    ("blocks", "text", "reasoning"),
    [
        pytest.param([THINKING, '{"score": 4}'], '{"score": 4}', True, id="O-A08-thinking-first"),
        pytest.param(
            [{"type": "redacted_thinking", "data": "x"}, THINKING, '{"score":', " 2}"], '{"score": 2}', True, id="O-A09"
        ),
        pytest.param([THINKING], "", True, id="thinking-alone"),
        pytest.param([], "", False, id="empty"),
        pytest.param([{"type": "server_tool_use", "input": {"score": 1}}, "4"], "4", False, id="other-blocks"),
    ],
)
def test_blocks_are_told_by_their_type(blocks: list[Any], text: str, reasoning: bool) -> None:
    reply = read(claude(*blocks))
    assert (reply.text, reply.reasoning) == (text, reasoning)


def test_a_forced_call_is_handed_on_as_text() -> None:
    assert read(claude("Sure!", tool({"score": 1}), stop="tool_use"), "tool").text == '{"score":1}'
    assert read(claude("Sure!", tool({"score": 1})), "json_schema").text == "Sure!"
    assert read(claude(tool({"score": 1}), tool({"score": 5})), "tool").text == '{"score":1}\n{"score":5}'
    twice = json.dumps(claude(tool({"score": 1}))).replace('"score": 1', '"score": 1, "score": 5')
    assert read(twice.encode(), "tool").text == '{"score":1,"score":5}'


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"<html>",
        b"null",
        b"{}",
        b'{"content": "x"}',
        b'{"content": null}',
        b'{"content": {"text": "x"}}',
        b'{"content": [{"type": "text", "text": 4}]}',
        b'{"content": [{"type": "text"}]}',
    ],
)
def test_a_200_that_is_no_message_may_pass_on_retry(body: bytes) -> None:
    with pytest.raises(MalformedBodyError):
        read(body)


@pytest.mark.parametrize(
    ("answer", "kind", "code"),
    [
        (claude_error(529, "overloaded_error", "Overloaded"), ServerFaultError, "server_error"),
        (claude_error(500, "api_error"), ServerFaultError, "server_error"),
        (claude_error(504, "timeout_error"), ServerFaultError, "server_error"),
        (claude_error(409, "conflict_error"), ServerFaultError, "server_error"),
        (claude_error(200, "overloaded_error"), ServerFaultError, "server_error"),
        (claude_error(200, "rate_limit_error"), RateLimitedError, "rate_limited"),
        (claude_error(429, "rate_limit_error"), RateLimitedError, "rate_limited"),
        (claude_error(429, "rate_limit_error", code="enforced_spend_limit_reached"), EndpointError, "quota"),
        (claude_error(402, "billing_error"), EndpointError, "quota"),
        (claude_error(400, "invalid_request_error", "Your credit balance is too low"), EndpointError, "quota"),
        (claude_error(401, "authentication_error", "invalid x-api-key"), EndpointError, "unauthorised"),
        (claude_error(403, "permission_error"), EndpointError, "unauthorised"),
        (claude_error(404, "not_found_error", "model: claude-x"), EndpointError, "not_found"),
        (claude_error(413, "request_too_large"), RequestTooLargeError, "request_too_large"),
        (
            claude_error(400, "invalid_request_error", "prompt is too long: 208310 tokens > 200000 maximum"),
            RequestTooLargeError,
            "request_too_large",
        ),
        (
            claude_error(
                400,
                "invalid_request_error",
                "input length and `max_tokens` exceed context limit: 199000 + 8000 > 200000",
            ),
            RequestTooLargeError,
            "request_too_large",
        ),
    ],
)
def test_errors(answer: Answer, kind: type[CallError], code: str) -> None:
    error = refused(answer)
    assert (type(error), error.code) == (kind, code)


def test_the_wait_that_is_asked_for_is_kept() -> None:
    error = refused(claude_error(429, "rate_limit_error"), **{"retry-after": "7"})
    assert isinstance(error, RateLimitedError)
    assert error.retry_after == 7.0


@pytest.mark.parametrize(
    ("message", "parameter"),
    [
        ("`temperature` is deprecated for this model.", "temperature"),
        ("temperature: Extra inputs are not permitted", "temperature"),
        ("`temperature` may only be set to 1 when thinking is enabled.", "temperature"),
        ("output_config.format: Extra inputs are not permitted", "response_format"),
        ("output_config.format.schema: property 'x' is not supported", "response_format"),
        ("output_config: Extra inputs are not permitted", "response_format"),
        ("'claude-3' does not support output format.", "response_format"),
        ("Schema is too complex for compilation", "response_format"),
        ("tool_choice: forced tool use is not supported for this model", "tools"),
        ("tool_choice.type: Input should be 'auto'", "tools"),
        ("Thinking may not be enabled when tool_choice forces tool use.", "tools"),
        ("output_config.effort: Input should be 'low' or 'high'", EFFORT),
        ("This model does not support the effort parameter.", EFFORT),
        ("max_tokens: 8000 > 4096, which is the maximum allowed number of output tokens", "max_tokens"),
    ],
)
def test_the_parameter_that_is_refused_is_found_in_the_message(message: str, parameter: str) -> None:
    error = refused(claude_error(400, "invalid_request_error", message))
    assert isinstance(error, ParameterRefusedError)
    assert error.parameter == parameter


@pytest.mark.parametrize(
    "message", ["messages.0.content: text content blocks must be non-empty", "system.0.text: too short", "model: x"]
)
def test_what_is_wrong_with_the_content_is_not_a_parameter(message: str) -> None:
    assert refused(claude_error(400, "invalid_request_error", message)).code == "rejected"


@given(st.one_of(JSON_VALUES, bent(claude(THINKING, "4", tool({"score": 1}), stop_details={"category": "x"}))))
@example(claude({"type": []}))
def test_any_json_is_a_reply_or_a_call_error(body: object) -> None:
    try:
        reply = read(body, "tool")
    except CallError:
        return
    assert isinstance(reply.text, str)


def ask(server: FakeServer, request: ChatRequest = REQUEST) -> tuple[ChatReply, Shape]:
    rules = providers()["anthropic"]

    async def run() -> tuple[ChatReply, Shape]:
        transport = HttpTransport(server.url + ADAPTER.path("claude-x"), ADAPTER.headers("K"), timeout_s=5)
        endpoint = Endpoint(server.url, "claude-x", Shape(RUNGS[0], rules.lacks, rules.cap_field))
        client = ProviderClient(ADAPTER, transport, endpoint)
        try:
            return await client.complete(request), client.shape
        finally:
            await client.close()

    return asyncio.run(run())


def test_the_ladder_goes_down_on_what_claude_models_refuse() -> None:
    def opus(request: Recorded) -> Answer:
        body = request.json
        said = (
            "`temperature` is deprecated for this model."
            if "temperature" in body
            else "output_config.format: Extra inputs are not permitted"
            if "format" in body.get("output_config", {})
            else "tool_choice: forced tool use is not supported for this model"
            if "tools" in body
            else "This model does not support the effort parameter."
            if "output_config" in body
            else None
        )
        return claude_error(400, "invalid_request_error", said) if said else answer_json(claude('{"score": 4}'))

    with FakeServer(opus) as server:
        reply, shape = ask(server)
    assert (reply.text, reply.rung, reply.attempts) == ('{"score": 4}', "plain", 5)
    assert shape.dropped == {"seed", "temperature", EFFORT}
    assert (server.requests[0].path, server.requests[0].headers["x-api-key"]) == ("/v1/messages", "K")
    assert {body["max_tokens"] for body in server.bodies} == {4000}


def test_a_cap_that_is_too_high_is_said_and_not_left_out() -> None:
    said = "max_tokens: 4000 > 1000, which is the maximum allowed number of output tokens for claude-x"
    with FakeServer(claude_error(400, "invalid_request_error", said)) as server:
        with pytest.raises(EndpointError, match=r"max_tokens, which cannot be left out: .*4000 > 1000"):
            ask(server)
        explicit = Sampling(max_tokens=4000, explicit=frozenset({"max_tokens"}))
        with pytest.raises(ConfigError, match="4000 > 1000"):
            ask(server, ChatRequest(MESSAGES, SCHEMA, explicit))


def test_a_seed_set_on_purpose_is_no_error_since_it_orders_rows_as_well() -> None:
    sampling = Sampling(seed=7, max_tokens=10, explicit=frozenset({"seed"}))
    with FakeServer(answer_json(claude("4"))) as server:
        _, shape = ask(server, ChatRequest(MESSAGES, SCHEMA, sampling))
    assert "seed" not in server.bodies[0]
    assert shape.dropped == {"seed"}
