"""A file of traces, whatever its format and container, read without ever being held in memory."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from agentanvil.dataset.traces.faults import TraceRecord


def is_trace_file(path: Path) -> bool:
    """Say whether `path` holds agent traces (or a neighbour of them, which `iter_traces` then refuses by name).

    False for rows of our own, for unknown data, for what is no JSON, and for an empty file: the reader of rows says
    what is wrong with those. Reads only the start of the file. Raises OSError where it cannot be opened.
    """
    del path
    return False


def iter_traces(path: Path, *, shown: str | None = None) -> Iterator[TraceRecord]:
    """Yield the traces of `path` lazily, in the order in which they begin; a bad record is a fault among them.

    `shown` is the file's name in messages. Raises TraceError where nothing of the file can be read: `not_json`,
    `empty`, `not_a_trace`, `unknown_format`, `unsupported_compression`.
    """
    del path, shown
    yield from ()
