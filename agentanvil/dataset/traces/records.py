"""The entries of an index → traces, or faults that name the record."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import BinaryIO

from agentanvil.dataset.traces import formats, inspect_log, langfuse, openai_batch, promptfoo, tau2_bench
from agentanvil.dataset.traces.faults import TraceCode, TraceError, TraceFault, TraceRecord
from agentanvil.dataset.traces.hidden import hidden_in
from agentanvil.dataset.traces.index import Entry, Head, Index, index_file
from agentanvil.dataset.traces.record import Trace
from agentanvil.dataset.traces.window import Window
from agentanvil.errors import Where
from agentanvil.strict_json import JsonError, JsonValue, parse_json, replace_surrogates

Record = dict[str, JsonValue]

TRUNCATED = "truncated_file"


def refuse_whole(index: Index, name: str) -> None:
    """Raise TraceError where a file holds no record that anybody knows."""
    where = Where(name)
    ending = index.ending
    if index.known:
        return
    if index.refusal is not None:
        raise TraceError(f"holds no trace: {index.refusal}", "not_a_trace", where=where, hint="give the file of traces")
    if ending is not None or index.bad:
        line = ending.line if ending is not None else next(index.entries()).line
        why = ending.message if ending is not None else "the record is no strict JSON"
        raise TraceError(f"is no JSON that can be read: {why}", "not_json", where=Where(name, line))
    if not any(True for _ in index.entries()) and not index.heads:
        raise TraceError("is empty", "empty", where=where, hint="give at least one trace")
    raise TraceError(
        "is in no known format of agent traces",
        "unknown_format",
        where=where,
        hint="docs/traces.md lists the formats; another package can add one by an entry point",
    )


class FileReader:
    """Reads the entries of one open file by their places."""

    def __init__(self, stream: BinaryIO, index: Index, path: Path, name: str) -> None:
        self._stream = stream
        self._index = index
        self._path = path
        self._name = name

    def records(self) -> Iterator[TraceRecord]:
        """Yield the traces and faults. Raises TraceError (`not_a_trace`) where spans tell of no agent at all."""
        yielded = False
        for entry in self._index.entries():
            for record in self._entry(entry):
                yielded = True
                yield record
        ending = self._index.ending
        if ending is not None:
            yield _fault(ending.line, "not_json", ending.message)
        if not yielded:
            raise TraceError(
                "holds no agent trace: its records tell of no model call and no tool call",
                "not_a_trace",
                where=Where(self._name),
            )

    def _entry(self, entry: Entry) -> Iterator[TraceRecord]:
        if entry.group is not None:
            yield from self._group(entry, entry.group)
            return
        try:
            value = self._load(entry.offset, entry.length, has_nan=entry.has_nan)
        except (JsonError, UnicodeDecodeError) as fault:
            yield _fault(entry.line, "not_json", str(fault))
            return
        if entry.has_nan and entry.role != "sample" and not _may_have_nan(value):
            yield _fault(entry.line, "not_json", "NaN or Infinity stands in it, which is not JSON")
            return
        traces = self._traces(entry, value)
        if traces is None:
            code, why = _why_not(value)
            yield _fault(entry.line, code, why)
            return
        hidden = hidden_in(value)
        if not traces and entry.role != "record":
            yield _fault(entry.line, "not_a_trace", "the record holds no messages")
        for trace in traces:
            yield TraceRecord(entry.line, trace, hidden=hidden)

    def _traces(self, entry: Entry, value: JsonValue) -> list[Trace] | None:
        """The traces of one record; None where nobody knows it."""
        if isinstance(value, dict):
            if entry.role != "record":
                return self._member(entry, value, self._index.heads.get(entry.container, {}))
            if formats.BATCH.claims(value):
                return openai_batch.read_batch(value, self._requests.find(value.get("custom_id")))
        found = formats.read_value(value)
        return None if found is None or found[0].refusal is not None else found[1]

    def _member(self, entry: Entry, value: Record, head: Head) -> list[Trace] | None:
        """The traces of one member of a container, which its role names; of a foreign one, whatever it is itself."""
        if entry.role == "sample" and "eval" in head:
            return inspect_log.read_sample(value, head["eval"])
        if entry.role == "simulation":
            return tau2_bench.read_simulation(value, head.get("info"))
        if entry.role == "row" and promptfoo.is_row(value):
            return promptfoo.read_row(value, head.get("evalId"), self._spans(entry.container, value))
        found = formats.read_value(value)
        return None if found is None else found[1]

    def _group(self, entry: Entry, number: int) -> Iterator[TraceRecord]:
        group = self._index.groups[number]
        loaded = [self._load(offset, length) for offset, length in self._index.fragments(number)]
        fragments = [value for value in loaded if isinstance(value, dict)]
        ending = self._index.ending
        notes = {TRUNCATED} if ending is not None and ending.is_cut else set()
        head = self._index.heads.get(group.container, {})
        if group.container:
            traces = langfuse.read_observations(langfuse.trace_record(dict(head)), fragments, notes)
        elif group.format.join is not None:
            traces = group.format.join(group.key, fragments, notes)
        else:
            traces = []
        hidden = hidden_in(list[JsonValue](fragments))
        for trace in traces:
            yield TraceRecord(entry.line, trace, hidden=hidden)

    def _load(self, offset: int, length: int, *, has_nan: bool = False) -> JsonValue:
        self._stream.seek(offset)
        text = self._stream.read(length).decode("utf-8")
        return Window(None, text).value_with_nan() if has_nan else replace_surrogates(text, parse_json(text))[0]

    def _spans(self, container: int, row: dict[str, JsonValue]) -> JsonValue:
        place = self._index.traced.get((container, promptfoo.row_key(row)))
        return None if place is None else self._load(*place)

    @cached_property
    def _requests(self) -> Requests:
        return Requests(self._path.with_name(f"{self._path.stem}.requests.jsonl"))


class Requests:
    """The input of a batch, beside its output: `x.requests.jsonl` for `x.jsonl`. Nothing where there is none."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._places: dict[str, tuple[int, int]] = {}
        if not path.is_file():
            return
        with path.open("rb") as stream:
            for entry in index_file(stream).entries():
                stream.seek(entry.offset)
                value = self._parsed(stream.read(entry.length))
                if value is not None and isinstance(name := value.get("custom_id"), str):
                    self._places[name] = (entry.offset, entry.length)

    def find(self, custom_id: JsonValue) -> JsonValue:
        """Return the request line with this id, or None."""
        place = self._places.get(custom_id) if isinstance(custom_id, str) else None
        if place is None:
            return None
        with self._path.open("rb") as stream:
            stream.seek(place[0])
            return self._parsed(stream.read(place[1]))

    @staticmethod
    def _parsed(data: bytes) -> dict[str, JsonValue] | None:
        try:
            value = parse_json(data.decode("utf-8"))
        except (JsonError, UnicodeDecodeError):
            return None
        return value if isinstance(value, dict) else None


def _may_have_nan(value: JsonValue) -> bool:
    """Only Inspect writes NaN and Infinity bare."""
    return isinstance(value, dict) and inspect_log.is_log(value)


def _why_not(value: JsonValue) -> tuple[TraceCode, str]:
    known = formats.find(value)
    if known is not None and known.refusal is not None:
        return "not_a_trace", f"the record is no trace: {known.refusal}"
    return "unknown_format", "the record is in no known format of agent traces"


def _fault(line: int | None, code: TraceCode, message: str) -> TraceRecord:
    return TraceRecord(line, fault=TraceFault(code, message))
