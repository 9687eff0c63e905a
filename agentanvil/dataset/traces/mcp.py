"""MCP: a log of JSON-RPC messages, of which only tool calls and their results are steps."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

from agentanvil.dataset.traces.build import build_trace, with_warnings
from agentanvil.dataset.traces.content import text_of
from agentanvil.dataset.traces.events import Called, Event, Facts
from agentanvil.dataset.traces.jsontext import read_args
from agentanvil.dataset.traces.record import Trace
from agentanvil.strict_json import JsonValue

Message = dict[str, JsonValue]

_RESULT_KEYS = ("content", "structuredContent", "isError", "resultType")


def is_rpc(value: JsonValue) -> bool:
    """Say whether `value` is a JSON-RPC message, or a batch of them."""
    if isinstance(value, list):
        return bool(value) and all(isinstance(item, dict) and "jsonrpc" in item for item in value)
    return isinstance(value, dict) and "jsonrpc" in value


def join(_: str, messages: Sequence[Message], notes: set[str]) -> list[Trace]:
    """Return the trace of a log, with the warnings met so far."""
    return with_warnings(read_rpc(list(messages)), notes)


def read_rpc(messages: Sequence[JsonValue]) -> list[Trace]:
    """Return the trace of one log, none where it calls no tool.

    Calls and results pair by id, in which the number 1 is not the text "1".
    """
    facts = Facts(speaks=False)
    events: list[Event] = []
    open_calls: dict[tuple[bool, str], deque[Called]] = {}
    for item in messages:
        for message in item if isinstance(item, list) else [item]:
            if not isinstance(message, dict):
                continue
            number = message.get("id")
            key = (isinstance(number, str), f"{number}")
            params = message.get("params")
            if message.get("method") == "tools/call" and isinstance(params, dict):
                call = _call(params, None if number is None else f"{number}", facts.warnings)
                events.append(call)
                open_calls.setdefault(key, deque()).append(call)
            elif "method" not in message and ("result" in message or "error" in message):
                _answer(message, open_calls.get(key), facts.warnings)
    return [build_trace(events, facts)] if events or facts.warnings else []


def _call(params: Message, call_id: str | None, notes: set[str]) -> Called:
    args, raw = read_args(params.get("arguments", {}), notes)
    name = params.get("name")
    return Called(name if isinstance(name, str) else "", call_id, args, raw)


def _answer(message: Message, waiting: deque[Called] | None, notes: set[str]) -> None:
    result, fault = message.get("result"), message.get("error")
    is_tool_result = isinstance(result, dict) and "role" not in result and any(key in result for key in _RESULT_KEYS)
    if not waiting:
        if is_tool_result:
            notes.add("orphan_result")
        return
    if fault is not None:
        call = waiting.popleft()
        call.answered, call.result, call.error = True, fault, True
    elif is_tool_result and isinstance(result, dict):
        call = waiting.popleft()
        if result.get("resultType") == "input_required":
            notes.add("input_required")
            return
        call.answered, call.error = True, result.get("isError") is True
        structured = result.get("structuredContent")
        call.result = structured if structured is not None else text_of(result.get("content"), notes)
