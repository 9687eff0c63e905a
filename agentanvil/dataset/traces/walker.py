"""The parts of a JSON file that traces are made of, one at a time, each with its place in the file."""

from __future__ import annotations

import re
from collections.abc import Generator, Iterator
from dataclasses import dataclass
from typing import Literal

from agentanvil.dataset.traces.otel_traces import LOG_LISTS, RESOURCES, SCOPES, SPAN_LISTS, is_container
from agentanvil.dataset.traces.window import TooLargeError, Window
from agentanvil.strict_json import JsonError, JsonValue

Role = Literal["record", "otel", "sample", "simulation", "row", "traced", "observation", "head", "bad"]
Tree = dict[str, "Role | Tree"]

# Up to this size an object is looked at as a whole; a larger one is read member by member.
MOST_WHOLE = 1 << 20

_LISTS: Tree = dict.fromkeys((*SPAN_LISTS, *LOG_LISTS), "otel")
_SCOPED: Tree = dict.fromkeys(SCOPES, _LISTS)
_OTLP: Tree = {**dict.fromkeys(RESOURCES, _SCOPED), **_SCOPED}
_STARTS_OTLP = re.compile(r'\{\s*"(?:resourceSpans|resource_spans|resourceLogs|resource_logs)"')
_LARGE: Tree = {
    **_OTLP,
    "samples": "sample",
    "simulations": "simulation",
    "results": {"results": "row"},
    "traces": "traced",
    "observations": "observation",
}


@dataclass(frozen=True, slots=True)
class Part:
    """One part: a record, a member of a list inside a container, or the head of the container itself.

    `container` counts the containers of a file; 0 means that the part stands in none. A `head` comes after the members
    of its container and holds everything else of it. `bad` parts are no strict JSON; `has_nan` ones hold bare NaN.
    """

    role: Role
    value: JsonValue
    offset: int
    length: int
    line: int
    container: int = 0
    has_nan: bool = False


class Walker:
    """Walks one file. Raises JsonError where the text is no JSON in form, and NotUtf8Error."""

    def __init__(self) -> None:
        self._containers = 0

    def walk(self, window: Window) -> Iterator[Part]:
        """Yield the parts of JSON values that stand one after another."""
        while found := window.peek():
            if found == "[":
                yield from self._list(window)
            else:
                yield from self._item(window)

    def _list(self, window: Window) -> Iterator[Part]:
        window.take("[")
        if _is_empty(window, "]"):
            return
        while True:
            yield from self._item(window)
            if window.take(",", "]") == "]":
                return

    def _item(self, window: Window) -> Iterator[Part]:
        """A value of the top level, or an element of the top list: as a whole, unless it is large or OTLP."""
        is_object = window.peek() == "{"
        offset, line = window.place()
        if _STARTS_OTLP.match(window.text, window.at):
            yield from self._container(window, _OTLP)
            return
        try:
            part = _whole(window, "record", 0, MOST_WHOLE if is_object else None)
        except TooLargeError:
            yield from self._container(window, _LARGE)
            return
        if part.role == "record" and isinstance(part.value, dict) and is_container(part.value):
            yield from self._container(Window(None, window.last, offset, line), _OTLP)
        else:
            yield part

    def _container(self, window: Window, tree: Tree) -> Iterator[Part]:
        self._containers += 1
        number = self._containers
        offset, line = window.place()
        head: dict[str, JsonValue] = {}
        is_record = not (yield from self._members(window, tree, number, head))
        end, _ = window.place()
        if is_record:  # only large: it holds none of the lists
            yield Part("record", head, offset, end - offset, line)
        else:
            yield Part("head", head, offset, end - offset, line, number)

    def _members(
        self, window: Window, tree: Tree, number: int, head: dict[str, JsonValue]
    ) -> Generator[Part, None, bool]:
        """The members of one object: the lists that the tree names are walked, the others go into `head`.

        Returns whether there was such a list.
        """
        window.take("{")
        seen: set[str] = set()
        if _is_empty(window, "}"):
            return False
        while True:
            key = window.value()
            if not isinstance(key, str) or key in seen:
                raise JsonError("a key is no text, or stands twice in one object", "duplicate_key")
            seen.add(key)
            window.take(":")
            branch = tree.get(key)
            opening = window.peek()
            if isinstance(branch, str) and opening == "[":
                yield from self._elements(window, branch, number)
            elif isinstance(branch, dict) and opening in ("[", "{"):
                yield from self._branch(window, branch, number)
            else:
                head[key] = _whole(window, "head", number, None).value
            if window.take(",", "}") == "}":
                return len(seen) > len(head)

    def _branch(self, window: Window, tree: Tree, number: int) -> Iterator[Part]:
        """One object, or a list of them, on the way down to the lists."""
        if window.peek() == "{":
            yield from self._members(window, tree, number, {})
            return
        window.take("[")
        if _is_empty(window, "]"):
            return
        while True:
            if window.peek() == "{":
                yield from self._members(window, tree, number, {})
            else:
                window.skip()
            if window.take(",", "]") == "]":
                return

    def _elements(self, window: Window, role: Role, number: int) -> Iterator[Part]:
        window.take("[")
        if _is_empty(window, "]"):
            return
        while True:
            yield _whole(window, role, number, None)
            if window.take(",", "]") == "]":
                return


def _is_empty(window: Window, closing: str) -> bool:
    """Step over the end of an empty list or object."""
    if window.peek() != closing:
        return False
    window.take(closing)
    return True


def _whole(window: Window, role: Role, number: int, most: int | None) -> Part:
    """One value. What is JSON in form but not strictly is stepped over, so that the rest of the file can be read."""
    window.peek()
    offset, line = window.place()
    value: JsonValue = None
    has_nan = False
    try:
        value = window.value(most)
    except JsonError as fault:
        if fault.fault == "non_finite":
            has_nan = True
            try:
                value = window.value_with_nan(most)
            except JsonError:
                role, has_nan = "bad", False
        elif fault.fault in ("duplicate_key", "limit"):
            role = "bad"
        else:
            raise
        if role == "bad":
            window.skip()
    end, _ = window.place()
    return Part(role, value, offset, end - offset, line, number, has_nan)
