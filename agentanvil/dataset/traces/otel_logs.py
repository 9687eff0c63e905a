"""OpenTelemetry GenAI log events: one a message (conventions 1.28 to 1.36), or one a model call (from 1.37)."""

from __future__ import annotations

from collections.abc import Sequence

from agentanvil.dataset.traces.jsontext import decode_container
from agentanvil.dataset.traces.measures import nanoseconds
from agentanvil.dataset.traces.nodes import Node
from agentanvil.dataset.traces.otel_genai import add_event
from agentanvil.dataset.traces.otel_messages import CHOICE, DETAILS
from agentanvil.dataset.traces.spans import any_value, read_attributes
from agentanvil.strict_json import JsonValue

Record = dict[str, JsonValue]


def event_name(record: Record) -> str:
    """Return the name of a log record's event, "" where it is a plain log line."""
    named = record.get("eventName") or record.get("event_name")
    if not isinstance(named, str):
        named = read_attributes(record.get("attributes")).get("event.name")
    return named if isinstance(named, str) else ""


def is_genai_record(value: JsonValue) -> bool:
    """Say whether `value` is a log record of these conventions."""
    return isinstance(value, dict) and event_name(value).startswith("gen_ai.")


def read_records(records: Sequence[Record], notes: set[str]) -> list[Node]:
    """Return the model calls that log records tell, in time order. Records without a span are told apart by answers."""
    nodes: list[Node] = []
    open_nodes: dict[str, Node] = {}
    for record in sorted(records, key=_time):
        span = record.get("spanId") or record.get("span_id")
        name = event_name(record)
        known = isinstance(span, str) and bool(span)
        key = span.lower() if isinstance(span, str) else ""
        node = open_nodes.get(key)
        if node is None:
            start = _time(record)
            node = Node(key if known else f"event {len(nodes)}", None, "model", start=start, end=start, counts=False)
            nodes.append(node)
            open_nodes[key] = node
        # Events of one message each carry no counts; those of a whole call do.
        node.counts = node.counts or name == DETAILS
        add_event(node, name, read_attributes(record.get("attributes")), notes, _body(record))
        node.end = max(node.end, _time(record))
        if not known and name in {CHOICE, DETAILS}:
            del open_nodes[key]
    return nodes


def _body(record: Record) -> JsonValue:
    return decode_container(any_value(record.get("body")))


def _time(record: Record) -> int:
    keys = ("timeUnixNano", "observedTimeUnixNano", "time_unix_nano", "observed_time_unix_nano")
    return next((found for key in keys if (found := nanoseconds(record.get(key)))), 0)
