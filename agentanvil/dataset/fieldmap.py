"""`--map target=path`: reading other people's field names without rewriting their files."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches

from agentanvil.dataset.faults import json_type, listed
from agentanvil.errors import UsageError, quoted
from agentanvil.hashing import digest, well_formed
from agentanvil.strict_json import JsonValue

OWN_FIELDS = ("id", "request", "response", "source", "model", "labels", "meta")
PAIR_FIELDS = ("id", "request", "response_a", "response_b", "source", "model_a", "model_b", "labels", "meta")
TARGETS = (*OWN_FIELDS, *(name for name in PAIR_FIELDS if name not in OWN_FIELDS), "expected")

# These two hold values by name: `labels.NAME` can be mapped, and be a column where a format has no objects.
OBJECT_FIELDS = ("labels", "meta")
_WORD = re.compile(r"(?!\d+\Z)\w+")
_INDEX = re.compile(r"-?[0-9]{1,9}")


class PathAbsentError(Exception):
    """A record has nothing at the path; the message names the deepest part that exists, and its keys."""


@dataclass(frozen=True, slots=True)
class Step:
    """One part of a path: a key, which also counts as an index where a list is met (-1 is the last)."""

    key: str
    index: int | None = None


@dataclass(frozen=True, slots=True)
class FieldPath:
    """Where a value lies in a record: `text` as the user wrote it, `steps` as it was understood."""

    text: str
    steps: tuple[Step, ...]

    def find(self, root: JsonValue) -> JsonValue:
        """Return the value at this path below `root`. Raises PathAbsentError where there is none."""
        value = root
        for depth, step in enumerate(self.steps):
            if isinstance(value, dict) and step.key in value:
                value = value[step.key]
            elif isinstance(value, list) and step.index is not None and _inside(step.index, value):
                value = value[step.index]
            else:
                raise PathAbsentError(self._absence(value, depth))
        return value

    def _absence(self, value: JsonValue, depth: int) -> str:
        wanted = quoted(self.steps[depth].key)
        place = quoted(".".join(step.key for step in self.steps[:depth])) if depth else "the row"
        if isinstance(value, dict):
            return f"{place} has no {wanted}; its keys are {listed(value)}"
        if isinstance(value, list):
            return f"{place} is a list of {len(value)}, which has no {wanted}"
        return f"{place} is {json_type(value)}, which has no {wanted}"


@dataclass(frozen=True, slots=True)
class FieldMap:
    """Which path fills which target. A target that is not here is read from the field of its own name."""

    paths: Mapping[str, FieldPath] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.paths)

    @property
    def roots(self) -> frozenset[str]:
        """The top-level keys that the paths start from."""
        return frozenset(path.steps[0].key for path in self.paths.values())

    @property
    def digest(self) -> str:
        """A hash of what the mapping means: the order and the spelling of the entries do not matter."""
        parts: list[str] = []
        for target in sorted(self.paths):
            steps = self.paths[target].steps
            parts += [target, str(len(steps))]
            for step in steps:
                parts += [step.key, "key" if step.index is None else "index"]
        return digest(*parts)

    def named(self, target: str) -> dict[str, FieldPath]:
        """Return the paths of `target.NAME` entries by NAME."""
        start = f"{target}."
        return {key[len(start) :]: path for key, path in self.paths.items() if key.startswith(start)}


def parse_map(entries: Iterable[str]) -> FieldMap:
    """Return the mapping that `target=path` entries declare.

    Targets are `id`, `request`, `response`, `source`, `model`, `labels`, `meta`, `expected`; for pairs
    `response_a`, `response_b`, `model_a`, `model_b`; and `labels.NAME`, `meta.NAME` for single values. Raises
    UsageError naming the entry that is wrong.
    """
    paths: dict[str, FieldPath] = {}
    for entry in entries:
        target, equals, text = entry.partition("=")
        target = target.strip()
        if not equals:
            raise UsageError(f"--map {quoted(entry)} has no `=`", hint="write it as --map request=prompt")
        if well_formed(entry) != entry:
            raise UsageError(f"--map {quoted(well_formed(entry))} is not UTF-8")
        _check_target(target, entry)
        if target in paths:
            raise UsageError(f"--map gives {quoted(target)} twice", hint="one path fills one field")
        paths[target] = parse_path(text, f"--map {quoted(entry)}")
    return FieldMap(paths)


def parse_path(text: str, place: str) -> FieldPath:
    r"""Return the path that `a.b.0.c` spells.

    A number is an index where a list is met, negative ones count from its end. A dot in a key is written
    `a\.b` or `"a.b"`. Raises UsageError, opening with `place`, on an empty part or an open quote.
    """
    text = text.strip()
    steps: list[Step] = []
    at = 0
    while True:
        step, at = _read_step(text, at, place)
        steps.append(step)
        if at == len(text):
            return FieldPath(text, tuple(steps))
        at += 1


def spell_key(key: str) -> str:
    """Return `key` as `parse_path` reads it back: one step, never an index."""
    if _WORD.fullmatch(key):
        return key
    escaped = key.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _read_step(text: str, at: int, place: str) -> tuple[Step, int]:
    if text.startswith('"', at):
        key, end = _read_quoted(text, at + 1, place)
        if end < len(text) and text[end] != ".":
            raise UsageError(f"{place}: after a quoted key comes a dot or the end")
        return Step(key), end
    key, end = _read_until(text, at, ".", place)
    if not key:
        raise UsageError(
            f"{place}: the path {quoted(text)} has an empty part" if text else f"{place}: the path is empty",
            hint=r'write a path as output.choices.0.text; a dot inside a key as a\.b or "a.b"',
        )
    plain = "\\" not in text[at:end] and _INDEX.fullmatch(key) is not None
    return Step(key, int(key) if plain else None), end


def _read_quoted(text: str, at: int, place: str) -> tuple[str, int]:
    key, end = _read_until(text, at, '"', place)
    if end == len(text):
        raise UsageError(f"{place}: a quote in the path is never closed")
    return key, end + 1


def _read_until(text: str, at: int, stop: str, place: str) -> tuple[str, int]:
    key: list[str] = []
    while at < len(text) and text[at] != stop:
        if text[at] == "\\":
            at += 1
            if at == len(text):
                raise UsageError(f"{place}: the path ends in a backslash", hint=r"a backslash is written \\")
        key.append(text[at])
        at += 1
    return "".join(key), at


def _check_target(target: str, entry: str) -> None:
    head, dot, name = target.partition(".")
    if target in TARGETS or (head in OBJECT_FIELDS and dot and name.strip()):
        return
    close = get_close_matches(target, TARGETS, n=1)
    raise UsageError(
        f"--map {quoted(entry)}: {quoted(target)} is not a field",
        hint=(f"did you mean `{close[0]}`? " if close else "")
        + f"the fields are {', '.join(TARGETS)}, labels.NAME and meta.NAME",
    )


def _inside(index: int, items: list[JsonValue]) -> bool:
    return -len(items) <= index < len(items)
