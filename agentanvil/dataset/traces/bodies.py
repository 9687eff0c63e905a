"""Bodies with `messages`, and bare lists of them: the items and blocks in them tell whose they are."""

from __future__ import annotations

from collections.abc import Sequence

from agentanvil.dataset.traces import anthropic_messages, openai_chat, openai_responses
from agentanvil.dataset.traces.build import with_warnings
from agentanvil.dataset.traces.record import Trace
from agentanvil.strict_json import JsonValue

Record = dict[str, JsonValue]


def is_told(value: JsonValue) -> bool:
    """Say whether `value` is a message with a role, or an item of the Responses API."""
    return openai_chat.is_message(value) or openai_responses.is_item(value)


def is_body(value: Record) -> bool:
    """Say whether `value` is an object around messages."""
    messages = value.get("messages")
    return isinstance(messages, list) and bool(messages) and any(is_told(item) for item in messages)


def read_body(value: Record) -> list[Trace]:
    """Return the trace of an object around messages; a system prompt beside them is Anthropic's."""
    messages = value.get("messages")
    listed = messages if isinstance(messages, list) else []
    if "system" in value or _has_blocks(listed):
        return anthropic_messages.read_anthropic(value)
    if any(openai_responses.is_item(item) for item in listed):
        return openai_responses.read_items(listed)
    return openai_chat.read_chat(value)


def join_messages(_: str, messages: Sequence[Record], notes: set[str]) -> list[Trace]:
    """Return the trace of a list of messages or items."""
    listed: list[JsonValue] = list(messages)
    if _has_blocks(listed):
        found = anthropic_messages.read_anthropic(listed)
    elif any(openai_responses.is_item(item) for item in listed):
        found = openai_responses.read_items(listed)
    else:
        found = openai_chat.read_chat(listed)
    return with_warnings(found, notes)


def _has_blocks(messages: Sequence[JsonValue]) -> bool:
    contents = (item.get("content") for item in messages if isinstance(item, dict))
    lists = (content for content in contents if isinstance(content, list))
    return any(anthropic_messages.is_block(block) for content in lists for block in content)
