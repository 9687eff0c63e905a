"""What batch APIs say, read as they document it and as nobody would: golden requests, states, result lines."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentanvil.client.adapter import Shape, WireReply
from agentanvil.client.anthropic import AnthropicMessages
from agentanvil.client.batch import anthropic, openai
from agentanvil.client.batch.api import BatchState, Problem, ResultLine
from agentanvil.client.batch.http import Address, BatchHttp, Clockwork
from agentanvil.client.chat_completions import ChatCompletions
from agentanvil.errors import CallError, MalformedBodyError, RequestTooLargeError, ServerFaultError
from tests.fakes.json_values import JSON_VALUES, bent
from tests.fakes.server import chat_body

READERS = [openai.read_line, anthropic.read_line]


def http() -> BatchHttp:
    return BatchHttp(Address("http://127.0.0.1:9/v1", {}), idle_s=1, attempts=1, time_=Clockwork())


def test_a_line_of_openais_input_file() -> None:
    api = openai.OpenAIBatches(http(), "/responses")
    assert json.loads(api.request("a-1", b'{"model":"m","input":"x"}')) == {
        "custom_id": "a-1",
        "method": "POST",
        "url": "/v1/responses",
        "body": {"model": "m", "input": "x"},
    }
    assert (api.framing.head, api.framing.between, api.framing.tail) == (b"", b"\n", b"\n")


def test_anthropics_requests_make_one_body() -> None:
    api = anthropic.AnthropicBatches(http(), "/messages")
    framing = api.framing
    requests = [api.request(f"a-{n}", b'{"model":"m"}') for n in range(2)]
    body = framing.head + framing.between.join(requests) + framing.tail
    assert json.loads(body) == {"requests": [{"custom_id": f"a-{n}", "params": {"model": "m"}} for n in range(2)]}


def test_the_limits_are_those_of_the_documentation() -> None:
    assert (openai.OpenAIBatches.limits.requests, openai.OpenAIBatches.limits.size) == (50_000, 200_000_000)
    assert (anthropic.AnthropicBatches.limits.requests, anthropic.AnthropicBatches.limits.size) == (
        100_000,
        256_000_000,
    )


@pytest.mark.parametrize(
    ("word", "phase"),
    [
        ("validating", "running"),
        ("in_progress", "running"),
        ("finalizing", "running"),
        ("cancelling", "running"),
        ("something new", "running"),
        ("completed", "ended"),
        ("expired", "ended"),
        ("cancelled", "ended"),
        ("failed", "failed"),
    ],
)
def test_openais_states(word: str, phase: str) -> None:
    assert openai.read_batch({"id": "batch_1", "status": word}).phase == phase


def test_an_openai_batch() -> None:
    assert openai.read_batch(
        {
            "id": "batch_1",
            "status": "failed",
            "created_at": 1700,
            "output_file_id": "file-o",
            "error_file_id": None,
            "request_counts": {"total": 5, "completed": 3, "failed": 1},
            "errors": {"data": [{"code": "c", "line": 3, "message": "m\nn", "param": None}, {"message": "x"}, 7]},
        }
    ) == BatchState(
        "batch_1", "failed", "failed", 5, 3, 1, 1700.0, (Problem("m n (c)", 3), Problem("x", None)), ("file-o",)
    )


def test_an_anthropic_batch() -> None:
    assert anthropic.read_batch(
        {
            "id": "msgbatch_1",
            "processing_status": "ended",
            "created_at": "1970-01-01T00:20:00Z",
            "request_counts": {"processing": 0, "succeeded": 4, "errored": 1, "canceled": 2, "expired": 3},
            "results_url": "https://elsewhere.example",
        }
    ) == BatchState("msgbatch_1", "ended", "ended", 10, 4, 6, 1200.0, (), ("results",))
    assert anthropic.read_batch({"id": "m", "processing_status": "canceling"}).phase == "running"


@pytest.mark.parametrize("read", [openai.read_batch, anthropic.read_batch])
@pytest.mark.parametrize("batch_id", [None, "", "../files", "a/b", "a?b", "a b", ".", "x" * 201, 7])
def test_an_id_that_would_lead_elsewhere_is_none(read: Callable[[Any], BatchState], batch_id: object) -> None:
    with pytest.raises(MalformedBodyError):
        read({"id": batch_id, "status": "completed", "processing_status": "ended"})


BATCH = {
    "id": "b",
    "status": "completed",
    "processing_status": "ended",
    "created_at": 1700,
    "request_counts": {"total": 1, "completed": 1, "succeeded": 1},
    "errors": {"data": [{"code": "c", "line": 1, "message": "m"}]},
    "output_file_id": "f",
}


@given(bent(BATCH))
@pytest.mark.parametrize("read", [openai.read_batch, anthropic.read_batch])
def test_any_answer_is_a_state_or_a_malformed_body(read: Callable[[Any], BatchState], body: Any) -> None:
    if isinstance(body, dict):
        with suppress(MalformedBodyError):
            assert read(body).total >= 0


def openai_line(response: object, error: object = None) -> bytes:
    return json.dumps({"id": "x", "custom_id": "a-1", "response": response, "error": error}).encode()


def read_by(adapter: ChatCompletions | AnthropicMessages, line: ResultLine | None) -> Any:
    assert line is not None
    assert line.reply is not None
    return adapter.read(line.reply, Shape())


def test_openais_result_lines_become_what_a_live_call_would_have_had() -> None:
    good = {"status_code": 200, "request_id": "req-1", "body": chat_body("hi")}
    reply = read_by(ChatCompletions(), openai.read_line(openai_line(good)))
    assert (reply.text, reply.request_id) == ("hi", "req-1")
    bad = {"status_code": 500, "request_id": None, "body": {"error": {"message": "m", "type": "server_error"}}}
    with pytest.raises(ServerFaultError):
        read_by(ChatCompletions(), openai.read_line(openai_line(bad)))
    long = {"status_code": 400, "body": {"error": {"message": "m", "code": "context_length_exceeded"}}}
    with pytest.raises(RequestTooLargeError):
        read_by(ChatCompletions(), openai.read_line(openai_line(long)))
    with pytest.raises(CallError):
        read_by(ChatCompletions(), openai.read_line(openai_line(None, {"code": "internal", "message": "m"})))


@pytest.mark.parametrize("code", ["batch_expired", "batch_cancelled"])
def test_a_request_that_was_never_asked_has_no_reply(code: str) -> None:
    assert openai.read_line(openai_line(None, {"code": code, "message": "m"})) == ResultLine("a-1", None)


@pytest.mark.parametrize("kind", ["expired", "canceled"])
def test_a_message_that_was_never_asked_has_no_reply(kind: str) -> None:
    line = json.dumps({"custom_id": "a-1", "result": {"type": kind}}).encode()
    assert anthropic.read_line(line) == ResultLine("a-1", None)


def test_anthropics_errors_are_read_by_their_type() -> None:
    def line(kind: str, message: str = "m") -> bytes:
        fault = {"type": "error", "error": {"type": kind, "message": message}}
        return json.dumps({"custom_id": "a-1", "result": {"type": "errored", "error": fault}}).encode()

    with pytest.raises(ServerFaultError):
        read_by(AnthropicMessages(), anthropic.read_line(line("overloaded_error")))
    with pytest.raises(RequestTooLargeError):
        read_by(AnthropicMessages(), anthropic.read_line(line("invalid_request_error", "prompt is too long: 9 > 8")))


def test_repeated_keys_inside_a_reply_survive() -> None:
    line = b'{"custom_id":"a-1","result":{"type":"succeeded","message":{"input":{"score":1,"score":5}}}}'
    found = anthropic.read_line(line)
    assert found is not None
    assert found.reply == WireReply(200, b'{"input":{"score":1,"score":5}}')


@pytest.mark.parametrize("read", READERS)
@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"{",
        b"[]",
        b"null",
        b'{"custom_id": 7}',
        b'{"custom_id": "a"}',
        b'{"custom_id": "a", "result": 7, "response": 7}',
        b'{"custom_id": "a", "result": {"type": "succeeded"}, "response": {"status_code": "200"}}',
        b'{"custom_id": "a", "response": ' + b"[" * 100_000,
        b"\xff\xfe",
    ],
)
def test_a_line_that_is_no_result_is_none(read: Callable[[bytes], ResultLine | None], line: bytes) -> None:
    assert read(line) is None


@given(st.one_of(JSON_VALUES.map(lambda value: json.dumps(value).encode()), st.binary(max_size=40)))
@pytest.mark.parametrize("read", READERS)
def test_any_line_is_read_or_passed_over(read: Callable[[bytes], ResultLine | None], line: bytes) -> None:
    read(line)


@given(
    bent({"custom_id": "a", "response": {"status_code": 200, "request_id": "r", "body": {}}, "error": {"code": "c"}})
)
def test_any_openai_result_is_read_or_passed_over(value: Any) -> None:
    openai.read_line(json.dumps(value).encode())


@given(bent({"custom_id": "a", "result": {"type": "errored", "message": {}, "error": {"error": {"type": "x"}}}}))
def test_any_anthropic_result_is_read_or_passed_over(value: Any) -> None:
    anthropic.read_line(json.dumps(value).encode())
