"""promptfoo: one row of results → its trace; the trajectory is in the traced spans, else in the provider's answer."""

from __future__ import annotations

import re

from agentanvil.dataset.texts import canonical_text
from agentanvil.dataset.traces.assembly import assemble
from agentanvil.dataset.traces.build import build_trace
from agentanvil.dataset.traces.dialogue import messages_in
from agentanvil.dataset.traces.events import Called, Event, Facts, Said
from agentanvil.dataset.traces.jsontext import decode_container, read_args
from agentanvil.dataset.traces.measures import seconds, whole
from agentanvil.dataset.traces.otel_genai import genai_node
from agentanvil.dataset.traces.record import ToolStep, Trace
from agentanvil.dataset.traces.spans import ordered, read_span
from agentanvil.strict_json import JsonValue

Row = dict[str, JsonValue]

_ASSERTION_FAILED, _PROVIDER_FAILED = 1, 2
_PROVIDER = re.compile(
    r"[a-z][\w-]*:(?:(?:chat|completions?|responses|messages|assistants?|realtime|text|agents?):)?(?P<model>.+)"
)
_NO_VENDORS = ("file:", "http:", "https:", "exec:", "python:", "webhook:", "ws:", "wss:", "package:")


def is_row(value: JsonValue) -> bool:
    """Say whether `value` is one row of results."""
    return isinstance(value, dict) and "promptIdx" in value and "testIdx" in value


def is_file(value: Row) -> bool:
    """Say whether `value` is a whole file of results."""
    return "evalId" in value and "results" in value


def row_key(row: Row) -> str:
    """Return `test-prompt`, by which a row's spans are found."""
    return f"{row.get('testIdx')}-{row.get('promptIdx')}"


def spans_key(record: Row) -> str:
    """Return the key of the row that a record of `traces` belongs to."""
    metadata = record.get("metadata")
    if isinstance(metadata, dict) and "testIdx" in metadata and "promptIdx" in metadata:
        return row_key(metadata)
    found = record.get("testCaseId")
    return found if isinstance(found, str) else ""


def read_file(value: Row) -> list[Trace]:
    """Return the traces of a whole file: its rows, each with its traced spans."""
    outer = value.get("results")
    rows = outer.get("results") if isinstance(outer, dict) else outer
    traced = value.get("traces")
    spans = {spans_key(item): item for item in traced if isinstance(item, dict)} if isinstance(traced, list) else {}
    found: list[Trace] = []
    for row in rows if isinstance(rows, list) else []:
        if isinstance(row, dict):
            found += read_row(row, value.get("evalId"), spans.get(row_key(row)))
    return found


def read_row(row: Row, evaluation: JsonValue = None, traced: JsonValue = None) -> list[Trace]:
    """Return the trace of one row; `evaluation` is the file's evalId, `traced` the record of its spans.

    The grader's tokens, its result and its score are another judge's work: none of it is read.
    """
    name = row.get("evalId") if isinstance(row.get("evalId"), str) else evaluation
    response = _object(row.get("response"))
    facts = Facts(id=f"{name}#{row_key(row)}" if isinstance(name, str) else row_key(row))
    notes = facts.warnings
    facts.error = _error(row, response)
    usage = response.get("tokenUsage") or row.get("tokenUsage")
    counts = _object(usage)
    facts.tokens_in, facts.tokens_out = whole(counts.get("prompt")), whole(counts.get("completion"))
    facts.latency_s = seconds(row.get("latencyMs", response.get("latencyMs")), per_second=1000)
    facts.cost_usd = seconds(row.get("cost") if row.get("cost") is not None else response.get("cost"))
    provider = row.get("provider")
    facts.model = _model(provider.get("id") if isinstance(provider, dict) else provider)
    events = _prompt(_object(row.get("prompt")).get("raw"), notes)
    events += _from_spans(traced, facts) or _tool_calls(_object(response.get("metadata")).get("toolCalls"), notes)
    events += _output(response.get("output"), notes)
    if response.get("cached") is True and not counts.get("prompt") and not counts.get("completion"):
        facts.tokens_in = facts.tokens_out = None
    if facts.tokens_in is None and facts.tokens_out is None:
        notes.add("tokens_missing")
    return [build_trace(events, facts)]


def _from_spans(traced: JsonValue, facts: Facts) -> list[Event]:
    """The calls that the spans tell. Span times are milliseconds; a long body may be cut."""
    listed = _object(traced).get("spans")
    spans = ordered([read_span(item) for item in listed if isinstance(item, dict)]) if isinstance(listed, list) else []
    notes: set[str] = set()
    nodes = [genai_node(rank, span, notes) for rank, span in spans]
    if not any(node.kind == "tool" for node in nodes):
        return []
    ids = {node.id for node in nodes}
    for node in nodes:
        node.inputs = []
        node.parent = node.parent if node.parent in ids else None
    told = assemble(None, nodes, notes)
    facts.warnings |= notes & {"args_not_json", "args_not_object", "nested_agent", "duplicate_span"}
    facts.model = next((trace.model for trace in told if trace.model), None) or facts.model
    calls = [step for trace in told for step in trace.steps if isinstance(step, ToolStep)]
    return [_as_called(step) for step in calls]


def _as_called(step: ToolStep) -> Called:
    answered = not (step.missing_result or step.error is True)
    return Called(
        step.tool, step.call_id, step.args, step.args_raw, step.result, step.error, answered, step.hosted, step.agent
    )


def _tool_calls(listed: JsonValue, notes: set[str]) -> list[Event]:
    events: list[Event] = []
    for call in listed if isinstance(listed, list) else []:
        if isinstance(call, dict):
            args, raw = read_args(call.get("input", call.get("arguments", call.get("args"))), notes)
            called = Called(_text(call.get("name")) or "", _text(call.get("id")), args, raw)
            result = call.get("output", call.get("result"))
            called.answered, called.result = result is not None, result
            failed = call.get("is_error")
            called.error = failed if isinstance(failed, bool) else None
            events.append(called)
    return events


def _prompt(raw: JsonValue, notes: set[str]) -> list[Event]:
    """The prompt: text, or a chat written as JSON."""
    chat = decode_container(raw)
    told = messages_in(chat, notes) if isinstance(chat, list | dict) else None
    if told is not None:
        return told
    return [Said("user", raw if isinstance(raw, str) else canonical_text(raw))] if raw else []


def _output(output: JsonValue, notes: set[str]) -> list[Event]:
    if output is None:
        return []
    if isinstance(output, str):
        return [Said("assistant", output)]
    calls = [item for item in output if isinstance(item, dict)] if isinstance(output, list) else []
    if calls and all("function" in call or call.get("type") == "function" for call in calls):
        return messages_in({"role": "assistant", "tool_calls": [*calls]}, notes) or []
    told = messages_in(output, notes)
    return [Said("assistant", canonical_text(output))] if told is None else told


def _error(row: Row, response: Row) -> str | None:
    """What the provider failed with. A failed assertion writes its reason into the same field."""
    reason, fault = row.get("failureReason"), _text(row.get("error"))
    own = _text(response.get("error"))
    if reason == _PROVIDER_FAILED:
        return own or fault or "error"
    if reason == _ASSERTION_FAILED or fault is None:
        return own
    graded = _object(row.get("gradingResult")).get("reason")
    return own if reason is not None or graded is not None else own or fault


def _model(provider: JsonValue) -> str | None:
    if not isinstance(provider, str) or not provider:
        return None
    found = None if provider.startswith(_NO_VENDORS) else _PROVIDER.fullmatch(provider)
    return found["model"] if found else provider


def _object(value: JsonValue) -> Row:
    return value if isinstance(value, dict) else {}


def _text(value: JsonValue) -> str | None:
    return value if isinstance(value, str) and value else None
