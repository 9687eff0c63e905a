"""LangSmith and LangGraph runs → the runs of a trace, in the order of their `dotted_order`."""

from __future__ import annotations

from collections.abc import Sequence

from agentanvil.dataset.traces.assembly import assemble
from agentanvil.dataset.traces.dialogue import heard, messages_in, spoken
from agentanvil.dataset.traces.events import Answered, Event
from agentanvil.dataset.traces.jsontext import Undecoded, decode_literal, read_args
from agentanvil.dataset.traces.measures import amount, between, clock, whole
from agentanvil.dataset.traces.nodes import Node
from agentanvil.dataset.traces.record import Trace
from agentanvil.strict_json import JsonValue

Run = dict[str, JsonValue]

_PAUSES = ("GraphInterrupt", "NodeInterrupt")
_TRACEBACK = "Traceback (most recent call last)"


def is_run(value: JsonValue) -> bool:
    """Say whether `value` is a run."""
    return isinstance(value, dict) and isinstance(value.get("run_type"), str) and ("id" in value or "run_id" in value)


def trace_id_of(run: Run) -> str:
    """Return the id of the trace that a run belongs to; a run without one is a trace of its own."""
    return _text(run.get("trace_id")) or _id(run)


def read_runs(trace_id: str, runs: Sequence[Run], notes: set[str]) -> list[Trace]:
    """Return the trace of the runs of one trace, children nested or beside them, records of one run merged."""
    merged: dict[str, Run] = {}
    for run in _flattened(runs):
        known = merged.setdefault(_id(run), {})
        known |= {key: value for key, value in run.items() if value is not None or key not in known}
    ordered = sorted(merged.values(), key=_order)
    nodes = [_node(rank, run, notes) for rank, run in enumerate(ordered)]
    for node in nodes:
        if node.kind == "agent":
            node.end = len(nodes)
    return assemble(trace_id or None, nodes, notes)


def _flattened(runs: Sequence[Run]) -> list[Run]:
    found: list[Run] = []
    waiting = list(reversed(runs))
    while waiting:
        run = waiting.pop()
        found.append(run)
        children = run.get("child_runs")
        waiting += [
            {**child, "parent_run_id": child.get("parent_run_id") or run.get("id")}
            for child in (children if isinstance(children, list) else [])
            if isinstance(child, dict)
        ]
    return found


def _order(run: Run) -> tuple[str, int]:
    return _text(run.get("dotted_order")) or "", clock(run.get("start_time")) or 0


def _node(rank: int, run: Run, notes: set[str]) -> Node:
    kind, parent = run.get("run_type"), _text(run.get("parent_run_id"))
    node = Node(_id(run), parent, "other", _text(run.get("name")) or "", start=rank, end=rank)
    node.latency_s = between(clock(run.get("start_time")), clock(run.get("end_time")))
    error = _text(run.get("error"))
    if error is not None and any(pause in error for pause in _PAUSES):
        notes.add("interrupted")
    elif error:
        node.fault = error.partition(_TRACEBACK)[0].strip() or error
    if run.get("inputs") is None and run.get("outputs") is None and run.get("inputs_s3_urls"):
        notes.add("io_elsewhere")
    node.tokens_in, node.tokens_out = whole(run.get("prompt_tokens")), whole(run.get("completion_tokens"))
    node.cost = amount(run.get("total_cost"))
    if kind == "tool":
        _read_tool(node, run, notes)
    elif kind == "llm":
        node.kind = "model"
        _read_model(node, run, notes)
    elif parent is None:
        node.kind = "agent"
        node.inputs = heard(run.get("inputs"), notes) or []
        node.outputs = spoken(run.get("outputs"), notes) or []
    return node


def _read_model(node: Node, run: Run, notes: set[str]) -> None:
    inputs, outputs = _object(run.get("inputs")), _object(run.get("outputs"))
    node.inputs = heard(inputs, notes) or _prompts(inputs, notes)
    node.outputs = spoken(outputs, notes) or []
    llm_output = _object(outputs.get("llm_output"))
    message = _message(outputs)
    metadata = _object(_object(run.get("extra")).get("metadata"))
    names = (
        llm_output.get("model_name"),
        _object(message.get("response_metadata")).get("model_name"),
        outputs.get("model"),
        metadata.get("ls_model_name"),
        inputs.get("model"),
    )
    node.model = next((name for name in names if isinstance(name, str) and name), None)
    if not node.tokens_in and not node.tokens_out:
        _read_usage(node, [llm_output.get("token_usage"), message.get("usage_metadata"), outputs.get("usage"),
                           outputs.get("usage_metadata")])  # fmt: skip


def _read_usage(node: Node, places: Sequence[JsonValue]) -> None:
    """The counts that the run itself does not carry: 0 there means that nobody counted."""
    node.tokens_in = node.tokens_out = None
    for place in places:
        usage = _object(place)
        for given, taken in (("prompt_tokens", "completion_tokens"), ("input_tokens", "output_tokens")):
            if given in usage or taken in usage:
                node.tokens_in, node.tokens_out = whole(usage.get(given)), whole(usage.get(taken))
                return


def _prompts(inputs: Run, notes: set[str]) -> list[Event]:
    prompts = inputs.get("prompts")
    first = prompts[0] if isinstance(prompts, list) and prompts else None
    return heard(first, notes) or []


def _message(outputs: Run) -> Run:
    found = outputs.get("generations")
    while isinstance(found, list) and found:
        found = found[0]
    message = _object(_object(found).get("message"))
    return _object(message.get("kwargs")) or message


def _read_tool(node: Node, run: Run, notes: set[str]) -> None:
    node.kind = "tool"
    inputs, outputs = run.get("inputs"), run.get("outputs")
    given = inputs
    if isinstance(inputs, dict) and set(inputs) == {"input"}:
        given = inputs["input"]
    if isinstance(given, str) and isinstance(decode_literal(given), Undecoded) and given[:1] not in ("{", "["):
        given = {"input": given}
    node.args, node.args_raw = read_args(given, notes, literals=True)
    paused = node.fault is None and run.get("error") is not None
    if outputs is not None:
        result = outputs["output"] if isinstance(outputs, dict) and set(outputs) == {"output"} else outputs
        node.answered = not paused
        node.result = _result(node, result, notes)
    node.error = node.fault is not None or (node.error is True)


def _result(node: Node, value: JsonValue, notes: set[str]) -> JsonValue:
    """A tool message wrapped as the output carries the call's id and status."""
    if isinstance(value, dict):
        told = messages_in(value, notes)
        if told and isinstance(answer := told[0], Answered):
            node.call_id, node.error = answer.call_id, answer.error
            return answer.result
    return value


def _id(run: Run) -> str:
    return _text(run.get("id")) or _text(run.get("run_id")) or ""


def _object(value: JsonValue) -> Run:
    return value if isinstance(value, dict) else {}


def _text(value: JsonValue) -> str | None:
    return value if isinstance(value, str) and value else None
