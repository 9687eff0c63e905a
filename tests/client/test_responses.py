from __future__ import annotations

import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentanvil.client import ChatReply, ChatRequest, Message, ReplySchema, Sampling, Usage
from agentanvil.client.adapter import RUNGS, Rung, Shape, WireReply
from agentanvil.client.refusals import EFFORT
from agentanvil.client.responses import CAP_FIELD, Responses
from agentanvil.errors import CallError, ConfigError, RateLimitedError
from tests.fakes.asking import ask_judge
from tests.fakes.json_values import JSON_VALUES, bent
from tests.fakes.openai_family import function_call, response, said
from tests.fakes.server import Answer, FakeServer, Recorded, answer_json, error
from tests.fakes.tokens import spelling, token

ADAPTER = Responses(clock=lambda: 0.0)
SCHEMA = ReplySchema("verdict", {"type": "object", "properties": {"score": {"type": "integer"}}})
MESSAGES = (Message("system", "Grade."), Message("user", "Zwölf €"))
REQUEST = ChatRequest(MESSAGES, SCHEMA, Sampling(seed=7, max_tokens=2000), logprobs=5)
VERDICT = '{"score": 4}'


def build(request: ChatRequest, shape: Shape | None = None) -> Any:
    return json.loads(ADAPTER.build("m", request, shape or Shape(cap_field=CAP_FIELD)))


def read(
    body: object, rung: Rung = "json_schema", status: int = 200, headers: dict[str, str] | None = None
) -> ChatReply:
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    return ADAPTER.read(WireReply(status, raw, headers or {}), Shape(rung, cap_field=CAP_FIELD))


def part(text: str, **fields: object) -> dict[str, object]:
    return {"type": "output_text", "text": text, "annotations": [], **fields}


def test_nothing_is_stored_and_no_seed_is_sent() -> None:
    body = build(REQUEST)
    assert body["store"] is False
    refused = {"messages", "seed", "stop", "n", "logprobs", "max_tokens", "response_format"}
    assert not body.keys() & refused


@pytest.mark.parametrize(("asked", "sent"), [(1, 16), (16, 16), (17, 17)])
def test_the_cap_is_at_least_what_the_api_takes(asked: int, sent: int) -> None:
    assert build(ChatRequest(MESSAGES, sampling=Sampling(max_tokens=asked)))["max_output_tokens"] == sent


def test_an_effort_is_sent_as_it_was_set() -> None:
    assert build(ChatRequest(MESSAGES, sampling=Sampling(effort="none")))["reasoning"] == {"effort": "none"}


def test_a_system_message_alone_or_late_keeps_its_place() -> None:
    only = build(ChatRequest((Message("system", "a"), Message("system", "b"), Message("user", "c"))))
    assert (only["instructions"], only["input"]) == ("a\n\nb", "c")
    late = build(ChatRequest((Message("user", "c"), Message("system", "d"))))
    assert "instructions" not in late
    assert late["input"] == [{"role": "user", "content": "c"}, {"role": "system", "content": "d"}]


def test_a_whole_reply_is_read() -> None:
    body = response(VERDICT)
    body["usage"] = {
        "input_tokens": 1200,
        "input_tokens_details": {"cached_tokens": 800, "cache_write_tokens": 30},
        "output_tokens": 100,
        "output_tokens_details": {"reasoning_tokens": 64},
    }
    assert read(body) == ChatReply(
        text=VERDICT, usage=Usage(1200, 100, 800, 64, 30), model="gpt-fake-1", request_id="resp_1", rung="json_schema"
    )
    assert read(body, headers={"x-request-id": "req_1"}).request_id == "req_1"


@pytest.mark.parametrize("usage", [None, [], "x", {}, {"input_tokens": -1, "output_tokens": True}])
def test_unknown_token_counts_stay_unknown(usage: object) -> None:
    assert read(response(VERDICT, usage=usage)).usage == Usage()


@pytest.mark.parametrize(
    ("items", "text"),
    [
        pytest.param([said('{"score":', " 4}")], VERDICT, id="parts-are-joined"),
        pytest.param([said('{"score":'), said(" 4}")], VERDICT, id="messages-are-joined"),
        pytest.param(
            [said('{"score": 1}', phase="commentary"), said(VERDICT, phase="final_answer")], VERDICT, id="phase"
        ),
        pytest.param([said('{"score": 1}', phase="commentary")], "", id="commentary-alone"),
        pytest.param([{"type": "web_search_call", "content": "x"}, said(VERDICT)], VERDICT, id="other-items"),
        pytest.param([None, 4, [], said(VERDICT)], VERDICT, id="odd-items"),
        pytest.param([said({"type": "output_text_of_tomorrow", "text": "9"}, VERDICT)], VERDICT, id="other-parts"),
        pytest.param([{"type": "message", "content": None}], "", id="no-content"),
    ],
)
def test_the_visible_text_is_what_the_messages_say(items: list[object], text: str) -> None:
    assert read({"output": items}).text == text


def test_o_a07_an_incomplete_reply_with_reasoning_only_is_truncated() -> None:
    body = {
        "status": "incomplete",
        "incomplete_details": {"reason": "max_output_tokens"},
        "output": [{"type": "reasoning", "summary": []}],
    }
    reply = read(body)
    assert (reply.stop, reply.text, reply.reasoning) == ("length", "", False)
    assert read({key: value for key, value in body.items() if key != "output"}).stop == "length"


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({"summary": []}, False),
        ({"summary": [{"type": "summary_text", "text": VERDICT}]}, True),
        ({"content": [{"type": "reasoning_text", "text": VERDICT}]}, True),
        ({"encrypted_content": "gAAA"}, True),
    ],
)
def test_reasoning_is_told_but_is_no_text(fields: dict[str, object], told: bool) -> None:
    reply = read({"output": [{"type": "reasoning", **fields}]})
    assert (reply.text, reply.reasoning) == ("", told)


def test_a_refusal_part_is_told_apart_even_beside_text() -> None:
    reply = read(response(said(VERDICT, {"type": "refusal", "refusal": "I can't."})))
    assert (reply.stop, reply.refusal) == ("refusal", "I can't.")
    assert read(response(said(VERDICT, {"type": "refusal", "refusal": ""}))).stop == "stop"


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (VERDICT, VERDICT),
        ({"score": 3}, '{"score":3}'),
        ('"{\\"score\\":3}"', '{"score":3}'),
        ('{"score": 4, "why": "cut', '{"score": 4, "why": "cut'),
        (None, ""),
    ],
)
def test_the_arguments_of_a_call_are_the_text(arguments: object, text: str) -> None:
    assert read(response(function_call(arguments)), "tool").text == text
    assert read(response(function_call(arguments))).text == text


def test_calls_win_over_chatter_on_the_tool_rung_only_and_all_are_shown() -> None:
    body = response("Sure!", function_call('{"score":1}'), function_call('{"score":5}'))
    assert read(body, "tool").text == '{"score":1}\n{"score":5}'
    assert read(body).text == "Sure!"


def test_an_object_of_arguments_keeps_its_repeated_keys() -> None:
    raw = json.dumps(response(function_call({"score": 1}))).replace('"score": 1', '"score": 1, "score": 5')
    assert read(raw.encode(), "tool").text == '{"score":1,"score":5}'


def test_the_tokens_of_all_parts_stand_where_they_are_in_the_joined_text() -> None:
    parts = [
        part('{"é":', logprobs=[token('{"é', 0.9), token('":', 0.9)]),
        part("4}", logprobs=[token("4", 0.6, {"3": 0.3}), token("}", 0.9)]),
    ]
    noise = said(part("9", logprobs=[token("9")]), phase="commentary")
    reply = read(response(noise, said(*parts)))
    assert [(one.at, one.text) for one in reply.tokens] == [(0, '{"é'), (3, '":'), (5, "4"), (6, "}")]
    assert [name for name, _ in reply.tokens[2].top] == ["4", "3"]
    assert reply.tokens[2].logprob == math.log(0.6)


@pytest.mark.parametrize("logprobs", [None, [], "x", [{"token": "4"}], [token("5")]])
def test_tokens_that_do_not_spell_the_text_are_none(logprobs: object) -> None:
    assert read(response(said(part("4", logprobs=logprobs)))).tokens == ()


def test_a_failed_response_carries_the_wait_of_its_headers() -> None:
    body = response(status="failed", error={"code": "rate_limit_exceeded", "message": "slow"})
    with pytest.raises(RateLimitedError) as caught:
        read(body, headers={"retry-after": "7"})
    assert caught.value.retry_after == 7.0


BODY = response(said(part(VERDICT, logprobs=spelling(VERDICT)["content"])), function_call({"score": 1}), status=None)


@given(st.one_of(JSON_VALUES, bent(BODY)), st.sampled_from(RUNGS), st.sampled_from([200, 302, 400, 429, 500]))
def test_any_json_is_a_reply_or_a_call_error(body: object, rung: Rung, status: int) -> None:
    try:
        reply = read(body, rung, status)
    except CallError:
        return
    assert reply.text.encode() is not None


@given(st.binary(max_size=100))
def test_any_bytes_are_a_call_error(body: bytes) -> None:
    with pytest.raises(CallError):
        read(body)


def reasoning_model(request: Recorded) -> Answer:
    """A model that reasons: neither temperature nor log-probabilities, in the words of the API."""
    body = request.json
    if "temperature" in body:
        said = "Unsupported parameter: 'temperature' is not supported with this model."
        return error(400, said, param="temperature", kind="invalid_request_error")
    if "include" in body:
        said = "logprobs are not supported with reasoning models."
        return error(400, said, param="include", code="unsupported_parameter", kind="invalid_request_error")
    return answer_json(response(VERDICT))


def test_a_reasoning_model_is_asked_again_without_what_it_refuses() -> None:
    with FakeServer(reasoning_model) as server:
        reply, shape = ask_judge(server, "openai-responses", REQUEST)
    assert (reply.text, reply.attempts, reply.rung) == (VERDICT, 3, "json_schema")
    assert shape.dropped == {"seed", "temperature", "logprobs"}
    assert server.requests[0].path == "/v1/responses"
    assert server.requests[0].headers["authorization"] == "Bearer K"
    last = server.bodies[-1]
    assert not {"temperature", "include", "top_logprobs"} & last.keys()
    assert last["max_output_tokens"] == 2000


@pytest.mark.parametrize(
    ("param", "gone"),
    [("text.format.schema", "text"), ("max_output_tokens", "max_output_tokens"), ("reasoning.effort", None)],
)
def test_the_apis_own_names_lead_to_what_is_left_out(param: str, gone: str | None) -> None:
    def model(request: Recorded) -> Answer:
        root = param.partition(".")[0]
        return error(400, "not accepted", param=param) if root in request.json else answer_json(response(VERDICT))

    sampling = Sampling(max_tokens=2000, effort="low", explicit=frozenset({EFFORT}))
    with FakeServer(model) as server:
        if gone is None:
            with pytest.raises(ConfigError, match="reasoning_effort, which was set on purpose"):
                ask_judge(server, "openai-responses", ChatRequest(MESSAGES, SCHEMA, sampling))
            return
        reply, _ = ask_judge(server, "openai-responses", ChatRequest(MESSAGES, SCHEMA, sampling))
    assert reply.text == VERDICT
    assert len(server.requests) == 2
    assert gone not in server.bodies[-1]
