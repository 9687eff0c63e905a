"""Traces as the samples' expected.json spells them."""

from __future__ import annotations

from agentanvil.dataset.traces import Step, ToolStep, Trace
from agentanvil.dataset.traces.formats import read_value
from agentanvil.strict_json import JsonValue

Plain = dict[str, JsonValue]

_FACTS = (
    "id",
    "request",
    "plan",
    "final_answer",
    "model",
    "tokens_in",
    "tokens_out",
    "latency_s",
    "cost_usd",
    "error",
)


def plain_trace(trace: Trace) -> Plain:
    """A trace as an object; step keys that only matter when set are left out otherwise."""
    steps: list[JsonValue] = [plain_step(step) for step in trace.steps]
    return {**{key: getattr(trace, key) for key in _FACTS}, "steps": steps, "warnings": [*trace.warnings]}


def plain_step(step: Step) -> Plain:
    """A step as an object."""
    if not isinstance(step, ToolStep):
        return {"kind": step.kind, "text": step.text}
    found: Plain = {
        "kind": "tool",
        "tool": step.tool,
        "call_id": step.call_id,
        "args": step.args,
        "result": step.result,
        "error": step.error,
    }
    found |= {key: True for key in ("missing_result", "hosted", "redacted") if getattr(step, key)}
    found |= {key: value for key in ("args_raw", "agent") if (value := getattr(step, key)) is not None}
    return found


def all_traces(value: JsonValue) -> list[Trace]:
    """Every trace of a value in memory; it must be in a known format."""
    found = read_value(value)
    assert found is not None
    return found[1]


def one_trace(value: JsonValue) -> Trace:
    """The only trace of a value in memory."""
    (trace,) = all_traces(value)
    return trace
