"""What can be wrong with a trace file as a whole, and with one record of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from agentanvil.dataset.traces.record import Trace
from agentanvil.errors import DatasetError, Where

TraceCode = Literal[
    "not_json", "empty", "not_a_trace", "unknown_format", "unsupported_compression", "several_traces", "broken_reader"
]


class TraceError(DatasetError):
    """A value or a file holds no trace that can be read; `code` is the machine-readable kind."""

    def __init__(self, message: str, code: TraceCode, *, where: Where | None = None, hint: str | None = None) -> None:
        super().__init__(message, where=where, hint=hint)
        self.code = code


@dataclass(frozen=True, slots=True)
class TraceFault:
    """Why one record of a file gave no trace, while the others did."""

    code: TraceCode
    message: str


@dataclass(frozen=True, slots=True)
class TraceRecord:
    """One trace of a file, or one record that gave none: exactly one of `trace` and `fault` is set.

    `line` is the 1-based line on which the record starts, None where the file has no lines (a zip archive).
    `hidden` holds the sorted names of what the record says about the answer's worth (scores, rewards, targets)
    and the trace therefore leaves out.
    """

    line: int | None
    trace: Trace | None = None
    fault: TraceFault | None = None
    hidden: tuple[str, ...] = ()
