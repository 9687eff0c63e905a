"""A value inside a row → its trace."""

from __future__ import annotations

from agentanvil.dataset.traces import formats
from agentanvil.dataset.traces.faults import TraceError
from agentanvil.dataset.traces.record import Trace, TurnStep
from agentanvil.strict_json import JsonValue


def read_trace(value: JsonValue, *, chats: bool = False) -> Trace | None:
    """Return the trace that `value` holds, or None where it is none: text, data, or a chat without tools.

    With `chats`, a chat without tools is a trace too: an agent that called nothing.
    Raises TraceError (`several_traces`) where it holds more than one, and `broken_reader` where an installed
    third-party reader cannot be loaded or fails.
    """
    if not isinstance(value, dict | list):
        return None
    found = formats.read_value(value)
    if found is None:
        return None
    known, traces = found
    if len(traces) > 1:
        raise TraceError(
            f"holds {len(traces)} traces",
            "several_traces",
            hint="give every trace a row of its own, or the file itself",
        )
    if not traces or (known.is_chat and not chats and not _has_tools(traces[0])):
        return None
    return traces[0]


def _has_tools(trace: Trace) -> bool:
    if trace.calls or "orphan_result" in trace.warnings or "redacted" in trace.warnings:
        return True
    return any(isinstance(step, TurnStep) and step.kind == "thought" for step in trace.steps)
