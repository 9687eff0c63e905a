"""OpenAI chat completions: a list of messages, a request body, a completion, or the chunks of a stream."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from agentanvil.dataset.traces.build import build_trace
from agentanvil.dataset.traces.content import text_of
from agentanvil.dataset.traces.events import Answered, Called, Event, Facts, Said
from agentanvil.dataset.traces.jsontext import read_args
from agentanvil.dataset.traces.measures import whole
from agentanvil.dataset.traces.record import Trace
from agentanvil.strict_json import JsonValue

Message = dict[str, JsonValue]

ROLES = frozenset({"system", "developer", "user", "assistant", "tool", "function"})


def is_message(value: JsonValue) -> bool:
    """Say whether `value` has a role of a chat and something to say."""
    return (
        isinstance(value, dict)
        and isinstance(role := value.get("role"), str)
        and role in ROLES
        and any(key in value for key in ("content", "tool_calls", "function_call", "refusal"))
    )


def is_completion(value: Message) -> bool:
    """Say whether `value` is a completion, with or without the messages before it."""
    choices = value.get("choices")
    return isinstance(choices, list) and any(isinstance(item, dict) and "message" in item for item in choices)


def read_chat(value: JsonValue) -> list[Trace]:
    """Return the trace of a message, a list of messages, a request body or a completion."""
    if isinstance(value, dict) and "role" not in value:
        return [read_body(value, Facts(), [])]
    facts = Facts()
    messages = value if isinstance(value, list) else [value]
    return [build_trace(chat_events(messages, facts.warnings), facts)]


def read_body(body: Message, facts: Facts, before: list[Event]) -> Trace:
    """Return the trace of one body: the events `before` it, its messages, and the answer among its choices.

    Of several choices the first one is the answer; the others are named by the warning `more_choices`.
    """
    notes = facts.warnings
    messages = body.get("messages")
    events = [*before, *chat_events(messages if isinstance(messages, list) else [], notes)]
    facts.model = name if isinstance(name := body.get("model"), str) else facts.model
    choices = body.get("choices")
    if isinstance(choices, list):
        if facts.id is None and isinstance(found := body.get("id"), str):
            facts.id = found
        usage = body.get("usage")
        read_usage(usage if isinstance(usage, dict) else {}, facts)
        events += _choice_events(choices, notes)
    return build_trace(events, facts)


def read_usage(usage: Message, facts: Facts) -> None:
    """Set the token counts; cached tokens are inside `prompt_tokens`."""
    facts.tokens_in, facts.tokens_out = whole(usage.get("prompt_tokens")), whole(usage.get("completion_tokens"))
    if facts.tokens_in is None and facts.tokens_out is None:
        facts.warnings.add("tokens_missing")


def chat_events(
    messages: Sequence[JsonValue], notes: set[str], failed: Callable[[str], bool] | None = None
) -> list[Event]:
    """Return what chat messages tell. `failed` says by a tool's text whether the call failed, where that is known."""
    events: list[Event] = []
    for message in messages:
        role = message.get("role") if isinstance(message, dict) else None
        if not isinstance(message, dict) or not isinstance(role, str) or role not in ROLES:
            notes.add("unknown_item")
        elif role == "user":
            events.append(Said("user", text_of(message.get("content"), notes)))
        elif role == "assistant":
            events += _assistant_events(message, notes)
        elif role in ("tool", "function"):
            text = text_of(message.get("content"), notes)
            call_id, name = message.get("tool_call_id"), message.get("name")
            events.append(
                Answered(
                    call_id if isinstance(call_id, str) and role == "tool" else None,
                    text,
                    None if failed is None else failed(text),
                    name if isinstance(name, str) else None,
                )
            )
    return events


def _choice_events(choices: Sequence[JsonValue], notes: set[str]) -> list[Event]:
    known = [choice for choice in choices if isinstance(choice, dict) and isinstance(choice.get("message"), dict)]
    if not known:
        return []
    if len(known) > 1:
        notes.add("more_choices")
    first = min(known, key=lambda choice: whole(choice.get("index")) or 0)
    if first.get("finish_reason") in ("length", "content_filter"):
        notes.add("unfinished")
    message = first["message"]
    return _assistant_events(message, notes) if isinstance(message, dict) else []


def _assistant_events(message: Message, notes: set[str]) -> list[Event]:
    calls = list(_calls(message, notes))
    texts = [text_of(message.get("content"), notes)] if message.get("content") is not None else []
    if isinstance(refusal := message.get("refusal"), str) and refusal:
        notes.add("refusal")
        texts.append(refusal)
    text = "\n".join(part for part in texts if part)
    said: list[Event] = [Said("assistant", text)] if text or (texts and not calls) else []
    return [*said, *calls]


def _calls(message: Message, notes: set[str]) -> Iterator[Called]:
    calls = message.get("tool_calls")
    for call in calls if isinstance(calls, list) else []:
        if isinstance(call, dict):
            yield _call(call, notes)
        else:
            notes.add("unknown_item")
    if isinstance(old := message.get("function_call"), dict):
        yield _call({"function": old}, notes)


def _call(call: Message, notes: set[str]) -> Called:
    call_id = found if isinstance(found := call.get("id"), str) else None
    custom = call.get("custom")
    if isinstance(custom, dict):
        return Called(_name(custom), call_id, {"input": custom.get("input")})
    function = inner if isinstance(inner := call.get("function"), dict) else call
    args, raw = read_args(function.get("arguments"), notes)
    return Called(_name(function), call_id, args, raw)


def _name(function: Message) -> str:
    return name if isinstance(name := function.get("name"), str) else ""
