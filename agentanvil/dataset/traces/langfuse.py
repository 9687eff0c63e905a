"""Langfuse: a trace with its observations, or observations alone → the runs of the trace."""

from __future__ import annotations

from collections.abc import Sequence

from agentanvil.dataset.traces.assembly import assemble
from agentanvil.dataset.traces.dialogue import heard, spoken
from agentanvil.dataset.traces.events import Called
from agentanvil.dataset.traces.jsontext import decode_all, decode_text, read_args
from agentanvil.dataset.traces.measures import amount, between, clock, total, whole
from agentanvil.dataset.traces.nodes import Kind, Node
from agentanvil.dataset.traces.record import Trace
from agentanvil.strict_json import JsonValue

Observation = dict[str, JsonValue]

_KINDS: dict[str, Kind] = {"GENERATION": "model", "TOOL": "tool", "AGENT": "agent", "EVALUATOR": "judge"}
_IDS = ("gen_ai.tool.call.id", "ai.toolCall.id", "tool_call_id")
_NAMES = ("gen_ai.tool.name", "ai.toolCall.name")
_RUN = "the trace itself"


def is_observation(value: Observation) -> bool:
    """Say whether `value` is one observation."""
    return "traceId" in value and "startTime" in value and isinstance(value.get("type"), str)


def is_export(value: Observation) -> bool:
    """Say whether `value` is an export with observations in it, and no data that only uses the word."""
    listed = value.get("observations")
    if not isinstance(listed, list):
        return False
    return any(isinstance(item, dict) and "startTime" in item and "type" in item for item in listed)


def key_of(value: Observation) -> str:
    """Return the id of the trace that an observation belongs to."""
    return f"{value.get('traceId')}"


def join(_: str, observations: Sequence[Observation], notes: set[str]) -> list[Trace]:
    """Return the runs of one trace from its observations alone."""
    return read_observations({}, observations, notes)


def read_export(value: Observation) -> list[Trace]:
    """Return the traces of an export: a trace beside its observations or around them, or observations alone."""
    listed = value.get("observations")
    known = [item for item in listed if isinstance(item, dict)] if isinstance(listed, list) else []
    trace = trace_record(value)
    if trace:
        return read_observations(trace, known, set())
    groups: dict[str, list[Observation]] = {}
    for item in known:
        groups.setdefault(key_of(item), []).append(item)
    return [trace for members in groups.values() for trace in read_observations({}, members, set())]


def trace_record(value: Observation) -> Observation:
    """Return the trace's own record of an export, empty where it has none."""
    if isinstance(trace := value.get("trace"), dict):
        return trace
    return value if "id" in value or "timestamp" in value else {}


def read_observations(trace: Observation, observations: Sequence[Observation], notes: set[str]) -> list[Trace]:
    """Return the runs of one trace; `trace` is its own record, or empty."""
    told = [item for item in observations if item.get("type") != "EVENT"]
    ranked: list[tuple[int, Observation]] = []
    last = 0
    for item in told:
        # One without a start keeps its place after the one before it.
        last = clock(item.get("startTime")) or last
        ranked.append((last, item))
    ranked.sort(key=lambda pair: pair[0])
    known = [item for _, item in ranked]
    nodes = [_node(rank, item, notes) for rank, item in ranked]
    _find_tools(nodes)
    run = _run(trace, nodes, known, notes)
    named = _text(trace.get("id")) or next((name for item in known if (name := _text(item.get("traceId")))), None)
    return assemble(named, [run, *nodes], notes)


def _run(trace: Observation, nodes: Sequence[Node], known: Sequence[Observation], notes: set[str]) -> Node:
    """The trace as the agent above its observations; the only top observation stands for it where it is one."""
    ids = {node.id for node in nodes}
    tops = [node for node in nodes if node.parent not in ids]
    starts = [found for item in known if (found := clock(item.get("startTime"))) is not None]
    ends = [found for item in known if (found := clock(item.get("endTime"))) is not None]
    run = Node(_RUN, None, "workflow", start=min(starts, default=0), end=max(ends, default=0))
    run.latency_s = between(min(starts, default=None), max(ends, default=None))
    run.inputs = heard(_value(trace.get("input")), notes) or []
    run.outputs = spoken(_value(trace.get("output")), notes) or []
    for node in tops:
        node.parent = _RUN
    if len(tops) == 1:
        run.inputs = run.inputs or list(tops[0].inputs)
        run.outputs = run.outputs or (list(tops[0].outputs) if tops[0].kind in ("agent", "other") else [])
        run.fault = tops[0].fault
    return run


def _node(rank: int, item: Observation, notes: set[str]) -> Node:
    kind, attributes = item.get("type"), _attributes(item)
    node = Node(_text(item.get("id")) or "", _text(item.get("parentObservationId")), "other")
    node.kind = _KINDS.get(kind, "other") if isinstance(kind, str) else "other"
    node.name = _text(item.get("name")) or ""
    node.call_id = next((found for key in _IDS if (found := _text(attributes.get(key)))), None)
    if node.kind == "other" and (node.call_id or any(key in attributes for key in _NAMES)):
        node.kind = "tool"
    node.start = rank
    node.end = clock(item.get("endTime")) or rank
    if item.get("level") == "ERROR":
        node.fault = _text(item.get("statusMessage")) or "error"
    usage = item.get("usageDetails") if isinstance(item.get("usageDetails"), dict) else item.get("usage")
    if isinstance(usage, dict):
        node.tokens_in = total(whole(value) for key, value in usage.items() if _is_count(key, "input", "prompt"))
        node.tokens_out = total(whole(value) for key, value in usage.items() if _is_count(key, "output", "completion"))
    costs = item.get("costDetails")
    node.cost = amount(costs.get("total") if isinstance(costs, dict) else item.get("calculatedTotalCost"))
    node.model = _text(item.get("model"))
    _read_content(node, item, notes)
    return node


def _read_content(node: Node, item: Observation, notes: set[str]) -> None:
    given, result = item.get("input"), item.get("output")
    # Every kind keeps both readings, since a plain span may turn out to be a tool.
    quiet: set[str] = set()
    node.args, node.args_raw = read_args(decode_text(given), notes if node.kind == "tool" else quiet)
    node.answered, node.result = result is not None, decode_text(result)
    if node.kind == "tool":
        node.error = node.fault is not None
    elif node.kind in ("model", "agent", "other"):
        told = notes if node.kind != "other" else quiet
        node.inputs = heard(_value(given), told) or []
        node.outputs = spoken(_value(result), told) or []


def _find_tools(nodes: Sequence[Node]) -> None:
    """A plain span is a tool where a model called one of its name and no tool observation has it."""
    tools = {node.name for node in nodes if node.kind == "tool"}
    called = {
        event.tool for node in nodes if node.kind == "model" for event in node.outputs if isinstance(event, Called)
    }
    for node in nodes:
        if node.kind == "other" and node.name in called - tools:
            node.kind, node.error = "tool", node.fault is not None


def _value(value: JsonValue) -> JsonValue:
    return decode_all(value)


def _attributes(item: Observation) -> Observation:
    metadata = decode_all(item.get("metadata"))
    found = decode_all(metadata.get("attributes")) if isinstance(metadata, dict) else None
    return found if isinstance(found, dict) else {}


def _is_count(key: str, *names: str) -> bool:
    return any(name in key for name in names) and "cost" not in key.lower()


def _text(value: JsonValue) -> str | None:
    return value if isinstance(value, str) and value else None
