"""Where a reply's text states its verdicts: found by parsing, so that nothing quoted is taken for one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from agentanvil.judge.objects import MAX_STRAY_BRACES
from agentanvil.strict_json import JsonError, JsonValue, parse_json_at

Path = tuple[str, ...]

_SPACE = " \t\r\n"


def value_places(text: str, paths: Iterable[Path]) -> dict[Path, int]:
    """Return where the value at each path begins, in the last object of a reply that has one there.

    A value is a text, whose place is behind its quotation mark and blanks, a number or a boolean. The last object is
    read because the parser refuses a reply whose objects differ, and passes over a model's thoughts, which come first.
    """
    wanted = tuple(paths)
    last: dict[Path, int] = {}
    for start, value in _objects(text):
        for path in wanted:
            if isinstance(_inside(value, path), str | int | float):
                last[path] = start
    found: dict[Path, int] = {}
    for start in set(last.values()):
        found.update(_walk(text, start, [(path, path) for path in wanted if last.get(path) == start]))
    return found


def _objects(text: str) -> Iterator[tuple[int, JsonValue]]:
    """Yield where each outermost object begins, with what it holds."""
    stray = 0
    start = text.find("{")
    while start >= 0 and stray <= MAX_STRAY_BRACES:
        try:
            value, end = parse_json_at(text, start)
        except JsonError:
            end = start + 1
            stray += 1
        else:
            yield start, value
        start = text.find("{", end)


def _inside(value: JsonValue, path: Sequence[str]) -> JsonValue:
    for key in path:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def _walk(text: str, start: int, wanted: list[tuple[Path, Path]]) -> Iterator[tuple[Path, int]]:
    """Yield the places below the object at `start`; `wanted` are the rests of paths, each with its whole path."""
    for key, at, value in _members(text, start):
        below = [(rest[1:], path) for rest, path in wanted if rest[0] == key]
        if below and isinstance(value, dict):
            yield from _walk(text, at, [(rest, path) for rest, path in below if rest])
        elif isinstance(value, str | int | float):
            begins = _past_space(text, at + 1) if isinstance(value, str) else at
            yield from ((path, begins) for rest, path in below if not rest)


def _members(text: str, start: int) -> Iterator[tuple[JsonValue, int, JsonValue]]:
    """Yield each key of the well-formed object at `start`, where its value begins, and the value."""
    at = _past_space(text, start + 1)
    while text[at] != "}":
        key, end = parse_json_at(text, at)
        at = _past_space(text, _past_space(text, end) + 1)
        value, end = parse_json_at(text, at)
        yield key, at, value
        at = _past_space(text, end)
        if text[at] == ",":
            at = _past_space(text, at + 1)


def _past_space(text: str, at: int) -> int:
    while at < len(text) and text[at] in _SPACE:
        at += 1
    return at
