"""Which format a JSON value is in: the first one that claims it, from the marks nobody else has to plain chats."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from agentanvil.dataset.traces import (
    a2a,
    anthropic_messages,
    bodies,
    inspect_log,
    langfuse,
    langsmith,
    mcp,
    openai_batch,
    openai_chat,
    openai_responses,
    openai_stream,
    otel_traces,
    promptfoo,
    tau2_bench,
    tau_bench,
)
from agentanvil.dataset.traces.readers import third_party
from agentanvil.dataset.traces.record import Trace
from agentanvil.strict_json import JsonValue

Record = dict[str, JsonValue]

# How many items at the start of a list may be unknown before the list is.
_LOOKED_AT = 20


@dataclass(frozen=True, slots=True)
class Format:
    """One format. `claims` says whether an object is in it.

    Either an object is a record, which `read` turns into traces; or it is a fragment of the trace that `key` names,
    and `join` turns the fragments of one key, with the warnings met so far, into traces; or `refusal` says why
    it is no trace. `is_chat`: without tool calls it may just as well be a conversation.
    """

    name: str
    claims: Callable[[Record], bool]
    read: Callable[[Record], list[Trace]] | None = None
    key: Callable[[Record], str] | None = None
    join: Callable[[str, Sequence[Record], set[str]], list[Trace]] | None = None
    refusal: str | None = None
    is_chat: bool = False


def find(value: JsonValue) -> Format | None:
    """Return the format of a value that is no list, None where nobody knows it."""
    if not isinstance(value, dict):
        return None
    for known in _MARKED:
        if known.claims(value):
            return known
    for reader in third_party():
        if reader.claims(value):
            return Format(reader.name, reader.claims, read=reader.read)
    return next((known for known in _CHATS if known.claims(value)), None)


def read_value(value: JsonValue) -> tuple[Format, list[Trace]] | None:
    """Return the format and every trace of a value that is held in memory, None where nobody knows it."""
    if otel_traces.is_container(value):
        return _read_all(list(otel_traces.split(value)), OTEL)
    if isinstance(value, list):
        items = list(_flattened(value))
        known = next((found for item in items[:_LOOKED_AT] if (found := find(item)) is not None), None)
        return None if known is None else _read_all(items, known)
    known = find(value)
    return None if known is None or not isinstance(value, dict) else _read_all([value], known)


def _flattened(value: Sequence[JsonValue]) -> Iterator[JsonValue]:
    """Batches of JSON-RPC messages are lists inside the list."""
    for item in value:
        if isinstance(item, list) and mcp.is_rpc(item):
            yield from item
        else:
            yield item


def _read_all(items: Sequence[JsonValue], known: Format) -> tuple[Format, list[Trace]]:
    found: list[Trace] = []
    if known.read is not None:
        for item in items:
            each = known if len(items) == 1 else find(item)
            if each is not None and each.read is not None and isinstance(item, dict):
                found += each.read(item)
    elif known.key is not None and known.join is not None:
        groups: dict[str, list[Record]] = {}
        for item in items:
            if isinstance(item, dict) and (known.name == MESSAGES.name or known.claims(item)):
                groups.setdefault(known.key(item), []).append(item)
        for key, members in groups.items():
            found += known.join(key, members, set())
    return known, found


def _read_page(value: Record) -> list[Trace]:
    """A page of items is one trace; a page of stored answers holds one each."""
    items = value.get("data")
    listed = items if isinstance(items, list) else []
    if any(isinstance(item, dict) and "object" in item for item in listed):
        found = read_value(listed)
        return [] if found is None else found[1]
    return openai_responses.read_page(value)


OTEL = Format("otel", otel_traces.is_fragment, key=otel_traces.key_of, join=otel_traces.join)
MESSAGES = Format("messages", bodies.is_told, key=lambda _: "", join=bodies.join_messages, is_chat=True)
OBSERVATION = Format("langfuse", langfuse.is_observation, key=langfuse.key_of, join=langfuse.join)
BATCH = Format("openai_batch", openai_batch.is_answer, read=openai_batch.read_batch)

_MARKED: tuple[Format, ...] = (
    Format("metrics", otel_traces.is_metrics, refusal="it holds metrics, no spans"),
    Format("a2a", a2a.is_answer, key=a2a.key_of, join=a2a.join),
    Format("mcp", mcp.is_rpc, key=lambda _: "", join=mcp.join),
    BATCH,
    Format("openai_batch", openai_batch.is_question, refusal="it is the input of a batch, without any answer"),
    Format("anthropic_batch", anthropic_messages.is_batch_line, read=anthropic_messages.read_batch_line),
    Format("langsmith", langsmith.is_run, key=langsmith.trace_id_of, join=langsmith.read_runs),
    OTEL,
    Format("inspect", inspect_log.is_log, read=inspect_log.read_log),
    Format("promptfoo", promptfoo.is_row, read=promptfoo.read_row),
    Format("promptfoo", promptfoo.is_file, read=promptfoo.read_file),
    Format("tau2_bench", tau2_bench.is_file, read=tau2_bench.read_file),
    Format("tau_bench", tau_bench.is_tau_run, read=tau_bench.read_tau),
    Format("langfuse", langfuse.is_export, read=langfuse.read_export),
    OBSERVATION,
    Format("a2a", a2a.is_task, key=a2a.key_of, join=a2a.join),
    Format("openai_responses", openai_responses.is_response, read=openai_responses.read_object),
    Format("openai_page", openai_responses.is_page, read=_read_page),
    Format("openai_stream", openai_stream.is_chunk, key=openai_stream.chunk_key, join=openai_stream.join_stream),
    Format("openai_chat", openai_chat.is_completion, read=openai_chat.read_chat),
    Format("anthropic_messages", anthropic_messages.is_message, read=anthropic_messages.read_anthropic),
)
_CHATS: tuple[Format, ...] = (
    Format("messages", bodies.is_body, read=bodies.read_body, is_chat=True),
    MESSAGES,
)
