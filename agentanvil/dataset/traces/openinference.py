"""OpenInference spans: flat numbered attributes → the runs of a trace."""

from __future__ import annotations

from collections.abc import Sequence

from agentanvil.dataset.traces.assembly import assemble
from agentanvil.dataset.traces.content import text_of
from agentanvil.dataset.traces.dialogue import heard, spoken
from agentanvil.dataset.traces.events import Answered, Called, Event, Said
from agentanvil.dataset.traces.jsontext import Undecoded, decode_container, decode_literal, read_args
from agentanvil.dataset.traces.measures import amount, whole
from agentanvil.dataset.traces.nodes import Kind, Node
from agentanvil.dataset.traces.record import Trace
from agentanvil.dataset.traces.spans import Attributes, Span, ordered
from agentanvil.strict_json import JsonValue

KIND = "openinference.span.kind"
REDACTED = "__REDACTED__"
_JSON = "application/json"
_ENCODED = ("{", "[", "(", '"')

KINDS: dict[str, Kind] = {
    "AGENT": "agent",
    "LLM": "model",
    "TOOL": "tool",
    "EVALUATOR": "judge",
    "CHAIN": "other",
    "RETRIEVER": "other",
    "RERANKER": "other",
    "EMBEDDING": "other",
    "GUARDRAIL": "other",
    "PROMPT": "other",
}


def is_openinference(span: Span) -> bool:
    """Say whether a span carries the kind of these conventions, as an attribute or as a platform's own field."""
    return isinstance(span.attributes.get(KIND), str) or span.kind.upper() in KINDS


def read_spans(trace_id: str, spans: Sequence[Span], notes: set[str]) -> list[Trace]:
    """Return the runs of one trace."""
    listed = ordered(spans)
    nodes = [_node(rank, span, notes) for rank, span in listed]
    ids = {node.id for node in nodes}
    has_agents = any(node.kind == "agent" for node in nodes)
    for node, (_, span) in zip(nodes, listed, strict=True):
        # A chain at the top is the run: it stands for the agent, or above several of them.
        if _kind_name(span) == "CHAIN" and node.parent not in ids:
            node.kind = "workflow" if has_agents else "agent"
            _read_agent(node, span.attributes, notes)
    return assemble(trace_id or None, nodes, notes)


def _node(rank: int, span: Span, notes: set[str]) -> Node:
    attributes = span.attributes
    kind = KINDS.get(_kind_name(span), "other")
    name = attributes.get("tool.name" if kind == "tool" else "agent.name")
    node = Node(span.span_id, span.parent_id, kind, name if isinstance(name, str) and name else span.name)
    node.start = rank
    node.end = span.end or rank
    node.latency_s, node.fault = span.latency_s, span.fault
    if kind == "model":
        _read_model(node, attributes, notes)
    elif kind == "tool":
        _read_tool(node, span, notes)
    elif kind == "agent":
        _read_agent(node, attributes, notes)
    return node


def _kind_name(span: Span) -> str:
    named = span.attributes.get(KIND)
    return (named if isinstance(named, str) else span.kind).upper()


def _read_agent(node: Node, attributes: Attributes, notes: set[str]) -> None:
    node.inputs = heard(_value(attributes.get("input.value")), notes) or []
    node.outputs = spoken(_value(attributes.get("output.value")), notes) or []
    _read_counts(node, attributes)


def _read_model(node: Node, attributes: Attributes, notes: set[str]) -> None:
    node.inputs = message_list(attributes, "llm.input_messages", notes)
    node.outputs = message_list(attributes, "llm.output_messages", notes)
    if not node.inputs:
        node.inputs = heard(_value(attributes.get("input.value")), notes) or []
    if not node.outputs:
        node.outputs = spoken(_value(attributes.get("output.value")), notes) or []
    model = attributes.get("llm.model_name")
    node.model = model if isinstance(model, str) else None
    _read_counts(node, attributes)


def _read_counts(node: Node, attributes: Attributes) -> None:
    node.tokens_in = whole(attributes.get("llm.token_count.prompt"))
    node.tokens_out = whole(attributes.get("llm.token_count.completion"))
    node.cost = amount(attributes.get("llm.cost.total"))


def _read_tool(node: Node, span: Span, notes: set[str]) -> None:
    attributes = span.attributes
    call_id = attributes.get("tool.id") or attributes.get("tool_call.id") or attributes.get("tool_call_id")
    node.call_id = call_id if isinstance(call_id, str) else None
    given = attributes.get("input.value")
    if given is None:
        given = attributes.get("tool_call.function.arguments")
    if given is None and not _is_schema(attributes.get("tool.parameters")):
        given = attributes.get("tool.parameters")
    result = attributes.get("output.value")
    node.redacted = REDACTED in (given, result)
    if given == REDACTED:
        node.args = None
    elif isinstance(given, str) and given[:1] not in _ENCODED and attributes.get("input.mime_type") != _JSON:
        node.args = {"input": given}
    else:
        node.args, node.args_raw = read_args(given, notes, literals=True)
        node.args = _unwrapped(node.args)
    node.answered, node.error = result is not None, span.fault is not None
    node.result = None if result == REDACTED else _result(result, attributes.get("output.mime_type"))


def _is_schema(value: JsonValue) -> bool:
    """Some instrumentors write the parameters' schema there, others the arguments themselves."""
    found = decode_container(value)
    if not isinstance(found, dict) or not found:
        return False
    return "properties" in found or all(isinstance(item, dict) and "type" in item for item in found.values())


def _unwrapped(args: JsonValue) -> JsonValue:
    """Some instrumentors put the arguments into an object of their own."""
    if isinstance(args, dict) and len(args) == 1:
        for key in ("kwargs", "arguments", "tool_input", "input"):
            inner = args.get(key)
            if isinstance(inner, dict):
                return inner
            if isinstance(inner, str) and isinstance(found := decode_container(inner), dict):
                return found
    return args


def _result(value: JsonValue, mime: JsonValue) -> JsonValue:
    return decode_container(value) if mime == _JSON else value


def message_list(attributes: Attributes, prefix: str, notes: set[str]) -> list[Event]:
    """Return what a flat list of messages tells, its indices taken as numbers."""
    events: list[Event] = []
    for message in _numbered(attributes, f"{prefix}."):
        plain = {key.removeprefix("message."): value for key, value in message.items()}
        events += _message(plain, notes)
    return events


def _message(message: Attributes, notes: set[str]) -> list[Event]:
    role, name, call_id = message.get("role"), message.get("name"), message.get("tool_call_id")
    parts = [_part(part) for part in _numbered(message, "contents.")]
    content = message.get("content")
    text = text_of([part for part in parts if "called" not in part] if content is None and parts else content, notes)
    if text == REDACTED:
        notes.add("redacted")
    if role == "tool":
        return [Answered(_text(call_id), text, None, _text(name))]
    if role == "user":
        return [Said("user", text)]
    if role in ("system", "developer"):
        return []
    calls = [_call(call, notes) for call in _numbered(message, "tool_calls.")]
    ids = {call.call_id for call in calls}
    inner = [_call(called, notes) for part in parts if isinstance(called := part.get("called"), dict)]
    # Some instrumentors write one call in both places.
    calls += [call for call in inner if call.call_id is None or call.call_id not in ids]
    return [*([Said("assistant", text)] if text or not calls else []), *calls]


def _call(call: Attributes, notes: set[str]) -> Called:
    plain = {key.removeprefix("tool_call."): value for key, value in call.items()}
    args, raw = read_args(plain.get("function.arguments"), notes, literals=True)
    return Called(_text(plain.get("function.name")) or "", _text(plain.get("id")), args, raw)


def _part(part: Attributes) -> Attributes:
    """One content part as other formats write it; a call among the parts is kept under `called`."""
    plain = {key.removeprefix("message_content."): value for key, value in part.items()}
    called = {key: value for key, value in plain.items() if key.startswith("tool_call.")}
    if called:
        return {"called": called}
    url = next((value for key, value in plain.items() if key.endswith("image.url")), None)
    if url is not None:
        return {"type": "image", "url": url}
    return plain


def _numbered(attributes: Attributes, prefix: str) -> list[Attributes]:
    """The members of one flat list: `<prefix><i>.<rest>`, by i as a number."""
    found: dict[int, Attributes] = {}
    for key, value in attributes.items():
        if key.startswith(prefix):
            number, _, rest = key[len(prefix) :].partition(".")
            if (at := whole(number)) is not None:
                found.setdefault(at, {})[rest] = value
    return [found[at] for at in sorted(found)]


def _text(value: JsonValue) -> str | None:
    return value if isinstance(value, str) else None


def _value(value: JsonValue) -> JsonValue:
    """What an input or output holds: JSON or a Python literal where it is one, else its text."""
    if not isinstance(value, str) or value.lstrip()[:1] not in ("{", "["):
        return value
    found = decode_literal(value)
    return value if isinstance(found, Undecoded) else found
