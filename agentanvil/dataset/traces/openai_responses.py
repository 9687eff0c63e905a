"""OpenAI Responses: a list of items, a page of them, or a Response."""

from __future__ import annotations

from collections.abc import Sequence

from agentanvil.dataset.traces.build import build_trace
from agentanvil.dataset.traces.content import has_parts, media, text_of
from agentanvil.dataset.traces.events import Answered, Called, Event, Facts, Said, Thought
from agentanvil.dataset.traces.jsontext import read_args
from agentanvil.dataset.traces.measures import between, clock, whole
from agentanvil.dataset.traces.record import Trace
from agentanvil.strict_json import JsonValue

Item = dict[str, JsonValue]

_HOSTED = frozenset(
    {"web_search_call", "file_search_call", "code_interpreter_call", "mcp_call", "image_generation_call"}
)
_SILENT = ("mcp_list_tools", "mcp_approval_request", "mcp_approval_response")
_ENDED_BADLY = ("failed", "cancelled", "incomplete")


def is_item(value: JsonValue) -> bool:
    """Say whether `value` is an item that only this API writes."""
    kind = value.get("type") if isinstance(value, dict) else None
    return isinstance(kind, str) and (kind == "reasoning" or kind.endswith(("_call", "_call_output")))


def is_response(value: Item) -> bool:
    """Say whether `value` is a Response."""
    return value.get("object") == "response"


def is_page(value: Item) -> bool:
    """Say whether `value` is a page of items, or of stored answers."""
    items = value.get("data")
    if value.get("object") != "list" or not isinstance(items, list):
        return False
    return any(isinstance(item, dict) and (is_item(item) or "role" in item or "object" in item) for item in items)


def read_object(value: Item) -> list[Trace]:
    """Return the trace of one Response by itself."""
    return [read_response(value, Facts(), [])]


def read_items(items: Sequence[JsonValue]) -> list[Trace]:
    """Return the trace of the items that a client kept, oldest first."""
    facts = Facts()
    return [build_trace(item_events(items, facts.warnings), facts)]


def read_page(page: Item) -> list[Trace]:
    """Return the trace of a page of items. Pages are newest first unless the items themselves show otherwise."""
    items = page.get("data")
    listed = items if isinstance(items, list) else []
    return read_items(listed if _is_oldest_first(listed) else listed[::-1])


def read_response(body: Item, facts: Facts, before: list[Event]) -> Trace:
    """Return the trace of one Response, after the events of its input, which it does not hold itself."""
    notes = facts.warnings
    output = body.get("output")
    events = [*before, *item_events(output if isinstance(output, list) else [], notes)]
    facts.id = facts.id or _text(body, "id")
    facts.model = _text(body, "model")
    usage = found if isinstance(found := body.get("usage"), dict) else {}
    facts.tokens_in, facts.tokens_out = whole(usage.get("input_tokens")), whole(usage.get("output_tokens"))
    if facts.tokens_in is None and facts.tokens_out is None:
        notes.add("tokens_missing")
    facts.latency_s = between(clock(body.get("created_at")), clock(body.get("completed_at")))
    facts.error = _error(body)
    if body.get("status") in _ENDED_BADLY:
        notes.add("unfinished")
    if isinstance(body.get("previous_response_id"), str) and not before:
        notes.add("history_elsewhere")
    return build_trace(events, facts)


def input_events(value: JsonValue, notes: set[str]) -> list[Event]:
    """Return what the `input` of a request tells: a text, or items."""
    if isinstance(value, str):
        return [Said("user", value)]
    return item_events(value, notes) if isinstance(value, list) else []


def item_events(items: Sequence[JsonValue], notes: set[str]) -> list[Event]:
    """Return what items tell; an unknown one is skipped with the warning `unknown_item`."""
    events: list[Event] = []
    for item in items:
        if not isinstance(item, dict):
            notes.add("unknown_item")
            continue
        kind = item.get("type", "message")
        if kind == "message":
            events += _message(item, notes)
        elif kind == "reasoning":
            events += _thought(item, notes)
        elif isinstance(kind, str) and kind.endswith("_output"):
            output = item.get("output")
            result = text_of(output, notes) if output is None or has_parts(output) else _media(output, notes)
            events.append(Answered(_text(item, "call_id"), result))
        elif isinstance(kind, str) and kind in _HOSTED:
            events.append(_hosted(item, kind, notes))
        elif isinstance(kind, str) and (kind == "function_call" or kind.endswith("_call")):
            events.append(_call(item, kind, notes))
        elif kind not in _SILENT:
            notes.add("unknown_item")
    return events


def _is_oldest_first(items: Sequence[JsonValue]) -> bool:
    """The order that the items show: calls stand before their outputs, the user before the agent."""
    calls: dict[str, int] = {}
    outputs: dict[str, int] = {}
    said: list[JsonValue] = []
    for at, item in enumerate(items):
        if not isinstance(item, dict):
            continue
        kind, call_id = item.get("type", "message"), _text(item, "call_id")
        if call_id is not None and isinstance(kind, str):
            (outputs if kind.endswith("_output") else calls).setdefault(call_id, at)
        elif kind == "message":
            said.append(item.get("role"))
    pairs = [(calls[call_id], at) for call_id, at in outputs.items() if call_id in calls]
    if pairs:
        return pairs[0][0] < pairs[0][1]
    return len(said) > 1 and said[0] == "user" and said[-1] == "assistant"


def _message(item: Item, notes: set[str]) -> list[Event]:
    text = text_of(item.get("content"), notes)
    if item.get("role") == "user":
        return [Said("user", text)]
    return [Said("assistant", text)] if item.get("role") == "assistant" else []


def _thought(item: Item, notes: set[str]) -> list[Event]:
    for key in ("summary", "content"):
        parts = item.get(key)
        if isinstance(parts, list) and parts:
            return [Thought(text_of(parts, notes))]
    return []


def _call(item: Item, kind: str, notes: set[str]) -> Called:
    """A call that the client runs: of a function, or of one of the API's own client-side tools."""
    call_id = _text(item, "call_id") or _text(item, "id")
    if kind == "custom_tool_call":
        return Called(_text(item, "name") or "", call_id, {"input": item.get("input")})
    if kind == "function_call":
        args, raw = read_args(item.get("arguments"), notes)
        return Called(_text(item, "name") or "", call_id, args, raw)
    args = next((item[key] for key in ("action", "operation", "arguments") if key in item), None)
    return Called(kind.removesuffix("_call"), call_id, args)


def _hosted(item: Item, kind: str, notes: set[str]) -> Called:
    call = Called(_text(item, "name") or kind.removesuffix("_call"), _text(item, "id"), hosted=True)
    status, fault = item.get("status"), item.get("error")
    call.error = True if fault is not None or status == "failed" else False if status == "completed" else None
    if kind == "mcp_call":
        call.args, call.args_raw = read_args(item.get("arguments"), notes)
        call.result = fault if item.get("output") is None else item.get("output")
        call.error = fault is not None or status == "failed"
    elif kind == "web_search_call":
        call.args = item.get("action")
    elif kind == "file_search_call":
        call.args, call.result = {"queries": item.get("queries")}, item.get("results")
    elif kind == "code_interpreter_call":
        outputs = item.get("outputs")
        call.args = {"code": item.get("code")}
        call.result = text_of(outputs, notes) if isinstance(outputs, list) else None
    elif isinstance(image := item.get("result"), str):
        call.result = media({"data": image, "mime_type": "image/png"}, "image", notes)
    return call


def _media(output: JsonValue, notes: set[str]) -> JsonValue:
    """A screenshot is one part without a list around it."""
    if isinstance(output, dict) and output.get("type") in ("computer_screenshot", "input_image"):
        return media(output, "image", notes)
    return output


def _error(body: Item) -> str | None:
    fault, details = body.get("error"), body.get("incomplete_details")
    if isinstance(fault, dict):
        return _text(fault, "code") or _text(fault, "message")
    return _text(details, "reason") if isinstance(details, dict) else None


def _text(item: Item, key: str) -> str | None:
    return found if isinstance(found := item.get(key), str) else None
