"""A file of traces, whatever its format and container, read without ever being held in memory."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from agentanvil.dataset.traces import formats, inspect_archive
from agentanvil.dataset.traces.faults import TraceError, TraceRecord
from agentanvil.dataset.traces.index import index_file
from agentanvil.dataset.traces.records import FileReader, refuse_whole
from agentanvil.dataset.traces.sources import Source
from agentanvil.dataset.traces.walker import Part, Role
from agentanvil.errors import Where
from agentanvil.hashing import well_formed

_OWN_ROWS = (frozenset({"request", "response"}), frozenset({"response_a", "response_b"}))
_FOREIGN = (
    (b"\xff\xfe", "UTF-16 text", "save it as UTF-8: iconv -f UTF-16 -t UTF-8 IN > OUT"),
    (b"\xfe\xff", "UTF-16 text", "save it as UTF-8: iconv -f UTF-16 -t UTF-8 IN > OUT"),
    (b"\x1f\x8b", "compressed with gzip", "unpack it first: gunzip -k FILE"),
)
_MARKS: dict[Role, tuple[str, ...]] = {
    "sample": ("id", "epoch"),
    "simulation": ("task_id",),
    "row": ("promptIdx", "testIdx"),
    "traced": ("spans",),
    "observation": ("type", "startTime"),
}
# How many parts at the start may be broken or unknown before a file counts as none of traces.
_LOOKED_AT = 20


def is_trace_file(path: Path) -> bool:
    """Say whether `path` holds agent traces (or a neighbour of them, which `iter_traces` then refuses by name).

    False for rows of our own, for unknown data, for what is no JSON, and for an empty file: the reader of rows says
    what is wrong with those. Reads only the start of the file. Raises OSError where it cannot be opened.
    """
    with path.open("rb") as stream:
        if stream.read(4) == inspect_archive.MAGIC:
            return inspect_archive.is_archive(path)
        for part in islice(Source(stream).parts(), _LOOKED_AT):
            if part.role == "bad":
                continue
            if part.role not in ("record", "head"):
                return _is_member(part)
            items = part.value if isinstance(part.value, list) else [part.value]
            first = items[0] if items else None
            if not isinstance(first, dict) or any(own <= first.keys() for own in _OWN_ROWS):
                return False
            return formats.find(first) is not None
    return False


def _is_member(part: Part) -> bool:
    """Whether a member of a list inside a large object is what the list's name promises, and no data of a row."""
    value = part.value
    if not isinstance(value, dict):
        return False
    marks = _MARKS.get(part.role)
    return marks is None or all(mark in value for mark in marks)


def iter_traces(path: Path, *, shown: str | None = None) -> Iterator[TraceRecord]:
    """Yield the traces of `path` lazily, in the order in which they begin; a bad record is a fault among them.

    `shown` is the file's name in messages. Raises TraceError where nothing of the file can be read: `not_json`,
    `empty`, `not_a_trace`, `unknown_format`, `unsupported_compression`.
    """
    name = shown if shown is not None else well_formed(str(path))
    try:
        with path.open("rb") as stream:
            start = stream.read(4)
            if start == inspect_archive.MAGIC:
                yield from inspect_archive.read_archive(path, name)
                return
            for magic, what, hint in _FOREIGN:
                if start.startswith(magic):
                    raise TraceError(f"the file is {what}", "not_json", where=Where(name), hint=hint)
            index = index_file(stream)
            refuse_whole(index, name)
            yield from FileReader(stream, index, path, name).records()
    except OSError as error:
        raise TraceError(f"cannot be read: {error.strerror}", "not_json", where=Where(name)) from error
