"""Readers of other packages, found by the entry-point group `agentanvil.trace_readers`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Protocol, TypeVar, runtime_checkable

from agentanvil.dataset.traces.faults import TraceError
from agentanvil.dataset.traces.record import Trace
from agentanvil.errors import quoted
from agentanvil.strict_json import JsonValue

GROUP = "agentanvil.trace_readers"

Found = TypeVar("Found")


@runtime_checkable
class TraceReader(Protocol):
    """What an entry point names: an object, or a class that needs no arguments.

    Both methods get one JSON object: a row's value, a line of a file, or an element of a file's list.
    """

    def claims(self, value: dict[str, JsonValue]) -> bool:
        """Say whether the object is in this reader's format."""
        ...

    def read(self, value: dict[str, JsonValue]) -> list[Trace]:
        """Return the traces that the object holds."""
        ...


@dataclass(frozen=True, slots=True)
class NamedReader:
    """A loaded reader, which answers for what it raises."""

    name: str
    reader: TraceReader

    def claims(self, value: dict[str, JsonValue]) -> bool:
        return bool(_guarded(self.name, lambda: self.reader.claims(value)))

    def read(self, value: dict[str, JsonValue]) -> list[Trace]:
        found = _guarded(self.name, lambda: list(self.reader.read(value)))
        if not all(isinstance(trace, Trace) for trace in found):
            raise _broken(self.name, "its `read` returned something else than traces")
        return found


@cache
def third_party() -> tuple[NamedReader, ...]:
    """Return the installed readers by name, loaded once, when first needed.

    Raises TraceError (`broken_reader`) where one cannot be loaded.
    """
    points = sorted(entry_points(group=GROUP), key=lambda point: (point.name, point.value))
    return tuple(NamedReader(point.name, load_reader(point)) for point in points)


def load_reader(point: EntryPoint) -> TraceReader:
    """Return the reader that an entry point names. Raises TraceError (`broken_reader`) where it cannot be used."""
    loaded: object = _guarded(point.name, point.load)
    if isinstance(loaded, type):
        loaded = _guarded(point.name, loaded)
    if not isinstance(loaded, TraceReader):
        raise _broken(point.name, f"{point.value} has no methods `claims` and `read`")
    return loaded


def _guarded(name: str, run: Callable[[], Found]) -> Found:
    """Foreign code may raise anything; a run must name it, not fall over it."""
    try:
        return run()
    except Exception as error:
        raise _broken(name, f"{type(error).__name__}: {error}") from error


def _broken(name: str, why: str) -> TraceError:
    return TraceError(
        f"the trace reader {quoted(name)} of another package does not work: {why}",
        "broken_reader",
        hint=f"repair or remove the package that brings this entry point of the group {GROUP}",
    )
