"""Agent traces: one frozen record inside, whatever wrote the file."""

from agentanvil.dataset.traces.faults import TraceCode, TraceError, TraceFault, TraceRecord
from agentanvil.dataset.traces.files import is_trace_file, iter_traces
from agentanvil.dataset.traces.hidden import hidden_in
from agentanvil.dataset.traces.reading import read_trace
from agentanvil.dataset.traces.record import Step, ToolStep, Trace, TurnStep

__all__ = [
    "Step",
    "ToolStep",
    "Trace",
    "TraceCode",
    "TraceError",
    "TraceFault",
    "TraceRecord",
    "TurnStep",
    "hidden_in",
    "is_trace_file",
    "iter_traces",
    "read_trace",
]
