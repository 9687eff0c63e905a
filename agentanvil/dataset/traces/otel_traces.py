"""OpenTelemetry data of any shape: containers taken apart, and the spans and log events of one trace joined."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from agentanvil.dataset.traces import openinference, otel_genai, otel_logs
from agentanvil.dataset.traces.record import Trace
from agentanvil.dataset.traces.spans import Span, read_span, trace_id_of
from agentanvil.strict_json import JsonValue

Record = dict[str, JsonValue]

SPAN_LISTS = ("spans",)
LOG_LISTS = ("logRecords", "log_records")
SCOPES = ("scopeSpans", "scope_spans", "instrumentationLibrarySpans", "scopeLogs", "scope_logs")
RESOURCES = ("resourceSpans", "resource_spans", "resourceLogs", "resource_logs")
_LOG_MARKS = ("eventName", "event_name", "observedTimeUnixNano", "observed_time_unix_nano", "body", "severityNumber")


def is_container(value: JsonValue) -> bool:
    """Say whether `value` is OTLP/JSON: resources with their scopes, or one bare resource."""
    if isinstance(value, list):
        return bool(value) and all(is_container(item) for item in value)
    return isinstance(value, dict) and any(isinstance(value.get(key), list) for key in (*RESOURCES, *SCOPES))


def is_metrics(value: Record) -> bool:
    """Say whether `value` is OTLP/JSON of metrics, which tell nothing of a run."""
    return "resourceMetrics" in value or "resource_metrics" in value


def split(value: JsonValue) -> Iterator[Record]:
    """Yield the spans and log records of an OTLP container."""
    if isinstance(value, list):
        for item in value:
            yield from split(item)
    elif isinstance(value, dict):
        for key in (*RESOURCES, *SCOPES):
            yield from split(value.get(key))
        for key in (*SPAN_LISTS, *LOG_LISTS):
            listed = value.get(key)
            yield from (item for item in listed if isinstance(item, dict)) if isinstance(listed, list) else ()


def is_fragment(value: Record) -> bool:
    """Say whether `value` is a span, or a log record of the GenAI conventions, of any exporter."""
    context = value.get("context")
    if "context.span_id" in value or (isinstance(context, dict) and ("span_id" in context or "spanId" in context)):
        return True
    if not any(key in value for key in ("traceId", "trace_id")):
        return False
    return ("spanId" in value or "span_id" in value) and ("name" in value or otel_logs.is_genai_record(value))


def key_of(value: Record) -> str:
    """Return the id of the trace that a span or log record belongs to; ids are the same in any case."""
    return trace_id_of(value)


def join(trace_id: str, fragments: Sequence[Record], notes: set[str]) -> list[Trace]:
    """Return the runs of one trace; none where its spans are about something else."""
    spans: list[Span] = []
    records: list[Record] = []
    for fragment in fragments:
        if _is_log(fragment):
            if otel_logs.is_genai_record(fragment):
                records.append(fragment)
        else:
            spans.append(read_span(fragment))
    if any(openinference.is_openinference(span) for span in spans):
        return openinference.read_spans(trace_id, spans, notes)
    return otel_genai.read_spans(trace_id, spans, otel_logs.read_records(records, notes), notes)


def _is_log(fragment: Record) -> bool:
    return "context" not in fragment and "name" not in fragment and any(key in fragment for key in _LOG_MARKS)
