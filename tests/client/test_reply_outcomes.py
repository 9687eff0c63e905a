"""What each reply of OpenAI's family comes to, adapter by adapter: the same kinds of trouble for all of them."""

from __future__ import annotations

import pytest

from agentanvil.client.adapter import Rung, Shape, WireReply
from agentanvil.client.spec import parse_judge
from agentanvil.errors import CallError
from tests.fakes.openai_family import azure_filter, flat, function_call, response, routed, said
from tests.fakes.server import Answer, answer_json, chat, error, redirect, tool_call

VERDICT = '{"score": 4}'
JUDGES = {
    "openai": "openai:m",
    "openai-responses": "openai-responses:m",
    "azure": "azure:m@https://r.openai.azure.com",
    "openrouter": "openrouter:m",
    "mistral": "mistral:m",
    "compat": "compat:m@http://127.0.0.1:8000/v1",
}
CHUNKS = [{"type": "thinking", "thinking": [{"type": "text", "text": "3?"}]}, {"type": "text", "text": VERDICT}]
CUT = {"incomplete_details": {"reason": "max_output_tokens"}}
WITHHELD = {"incomplete_details": {"reason": "content_filter"}}
DECLINED = {"type": "refusal", "refusal": "I can't help."}

Case = tuple[str, Answer, str]
CHAT: list[Case] = [
    ("good", chat(VERDICT), f"stop {VERDICT}"),
    ("good", tool_call(VERDICT), f"stop {VERDICT}"),
    ("refused", chat(None, message={"refusal": "I can't help."}), "refusal "),
    ("truncated", chat('{"sco', "length"), 'length {"sco'),
    ("blocked", chat(None, "content_filter"), "blocked "),
    ("overloaded", error(503, "busy", code="server_is_overloaded"), "server_error"),
    ("limited", error(429, "slow", code="rate_limit_exceeded"), "rate_limited"),
    ("unpaid", error(429, "stop", code="insufficient_quota"), "quota"),
    ("error inside 200", error(200, "boom", kind="server_error"), "server_error"),
    ("error inside 200", error(200, "slow", code="rate_limit_exceeded"), "rate_limited"),
    ("wrong type", chat(None, message={"content": 4}), "malformed_body"),
    ("wrong type", answer_json([VERDICT]), "malformed_body"),
    ("empty", chat(""), "stop "),
    ("empty", chat(None), "stop "),
    ("no choice", answer_json({"choices": []}), "malformed_body"),
    ("no choice", answer_json({"id": "x", "choices": None}), "malformed_body"),
    ("unauthorised", error(401, "Incorrect API key", code="invalid_api_key"), "unauthorised"),
    ("unknown model", error(404, "no such model", code="model_not_found"), "not_found"),
    ("redirect", redirect("https://elsewhere.example/"), "endpoint"),
]
RESPONSES: list[Case] = [
    ("good", answer_json(response(VERDICT)), f"stop {VERDICT}"),
    ("good", answer_json(response(function_call(VERDICT))), f"stop {VERDICT}"),
    ("refused", answer_json(response(said(DECLINED))), "refusal "),
    ("truncated", answer_json(response('{"sco', status="incomplete", **CUT)), 'length {"sco'),
    ("truncated", answer_json(response(status="incomplete", **CUT)), "length "),
    ("blocked", answer_json(response(status="incomplete", **WITHHELD)), "blocked "),
    ("blocked", error(400, "flagged", code="invalid_prompt"), "blocked"),
    ("overloaded", error(503, "busy", code="server_is_overloaded"), "server_error"),
    ("limited", error(429, "slow", code="slow_down"), "rate_limited"),
    ("unpaid", error(429, "stop", code="project_spend_limit_exceeded"), "quota"),
    *(
        ("error inside 200", answer_json(response(status="failed", error={"code": code, "message": "no"})), outcome)
        for code, outcome in (
            ("server_error", "server_error"),
            ("rate_limit_exceeded", "rate_limited"),
            ("invalid_prompt", "blocked"),
            ("bio_policy", "blocked"),
            ("misalignment_policy_violation", "blocked"),
            ("vector_store_timeout", "server_error"),
            ("a_code_of_next_year", "server_error"),
        )
    ),
    ("unfinished", answer_json(response(VERDICT, status="in_progress")), "server_error"),
    ("unfinished", answer_json(response(status="queued")), "server_error"),
    ("unfinished", answer_json(response(VERDICT, status="cancelled")), "server_error"),
    ("unfinished", answer_json(response(VERDICT, status="failed")), "server_error"),
    ("unfinished", answer_json(response(VERDICT, status="incomplete")), "server_error"),
    (
        "unfinished",
        answer_json(response(VERDICT, status="incomplete", incomplete_details={"reason": "steered"})),
        "server_error",
    ),
    ("wrong type", answer_json(response(said({"type": "output_text", "text": 4}))), "malformed_body"),
    ("wrong type", answer_json(response({"type": "message", "content": VERDICT})), "malformed_body"),
    ("wrong type", answer_json([VERDICT]), "malformed_body"),
    ("empty", answer_json(response("")), "stop "),
    ("empty", answer_json(response()), "stop "),
    ("no choice", answer_json({"id": "x", "status": "completed"}), "malformed_body"),
    ("no choice", answer_json({"id": "x", "output": {}}), "malformed_body"),
    ("unauthorised", error(401, "Incorrect API key", code="invalid_api_key"), "unauthorised"),
    ("unknown model", error(404, "no such model", code="model_not_found"), "not_found"),
    ("redirect", redirect("https://elsewhere.example/"), "endpoint"),
]
CASES: dict[str, list[Case]] = {
    "openai": CHAT,
    "openai-responses": RESPONSES,
    "azure": [
        *CHAT,
        ("blocked", azure_filter(), "blocked"),
        ("unknown model", answer_json({"error": {"code": "DeploymentNotFound", "message": "x"}}, 404), "not_found"),
    ],
    "openrouter": [
        *CHAT,
        ("blocked", routed(403, "flagged", reasons=["hate"], flagged_input="…"), "blocked"),
        ("blocked", routed(403, "no", error_type="content_policy_violation"), "blocked"),
        ("unauthorised", routed(403, "Key limit exceeded"), "unauthorised"),
        ("unpaid", routed(402, "Insufficient credits"), "quota"),
        ("unpaid", routed(402, "Insufficient credits", http=200), "quota"),
        ("overloaded", routed(524), "server_error"),
        ("overloaded", routed(529), "server_error"),
        ("overloaded", routed(502, "Provider returned error", raw="upstream is down"), "server_error"),
        ("limited", routed(429, "Rate limited", http=200), "rate_limited"),
        ("error inside 200", routed(502, "died while writing", http=200), "server_error"),
        ("error inside 200", chat('{"score": 4', "error"), "server_error"),
    ],
    "mistral": [
        *CHAT,
        ("good", chat(None, message={"content": CHUNKS}), f"stop {VERDICT}"),
        ("truncated", chat('{"sco', "model_length"), 'length {"sco'),
        ("error inside 200", chat('{"score": 4', "error"), "server_error"),
        (
            "limited",
            flat(429, "Service tier capacity exceeded", "service_tier_capacity_exceeded", "3505"),
            "rate_limited",
        ),
        ("unauthorised", answer_json({"detail": "Unauthorized"}, 401), "unauthorised"),
        ("unknown model", flat(400, "Invalid model: m", "invalid_model", "1500"), "not_found"),
        ("overloaded", flat(503, "x", "internal_server_error", 1000), "server_error"),
        (
            "wrong request",
            answer_json({"detail": [{"loc": ["body", "messages", 0], "msg": "bad", "type": "x"}]}, 422),
            "rejected",
        ),
    ],
    "compat": [
        *CHAT,
        ("empty", chat(None, message={"reasoning": VERDICT}), "stop "),
        ("empty", chat("", message={"reasoning_content": VERDICT}), "stop "),
        ("overloaded", answer_json({"error": {"code": 503, "message": "Loading model"}}, 503), "server_error"),
        (
            "unknown model",
            answer_json({"error": {"message": "x", "type": "NotFoundError", "code": 404}}, 404),
            "not_found",
        ),
        ("unknown model", answer_json({"error": {"message": "x", "type": "NotFoundError"}}, 200), "not_found"),
        ("no chat", answer_json({"error": {"code": 501, "message": "no chat", "type": "x"}}, 501), "endpoint"),
        ("wrong request", answer_json({"error": {"code": 400, "message": "odd", "type": "x"}}, 400), "rejected"),
    ],
}
KINDS = {
    "good",
    "refused",
    "truncated",
    "blocked",
    "overloaded",
    "error inside 200",
    "wrong type",
    "empty",
    "no choice",
}


def outcome(judge: str, answer: Answer, rung: Rung) -> str:
    """Return `STOP TEXT` of a reply, else the code of its error."""
    adapter = parse_judge(judge).make_adapter()
    assert adapter is not None
    headers = {name.lower(): value for name, value in answer.headers.items()}
    try:
        reply = adapter.read(WireReply(answer.status, answer.body, headers), Shape(rung))
    except CallError as failed:
        return failed.code
    return f"{reply.stop} {reply.text}"


@pytest.mark.parametrize(
    ("name", "answer", "expected"),
    [
        pytest.param(name, answer, expected, id=f"{name}-{kind}")
        for name, cases in CASES.items()
        for kind, answer, expected in cases
    ],
)
def test_the_outcome_of_a_reply(name: str, answer: Answer, expected: str) -> None:
    rungs: tuple[Rung, ...] = ("json_schema", "tool")
    assert {outcome(JUDGES[name], answer, rung) for rung in rungs} == {expected}


@pytest.mark.parametrize("name", JUDGES)
def test_every_adapter_meets_every_kind(name: str) -> None:
    assert {kind for kind, _, _ in CASES[name]} >= KINDS
