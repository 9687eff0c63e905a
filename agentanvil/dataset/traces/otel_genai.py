"""OpenTelemetry GenAI: spans and log events of one trace, in every version of the conventions → its runs."""

from __future__ import annotations

from collections.abc import Sequence

from agentanvil.dataset.traces.assembly import assemble
from agentanvil.dataset.traces.events import Event
from agentanvil.dataset.traces.jsontext import decode_container, read_args
from agentanvil.dataset.traces.measures import whole
from agentanvil.dataset.traces.nodes import Kind, Node
from agentanvil.dataset.traces.otel_messages import CHOICE, DETAILS, body_events, message_events, messages_of
from agentanvil.dataset.traces.record import Trace
from agentanvil.dataset.traces.spans import Attributes, Span, ordered
from agentanvil.strict_json import JsonValue

_OPERATIONS: dict[str, Kind] = {
    "invoke_agent": "agent",
    "invoke_workflow": "workflow",
    "plan": "plan",
    "chat": "model",
    "generate_content": "model",
    "text_completion": "model",
    "execute_tool": "tool",
}
_NAMES = ("gen_ai.tool.name", "ai.toolCall.name", "tool.name", "tool_name", "mcp.tool.name")
_IDS = ("gen_ai.tool.call.id", "ai.toolCall.id", "tool_call_id", "tool.call.id")
_ARGUMENTS = ("gen_ai.tool.call.arguments", "tool_arguments", "ai.toolCall.args", "tool.arguments", "tool.input")
_RESULTS = ("gen_ai.tool.call.result", "tool_response", "ai.toolCall.result", "tool.result", "tool.output")
_HISTORIES = ("pydantic_ai.all_messages", "all_messages", "all_messages_events", "gen_ai.output.messages")
_PREFIXES = ("execute_tool ", "running tool: ")


def is_genai(attributes: Attributes) -> bool:
    """Say whether a span or an event belongs to these conventions, or to a tool call beside them."""
    return any(key.startswith(("gen_ai.", "ai.toolCall.")) for key in attributes)


def read_spans(trace_id: str, spans: Sequence[Span], calls: Sequence[Node], notes: set[str]) -> list[Trace]:
    """Return the runs of one trace from its spans and from the model calls that its log events tell."""
    if not any(is_genai(span.attributes) for span in spans) and not calls:
        return []
    nodes = [genai_node(rank, span, notes) for rank, span in ordered(spans)]
    by_id = {node.id: node for node in nodes}
    for call in calls:
        node = by_id.get(call.id)
        if node is None:
            nodes.append(call)
        else:
            _complete(node, call)
    return assemble(trace_id or None, nodes, notes)


def genai_node(rank: int, span: Span, notes: set[str]) -> Node:
    """Return the node of one span, which `rank` puts in order."""
    kind = _kind(span)
    node = Node(span.span_id, span.parent_id, kind, _node_name(span, kind))
    node.start = rank
    node.end = span.end or rank
    node.latency_s, node.fault = span.latency_s, span.fault
    if kind == "tool":
        _read_tool(node, span, notes)
    elif kind != "other":
        fill_model(node, span.attributes, notes)
        for event in span.events:
            add_event(node, event.name, event.attributes, notes)
    return node


def fill_model(node: Node, attributes: Attributes, notes: set[str]) -> None:
    """Give a model call or an agent its model, tokens and messages."""
    model = attributes.get("gen_ai.response.model") or attributes.get("gen_ai.request.model")
    node.model = model if isinstance(model, str) else node.model
    node.tokens_in = _count(attributes, "gen_ai.usage.input_tokens", "gen_ai.usage.prompt_tokens")
    node.tokens_out = _count(attributes, "gen_ai.usage.output_tokens", "gen_ai.usage.completion_tokens")
    reasons = attributes.get("gen_ai.response.finish_reasons")
    node.cut_short = isinstance(reasons, list) and any(reason in ("length", "max_tokens") for reason in reasons)
    node.inputs += _read(attributes.get("gen_ai.input.messages"), notes)
    histories = _HISTORIES if node.kind in ("agent", "workflow") else _HISTORIES[-1:]
    for key in histories:
        if attributes.get(key) is not None:
            node.outputs += _read(attributes[key], notes)
            break
    else:
        if isinstance(final := attributes.get("final_result"), str):
            node.outputs += message_events([{"role": "assistant", "content": final}], notes)
    listed = attributes.get("events")
    for event in messages_of(listed, notes) if isinstance(listed, str) else []:
        if isinstance(event, dict) and isinstance(name := event.get("event.name"), str):
            (node.outputs if name == CHOICE else node.inputs).extend(body_events(name, event, notes))


def add_event(node: Node, name: str, attributes: Attributes, notes: set[str], body: JsonValue = None) -> None:
    """Give a model call what one event on its span, or one log event, tells of it."""
    if name == DETAILS:
        detailed = Node(node.id, None, "model")
        fill_model(detailed, {**(body if isinstance(body, dict) else {}), **attributes}, notes)
        detailed.fault = fault if isinstance(fault := attributes.get("error.type"), str) else None
        _complete(node, detailed)
    elif name in ("gen_ai.content.prompt", "gen_ai.content.completion"):
        key = name.replace("content.", "")
        (node.inputs if key == "gen_ai.prompt" else node.outputs).extend(_read(attributes.get(key), notes))
    elif name.startswith("gen_ai."):
        told = body if isinstance(body, dict) else {key: decode_container(value) for key, value in attributes.items()}
        if name != CHOICE:
            node.inputs += body_events(name, told, notes)
        elif not whole(told.get("index")):
            node.outputs += body_events(name, told, notes)
            node.cut_short = node.cut_short or told.get("finish_reason") == "length"


def _complete(node: Node, other: Node) -> None:
    """Give `node` what only `other`, another record of the same call, knows."""
    node.inputs = node.inputs or other.inputs
    node.outputs = node.outputs or other.outputs
    node.model = node.model or other.model
    node.fault = node.fault or other.fault
    node.cut_short = node.cut_short or other.cut_short
    if node.tokens_in is None and node.tokens_out is None:
        node.tokens_in, node.tokens_out = other.tokens_in, other.tokens_out


def _kind(span: Span) -> Kind:
    attributes = span.attributes
    operation = attributes.get("gen_ai.operation.name")
    if isinstance(operation, str) and operation in _OPERATIONS:
        return _OPERATIONS[operation]
    if any(isinstance(attributes.get(key), str) for key in _NAMES) or span.name.startswith(_PREFIXES):
        return "tool"
    if operation is not None:
        return "other"
    if any(key in attributes for key in ("gen_ai.agent.name", "agent_name", *_HISTORIES[:3])):
        return "agent"
    return "model" if "gen_ai.request.model" in attributes else "other"


def _node_name(span: Span, kind: Kind) -> str:
    keys = _NAMES if kind == "tool" else ("gen_ai.agent.name", "agent_name", "gen_ai.workflow.name")
    found = _first(span.attributes, keys)
    if isinstance(found, str):
        return found
    for prefix in _PREFIXES if kind == "tool" else ():
        if span.name.startswith(prefix):
            return span.name.removeprefix(prefix)
    return span.name


def _read_tool(node: Node, span: Span, notes: set[str]) -> None:
    call_id = _first(span.attributes, _IDS)
    node.call_id = call_id if isinstance(call_id, str) else None
    node.args, node.args_raw = read_args(_first(span.attributes, _ARGUMENTS), notes)
    result = _first(span.attributes, _RESULTS)
    node.answered, node.result = result is not None, decode_container(result)
    node.error = span.fault is not None


def _read(value: JsonValue, notes: set[str]) -> list[Event]:
    return message_events(messages_of(value, notes), notes)


def _count(attributes: Attributes, *keys: str) -> int | None:
    return next((found for key in keys if (found := whole(attributes.get(key))) is not None), None)


def _first(attributes: Attributes, keys: Sequence[str]) -> JsonValue:
    return next((found for key in keys if (found := attributes.get(key)) is not None), None)
