"""Dumps of a streamed OpenAI chat completion: chunks, whose texts and arguments are fragments."""

from __future__ import annotations

from collections.abc import Sequence

from agentanvil.dataset.traces.events import Facts
from agentanvil.dataset.traces.measures import whole
from agentanvil.dataset.traces.openai_chat import read_body
from agentanvil.dataset.traces.record import Trace
from agentanvil.strict_json import JsonValue

Message = dict[str, JsonValue]


def is_chunk(value: Message) -> bool:
    """Say whether `value` is one chunk."""
    return value.get("object") == "chat.completion.chunk"


def chunk_key(value: Message) -> str:
    """Return the id of the completion that a chunk belongs to."""
    return f"{value.get('id')}"


def join_stream(_: str, chunks: Sequence[Message], notes: set[str]) -> list[Trace]:
    """Return the trace of one streamed completion."""
    return [read_body(join_chunks(chunks), Facts(warnings=set(notes)), [])]


def join_chunks(chunks: Sequence[Message]) -> Message:
    """Return the completion whose stream `chunks` are: texts and argument fragments put together."""
    whole_one: Message = {}
    choices: dict[int, Message] = {}
    for chunk in chunks:
        whole_one |= {key: chunk[key] for key in ("id", "model", "usage") if chunk.get(key) is not None}
        parts = chunk.get("choices")
        for part in parts if isinstance(parts, list) else []:
            if isinstance(part, dict) and isinstance(delta := part.get("delta"), dict):
                at = whole(part.get("index")) or 0
                choice = choices.setdefault(at, {"index": at, "message": {"role": "assistant"}})
                choice["finish_reason"] = part.get("finish_reason") or choice.get("finish_reason")
                _add_delta(choice["message"], delta)
    for choice in choices.values():
        _join_texts(choice["message"])
    return {**whole_one, "choices": [choices[at] for at in sorted(choices)]}


def _add_delta(message: JsonValue, delta: Message) -> None:
    """Collect the fragments of one choice; texts stay lists until the end, since long streams have many."""
    if not isinstance(message, dict):
        return
    for key in ("content", "refusal"):
        if isinstance(delta.get(key), str):
            _collect(message, key, delta[key])
    calls = delta.get("tool_calls")
    for fragment in calls if isinstance(calls, list) else []:
        if not isinstance(fragment, dict):
            continue
        table = message.setdefault("tool_calls", {})
        if isinstance(table, dict):
            call = table.setdefault(str(whole(fragment.get("index")) or 0), {})
            if isinstance(call, dict):
                call |= {key: fragment[key] for key in ("id", "type") if fragment.get(key)}
                _add_function(call, "function", fragment.get("function"))
                _add_function(call, "custom", fragment.get("custom"))
    _add_function(message, "function_call", delta.get("function_call"))


def _add_function(call: Message, key: str, fragment: JsonValue) -> None:
    if not isinstance(fragment, dict):
        return
    function = call.setdefault(key, {})
    if isinstance(function, dict):
        for field in ("name", "arguments", "input"):
            if isinstance(fragment.get(field), str):
                _collect(function, field, fragment[field])


def _collect(target: Message, key: str, text: JsonValue) -> None:
    kept = target.setdefault(key, [])
    if isinstance(kept, list):
        kept.append(text)


def _join_texts(target: JsonValue) -> None:
    if not isinstance(target, dict):
        return
    for key, value in target.items():
        if isinstance(value, list):
            target[key] = "".join(part for part in value if isinstance(part, str))
        elif key == "tool_calls" and isinstance(value, dict):
            for call in value.values():
                _join_texts(call)
            target[key] = list(value.values())
        else:
            _join_texts(value)
