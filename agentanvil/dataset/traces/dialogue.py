"""A value of which only the platform is known, not who wrote it → what it tells: chat, items, blocks, or plain text."""

from __future__ import annotations

from collections.abc import Sequence

from agentanvil.dataset.traces import anthropic_messages, openai_chat, openai_responses
from agentanvil.dataset.traces.content import text_of
from agentanvil.dataset.traces.events import Answered, Called, Event, Said, Thought
from agentanvil.dataset.traces.jsontext import read_args
from agentanvil.strict_json import JsonValue

Message = dict[str, JsonValue]

# The names under which frameworks put the one text that a run is about.
_WRAPPERS = ("input", "question", "query", "prompt", "task", "request", "text", "content", "message")
_ANSWERS = ("output", "answer", "response", "result", "final_output", "text", "content", "message")
_LANGCHAIN_CLASSES = {"HumanMessage": "human", "AIMessage": "ai", "AIMessageChunk": "ai", "ToolMessage": "tool"}
_LANGCHAIN_ROLES = {"human": "user", "ai": "assistant", "AIMessageChunk": "assistant", "tool": "tool"}


def heard(value: JsonValue, notes: set[str]) -> list[Event] | None:
    """Return what an input tells: the messages in it, else its one text as the user's; None where it has neither."""
    return _told(value, "user", _WRAPPERS, notes)


def spoken(value: JsonValue, notes: set[str]) -> list[Event] | None:
    """Return what an output tells: the messages in it, else its one text as the agent's; None where it has neither."""
    return _told(value, "assistant", _ANSWERS, notes)


def _told(value: JsonValue, role: str, keys: Sequence[str], notes: set[str]) -> list[Event] | None:
    if isinstance(value, str):
        return [Said("user" if role == "user" else "assistant", value)] if value else None
    events = messages_in(value, notes)
    if events is not None or not isinstance(value, dict):
        return events
    texts = [text for key in keys if isinstance(text := value.get(key), str)]
    if len(texts) == 1:
        return [Said("user" if role == "user" else "assistant", texts[0])]
    inner = [found for key in keys if isinstance(found := value.get(key), dict | list)]
    return messages_in(inner[0], notes) if len(inner) == 1 else None


def messages_in(value: JsonValue, notes: set[str]) -> list[Event] | None:
    """Return what the messages in `value` tell, whoever's they are; None where there are none."""
    if isinstance(value, dict):
        return _in_object(value, notes)
    return _in_list(value, notes) if isinstance(value, list) and value else None


def _in_list(value: list[JsonValue], notes: set[str]) -> list[Event] | None:
    if len(value) == 1 and isinstance(value[0], list):
        return messages_in(value[0], notes)
    if all(_is_sdk_call(item) for item in value):
        return [_sdk_call(item, notes) for item in value if isinstance(item, dict)]
    if any(openai_responses.is_item(item) for item in value):
        return openai_responses.item_events(value, notes)
    if all(anthropic_messages.is_block(item) or _is_text(item) for item in value):
        return anthropic_messages.message_events([{"role": "assistant", "content": value}], notes)
    found = [_in_message(item, notes) for item in value]
    if any(events is None for events in found):
        return None
    return [event for events in found for event in events or ()]


def _in_object(value: Message, notes: set[str]) -> list[Event] | None:
    alone = _in_message(value, notes)
    if alone is not None:
        return alone
    if isinstance(choices := value.get("choices"), list) and choices:
        return _in_choice(choices[0], notes)
    if isinstance(output := value.get("output"), list) and any(_is_typed(item) for item in output):
        return openai_responses.item_events(output, notes)
    if isinstance(generations := value.get("generations"), list):
        while isinstance(generations, list) and generations:
            generations = generations[0]
        return _generation(generations, notes)
    messages = value.get("messages")
    return messages_in(messages, notes) if isinstance(messages, list | dict) else None


def _in_choice(value: JsonValue, notes: set[str]) -> list[Event] | None:
    message = value.get("message") if isinstance(value, dict) else None
    return _in_message(message, notes)


def _generation(value: JsonValue, notes: set[str]) -> list[Event] | None:
    if not isinstance(value, dict):
        return None
    if isinstance(message := value.get("message"), dict):
        return _in_message(message, notes)
    return [Said("assistant", text)] if isinstance(text := value.get("text"), str) else None


def _in_message(value: JsonValue, notes: set[str]) -> list[Event] | None:
    """What one message tells: LangChain's, serialised or plain, or one with a role."""
    if not isinstance(value, dict):
        return None
    if isinstance(inner := value.get("kwargs"), dict) and value.get("type") == "constructor":
        path = value.get("id")
        name = path[-1] if isinstance(path, list) and path else ""
        kind = _LANGCHAIN_CLASSES.get(name, "system") if isinstance(name, str) else "system"
        return _in_message({**inner, "type": kind}, notes)
    role = value.get("type")
    if isinstance(role, str) and "content" in value and (role in _LANGCHAIN_ROLES or role == "system"):
        return _langchain(value, _LANGCHAIN_ROLES.get(role), notes)
    content = value.get("content")
    if isinstance(content, list) and any(anthropic_messages.is_block(item) for item in content):
        return anthropic_messages.message_events([value], notes)
    if isinstance(content, list) and any(_sdk_kind(item) for item in content):
        return _sdk_message(value, content, notes)
    return openai_chat.chat_events([value], notes) if openai_chat.is_message(value) else None


def _sdk_message(message: Message, content: Sequence[JsonValue], notes: set[str]) -> list[Event]:
    """What a message of the AI SDK tells: calls and results are parts of its content."""
    events: list[Event] = []
    plain = [part for part in content if not _sdk_kind(part)]
    if plain:
        events += openai_chat.chat_events([{**message, "content": plain}], notes)
    for part in _objects(list(content)):
        if _sdk_kind(part) == "tool-call":
            events.append(_sdk_call(part, notes))
        elif _sdk_kind(part) == "tool-result":
            call_id, result = part.get("toolCallId"), part.get("output", part.get("result"))
            if isinstance(result, dict) and "value" in result and "type" in result:
                result = result["value"]
            events.append(Answered(call_id if isinstance(call_id, str) else None, result))
    return events


def _sdk_kind(part: JsonValue) -> str | None:
    kind = part.get("type") if isinstance(part, dict) else None
    return kind if isinstance(kind, str) and kind in ("tool-call", "tool-result") else None


def _langchain(message: Message, role: str | None, notes: set[str]) -> list[Event]:
    content = message.get("content")
    blocks = content if isinstance(content, list) else [content]
    plain = [item for item in blocks if not (anthropic_messages.is_block(item) or openai_responses.is_item(item))]
    text = text_of(plain if isinstance(content, list) else content, notes)
    if role == "tool":
        call_id, status = message.get("tool_call_id"), message.get("status")
        failed = None if not isinstance(status, str) else status == "error"
        return [Answered(call_id if isinstance(call_id, str) else None, text, failed)]
    if role == "user":
        return [Said("user", text)]
    if role is None:
        return []
    thoughts = [Thought(found) for block in blocks if (found := _thinking(block))]
    calls = [_langchain_call(call, notes) for call in _objects(message.get("tool_calls"))]
    calls += [_langchain_call(call, notes) for call in _objects(message.get("invalid_tool_calls"))]
    said: list[Event] = [Said("assistant", text)] if text or not calls else []
    return [*thoughts, *said, *calls]


def _thinking(block: JsonValue) -> str | None:
    """The reasoning in a content block, under the key that its type names."""
    kind = block.get("type") if isinstance(block, dict) else None
    text = block.get(kind) if isinstance(block, dict) and kind in ("thinking", "reasoning") else None
    return text if isinstance(text, str) else None


def _langchain_call(call: Message, notes: set[str]) -> Called:
    args, raw = read_args(call.get("args"), notes)
    call_id, name = call.get("id"), call.get("name")
    return Called(name if isinstance(name, str) else "", call_id if isinstance(call_id, str) else None, args, raw)


def _is_sdk_call(value: JsonValue) -> bool:
    return isinstance(value, dict) and isinstance(value.get("toolCallId"), str) and "toolName" in value


def _sdk_call(call: Message, notes: set[str]) -> Called:
    args, raw = read_args(call.get("input", call.get("args")), notes)
    name, call_id = call.get("toolName"), call.get("toolCallId")
    return Called(name if isinstance(name, str) else "", call_id if isinstance(call_id, str) else None, args, raw)


def _is_text(value: JsonValue) -> bool:
    return isinstance(value, dict) and value.get("type") == "text" and "role" not in value


def _is_typed(value: JsonValue) -> bool:
    return openai_responses.is_item(value) or (isinstance(value, dict) and value.get("type") == "message")


def _objects(value: JsonValue) -> list[Message]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []
