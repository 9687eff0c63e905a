from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentanvil.client import ChatReply, ChatRequest, Message, ReplySchema, Sampling, Usage
from agentanvil.client.adapter import RUNGS, Rung, Shape, WireReply
from agentanvil.client.chat_completions import ChatCompletions
from agentanvil.errors import CallError, MalformedBodyError, RateLimitedError, ServerFaultError
from tests.fakes.server import chat_body

ADAPTER = ChatCompletions(clock=lambda: 0.0)
SCHEMA = ReplySchema("verdict", {"type": "object", "properties": {"score": {"type": "integer"}}})
MESSAGES = (Message("system", "Grade."), Message("user", "Zwölf €"))


def build(request: ChatRequest, shape: Shape | None = None) -> Any:
    return json.loads(ADAPTER.build("m", request, shape or Shape()))


def read(body: object, rung: Rung = "json_schema", status: int = 200) -> ChatReply:
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    return ADAPTER.read(WireReply(status, raw), Shape(rung=rung))


def message(finish: str | None = "stop", **fields: object) -> dict[str, Any]:
    return chat_body(None, finish, fields)


def test_the_body_holds_what_was_asked_and_nothing_more() -> None:
    body = build(ChatRequest(MESSAGES))
    assert body == {
        "model": "m",
        "messages": [{"role": "system", "content": "Grade."}, {"role": "user", "content": "Zwölf €"}],
        "temperature": 0.0,
    }
    assert b" " not in ADAPTER.build("m", ChatRequest((Message("user", "x"),)), Shape())


def test_sampling_is_sent_where_it_is_set() -> None:
    request = ChatRequest(MESSAGES, sampling=Sampling(temperature=None, seed=7, max_tokens=256))
    assert build(request).keys() - {"model", "messages"} == {"seed", "max_tokens"}
    body = build(request, Shape(cap_field="max_completion_tokens"))
    assert body["max_completion_tokens"] == 256
    assert "max_tokens" not in body


def test_what_was_dropped_is_not_sent() -> None:
    request = ChatRequest(MESSAGES, sampling=Sampling(seed=7, max_tokens=256))
    dropped = frozenset({"temperature", "seed", "max_tokens"})
    assert build(request, Shape(dropped=dropped)).keys() == {"model", "messages"}


def test_each_rung_asks_for_the_schema_in_its_way() -> None:
    request = ChatRequest(MESSAGES, SCHEMA)
    strict = build(request, Shape("json_schema"))["response_format"]
    assert strict == {
        "type": "json_schema",
        "json_schema": {"name": "verdict", "strict": True, "schema": dict(SCHEMA.schema)},
    }
    tool = build(request, Shape("tool"))
    assert tool["tools"] == [{"type": "function", "function": {"name": "verdict", "parameters": dict(SCHEMA.schema)}}]
    assert tool["tool_choice"] == {"type": "function", "function": {"name": "verdict"}}
    assert "response_format" not in tool
    assert build(request, Shape("json_object"))["response_format"] == {"type": "json_object"}
    assert build(request, Shape("plain")).keys() == {"model", "messages", "temperature"}


@pytest.mark.parametrize("rung", RUNGS)
def test_without_a_schema_no_structure_is_asked_for(rung: Rung) -> None:
    assert build(ChatRequest(MESSAGES), Shape(rung)).keys() == {"model", "messages", "temperature"}


def test_a_lone_surrogate_in_a_prompt_does_not_stop_the_call() -> None:
    body = build(ChatRequest((Message("user", "a\ud800b"),)))
    assert body["messages"][0]["content"] == "a�b"


def test_the_key_is_in_a_header_only() -> None:
    assert ADAPTER.headers("CANARY-6")["Authorization"] == "Bearer CANARY-6"
    assert "Authorization" not in ADAPTER.headers(None)
    assert "CANARY" not in ADAPTER.path("m")


def test_a_whole_reply_is_read() -> None:
    body = chat_body('{"score": 4}')
    body["usage"] = {
        "prompt_tokens": 1200,
        "completion_tokens": 100,
        "prompt_tokens_details": {"cached_tokens": 800, "cache_write_tokens": 30},
        "completion_tokens_details": {"reasoning_tokens": 64},
    }
    reply = read(body)
    assert reply == ChatReply(
        text='{"score": 4}',
        usage=Usage(1200, 100, 800, 64, 30),
        model="fake-judge-1",
        request_id="chatcmpl-1",
        rung="json_schema",
    )


@pytest.mark.parametrize(
    ("usage", "expected"),
    [
        (None, Usage()),
        ({}, Usage()),
        ("many", Usage()),
        ({"prompt_tokens": 5}, Usage(input_tokens=5)),
        ({"prompt_tokens": 5.0, "completion_tokens": None}, Usage(input_tokens=5)),
        ({"prompt_tokens": -1, "completion_tokens": True}, Usage()),
        ({"prompt_tokens": "5", "completion_tokens": 1.5}, Usage()),
        ({"prompt_tokens": 0, "completion_tokens": 0, "prompt_tokens_details": None}, Usage(0, 0)),
        ({"prompt_tokens": 10**30}, Usage()),
    ],
)
def test_unknown_token_counts_stay_unknown(usage: object, expected: Usage) -> None:
    assert read(chat_body("x") | {"usage": usage}).usage == expected


@pytest.mark.parametrize(
    ("finish", "stop"),
    [
        ("stop", "stop"),
        ("tool_calls", "stop"),
        ("function_call", "stop"),
        (None, "stop"),
        ("length", "length"),
        ("MAX_TOKENS", "length"),
        ("model_length", "length"),
        ("content_filter", "blocked"),
        ("SAFETY", "blocked"),
        ("insufficient_system_resource", "other"),
    ],
)
def test_stop_reasons(finish: str | None, stop: str) -> None:
    assert read(chat_body('{"score": 0.9, "rea', finish)).stop == stop


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        pytest.param({"content": '{"score": 4}'}, '{"score": 4}', id="text"),
        pytest.param({"content": None}, "", id="null"),
        pytest.param({"content": ""}, "", id="empty"),
        pytest.param({}, "", id="absent"),
        pytest.param(
            {
                "content": [
                    {"type": "thinking", "thinking": [{"type": "text", "text": "1?"}]},
                    {"type": "text", "text": "4"},
                ]
            },
            "4",
            id="O-A08-mistral-chunks",
        ),
        pytest.param(
            {
                "content": [
                    {"type": "text", "text": '{"score":'},
                    {"type": "reference", "x": 1},
                    {"type": "text", "text": " 2}"},
                ]
            },
            '{"score": 2}',
            id="O-A09-joined-in-order",
        ),
        pytest.param({"content": [{"type": "output_text", "text": "a"}, "b", 3, None]}, "ab", id="odd-blocks"),
        pytest.param({"content": []}, "", id="no-blocks"),
    ],
)
def test_the_visible_text_is_found_in_its_block(fields: dict[str, object], text: str) -> None:
    assert read(message(**fields)).text == text


@pytest.mark.parametrize(
    "fields",
    [
        pytest.param({"content": None, "reasoning_content": '{"score": 3}'}, id="O-A10"),
        pytest.param({"content": "", "reasoning_content": "They want three bullets..."}, id="O-A11"),
        pytest.param({"content": None, "reasoning": "so 3"}, id="vllm-openrouter"),
        pytest.param({"content": [{"type": "thinking", "thinking": "so 3"}]}, id="mistral"),
    ],
)
def test_text_in_a_reasoning_field_is_told_but_is_no_text(fields: dict[str, object]) -> None:
    reply = read(message(**fields))
    assert (reply.text, reply.reasoning, reply.stop) == ("", True, "stop")


def test_reasoning_beside_an_answer_does_not_disturb_it() -> None:
    reply = read(message(content="4", reasoning_content="hmm"))
    assert (reply.text, reply.reasoning) == ("4", True)


@pytest.mark.parametrize(
    "fields",
    [
        pytest.param({"content": None, "refusal": "I can't help."}, id="O-A43"),
        pytest.param({"content": [{"type": "refusal", "refusal": "I can't help."}]}, id="refusal-block"),
        pytest.param({"content": '{"score": 1}', "refusal": "I can't help."}, id="beside-text"),
    ],
)
def test_a_refusal_is_told_apart(fields: dict[str, object]) -> None:
    reply = read(message(**fields))
    assert (reply.stop, reply.refusal) == ("refusal", "I can't help.")


def calls(*arguments: object) -> list[dict[str, object]]:
    return [{"id": "c", "type": "function", "function": {"name": "verdict", "arguments": a}} for a in arguments]


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        pytest.param({"score": 3}, '{"score":3}', id="O-A37-object"),
        pytest.param('{"score":3}', '{"score":3}', id="O-A37-text"),
        pytest.param('"{\\"score\\":3}"', '{"score":3}', id="O-A37-double"),
        pytest.param('"not json', '"not json', id="half-a-string"),
        pytest.param(
            '{"success":true,"reason":"They asked for the n',
            '{"success":true,"reason":"They asked for the n',
            id="O-A36",
        ),
        pytest.param([1], "[1]", id="list"),
    ],
)
@pytest.mark.parametrize("rung", ["tool", "json_schema"])
def test_tool_call_arguments_are_handed_on_as_text(arguments: object, text: str, rung: Rung) -> None:
    assert read(message("tool_calls", tool_calls=calls(arguments)), rung).text == text


def test_an_object_of_arguments_keeps_its_repeated_keys() -> None:
    body = json.dumps(message("tool_calls", tool_calls=calls({"score": 1}))).replace(
        '"score": 1', '"score": 1, "score": 5'
    )
    assert read(body.encode(), "tool").text == '{"score":1,"score":5}'


def test_several_calls_are_all_shown() -> None:
    assert read(message(tool_calls=calls('{"score":1}', '{"score":5}')), "tool").text == '{"score":1}\n{"score":5}'


def test_the_call_wins_over_chatter_on_the_tool_rung_only() -> None:
    both = message(content="Sure!", tool_calls=calls('{"score":1}'))
    assert read(both, "tool").text == '{"score":1}'
    assert read(both, "json_schema").text == "Sure!"
    assert read(message(content='{"score":1}', tool_calls=[]), "tool").text == '{"score":1}'


def test_the_legacy_function_call_is_read() -> None:
    assert (
        read(message("function_call", function_call={"name": "v", "arguments": '{"score":2}'}), "tool").text
        == '{"score":2}'
    )


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"<html>bad gateway</html>\r\n",
        b'{"choices": [',
        b'{"choices": [{"message": {"content": "x"}}]} trailing',
        b"null",
        b"[]",
        b'"text"',
        b"{}",
        b'{"choices": null}',
        b'{"choices": []}',
        b'{"choices": [null]}',
        b'{"choices": [{"finish_reason": "stop"}]}',
        b'{"choices": [{"message": {"content": 4}}]}',
        b'{"choices": {"message": {"content": "x"}}}',
        b"\xff\xfe\x00",
        b'{"choices": [{"message": {"content": "\xff"}}]}',
        b"[" * 200_000 + b"]" * 200_000,
        b'{"a":' * 100_000,
        b'{"n": ' + b"9" * 10_000 + b"}",
    ],
)
def test_a_200_that_is_not_the_apis_object_may_pass_on_retry(body: bytes) -> None:
    with pytest.raises(MalformedBodyError):
        read(body)


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (rb"a\ud800b", "a�b"),
        (rb"a\udc00\ud83d\ude00", "a�\U0001f600"),
        (rb"C:\\ud800", r"C:\ud800"),
        (b"a\xed\xa0\x80b", "a�b"),
    ],
)
def test_lone_surrogates_in_a_reply_are_replaced(content: bytes, text: str) -> None:
    reply = read(b'{"choices": [{"message": {"content": "' + content + b'"}, "finish_reason": "stop"}]}')
    assert reply.text == text
    assert reply.text.encode()


def test_a_bom_and_nan_outside_the_answer_do_no_harm() -> None:
    body = b'\xef\xbb\xbf{"choices": [{"message": {"content": "x"}, "logprobs": NaN, "n": ' + b"1" * 50 + b"}]}"
    assert read(body).text == "x"


@pytest.mark.parametrize(
    ("body", "kind", "status"),
    [
        pytest.param({"error": {"code": 429, "message": "upstream busy"}}, RateLimitedError, 429, id="O-A38"),
        pytest.param({"error": {"code": "429", "message": "upstream busy"}}, RateLimitedError, 429, id="string-code"),
        pytest.param(
            {"error": {"code": 502, "message": "bad gateway"}, "choices": []}, ServerFaultError, 502, id="openrouter"
        ),
        pytest.param({"error": "slow down"}, RateLimitedError, None, id="O-D01"),
        pytest.param({"error": "rate_limit_exceeded"}, RateLimitedError, None, id="code-as-error"),
        pytest.param({"error": {"type": "overloaded_error"}}, ServerFaultError, None, id="by-type"),
        pytest.param({"error": {"message": "boom"}}, ServerFaultError, None, id="unknown"),
        pytest.param({"object": "error", "message": "boom", "code": 500}, ServerFaultError, 500, id="mistral-flat"),
        pytest.param({"detail": "Too many requests"}, RateLimitedError, None, id="fastapi"),
        pytest.param([{"error": {"code": 503, "status": "UNAVAILABLE"}}], ServerFaultError, 503, id="google-list"),
    ],
)
def test_an_error_inside_a_200_is_classified_by_its_inner_code(
    body: object, kind: type[CallError], status: int | None
) -> None:
    with pytest.raises(kind) as caught:
        read(body)
    assert caught.value.status == status


def test_an_error_beside_a_verdict_is_never_a_verdict() -> None:
    with pytest.raises(RateLimitedError):
        read(chat_body('{"score": 4}') | {"error": {"code": 429}})
    assert read(chat_body('{"score": 4}') | {"error": None}).text == '{"score": 4}'


def test_a_choice_that_ended_in_an_error_is_one() -> None:
    with pytest.raises(ServerFaultError):
        read(chat_body('{"score": 4', "error"))
    body = chat_body(None, "error")
    body["choices"][0]["error"] = {"code": 429, "message": "busy"}
    with pytest.raises(RateLimitedError):
        read(body)


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        ({"x-request-id": "req_1"}, "req_1"),
        ({"apim-request-id": "az-1"}, "az-1"),
        ({"x-request-id": "bad\nid"}, "chatcmpl-1"),
        ({"x-request-id": "x" * 500}, "chatcmpl-1"),
        ({}, "chatcmpl-1"),
    ],
)
def test_the_request_id_is_a_short_printable_token(headers: dict[str, str], expected: str) -> None:
    raw = json.dumps(chat_body("x")).encode()
    assert ADAPTER.read(WireReply(200, raw, headers), Shape()).request_id == expected


KEYS = [
    "error",
    "errors",
    "choices",
    "message",
    "content",
    "type",
    "text",
    "finish_reason",
    "tool_calls",
    "function",
    "arguments",
    "usage",
    "model",
    "id",
    "prompt_tokens_details",
    "code",
    "detail",
    "loc",
    "msg",
    "refusal",
    "param",
    "metadata",
    "raw",
    "details",
    "status",
    "object",
    "reasoning",
]
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS) | st.text(max_size=4), inner, max_size=5)
    ),
    max_leaves=25,
)
MESSAGE = JSON | st.dictionaries(st.sampled_from(["content", "tool_calls", "refusal", "function_call"]), JSON)
CHOICE = st.fixed_dictionaries({"message": MESSAGE, "finish_reason": JSON})
CHOICES = st.fixed_dictionaries({"choices": st.lists(CHOICE, max_size=2)}, optional={"error": JSON, "usage": JSON})


@given(JSON | CHOICES, st.sampled_from(RUNGS), st.integers(100, 599))
def test_any_json_is_a_reply_or_a_call_error(body: object, rung: Rung, status: int) -> None:
    for code in (200, status):
        try:
            reply = read(body, rung, code)
        except CallError:
            continue
        assert reply.text.encode() is not None


@given(st.binary(max_size=200), st.integers(100, 599))
def test_any_bytes_are_a_reply_or_a_call_error(body: bytes, status: int) -> None:
    for code in (200, status):
        with pytest.raises(CallError):
            read(body, status=code)
