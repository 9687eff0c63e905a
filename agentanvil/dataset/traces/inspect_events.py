"""The events of an Inspect sample: texts kept apart, model calls of the agent itself, and calls of nested agents."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from agentanvil.dataset.traces.events import Called, Event
from agentanvil.dataset.traces.jsontext import read_args
from agentanvil.dataset.traces.measures import whole
from agentanvil.strict_json import JsonValue

Record = dict[str, JsonValue]

_REFERENCES = ("attachment://", "tc://")


def resolver(sample: Record) -> Callable[[Record], Record]:
    """Return what puts the texts back that the log keeps apart, in everything but the attachments themselves."""
    kept = sample.get("attachments")
    texts = kept if isinstance(kept, dict) else {}

    def resolved(value: JsonValue) -> JsonValue:
        if isinstance(value, str):
            if value.startswith(_REFERENCES):
                return texts.get(value.partition("://")[2], value)
            return value
        if isinstance(value, list):
            return [resolved(item) for item in value]
        if isinstance(value, dict):
            return {key: resolved(item) for key, item in value.items()}
        return value

    def resolve(record: Record) -> Record:
        if not texts:
            return record
        return {key: value if key == "attachments" else resolved(value) for key, value in record.items()}

    return resolve


def sample_events(sample: Record) -> list[Record]:
    """Return a sample's events in order, those inside tool events too; older logs keep them under `transcript`."""
    listed = sample.get("events")
    if listed is None and isinstance(transcript := sample.get("transcript"), dict):
        listed = transcript.get("events")
    return list(_flattened(listed))


def is_judges(event: Record, scorers: frozenset[str]) -> bool:
    """Say whether a model event is a grader's: by its role, or by the span of a scorer."""
    span = event.get("span_id")
    return event.get("role") == "grader" or (isinstance(span, str) and span in scorers)


def scorer_spans(events: Sequence[Record]) -> frozenset[str]:
    """Return the ids of the spans in which scorers work, those inside them too."""
    found: set[str] = set()
    for event in events:
        parent = event.get("parent_id")
        is_inside = event.get("type") in ("scorer", "scorers") or (isinstance(parent, str) and parent in found)
        if event.get("event") == "span_begin" and isinstance(name := event.get("id"), str) and is_inside:
            found.add(name)
    return frozenset(found)


def main_messages(sample: Record, events: Sequence[Record]) -> list[Record]:
    """Return the conversation of the agent's last model call, for a log that keeps no messages."""
    scorers, spans = scorer_spans(events), _Spans(events)
    calls = [
        event
        for event in events
        if event.get("event") == "model" and not is_judges(event, scorers) and spans.agent_of(event) is None
    ]
    if not calls:
        return []
    last = calls[-1]
    output = last.get("output")
    choices = output.get("choices") if isinstance(output, dict) else None
    answers = (
        [choice.get("message") for choice in choices if isinstance(choice, dict)] if isinstance(choices, list) else []
    )
    return [item for item in [*_inputs(last, sample), *answers[:1]] if isinstance(item, dict)]


def add_nested(told: list[Event], events: Sequence[Record], notes: set[str]) -> list[Event]:
    """Return the story with the calls of nested agents, each after the call that its agent works for."""
    spans = _Spans(events)
    known = {event.call_id for event in told if isinstance(event, Called) and event.call_id is not None}
    after: dict[str | None, list[Event]] = {}
    current: str | None = None
    for event in events:
        if event.get("event") != "tool" or not isinstance(call_id := event.get("id"), str):
            continue
        agent = spans.agent_of(event)
        if call_id in known:
            current = call_id
        elif agent is not None:
            notes.add("nested_agent")
            after.setdefault(current, []).append(_nested(event, call_id, agent, notes))
    if not after:
        return told
    merged = list(after.get(None, []))
    for item in told:
        merged.append(item)
        if isinstance(item, Called) and item.call_id is not None:
            merged += after.pop(item.call_id, [])
    return merged


def _nested(event: Record, call_id: str, agent: str, notes: set[str]) -> Called:
    args, raw = read_args(event.get("arguments"), notes)
    name, fault = event.get("function"), event.get("error")
    answered = "result" in event and not event.get("pending")
    return Called(
        name if isinstance(name, str) else "",
        call_id,
        args,
        raw,
        event.get("result"),
        fault is not None,
        answered=answered,
        agent=agent,
    )


@dataclass(frozen=True, slots=True)
class _Below:
    """What a span stands below."""

    has_agent: bool
    has_tool: bool
    nested: str | None


class _Spans:
    """The spans of a sample, and which nested agent, if any, works in each. Parents begin before their children."""

    def __init__(self, events: Sequence[Record]) -> None:
        self._inside: dict[str, _Below] = {}
        for event in events:
            if event.get("event") != "span_begin" or not isinstance(name := event.get("id"), str):
                continue
            parent = event.get("parent_id")
            above = self._inside.get(parent) if isinstance(parent, str) else None
            above = above or _Below(has_agent=False, has_tool=False, nested=None)
            kind, nested = event.get("type"), above.nested
            if kind == "agent" and (above.has_agent or above.has_tool):
                nested = f"{event.get('name')}"
            self._inside[name] = _Below(above.has_agent or kind == "agent", above.has_tool or kind == "tool", nested)

    def agent_of(self, event: Record) -> str | None:
        """Return the nested agent that made an event; None for the agent itself."""
        span = event.get("span_id")
        inside = self._inside.get(span) if isinstance(span, str) else None
        return inside.nested if inside is not None else None


def _inputs(event: Record, sample: Record) -> list[JsonValue]:
    """The input of a model event: in place, or as half-open ranges into the sample's pool of messages."""
    found = event.get("input")
    messages = list(found) if isinstance(found, list) else []
    references = event.get("input_refs")
    data = sample.get("events_data")
    pool = data.get("messages") if isinstance(data, dict) else sample.get("message_pool")
    for reference in references if isinstance(references, list) and isinstance(pool, list) else []:
        if isinstance(reference, list) and len(reference) == 2 and isinstance(pool, list):
            start, end = whole(reference[0]), whole(reference[1])
            if start is not None and end is not None:
                messages += pool[start:end]
    return messages


def _flattened(listed: JsonValue) -> Iterator[Record]:
    for event in listed if isinstance(listed, list) else []:
        if isinstance(event, dict):
            yield event
            yield from _flattened(event.get("events"))
