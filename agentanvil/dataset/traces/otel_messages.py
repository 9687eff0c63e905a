"""Messages of the OpenTelemetry GenAI conventions, of every version: parts, bodies of log events, and chat messages."""

from __future__ import annotations

from collections.abc import Sequence

from agentanvil.dataset.traces.content import media, text_of
from agentanvil.dataset.traces.events import Answered, Called, Event, Said, Thought
from agentanvil.dataset.traces.jsontext import UNDECODED, decode, decode_container, read_args
from agentanvil.dataset.traces.openai_chat import chat_events
from agentanvil.strict_json import JsonValue

Message = dict[str, JsonValue]

DETAILS = "gen_ai.client.inference.operation.details"
CHOICE = "gen_ai.choice"
_OLD_ROLES = {
    "gen_ai.user.message": "user",
    "gen_ai.assistant.message": "assistant",
    "gen_ai.tool.message": "tool",
    "gen_ai.system.message": "system",
}


def messages_of(value: JsonValue, notes: set[str]) -> list[JsonValue]:
    """Return the messages of an attribute: structured, or JSON text. A text that was cut gives `truncated_value`."""
    if isinstance(value, str) and value.lstrip()[:1] in ("[", "{"):
        found = decode(value)
        if found is UNDECODED:
            notes.add("truncated_value")
            return []
        value = decode_container(value)
    if isinstance(value, str) and value:
        return [{"role": "user", "content": value}]
    return value if isinstance(value, list) else [value] if isinstance(value, dict) else []


def message_events(messages: Sequence[JsonValue], notes: set[str]) -> list[Event]:
    """Return what messages tell. Those without `parts` are chat messages or, named by `event.name`, log bodies."""
    events: list[Event] = []
    for message in messages:
        if not isinstance(message, dict):
            notes.add("unknown_item")
        elif isinstance(name := message.get("event.name"), str):
            events += body_events(name, message, notes)
        elif isinstance(parts := message.get("parts"), list):
            role = message.get("role")
            if role not in ("system", "developer"):
                events += _part_events(parts, role == "assistant", notes)
            if message.get("finish_reason") == "length":
                notes.add("unfinished")
        else:
            events += chat_events([message], notes)
    return events


def body_events(name: str, body: JsonValue, notes: set[str]) -> list[Event]:
    """Return what the body of one per-message log event tells (conventions 1.28 to 1.36)."""
    if not isinstance(body, dict):
        return []
    if name == CHOICE:
        inner = found if isinstance(found := body.get("message"), dict) else {}
        calls = inner.get("tool_calls") or body.get("tool_calls")
        content = inner.get("content", body.get("content"))
        return chat_events([{"role": "assistant", "content": content, "tool_calls": calls}], notes)
    role = _OLD_ROLES.get(name)
    if role is None:
        return []
    if role == "tool":
        call_id = body.get("id") or body.get("tool_call_id")
        result = decode_container(body.get("content"))
        return [Answered(call_id if isinstance(call_id, str) else None, result)]
    return chat_events([{**body, "role": role, "content": body.get("content")}], notes)


def _part_events(parts: Sequence[JsonValue], is_agent: bool, notes: set[str]) -> list[Event]:
    """Text parts that follow each other are one turn."""
    events: list[Event] = []
    texts: list[str] = []
    for part in parts:
        found = _special(part, notes) if isinstance(part, dict) else None
        if found is None:
            texts.append(_part_text(part, notes))
            continue
        _flush(texts, is_agent, events)
        events.append(found)
    _flush(texts, is_agent, events)
    return events


def _flush(texts: list[str], is_agent: bool, events: list[Event]) -> None:
    if texts:
        events.append(Said("assistant" if is_agent else "user", "\n".join(texts)))
        texts.clear()


def _special(part: Message, notes: set[str]) -> Event | None:
    """The event of a part that is no text of the turn."""
    kind = part.get("type")
    call_id = found if isinstance(found := part.get("id"), str) else None
    if kind in ("reasoning", "thinking"):
        return Thought(text_of(part.get("content"), notes))
    if kind == "tool_call":
        args, raw = read_args(part.get("arguments"), notes)
        return Called(_name(part), call_id, args, raw)
    if kind == "tool_call_response":
        value = part.get("response") if part.get("response") is not None else part.get("result")
        return Answered(call_id, decode_container(value))
    if kind == "server_tool_call":
        details = part.get("server_tool_call", part.get("arguments"))
        args, raw = read_args(details, notes)
        return Called(_name(part), call_id, args, raw, hosted=True)
    if kind == "server_tool_call_response":
        value = next((part[key] for key in ("server_tool_call_response", "response", "result") if key in part), None)
        return Answered(call_id, decode_container(value))
    return None


def _part_text(part: JsonValue, notes: set[str]) -> str:
    if not isinstance(part, dict):
        return text_of(part, notes)
    if part.get("type") == "text":
        return text_of(part.get("content", part.get("text")), notes)
    if part.get("type") in ("blob", "uri", "file"):
        return media(part, kind if isinstance(kind := part.get("modality"), str) else "", notes)
    return text_of(part, notes)


def _name(part: Message) -> str:
    return name if isinstance(name := part.get("name"), str) else ""
