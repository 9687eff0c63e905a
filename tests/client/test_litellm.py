"""What LiteLLM makes of our body, and we of its answers. One test: importing it takes seconds in every process."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from agentanvil.client import ChatReply, ChatRequest, Message, ReplySchema, Sampling, Usage
from agentanvil.client.adapter import Endpoint, Shape
from agentanvil.client.litellm_chat import LitellmChat
from agentanvil.client.litellm_transport import LitellmTransport, environment_secrets
from agentanvil.client.provider import ProviderClient
from agentanvil.client.secret import Redactor, Secret
from agentanvil.errors import (
    CallError,
    DeadlineError,
    EndpointError,
    JudgeSetupError,
    MalformedBodyError,
    RateLimitedError,
    RejectedError,
    RequestTooLargeError,
    ServerFaultError,
)
from agentanvil.runner.exits import Exit
from tests.fakes.hosted import claude, claude_error, gemini, gemini_error
from tests.fakes.runs import Runs, read_table, rows
from tests.fakes.server import Answer, FakeServer, Recorded, Script, answer_json, chat, chat_body, error, redirect
from tests.fakes.verdicts import graded

KEY = Secret("CANARY-4711")
SCHEMA = ReplySchema(
    "verdict",
    {
        "type": "object",
        "properties": {"score": {"type": "integer"}},
        "required": ["score"],
        "additionalProperties": False,
    },
)
REQUEST = ChatRequest(
    (Message("system", "Grade."), Message("user", "Zwölf €")), SCHEMA, Sampling(seed=7, max_tokens=50), logprobs=5
)
RETRY = {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "31s"}


def ask(
    script: Script, model: str = "openai/m", *, key: Secret | None = KEY, timeout_s: float = 10.0
) -> tuple[ChatReply | CallError, Shape, list[Recorded]]:
    """One call over the ladder; an error is handed back."""

    async def run(server: FakeServer) -> tuple[ChatReply | CallError, Shape]:
        url = server.url if model.startswith("openai/") else server.origin
        transport = LitellmTransport(url, key, timeout_s=timeout_s)
        client = ProviderClient(LitellmChat(clock=lambda: 0.0), transport, Endpoint(url, model), secrets=[KEY])
        try:
            return await client.complete(REQUEST), client.shape
        except CallError as failed:
            return failed, client.shape
        finally:
            await client.close()

    with FakeServer(script) as server:
        outcome, shape = asyncio.run(run(server))
    return outcome, shape, server.requests


def refusing(body: Any) -> str | None:
    """What a server says that takes neither log-probabilities nor a temperature nor a schema."""
    for name in ("logprobs", "temperature", "response_format"):
        if name in body:
            return f"{name} is not supported"
    return None


def older_server(request: Recorded) -> Answer:
    said = refusing(request.json)
    return error(400, said) if said else chat('{"score": 4}')


def without_usage() -> Answer:
    body = chat_body("4")
    del body["usage"]
    return answer_json(body)


def with_logprobs() -> Answer:
    body = chat_body("4")
    entry = {"token": "4", "bytes": [52], "logprob": -0.5}
    body["choices"][0]["logprobs"] = {"content": [{**entry, "top_logprobs": [entry]}]}
    return answer_json(body)


CLAUDE_USAGE = {
    "input_tokens": 10,
    "cache_creation_input_tokens": 1000,
    "cache_read_input_tokens": 2000,
    "output_tokens": 50,
}
THINKING = {"type": "thinking", "thinking": "", "signature": "s"}
BLOCKED = {"promptFeedback": {"blockReason": "SAFETY"}, "usageMetadata": {"promptTokenCount": 12}}
CLAUDE, GEMINI = "anthropic/claude-sonnet-4-5", "gemini/gemini-2.5-flash"

REPLIES: dict[str, tuple[str, Answer, Callable[[ChatReply], object], object]] = {
    "text": (
        "openai/m",
        chat('{"score": 4}'),
        lambda r: (r.text, r.stop, r.model),
        ('{"score": 4}', "stop", "fake-judge-1"),
    ),
    "id": ("openai/m", chat("4", headers={"x-request-id": "req_1"}), lambda r: r.request_id, "req_1"),
    "usage": ("openai/m", chat("4"), lambda r: r.usage, Usage(100, 20)),
    "no usage": ("openai/m", without_usage(), lambda r: r.usage, Usage()),
    "logprobs": ("openai/m", with_logprobs(), lambda r: [(t.text, t.logprob) for t in r.tokens], [("4", -0.5)]),
    "refusal": ("openai/m", chat(None, message={"refusal": "No."}), lambda r: (r.stop, r.refusal), ("refusal", "No.")),
    "truncated": ("openai/m", chat('{"sc', "length"), lambda r: (r.text, r.stop), ('{"sc', "length")),
    "blocked": ("openai/m", chat("", "content_filter"), lambda r: r.stop, "blocked"),
    "empty": ("openai/m", chat(""), lambda r: r.text, ""),
    "reasoning": (
        "openai/m",
        chat(None, message={"reasoning_content": "so 3"}),
        lambda r: (r.text, r.reasoning),
        ("", True),
    ),
    "surrogate": ("openai/m", chat("a\ud800b"), lambda r: r.text, "a\ufffdb"),
    "claude": (
        CLAUDE,
        answer_json(claude(THINKING, "4", usage=CLAUDE_USAGE)),
        lambda r: (r.text, r.usage.input_tokens, r.usage.cached_tokens, r.usage.cache_write_tokens),
        ("4", 3010, 2000, 1000),
    ),
    "claude refuses": (CLAUDE, answer_json(claude("4", stop="refusal")), lambda r: r.stop, "blocked"),
    "gemini": (GEMINI, answer_json(gemini("4")), lambda r: (r.text, r.usage.output_tokens), ("4", 20)),
    "gemini blocks": (GEMINI, answer_json(BLOCKED), lambda r: (r.text, r.stop), ("", "blocked")),
}
ERRORS: dict[str, tuple[str, Answer, type[CallError], str]] = {
    "slow down": ("openai/m", error(429, "slow", headers={"Retry-After": "7"}), RateLimitedError, "rate_limited"),
    "quota": ("openai/m", error(429, "q", code="insufficient_quota"), EndpointError, "quota"),
    "loading": ("openai/m", error(503, "loading"), ServerFaultError, "server_error"),
    "key": ("openai/m", error(401, f"bad key {KEY.reveal()}"), EndpointError, "unauthorised"),
    "no model": ("openai/m", error(404, "the model m does not exist"), EndpointError, "not_found"),
    "unpaid": ("openai/m", error(402, "pay"), EndpointError, "quota"),
    "too long": (
        "openai/m",
        error(400, "x", code="context_length_exceeded"),
        RequestTooLargeError,
        "request_too_large",
    ),
    "filtered": ("openai/m", error(400, "x", code="content_filter"), RejectedError, "blocked"),
    "error in a 200": (
        "openai/m",
        answer_json({"error": {"code": 429, "message": "u"}}),
        RateLimitedError,
        "rate_limited",
    ),
    "no choice": ("openai/m", answer_json({"choices": []}), MalformedBodyError, "malformed_body"),
    "a page": ("openai/m", Answer(200, b"<html>"), ServerFaultError, "server_error"),
    "wrong type": ("openai/m", chat(None, message={"content": {"a": 1}}), ServerFaultError, "server_error"),
    "reset": ("openai/m", Answer(reset=True), ServerFaultError, "server_error"),
    "redirect": ("openai/m", redirect("http://127.0.0.1:1/v1/chat/completions", 307), EndpointError, "endpoint"),
    "claude overloaded": (CLAUDE, claude_error(529, "overloaded_error"), ServerFaultError, "server_error"),
    "gemini slow": (GEMINI, gemini_error(429, "RESOURCE_EXHAUSTED", "q", RETRY), RateLimitedError, "rate_limited"),
    "no provider": ("nonsense", chat("x"), EndpointError, "endpoint"),
}


@pytest.mark.filterwarnings("ignore:Pydantic serializer warnings")
def test_answers_and_errors_come_back_as_over_the_wire(subtests: pytest.Subtests, tmp_path: Path) -> None:
    for name, (model, answer, seen, expected) in REPLIES.items():
        with subtests.test(name):
            reply = ask(answer, model)[0]
            assert isinstance(reply, ChatReply), reply
            assert seen(reply) == expected
    for name, (model, answer, kind, code) in ERRORS.items():
        with subtests.test(name):
            failed = ask(answer, model)[0]
            assert isinstance(failed, CallError)
            assert (type(failed), failed.code) == (kind, code)
            assert KEY.reveal() not in str(failed)
            assert "Traceback" not in str(failed)
    with subtests.test("the wait that is asked for"):
        waits = [ask(answer, model)[0] for model, answer, kind, _ in ERRORS.values() if kind is RateLimitedError]
        assert [wait.retry_after for wait in waits if isinstance(wait, RateLimitedError)] == [7.0, None, 31.0]
    with subtests.test("the ladder goes down"):
        reply, shape, requests = ask(older_server)
        assert isinstance(reply, ChatReply)
        assert (reply.text, reply.rung) == ('{"score": 4}', "tool")
        assert shape.dropped == {"logprobs", "temperature"}
        assert [request.json["max_tokens"] for request in requests] == [50] * 4
    with subtests.test("what LiteLLM knows to be refused is not sent"):
        _, shape, requests = ask(answer_json(claude("4")), CLAUDE)
        assert shape.dropped == {"seed", "logprobs"}
        assert len(requests) == 1
    with subtests.test("deadline"):
        assert isinstance(ask(Answer(hang=True), timeout_s=0.2)[0], DeadlineError)
    with subtests.test("an address that is given gets no key of the environment"):
        _, _, requests = ask(chat("4"), key=None)
        assert requests[0].headers["authorization"] == "Bearer none"
    with subtests.test("a run, whose errors quote a key of the environment"):

        def echo(request: Recorded) -> Answer:
            return graded(request) if "What is 0" in request.body.decode() else error(400, "see CANARY-5555", code="x")

        with FakeServer(echo) as server:
            runs = Runs(tmp_path, f"litellm:openai/m@{server.url}", *rows(3))
            result = runs.grade(environ={"OPENAI_API_KEY": "CANARY-5555"})
        assert result.exit is Exit.MISSING
        assert {request.headers["authorization"] for request in server.requests} == {"Bearer none"}
        assert len([row for row in read_table(runs.out, "scores.csv") if row["score"] == "4"]) == 2
        assert not any(b"CANARY" in file.read_bytes() for file in runs.out.rglob("*") if file.is_file())


def test_what_litellm_may_take_for_a_key_is_a_secret() -> None:
    environ = {
        "GROQ_API_KEY": "CANARY-1111",
        "AWS_SECRET_ACCESS_KEY": "CANARY-2222",
        "HF_TOKEN": "CANARY-3333",
        "https_proxy": "http://me:CANARY-4444@proxy:3128",
        "HOME": "/home/me",
        "no_proxy": "a@b",
    }
    clean = Redactor(environment_secrets(environ))
    assert "CANARY" not in clean(" ".join(environ.values()))
    assert "/home/me" in clean(" ".join(environ.values()))


def test_where_litellm_is_missing_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "litellm", None)
    with pytest.raises(JudgeSetupError, match="not installed") as caught:
        LitellmTransport(None, None, timeout_s=1.0)
    assert "agentanvil-judge[litellm]" in str(caught.value)
