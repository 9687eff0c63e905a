"""A trace file → its parts: line by line where every line is a value, else value by value."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO

from agentanvil.dataset.lines import MAX_LINE
from agentanvil.dataset.traces.walker import MOST_WHOLE, Part, Walker
from agentanvil.dataset.traces.window import NotUtf8Error, Window
from agentanvil.strict_json import JsonError, parse_json

_BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class Ending:
    """How reading ended early: on which line, why, and whether it only looks like a file that was cut off."""

    line: int
    message: str
    is_cut: bool


class Source:
    """The parts of one open file. After `parts` is exhausted, `ending` says where it had to stop, if it had to."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self.ending: Ending | None = None

    def parts(self) -> Iterator[Part]:
        """Yield the parts in the order of the file."""
        self._stream.seek(0)
        lines = has_lines(self._stream)
        self._stream.seek(0)
        return self._by_line() if lines else self._by_value()

    def _by_value(self) -> Iterator[Part]:
        window = Window(self._stream)
        try:
            yield from Walker().walk(window)
        except (JsonError, NotUtf8Error) as fault:
            line = window.place()[1]
            is_cut = isinstance(fault, JsonError) and _is_cut(fault, window)
            self.ending = Ending(line, str(fault), is_cut)

    def _by_line(self) -> Iterator[Part]:
        walker = Walker()
        offset = number = 0
        while raw := self._stream.readline(MAX_LINE):
            number += 1
            skipped = len(_BOM) if number == 1 and raw.startswith(_BOM) else 0
            if body := raw[skipped:].strip(b" \t\r\n"):
                start = offset + skipped + raw[skipped:].index(body)
                yield from self._line(walker, body, start, number, is_last=not raw.endswith(b"\n"))
            offset += len(raw)

    def _line(self, walker: Walker, body: bytes, start: int, number: int, *, is_last: bool) -> Iterator[Part]:
        try:
            window = Window(None, body.decode("utf-8"), start, number)
            yield from walker.walk(window)
        except UnicodeDecodeError as error:
            yield Part("bad", None, start, len(body), number)
            if is_last:
                self.ending = Ending(number, f"byte {start + error.start} of the file is not UTF-8", is_cut=True)
        except JsonError as fault:
            if is_last and _is_cut(fault, window):
                self.ending = Ending(number, f"the last line is cut off: {fault}", is_cut=True)
            else:
                yield Part("bad", None, start, len(body), number)


def has_lines(stream: BinaryIO) -> bool:
    """Say whether every line of a file is a value of its own, by its first lines; the stream moves."""
    first = b""
    while not first.strip():
        first = stream.readline(MOST_WHOLE)
        if not first:
            return True
    first = first.removeprefix(_BOM).strip() if first.endswith(b"\n") or len(first) < MOST_WHOLE else first
    if len(first) >= MOST_WHOLE:
        return _goes_on(stream, first)
    if _is_value(first):
        return True
    if first.startswith(b"["):
        return False
    return (first.startswith(b"{") and first.endswith(b"}")) or _is_value(stream.readline(MOST_WHOLE).strip())


def _goes_on(stream: BinaryIO, start: bytes) -> bool:
    """Whether a first line too long to parse is followed by another object."""
    if not start.lstrip(_BOM + b" \t\r").startswith(b"{"):
        return False
    while (piece := stream.readline(MOST_WHOLE)) and not piece.endswith(b"\n"):
        pass
    for _ in range(1000):
        following = stream.readline(MOST_WHOLE)
        if not following:
            return False
        if following.strip():
            return following.lstrip().startswith(b"{")
    return False


def _is_value(line: bytes) -> bool:
    """Whether a line is an object or a list by itself."""
    try:
        return isinstance(parse_json(line.decode("utf-8")), dict | list)
    except (JsonError, UnicodeDecodeError):
        return False


def _is_cut(fault: JsonError, window: Window) -> bool:
    """Whether the text stops in the middle of a value, rather than being wrong."""
    if fault.fault == "open_string":
        return True
    rest = window.text[fault.offset :] if fault.offset is not None else "?"
    return not rest.strip() or rest in ("t", "tr", "tru", "f", "fa", "fal", "fals", "n", "nu", "nul", "-")
