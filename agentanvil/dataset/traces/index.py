"""One pass over a trace file: which records and which fragments of which trace stand where, in a few bytes each."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import BinaryIO

from agentanvil.dataset.traces import formats, langfuse, promptfoo
from agentanvil.dataset.traces.formats import Format
from agentanvil.dataset.traces.sources import Ending, Source
from agentanvil.dataset.traces.walker import Part, Role
from agentanvil.strict_json import JsonValue

Head = Mapping[str, JsonValue]

ROLES: tuple[Role, ...] = ("record", "sample", "simulation", "row", "bad")
GROUP = len(ROLES)
NO_NEXT = -1


@dataclass(frozen=True, slots=True)
class Entry:
    """One place in the order of the file: a record, or the first fragment of a group, numbered by `group`."""

    role: Role
    group: int | None
    offset: int
    length: int
    line: int
    container: int
    has_nan: bool


@dataclass(slots=True)
class Group:
    """The fragments of one trace: their format, their key, and the container whose head belongs to them."""

    format: Format
    key: str
    container: int


@dataclass(slots=True)
class Index:
    """Where everything stands. Entries and fragments are kept in arrays, since files hold millions of them."""

    groups: list[Group] = field(default_factory=list)
    heads: dict[int, Head] = field(default_factory=dict)
    traced: dict[tuple[int, str], tuple[int, int]] = field(default_factory=dict)
    ending: Ending | None = None
    refusal: str | None = None
    known: int = 0
    bad: int = 0
    _in_messages: bool = False
    _numbers: dict[tuple[str, int, str], int] = field(default_factory=dict)
    _entries: array[int] = field(default_factory=lambda: array("q"))
    _offsets: array[int] = field(default_factory=lambda: array("q"))
    _lengths: array[int] = field(default_factory=lambda: array("i"))
    _next: array[int] = field(default_factory=lambda: array("i"))
    _heads: array[int] = field(default_factory=lambda: array("q"))
    _tails: array[int] = field(default_factory=lambda: array("q"))

    def entries(self) -> Iterator[Entry]:
        """Yield the entries in the order of the file."""
        kept = self._entries
        for at in range(0, len(kept), 5):
            code, offset, length, line, rest = kept[at : at + 5]
            role = ROLES[code] if code < GROUP else "otel"
            group = rest if code >= GROUP else None
            container = 0 if code >= GROUP else rest >> 1
            yield Entry(role, group, offset, length, line, container, bool(rest & 1) and code < GROUP)

    def fragments(self, group: int) -> Iterator[tuple[int, int]]:
        """Yield the places (offset, length in bytes) of a group's fragments in the order of the file."""
        at = self._heads[group]
        while at != NO_NEXT:
            yield self._offsets[at], self._lengths[at]
            at = self._next[at]

    def add(self, part: Part) -> None:
        """Note one part of the file."""
        if part.role == "head":
            # Most containers are a line of OTLP with nothing beside its spans: millions of empty heads.
            if isinstance(part.value, dict) and part.value:
                self.heads[part.container] = part.value
        elif part.role == "traced":
            if isinstance(part.value, dict):
                self.traced[part.container, promptfoo.spans_key(part.value)] = (part.offset, part.length)
        elif part.role == "otel":
            self._add_fragment(part, formats.OTEL, part.value, 0)
        elif part.role == "observation":
            self._add_fragment(part, formats.OBSERVATION, part.value, part.container)
        elif part.role == "record":
            self._add_record(part)
        else:
            self.known += part.role != "bad"
            self._add_entry(part)

    def _add_record(self, part: Part) -> None:
        value = part.value
        items = value if isinstance(value, list) else [value]
        known = formats.find(items[0]) if items else None
        if known is None and self._in_messages and isinstance(value, dict) and isinstance(value.get("type"), str):
            known = formats.MESSAGES
        self._in_messages = known is formats.MESSAGES
        if known is not None and known.key is not None and not isinstance(value, list):
            self._add_fragment(part, known, value, 0)
            return
        if known is not None and known.refusal is not None:
            self.refusal = self.refusal or known.refusal
        self.known += known is not None and known.refusal is None
        self._add_entry(part)

    def _add_fragment(self, part: Part, known: Format, value: JsonValue, container: int) -> None:
        if not isinstance(value, dict) or known.key is None:
            self._add_entry(part, "bad")
            return
        self.known += 1
        key = langfuse.key_of(value) if container else known.key(value)
        number = self._numbers.setdefault((known.name, container, key), len(self.groups))
        at = len(self._offsets)
        if number == len(self.groups):
            self.groups.append(Group(known, key, container))
            self._heads.append(at)
            self._tails.append(at)
            self._entries.extend((GROUP, part.offset, part.length, part.line, number))
        else:
            self._next[self._tails[number]] = at
            self._tails[number] = at
        self._offsets.append(part.offset)
        self._lengths.append(part.length)
        self._next.append(NO_NEXT)

    def _add_entry(self, part: Part, role: Role | None = None) -> None:
        code = ROLES.index(role or part.role)
        self.bad += ROLES[code] == "bad"
        self._entries.extend((code, part.offset, part.length, part.line, part.container << 1 | part.has_nan))


def index_file(stream: BinaryIO) -> Index:
    """Return the index of an open file."""
    index = Index()
    source = Source(stream)
    for part in source.parts():
        index.add(part)
    index.ending = source.ending
    return index
