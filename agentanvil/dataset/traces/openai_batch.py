"""OpenAI batches: one answer a line, joined with its request by `custom_id` where that is at hand."""

from __future__ import annotations

from agentanvil.dataset.traces.build import build_trace
from agentanvil.dataset.traces.events import Event, Facts
from agentanvil.dataset.traces.openai_chat import chat_events, read_body
from agentanvil.dataset.traces.openai_responses import input_events, read_response
from agentanvil.dataset.traces.record import Trace
from agentanvil.strict_json import JsonValue

Line = dict[str, JsonValue]


def is_answer(value: Line) -> bool:
    """Say whether `value` is a line of a batch's output."""
    return "custom_id" in value and ("response" in value or "error" in value)


def is_question(value: Line) -> bool:
    """Say whether `value` is a line of a batch's input."""
    return "custom_id" in value and "body" in value


def read_batch(line: Line, request: JsonValue = None) -> list[Trace]:
    """Return the trace of one line of a batch's output; `request` is the line of its input with the same id."""
    facts = Facts(id=_text(line, "custom_id"))
    before = _asked(request, facts.warnings)
    response = found if isinstance(found := line.get("response"), dict) else {}
    body = inner if isinstance(inner := response.get("body"), dict) else {}
    fault = line.get("error") or body.get("error")
    if fault is not None and "output" not in body and "choices" not in body:
        facts.error = _error(fault)
        facts.warnings.add("tokens_missing")
        return [build_trace(before, facts)]
    if body.get("object") == "response" or isinstance(body.get("output"), list):
        return [read_response(body, facts, before)]
    if "choices" not in body:
        facts.warnings.add("tokens_missing")
    return [read_body(body, facts, before)]


def _asked(request: JsonValue, notes: set[str]) -> list[Event]:
    body = request.get("body") if isinstance(request, dict) else None
    if not isinstance(body, dict):
        return []
    messages = body.get("messages")
    return chat_events(messages, notes) if isinstance(messages, list) else input_events(body.get("input"), notes)


def _error(fault: JsonValue) -> str:
    if isinstance(fault, dict):
        named = (_text(fault, key) for key in ("code", "type", "message"))
        return next((name for name in named if name), "error")
    return fault if isinstance(fault, str) else "error"


def _text(line: Line, key: str) -> str | None:
    return found if isinstance(found := line.get(key), str) else None
