"""A whole file of agent traces as rows: the trace's own id and request, and its final answer as the response."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from agentanvil.dataset.asked import Asked
from agentanvil.dataset.candidates import Candidates
from agentanvil.dataset.files import RowIds
from agentanvil.dataset.records import DatasetInfo, Row
from agentanvil.dataset.texts import is_blank
from agentanvil.dataset.traces import Trace, TraceFault, iter_traces
from agentanvil.errors import DatasetError, UsageError, Where
from agentanvil.hashing import digest

UNRECORDED_REQUEST = "(the trace does not hold the request)"
_EXAMPLES = 5


class TraceDataset:
    """Traces of one file, read lazily and as often as a run needs. See the Dataset protocol.

    A trace without an id is called after its place in the file, `trace-1`, so that the same run
    of another system, in another file, has the same id. A record that cannot be read is passed over
    and counted in `DatasetInfo.unread`.
    """

    def __init__(self, opened: Path, asked: Asked, *, name: str, path: str) -> None:
        """Raises UsageError where the rubric needs what no trace file holds."""
        self._opened = opened
        self._name = name
        self._path = path
        self._file = path if path != "-" else name
        self._seen: tuple[int, int] | None = None
        if asked.needs_source:
            raise UsageError(
                f"{self._file} holds agent traces, and a trace has no source to judge against",
                hint="write rows with `response` (the trace) and `source`",
            )
        if asked.pairs:
            raise UsageError(
                f"{self._file} holds agent traces, one response each",
                hint="give the other system's traces: --vs OTHER",
            )

    @property
    def name(self) -> str:
        return self._name

    @property
    def path(self) -> str:
        return self._path

    def scan(self) -> DatasetInfo:
        """Read every trace once. Raises DatasetError where the file as a whole cannot be read or ids repeat."""
        before = self._stamp()
        ids, flagged, hidden, candidates = RowIds(), Counter[str](), set[str](), Candidates()
        faults: list[str] = []
        unread = rows = 0
        for row, fault in self._records():
            if row is None:
                unread += 1
                if len(faults) < _EXAMPLES and fault is not None:
                    faults.append(fault)
                continue
            rows += 1
            ids.add(row.id)
            hidden.update(row.hidden)
            flagged.update(row.flags)
            candidates.add(row)
        if not rows:
            hint = faults[0] if faults else "give at least one trace to judge"
            raise DatasetError("0 traces", where=Where(self._file), hint=hint)
        ids.refuse_duplicates(self.rows, self._file)
        self._seen = before
        return DatasetInfo(
            name=self._name,
            rows=rows,
            hash=digest("traces", self._content()),
            hidden_fields=tuple(sorted(hidden)),
            models=candidates.models,
            candidates=candidates.rows,
            candidates_beyond=candidates.beyond,
            flagged=dict(flagged),
            unread=unread,
            unread_examples=tuple(faults),
        )

    def rows(self) -> Iterator[Row]:
        """Yield the traces that could be read, lazily. Raises DatasetError where the file changed since `scan`."""
        if self._seen is not None and self._stamp() != self._seen:
            raise DatasetError(
                "the file was changed after it was validated",
                where=Where(self._file),
                hint="let nothing write to it during a run, and start again",
            )
        yield from (row for row, _ in self._records() if row is not None)

    def _records(self) -> Iterator[tuple[Row | None, str | None]]:
        index = 0
        for number, record in enumerate(iter_traces(self._opened, shown=self._file), start=1):
            if record.trace is None:
                yield None, _told(self._file, record.line, record.fault)
                continue
            yield _row(record.trace, index, record.line or number, f"trace-{number}", record.hidden), None
            index += 1

    def _stamp(self) -> tuple[int, int]:
        try:
            status = self._opened.stat()
        except OSError as error:
            raise DatasetError(f"cannot be opened: {error.strerror}", where=Where(self._file)) from error
        return status.st_size, status.st_mtime_ns

    def _content(self) -> str:
        with self._opened.open("rb") as file:
            return hashlib.file_digest(file, lambda: hashlib.blake2b(digest_size=16)).hexdigest()


def _row(trace: Trace, index: int, line: int, name: str, hidden: tuple[str, ...]) -> Row:
    request = trace.request
    return Row(
        index=index,
        line=line,
        id=trace.id if trace.id and not is_blank(trace.id) else name,
        request=UNRECORDED_REQUEST if request is None or is_blank(request) else request,
        response=trace.final_answer or "",
        model=trace.model,
        flags=trace.warnings,
        hidden=hidden,
        trace=trace,
    )


def _told(file: str, line: int | None, fault: TraceFault | None) -> str:
    place = file if line is None else f"{file}, line {line}"
    return f"{place}: {fault.message if fault is not None else 'no trace'}"
