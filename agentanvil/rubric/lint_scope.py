"""Findings about scopes: does each matter have exactly one dimension that judges it?"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from difflib import get_close_matches
from itertools import combinations

from agentanvil.errors import quoted
from agentanvil.rubric.findings import SHOWN, Finding, finding
from agentanvil.rubric.lint_reading import Reading
from agentanvil.rubric.lint_words import ASPECTS, content
from agentanvil.rubric.model import Dimension

# Comparing takes the square of the entries; a scope that needs more than these is no boundary any more.
_MOST = 32
_LIST = re.compile(r"[,;/]|\b(?:and|or|nor)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class _Matter:
    """One entry of a scope: its text, the stems of its telling words, and those of each part if it is a list."""

    text: str
    stems: frozenset[str]
    parts: frozenset[frozenset[str]]

    @classmethod
    def of(cls, text: str) -> _Matter:
        parts = frozenset(filter(None, map(content, _LIST.split(text))))
        # In `missing facts and figures` the first word goes with both parts, so that neither stands alone.
        spread = any(part & ASPECTS and not part <= ASPECTS for part in parts)
        return cls(text, content(text), frozenset() if spread else parts)

    def covers(self, other: _Matter) -> bool:
        """Say whether whatever belongs to `other` belongs here: `figures` covers `figures in tables`."""
        return bool(self.stems) and self.stems <= other.stems and not (other.stems - self.stems) & ASPECTS

    def meets(self, other: _Matter) -> bool:
        """Say whether one of the two covers the other, or both list the same part."""
        return self.covers(other) or other.covers(self) or bool(self.parts & other.parts)


@dataclass(frozen=True, slots=True)
class _Exclusion:
    owner: str
    position: int
    matter: _Matter
    judged_by: str | None


@dataclass(frozen=True, slots=True)
class _Ground:
    """What one dimension claims and leaves. `index` is its place in the file."""

    index: int
    id: str
    name: frozenset[str]
    inside: tuple[_Matter, ...]
    outside: tuple[_Exclusion, ...]

    @classmethod
    def of(cls, index: int, dimension: Dimension) -> _Ground:
        scope = dimension.scope
        return cls(
            index,
            dimension.id,
            content(dimension.id.replace("_", " ")),
            tuple(_Matter.of(text) for text in scope.inside[:_MOST]),
            tuple(
                _Exclusion(dimension.id, position, _Matter.of(exclusion.what), exclusion.judged_by)
                for position, exclusion in enumerate(scope.outside[:_MOST])
            ),
        )

    def parts_with(self, sibling: str, matter: _Matter) -> bool:
        """Say whether an exclusion leaves something to this very sibling, or `matter` to whomever."""
        return any(one.judged_by == sibling or one.matter.meets(matter) for one in self.outside)


def lint_scope(reading: Reading) -> Iterator[Finding]:
    """Yield the findings R301 to R305."""
    grounds = [_Ground.of(index, dimension) for index, dimension in reading.judged()]
    yield from _overlaps(reading, grounds)
    for ground in grounds:
        yield from _exclusions(reading, ground)
    yield from _decoration(reading, grounds)
    yield from _ownerless(reading, grounds)


def _overlaps(reading: Reading, grounds: Iterable[_Ground]) -> Iterator[Finding]:
    for first, second in combinations(grounds, 2):
        shared = _unparted(first, second)
        if shared is not None:
            one, other = (quoted(text, SHOWN) for text in shared)
            what = f"{one} of {first.id} and {other} of {second.id} are one matter with two judges"
            line = reading.line("dimensions", second.index, "scope", "in")
            yield finding("R301", what, dimension=second.id, line=line)


def _unparted(first: _Ground, second: _Ground) -> tuple[str, str] | None:
    """Return the first matter that both claim although no exclusion stands between the two."""
    for one in first.inside:
        for other in second.inside:
            if one.meets(other) and not _parted(first, one, second, other):
                return one.text, other.text
    for ground, sibling in ((first, second), (second, first)):
        for matter in ground.inside:
            if matter.stems and sibling.name == matter.stems and not _parted(ground, matter, sibling, matter):
                return (matter.text, sibling.id) if ground is first else (sibling.id, matter.text)
    return None


def _parted(first: _Ground, one: _Matter, second: _Ground, other: _Matter) -> bool:
    return first.parts_with(second.id, other) or second.parts_with(first.id, one)


def _exclusions(reading: Reading, ground: _Ground) -> Iterator[Finding]:
    siblings = [d.id for d in reading.rubric.dimensions if d.id != ground.id]
    for exclusion in ground.outside:
        what, line = exclusion.matter, reading.line("dimensions", ground.index, "scope", "out", exclusion.position)
        left = quoted(what.text, SHOWN)
        if exclusion.judged_by is not None and exclusion.judged_by not in siblings:
            which = _missing(exclusion.judged_by, ground.id, siblings)
            yield finding("R302", f"{ground.id} leaves {left} to {which}", dimension=ground.id, line=line)
        for matter in ground.inside:
            # A narrower exclusion is a carve-out and fine; an equal or wider one takes the matter away.
            if what.covers(matter) or matter.stems in what.parts:
                found = f"{ground.id} has {quoted(matter.text, SHOWN)} in scope and excludes {left}"
                yield finding("R303", found, dimension=ground.id, line=line)


def _missing(name: str, own: str, siblings: list[str]) -> str:
    if name == own:
        return "itself"
    close = get_close_matches(name, siblings, n=1)
    return f"`{name}`, which is not there{f' (did you mean `{close[0]}`?)' if close else ''}"


def _decoration(reading: Reading, grounds: list[_Ground]) -> Iterator[Finding]:
    if len(grounds) != 1:
        return
    (ground,) = grounds
    siblings = {d.id for d in reading.rubric.dimensions} - {ground.id}
    if any(exclusion.judged_by not in siblings for exclusion in ground.outside):
        line = reading.line("dimensions", ground.index, "scope", "out")
        yield finding("R304", "an exclusion where one dimension is judged", dimension=ground.id, line=line)


def _ownerless(reading: Reading, grounds: list[_Ground]) -> Iterator[Finding]:
    by_id = {ground.id: ground for ground in grounds}
    reported: set[tuple[str, int]] = set()
    for ground in grounds:
        for exclusion in ground.outside:
            trail = _trail(exclusion, by_id)
            if not trail or (ground.id, exclusion.position) in reported:
                continue
            reported.update((one.owner, one.position) for one in trail)
            line = reading.line("dimensions", ground.index, "scope", "out", exclusion.position)
            left = quoted(exclusion.matter.text, SHOWN)
            what = f"{ground.id} leaves {left} to {exclusion.judged_by}, which excludes it too"
            yield finding("R305", what, dimension=ground.id, line=line)


def _trail(exclusion: _Exclusion, grounds: dict[str, _Ground]) -> list[_Exclusion]:
    """Follow a matter from sibling to sibling; return the exclusions passed, none if somebody keeps it in the end."""
    passed = [exclusion]
    while (owner := grounds.get(passed[-1].judged_by or "")) is not None:
        onward = next((one for one in owner.outside if one.matter.covers(exclusion.matter)), None)
        if onward is None:
            return []
        if onward in passed:
            return passed
        passed.append(onward)
    return passed if len(passed) > 1 and passed[-1].judged_by is None else []
