"""A value inside a row → its trace."""

from __future__ import annotations

from agentanvil.dataset.traces.record import Trace
from agentanvil.strict_json import JsonValue


def read_trace(value: JsonValue) -> Trace | None:
    """Return the trace that `value` holds, or None where it is none: text, data, or a chat without tools.

    Raises TraceError (`several_traces`) where it holds more than one, and `broken_reader` where an installed
    third-party reader cannot be loaded or fails.
    """
    del value
    return None
