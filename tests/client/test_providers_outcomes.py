"""What each kind of reply of Claude and Gemini comes to for a verdict: the same kinds of trouble for both."""

from __future__ import annotations

import asyncio

import pytest

from agentanvil.client.adapter import Endpoint, Rung, Shape, WireReply
from agentanvil.client.provider import ProviderClient
from agentanvil.client.spec import parse_judge
from agentanvil.errors import EndpointError
from agentanvil.judge import CallSettings, judge
from agentanvil.verdict import JudgeError, Scored
from tests.fakes.hosted import claude, claude_error, gemini, gemini_error
from tests.fakes.prompts import prompted, scale_rubric
from tests.fakes.server import Answer, answer_json, redirect

RUBRIC = scale_rubric(1, 5)
GOOD = '{"reason": "r", "score": 4}'
TWICE = '{"reason": "r", "score": 1, "score": 5}'
OBJECT = {"reason": "r", "score": 4}
THINKING = {"type": "thinking", "thinking": '{"reason": "r", "score": 1}'}
HIDDEN = {"type": "redacted_thinking", "data": "x"}
THOUGHT = {"text": '{"reason": "r", "score": 1}', "thought": True}
USE = {"type": "tool_use", "id": "t", "name": "verdict", "input": OBJECT}
CALL = {"functionCall": {"name": "verdict", "args": OBJECT}}
BLOCKED = {"promptFeedback": {"blockReason": "SAFETY"}, "usageMetadata": {"promptTokenCount": 12}}
BAD_KEY = {"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "API_KEY_INVALID"}

Case = tuple[str, Answer, str]
CLAUDE: list[Case] = [
    ("good", answer_json(claude(GOOD)), "scored 4"),
    ("good", answer_json(claude(USE, stop="tool_use")), "scored 4"),
    ("good", answer_json(claude('{"reason": "r",', ' "score": 4}')), "scored 4"),
    ("thinking first", answer_json(claude({"type": "thinking", "thinking": ""}, GOOD)), "scored 4"),
    ("thinking first", answer_json(claude(HIDDEN, THINKING, GOOD)), "scored 4"),
    ("thinking alone", answer_json(claude(THINKING)), "empty_content"),
    ("thinking alone", answer_json(claude(THINKING, stop="max_tokens")), "truncated"),
    ("refused", answer_json(claude(GOOD, stop="refusal", stop_details={"category": "bio"})), "refusal"),
    ("refused", answer_json(claude(stop="refusal")), "refusal"),
    ("truncated", answer_json(claude(GOOD[:-1], stop="max_tokens")), "truncated"),
    ("truncated", answer_json(claude(GOOD, stop="model_context_window_exceeded")), "truncated"),
    ("paused", answer_json(claude("So far", stop="pause_turn")), "unparseable"),
    ("twice", answer_json(claude(TWICE)), "duplicate_key"),
    ("overloaded", claude_error(529, "overloaded_error"), "server_error"),
    ("overloaded", claude_error(529, "a_name_of_next_year"), "server_error"),
    ("limited", claude_error(429, "rate_limit_error"), "rate_limited"),
    ("unpaid", claude_error(429, "rate_limit_error", code="enforced_spend_limit_reached"), "run ends: quota"),
    ("unpaid", claude_error(402, "billing_error"), "run ends: quota"),
    ("too large", claude_error(413, "request_too_large"), "too large"),
    ("unauthorised", claude_error(401, "authentication_error"), "run ends: unauthorised"),
    ("unknown model", claude_error(404, "not_found_error", "model: m"), "run ends: not_found"),
    ("error inside 200", claude_error(200, "overloaded_error"), "server_error"),
    ("error inside 200", claude_error(200, "rate_limit_error"), "rate_limited"),
    ("wrong type", answer_json(claude({"type": "text", "text": 4})), "malformed_body"),
    ("wrong type", answer_json(claude() | {"content": GOOD}), "malformed_body"),
    ("wrong type", answer_json([claude(GOOD)]), "malformed_body"),
    ("empty", answer_json(claude()), "empty_content"),
    ("empty", answer_json(claude(" ")), "empty_content"),
    ("redirect", redirect("https://elsewhere.example/"), "run ends: endpoint"),
]
TOO_LONG = "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576)."
GEMINI: list[Case] = [
    ("good", answer_json(gemini(GOOD)), "scored 4"),
    ("good", answer_json(gemini(CALL)), "scored 4"),
    ("good", answer_json(gemini('{"reason": "r",', ' "score": 4}')), "scored 4"),
    ("thinking first", answer_json(gemini(THOUGHT, GOOD)), "scored 4"),
    ("thinking alone", answer_json(gemini(THOUGHT)), "empty_content"),
    ("thinking alone", answer_json(gemini(THOUGHT, finish="MAX_TOKENS")), "truncated"),
    ("refused", answer_json(gemini("I cannot rate this.")), "refusal"),
    ("truncated", answer_json(gemini(GOOD[:-1], finish="MAX_TOKENS")), "truncated"),
    ("truncated", answer_json({"candidates": [{"finishReason": "MAX_TOKENS"}]}), "truncated"),
    ("blocked", answer_json(BLOCKED), "blocked"),
    ("blocked", answer_json(BLOCKED | {"candidates": []}), "blocked"),
    ("blocked", answer_json(gemini(GOOD, finish="SAFETY")), "blocked"),
    ("blocked", answer_json(gemini(GOOD, finish="RECITATION")), "blocked"),
    ("unknown end", answer_json(gemini(GOOD, finish="OTHER")), "server_error"),
    ("unknown end", answer_json(gemini(GOOD, finish="A_REASON_OF_NEXT_YEAR")), "server_error"),
    ("unknown end", answer_json(gemini(GOOD, finish="MALFORMED_RESPONSE")), "malformed_body"),
    ("twice", answer_json(gemini(TWICE)), "duplicate_key"),
    ("overloaded", gemini_error(503, "UNAVAILABLE"), "server_error"),
    ("limited", gemini_error(429, "RESOURCE_EXHAUSTED"), "rate_limited"),
    ("too large", gemini_error(400, "INVALID_ARGUMENT", TOO_LONG), "too large"),
    ("unauthorised", gemini_error(400, "INVALID_ARGUMENT", "API key not valid", BAD_KEY), "run ends: unauthorised"),
    ("unknown model", gemini_error(404, "NOT_FOUND", "models/m is not found"), "run ends: not_found"),
    ("error inside 200", gemini_error(200, "UNAVAILABLE"), "server_error"),
    ("error inside 200", gemini_error(200, "RESOURCE_EXHAUSTED"), "rate_limited"),
    ("wrong type", answer_json(gemini({"text": 4})), "malformed_body"),
    ("wrong type", answer_json({"candidates": [{"content": GOOD}]}), "malformed_body"),
    ("wrong type", answer_json([gemini(GOOD)]), "malformed_body"),
    ("empty", answer_json(gemini()), "empty_content"),
    ("empty", answer_json({"candidates": [{"finishReason": "STOP"}]}), "empty_content"),
    ("nothing", answer_json({"candidates": []}), "malformed_body"),
    ("redirect", redirect("https://elsewhere.example/"), "run ends: endpoint"),
]
CASES = [("anthropic:m", *case) for case in CLAUDE] + [("gemini:m", *case) for case in GEMINI]


class Replay:
    """A transport with one answer to everything."""

    def __init__(self, answer: Answer) -> None:
        self._reply = WireReply(answer.status, answer.body, {name.lower(): v for name, v in answer.headers.items()})

    async def send(self, _body: bytes) -> WireReply:
        return self._reply

    async def close(self) -> None:
        """Nothing is open."""


def outcome(name: str, answer: Answer, rung: Rung) -> str:
    """Return what becomes of the one dimension: its score, its error's code, or why the run ends."""
    spec = parse_judge(name)
    adapter = spec.make_adapter()
    assert adapter is not None
    client = ProviderClient(adapter, Replay(answer), Endpoint("https://x", spec.model, Shape(rung)))
    task, prompt = prompted(RUBRIC)
    try:
        (cell,) = asyncio.run(judge(task, prompt, client, CallSettings(max_tokens=900))).cells.values()
    except EndpointError as error:
        return f"run ends: {error.code}"
    if isinstance(cell, Scored):
        return f"scored {cell.score:g}"
    return cell.code if isinstance(cell, JudgeError) else "too large"


@pytest.mark.parametrize(
    ("name", "answer", "expected"),
    [pytest.param(n, a, e, id=f"{n.partition(':')[0]}-{kind}") for n, kind, a, e in CASES],
)
def test_what_a_reply_comes_to(name: str, answer: Answer, expected: str) -> None:
    rungs: tuple[Rung, ...] = ("json_schema", "tool", "plain")
    assert {outcome(name, answer, rung) for rung in rungs} == {expected}
