"""tau2-bench: simulations, in which the simulated user may have tools of its own."""

from __future__ import annotations

from agentanvil.dataset.traces.build import build_trace
from agentanvil.dataset.traces.content import text_of
from agentanvil.dataset.traces.events import Answered, Called, Event, Facts, Said
from agentanvil.dataset.traces.jsontext import read_args
from agentanvil.dataset.traces.measures import seconds, total, whole
from agentanvil.dataset.traces.record import Trace
from agentanvil.dataset.traces.tau_bench import run_id, without_control
from agentanvil.strict_json import JsonValue

Message = dict[str, JsonValue]

_NORMAL_ENDS = frozenset({"user_stop", "agent_stop"})


def is_file(value: Message) -> bool:
    """Say whether `value` is a whole file of results."""
    listed = value.get("simulations")
    return isinstance(listed, list) and any(isinstance(item, dict) and "task_id" in item for item in listed)


def read_file(value: Message) -> list[Trace]:
    """Return the traces of a whole file of results."""
    listed = value.get("simulations")
    runs = [item for item in listed if isinstance(item, dict)] if isinstance(listed, list) else []
    return [trace for run in runs for trace in read_simulation(run, value.get("info"))]


def read_simulation(simulation: Message, info: JsonValue) -> list[Trace]:
    """Return the trace of one simulation; `info` is the file's own record of the agent.

    Tokens are those of the agent's messages. Calls of the simulated user carry the agent name `user`. A voice
    simulation keeps its turns in `ticks`, which hold no messages: it gives no trace.
    """
    listed = simulation.get("messages")
    messages = [item for item in listed if isinstance(item, dict)] if isinstance(listed, list) else []
    if not messages and simulation.get("ticks"):
        return []
    facts = Facts(id=run_id(simulation), model=_model(info))
    spoken = [_object(message.get("usage")) for message in messages if message.get("role") == "assistant"]
    facts.tokens_in = total(whole(usage.get("prompt_tokens")) for usage in spoken)
    facts.tokens_out = total(whole(usage.get("completion_tokens")) for usage in spoken)
    if spoken and facts.tokens_in is None and facts.tokens_out is None:
        facts.warnings.add("tokens_missing")
    facts.cost_usd, facts.latency_s = seconds(simulation.get("agent_cost")), seconds(simulation.get("duration"))
    reason = simulation.get("termination_reason")
    facts.error = reason if isinstance(reason, str) and reason not in _NORMAL_ENDS else None
    events = [event for message in messages for event in _events(message, facts.warnings)]
    return [build_trace(without_control(events), facts)]


def _events(message: Message, notes: set[str]) -> list[Event]:
    role = message.get("role")
    if role == "tool":
        inner = message.get("tool_messages")
        if isinstance(inner, list):
            return [event for item in inner if isinstance(item, dict) for event in _events(item, notes)]
        call_id, failed = message.get("id"), message.get("error")
        text = text_of(message.get("content"), notes)
        known = failed if isinstance(failed, bool) else None
        return [Answered(call_id if isinstance(call_id, str) else None, text, known)]
    if role not in ("user", "assistant"):
        return []
    calls = message.get("tool_calls")
    called = [_call(call, notes) for call in calls if isinstance(call, dict)] if isinstance(calls, list) else []
    text = text_of(message.get("content"), notes)
    said: list[Event] = [Said("user" if role == "user" else "assistant", text)] if text or not called else []
    return [*said, *called]


def _call(call: Message, notes: set[str]) -> Called:
    args, raw = read_args(call.get("arguments"), notes)
    name, call_id = call.get("name"), call.get("id")
    return Called(
        name if isinstance(name, str) else "",
        call_id if isinstance(call_id, str) else None,
        args,
        raw,
        agent="user" if call.get("requestor") == "user" else None,
    )


def _model(info: JsonValue) -> str | None:
    model = _object(_object(info).get("agent_info")).get("llm")
    return model if isinstance(model, str) else None


def _object(value: JsonValue) -> Message:
    return value if isinstance(value, dict) else {}
