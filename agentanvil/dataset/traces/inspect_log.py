"""Inspect logs: one sample and epoch → its trace. Messages tell the story; events add errors and nested agents."""

from __future__ import annotations

from collections.abc import Sequence

from agentanvil.dataset.traces.build import build_trace
from agentanvil.dataset.traces.content import text_of
from agentanvil.dataset.traces.events import Answered, Called, Event, Facts, Said, Thought
from agentanvil.dataset.traces.inspect_events import add_nested, main_messages, resolver, sample_events
from agentanvil.dataset.traces.inspect_usage import read_usage
from agentanvil.dataset.traces.jsontext import read_args
from agentanvil.dataset.traces.measures import seconds
from agentanvil.dataset.traces.record import Trace
from agentanvil.strict_json import JsonValue

Sample = dict[str, JsonValue]

_BEFORE_BROKEN, _AFTER_BROKEN = "tool call arguments:", "\n\nError details:"


def is_log(value: Sample) -> bool:
    """Say whether `value` is a whole log."""
    return "version" in value and isinstance(value.get("eval"), dict) and ("status" in value or "samples" in value)


def read_log(value: Sample) -> list[Trace]:
    """Return the traces of a whole log, one for each sample and epoch."""
    samples = _objects(value.get("samples"))
    return [trace for sample in samples for trace in read_sample(sample, value.get("eval"))]


def read_sample(sample: Sample, evaluation: JsonValue) -> list[Trace]:
    """Return the trace of one sample; `evaluation` is the log's `eval` record, which names the model.

    The sample's target and scores are the answer key and the verdict: neither is read.
    """
    resolved = resolver(sample)(sample)
    facts = Facts(id=_id(sample))
    events = sample_events(resolved)
    messages = _objects(resolved.get("messages")) or main_messages(resolved, events)
    told = [event for message in messages for event in _events(message, facts.warnings)]
    told = add_nested(told, events, facts.warnings)
    _mark_errors(told, events)
    output = _object(resolved.get("output"))
    completion = output.get("completion")
    if not any(isinstance(event, Said | Called) and _is_agents(event) for event in told) and _text(completion):
        told.append(Said("assistant", f"{completion}"))
    if not any(isinstance(event, Said) and event.role == "user" for event in told):
        told = [*_asked(resolved.get("input"), facts.warnings), *told]
    facts.model = _text(output.get("model")) or _text(_object(evaluation).get("model"))
    facts.latency_s = seconds(resolved.get("total_time"))
    facts.error = _error(resolved)
    read_usage(resolved, events, facts)
    return [build_trace(told, facts)]


def _is_agents(event: Event) -> bool:
    return isinstance(event, Called) or (isinstance(event, Said) and event.role == "assistant")


def _id(sample: Sample) -> str | None:
    name, epoch = sample.get("id"), sample.get("epoch")
    return None if name is None else f"{name}#{epoch}" if epoch is not None else f"{name}"


def _asked(value: JsonValue, notes: set[str]) -> list[Event]:
    if isinstance(value, str):
        return [Said("user", value)] if value else []
    return [event for message in _objects(value) for event in _events(message, notes) if isinstance(event, Said)]


def _events(message: Sample, notes: set[str]) -> list[Event]:
    role, content = message.get("role"), message.get("content")
    if role == "tool":
        call_id = message.get("tool_call_id")
        failed = message.get("error") is not None
        return [Answered(_text(call_id), text_of(content, notes), failed, _text(message.get("function")))]
    if role == "user":
        return [Said("user", text_of(content, notes))]
    if role != "assistant":
        return []
    calls = [_call(call, notes) for call in _objects(message.get("tool_calls"))]
    events = _assistant_content(content, bool(calls), notes)
    return [*events, *calls]


def _assistant_content(content: JsonValue, has_calls: bool, notes: set[str]) -> list[Event]:
    """The parts of an assistant's message: texts, reasoning, and calls that the provider ran itself."""
    if not isinstance(content, list):
        text = text_of(content, notes)
        return [Said("assistant", text)] if text or not has_calls else []
    events: list[Event] = []
    texts: list[JsonValue] = []
    for part in content:
        kind = part.get("type") if isinstance(part, dict) else None
        if not isinstance(part, dict) or kind not in ("reasoning", "tool_use"):
            texts.append(part)
            continue
        _flush(texts, events, notes)
        if kind == "tool_use":
            events.append(_hosted(part, notes))
        elif part.get("redacted") is True:
            notes.add("redacted")
            events.append(Thought(_text(part.get("summary")) or ""))
        else:
            events.append(Thought(_text(part.get("reasoning")) or _text(part.get("summary")) or ""))
    _flush(texts, events, notes)
    return events


def _flush(texts: list[JsonValue], events: list[Event], notes: set[str]) -> None:
    if texts:
        events.append(Said("assistant", text_of(list(texts), notes)))
        texts.clear()


def _call(call: Sample, notes: set[str]) -> Called:
    name, call_id, fault = _text(call.get("function")) or "", _text(call.get("id")), call.get("parse_error")
    if isinstance(fault, str):
        # Only the text of the error keeps the arguments as the model wrote them.
        notes.add("args_not_json")
        broken, ends, _ = fault.partition(_BEFORE_BROKEN)[2].rpartition(_AFTER_BROKEN)
        return Called(name, call_id, None, broken.lstrip("\n") if ends else fault)
    args, raw = read_args(call.get("arguments"), notes)
    return Called(name, call_id, args, raw)


def _hosted(part: Sample, notes: set[str]) -> Called:
    args, raw = read_args(part.get("arguments"), notes)
    fault = part.get("error")
    return Called(
        _text(part.get("name")) or _text(part.get("tool_type")) or "",
        _text(part.get("id")),
        args,
        raw,
        part.get("result") if fault is None else fault,
        fault is not None,
        hosted=True,
    )


def _mark_errors(told: Sequence[Event], events: Sequence[Sample]) -> None:
    """Tool events know failures that the messages do not mark."""
    failed = {
        call_id
        for event in events
        if event.get("event") == "tool" and (event.get("error") is not None or event.get("failed") is True)
        if isinstance(call_id := event.get("id"), str)
    }
    for event in told:
        if isinstance(event, Called) and event.call_id in failed:
            event.error = True


def _error(sample: Sample) -> str | None:
    fault, limit = sample.get("error"), sample.get("limit")
    if isinstance(fault, dict):
        return _text(fault.get("message")) or "error"
    if isinstance(limit, dict):
        return f"limit:{limit.get('type')}"
    return None


def _object(value: JsonValue) -> Sample:
    return value if isinstance(value, dict) else {}


def _objects(value: JsonValue) -> list[Sample]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def _text(value: JsonValue) -> str | None:
    return value if isinstance(value, str) and value else None
