"""Spans as OTLP/JSON, SDK exporters and platforms write them → one shape with plain attributes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from agentanvil.dataset.traces.measures import between, clock, nanoseconds, whole
from agentanvil.dataset.traces.nested_attributes import dotted, unflattened
from agentanvil.strict_json import JsonValue

Attributes = dict[str, JsonValue]

_VALUE_KEYS = ("stringValue", "boolValue", "intValue", "doubleValue", "bytesValue")
_VALUE_KEYS_SNAKE = ("string_value", "bool_value", "int_value", "double_value", "bytes_value")


@dataclass(frozen=True, slots=True)
class SpanEvent:
    """One event on a span."""

    name: str
    attributes: Attributes


@dataclass(frozen=True, slots=True)
class Span:
    """One span. Ids are lower case without `0x`; times are nanoseconds, None where not recorded."""

    trace_id: str
    span_id: str
    parent_id: str | None
    name: str
    kind: str
    start: int | None
    end: int | None
    attributes: Attributes
    events: tuple[SpanEvent, ...]
    failed: bool
    message: str | None

    @property
    def latency_s(self) -> float | None:
        """The seconds that the span took."""
        return between(self.start, self.end)

    @property
    def fault(self) -> str | None:
        """What went wrong, as short as the span says it; None where nothing did."""
        kind = self.attributes.get("error.type")
        if not self.failed and not kind:
            return None
        return kind if isinstance(kind, str) and kind else self.message or "error"


def read_span(value: Attributes) -> Span:
    """Return the span that `value` writes in any of the known shapes."""
    value = unflattened(value)
    context = inner if isinstance(inner := value.get("context"), dict) else value
    status = found if isinstance(found := value.get("status"), dict) else {}
    code = _first(status, "code", "status_code") if status else _first(value, "status_code", "statusCode")
    events = value.get("events")
    return Span(
        trace_id=trace_id_of(value),
        span_id=_id(_first(context, "span_id", "spanId")) or "",
        parent_id=_id(_first(value, "parent_id", "parentSpanId", "parent_span_id")),
        name=text if isinstance(text := value.get("name"), str) else "",
        kind=text if isinstance(text := value.get("span_kind"), str) else "",
        start=_time(value, "startTimeUnixNano", "start_time_unix_nano", "start_time", "startTime"),
        end=_time(value, "endTimeUnixNano", "end_time_unix_nano", "end_time", "endTime"),
        attributes=dotted(read_attributes(value.get("attributes"))),
        events=tuple(_event(item) for item in events if isinstance(item, dict)) if isinstance(events, list) else (),
        failed=code == 2 or (isinstance(code, str) and code.upper() in ("ERROR", "STATUS_CODE_ERROR", "2")),
        message=_text(_first(status, "message", "description") if status else value.get("status_message")),
    )


def trace_id_of(value: Attributes) -> str:
    """Return the id of the trace that a span or a log record belongs to, "" where it names none."""
    context = inner if isinstance(inner := value.get("context"), dict) else value
    return _id(_first(context, "trace_id", "traceId") or value.get("context.trace_id")) or ""


def read_attributes(value: JsonValue) -> Attributes:
    """Return attributes as a plain object: OTLP writes a list of keys with typed values."""
    if isinstance(value, dict):
        return value
    found: Attributes = {}
    for item in value if isinstance(value, list) else []:
        if isinstance(item, dict) and isinstance(key := item.get("key"), str):
            found[key] = any_value(item.get("value"))
    return found


def any_value(value: JsonValue) -> JsonValue:
    """Return the plain JSON value of an OTLP AnyValue; 64-bit integers come as text, an empty one is null."""
    if not isinstance(value, dict):
        return value
    for key in (*_VALUE_KEYS, *_VALUE_KEYS_SNAKE):
        if (found := value.get(key)) is not None:
            return _integer(found) if key.startswith("int") else found
    for key in ("arrayValue", "array_value"):
        if isinstance(inner := value.get(key), dict):
            items = inner.get("values")
            return [any_value(item) for item in items] if isinstance(items, list) else []
    for key in ("kvlistValue", "kvlist_value"):
        if isinstance(inner := value.get(key), dict):
            return read_attributes(inner.get("values") or [])
    return None


def _event(value: Attributes) -> SpanEvent:
    return SpanEvent(_text(value.get("name")) or "", read_attributes(value.get("attributes")))


def _integer(value: JsonValue) -> JsonValue:
    if isinstance(value, str) and value.startswith("-"):
        positive = whole(value[1:])
        return value if positive is None else -positive
    number = whole(value)
    return value if number is None else number


def _id(value: JsonValue) -> str | None:
    if not isinstance(value, str):
        return None
    return value.lower().removeprefix("0x") or None


def _time(value: Attributes, *keys: str) -> int | None:
    for key in keys:
        if (found := value.get(key)) is not None:
            return nanoseconds(found) if key.lower().endswith("nano") else clock(found)
    return None


def _first(value: Attributes, *keys: str) -> JsonValue:
    return next((found for key in keys if (found := value.get(key)) is not None), None)


def _text(value: JsonValue) -> str | None:
    return value if isinstance(value, str) and value else None


def ordered(spans: Sequence[Span]) -> list[tuple[int, Span]]:
    """Return spans by start, each with its rank; one without a start keeps its place after the span before it."""
    ranked: list[tuple[int, Span]] = []
    last = 0
    for span in spans:
        last = span.start if span.start is not None else last
        ranked.append((last, span))
    return sorted(ranked, key=lambda item: item[0])
