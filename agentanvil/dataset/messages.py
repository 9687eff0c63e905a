"""Chat messages → text that a person and a judge can read, and that no message can forge."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import TypeGuard

from agentanvil.dataset.texts import canonical_text, heading_marks, is_blank
from agentanvil.strict_json import JsonValue

Message = dict[str, JsonValue]

_NAME = re.compile(r"\w[\w .:-]{0,63}")
_ROLES = frozenset({"system", "developer", "user", "assistant", "tool", "function", "human", "ai", "model"})
# The text comes from anybody: no bracket is looked at twice, however many stand in a row.
_BRACKETED = re.compile(r"(?<!\[)(?P<open>\[++)(?P<inside>[^\[\]]{1,140}+)\]")


def read_conversation(value: JsonValue) -> list[Message] | None:
    """Return the messages that `value` holds, or None where it is no conversation.

    A conversation is a message, a list of them, or an object whose only key is `messages`. A message is an
    object with one of the usual roles and at least one of `content`, `tool_calls`, `function_call`,
    `refusal`; anything else may be data of the user's own, of which no key must get lost.
    """
    if isinstance(value, dict) and set(value) == {"messages"}:
        value = value["messages"]
    messages: list[JsonValue] = value if isinstance(value, list) else [value]
    return messages if messages and _all_messages(messages) else None


def messages_of(value: JsonValue) -> list[JsonValue] | None:
    """Return the messages that stand in `value`, whatever other keys are beside them; None where there are none."""
    messages = value.get("messages") if isinstance(value, dict) else value
    is_conversation = isinstance(messages, list) and messages and all(map(_is_message, messages))
    return messages if isinstance(messages, list) and is_conversation else None


def render_conversation(messages: Sequence[Message], plain_role: str) -> str:
    """Return the conversation as text, each message under a line with its role in brackets.

    A single message of `plain_role` is its content alone. Where some message holds such a bracketed role
    itself, every header gets more brackets than it, or a token, so that a header is always a real one and the
    contents stay untouched. Returns "" where no message holds anything.
    """
    parts = [(_header(message), _body(message)) for message in messages]
    if all(is_blank(body) for _, body in parts):
        return ""
    if len(parts) == 1 and parts[0][0] == plain_role:
        return parts[0][1]
    bodies = [body for _, body in parts]
    opening, closing = heading_marks(max(map(_forged_depth, bodies)), bodies)
    return "\n\n".join(f"{opening}{header}{closing}\n{body}" for header, body in parts)


def reads_as_conversation(text: str) -> bool:
    """Tell whether a text begins as a rendered conversation does: with a role in brackets, alone on its line."""
    found = _BRACKETED.match(text)
    if found is None:
        return False
    words = found["inside"].casefold().split()
    return bool(words) and words[0] in _ROLES and text[found.end() :].lstrip("]").startswith("\n")


def _all_messages(items: list[JsonValue]) -> TypeGuard[list[Message]]:
    return all(_is_message(item) for item in items)


def _is_message(value: JsonValue) -> bool:
    if not isinstance(value, dict):
        return False
    role = value.get("role")
    if not isinstance(role, str) or role not in _ROLES:
        return False
    return any(key in value for key in ("content", "tool_calls", "function_call", "refusal"))


def _header(message: Message) -> str:
    """The role, with the speaker's name or the answered call's id where the message says so."""
    for key in ("name", "tool_call_id"):
        detail = message.get(key)
        if isinstance(detail, str) and _NAME.fullmatch(detail):
            return f"{message['role']} {detail}"
    return str(message["role"])


def _body(message: Message) -> str:
    blocks = [_content(message.get("content"))]
    refusal = message.get("refusal")
    if isinstance(refusal, str):
        blocks.append(refusal)
    blocks += _calls(message.get("tool_calls"))
    if message.get("function_call") is not None:
        blocks.append(_call(message["function_call"]))
    return "\n".join(block for block in blocks if block)


def _content(content: JsonValue) -> str:
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return "\n".join(_part(part) for part in content)
    return canonical_text(content)


def _part(part: JsonValue) -> str:
    """One part of a message's content; a part of unknown kind is shown as JSON, nothing is left out."""
    if not isinstance(part, dict):
        return part if isinstance(part, str) else canonical_text(part)
    kind = part.get("type", "text")
    read = _PART_READERS.get(kind) if isinstance(kind, str) else None
    shown = read(part) if read is not None else None
    return canonical_text(part) if shown is None else shown


def _text_part(part: Message) -> str | None:
    text = part.get("text")
    return text if isinstance(text, str) else None


def _refusal_part(part: Message) -> str | None:
    text = part.get("refusal")
    return text if isinstance(text, str) else None


def _result_part(part: Message) -> str:
    return f"tool result{_id_of(part, 'tool_use_id')}: {_content(part.get('content'))}"


def _calls(calls: JsonValue) -> list[str]:
    if calls is None or calls == []:
        return []
    return [_call(call) for call in (calls if isinstance(calls, list) else [calls])]


def _call(call: JsonValue) -> str:
    """One tool call of any common shape: its parts lie in `function`, or in the call itself."""
    if not isinstance(call, dict):
        return f"tool call: {canonical_text(call)}"
    inner = call.get("function")
    function = inner if isinstance(inner, dict) else call
    name = function.get("name")
    if not isinstance(name, str):
        return f"tool call: {canonical_text(call)}"
    arguments = next((function[key] for key in ("arguments", "input") if key in function), "")
    shown = arguments if isinstance(arguments, str) else canonical_text(arguments)
    return f"tool call{_id_of(call, 'id')}: {name}({shown})"


def _id_of(part: Message, key: str) -> str:
    name = part.get(key)
    return f" {name}" if isinstance(name, str) and name else ""


def _forged_depth(body: str) -> int:
    """Return the most brackets around anything in `body` that opens with a role, as headers do."""
    longest = 0
    for found in _BRACKETED.finditer(body):
        words = found["inside"].casefold().split()
        if words and words[0] in _ROLES:
            longest = max(longest, len(found["open"]))
    return longest


_PART_READERS: dict[str, Callable[[Message], str | None]] = {
    "text": _text_part,
    "input_text": _text_part,
    "output_text": _text_part,
    "refusal": _refusal_part,
    "tool_use": _call,
    "tool_result": _result_part,
    **dict.fromkeys(("image", "image_url", "input_image"), lambda _: "[image]"),
    **dict.fromkeys(("audio", "input_audio"), lambda _: "[audio]"),
    **dict.fromkeys(("video", "video_url"), lambda _: "[video]"),
    **dict.fromkeys(("file", "input_file", "document"), lambda _: "[file]"),
}
