"""Anthropic Messages: a request body, a list of messages, one Message, or a line of a message batch."""

from __future__ import annotations

from collections.abc import Sequence

from agentanvil.dataset.traces.build import build_trace
from agentanvil.dataset.traces.content import has_parts, text_of
from agentanvil.dataset.traces.events import Answered, Called, Event, Facts, Said, Thought
from agentanvil.dataset.traces.jsontext import read_args
from agentanvil.dataset.traces.measures import total, whole
from agentanvil.dataset.traces.record import Trace
from agentanvil.strict_json import JsonValue

Block = dict[str, JsonValue]

_THINKING = frozenset({"thinking", "redacted_thinking"})
_CALLS = frozenset({"tool_use", "server_tool_use", "mcp_tool_use"})
_INPUT_COUNTS = ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")


def is_block(value: JsonValue) -> bool:
    """Say whether `value` is a content block that only this API writes."""
    kind = value.get("type") if isinstance(value, dict) else None
    return isinstance(kind, str) and (kind in _CALLS or kind in _THINKING or kind.endswith("tool_result"))


def is_message(value: Block) -> bool:
    """Say whether `value` is one Message, as the API answers."""
    is_typed = value.get("type") == "message" and isinstance(value.get("content"), list)
    return is_typed and ("model" in value or "stop_reason" in value)


def is_batch_line(value: Block) -> bool:
    """Say whether `value` is a line of a message batch's results."""
    return "custom_id" in value and "result" in value


def read_anthropic(value: JsonValue) -> list[Trace]:
    """Return the trace of a body, of a list of messages, or of one Message."""
    facts = Facts()
    if isinstance(value, dict) and isinstance(value.get("messages"), list):
        facts.model = _text(value, "model")
        messages = value["messages"]
        return [build_trace(message_events(messages if isinstance(messages, list) else [], facts.warnings), facts)]
    if isinstance(value, dict) and value.get("type") == "message":
        return [read_message(value, facts)]
    return [build_trace(message_events(value if isinstance(value, list) else [value], facts.warnings), facts)]


def read_message(message: Block, facts: Facts) -> Trace:
    """Return the trace of one Message, which holds no history."""
    notes = facts.warnings
    facts.id = facts.id or _text(message, "id")
    facts.model = _text(message, "model")
    usage = found if isinstance(found := message.get("usage"), dict) else {}
    facts.tokens_in = total(whole(usage.get(key)) for key in _INPUT_COUNTS)
    facts.tokens_out = whole(usage.get("output_tokens"))
    if facts.tokens_in is None and facts.tokens_out is None:
        notes.add("tokens_missing")
    reason = message.get("stop_reason")
    if reason in ("max_tokens", "pause_turn", "model_context_window_exceeded"):
        notes.add("unfinished")
    if reason == "refusal":
        notes.add("refusal")
    return build_trace(message_events([message], notes), facts)


def read_batch_line(line: Block) -> list[Trace]:
    """Return the trace of one line of a message batch's results; a request that failed gives one with an error."""
    result = found if isinstance(found := line.get("result"), dict) else {}
    facts = Facts(id=_text(line, "custom_id"))
    message = result.get("message")
    if isinstance(message, dict):
        return [read_message(message, facts)]
    fault = result.get("error")
    while isinstance(fault, dict) and isinstance(fault.get("error"), dict):
        fault = fault["error"]
    named = _text(fault, "type") if isinstance(fault, dict) else None
    facts.error = named or _text(result, "type") or "errored"
    facts.warnings.add("tokens_missing")
    return [build_trace([], facts)]


def message_events(messages: Sequence[JsonValue], notes: set[str]) -> list[Event]:
    """Return what messages tell, block by block."""
    events: list[Event] = []
    for message in messages:
        role = message.get("role") if isinstance(message, dict) else None
        if not isinstance(message, dict) or role not in ("user", "assistant", "system"):
            notes.add("unknown_item")
        elif role != "system":
            events += _content_events(message.get("content"), role == "user", notes)
    return events


def _content_events(content: JsonValue, is_user: bool, notes: set[str]) -> list[Event]:
    role = "user" if is_user else "assistant"
    if not isinstance(content, list):
        return [Said("user" if is_user else "assistant", text_of(content, notes))]
    events: list[Event] = []
    plain: list[JsonValue] = []
    for block in content:
        if is_block(block) and isinstance(block, dict):
            events += _flush(plain, role, notes)
            events += _block_events(block, notes)
        else:
            plain.append(block)
    return events + _flush(plain, role, notes)


def _flush(plain: list[JsonValue], role: str, notes: set[str]) -> list[Event]:
    """The text blocks collected so far, as one turn."""
    if not plain:
        return []
    text = text_of(list(plain), notes)
    plain.clear()
    return [Said("user" if role == "user" else "assistant", text)]


def _block_events(block: Block, notes: set[str]) -> list[Event]:
    kind = block.get("type")
    if kind == "thinking":
        return [Thought(_text(block, "thinking") or "")]
    if kind == "redacted_thinking":
        notes.add("redacted")
        return []
    if isinstance(kind, str) and kind in _CALLS:
        args, raw = read_args(block.get("input"), notes)
        return [Called(_text(block, "name") or "", _text(block, "id"), args, raw, hosted=kind != "tool_use")]
    return [_result(block, kind, notes)]


def _result(block: Block, kind: JsonValue, notes: set[str]) -> Answered:
    content = block.get("content")
    failed = block.get("is_error") is True or (isinstance(content, dict) and "error_code" in content)
    result: JsonValue = content
    if kind == "tool_result" or content is None or has_parts(content):
        result = text_of(content, notes)
    return Answered(_text(block, "tool_use_id"), result, failed)


def _text(block: Block, key: str) -> str | None:
    return found if isinstance(found := block.get(key), str) else None
