"""Findings about scopes: does each matter have exactly one dimension that judges it?"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

from agentanvil.rubric.findings import Finding, finding
from agentanvil.rubric.lint_reading import Reading
from agentanvil.rubric.lint_words import content
from agentanvil.rubric.model import Dimension, Exclusion


def lint_scope(reading: Reading) -> Iterator[Finding]:
    """Yield the findings R301 to R305."""
    yield from _overlaps(reading)
    for index, dimension in reading.judged():
        yield from _exclusions(reading, index, dimension)
    yield from _decoration(reading)
    yield from _ownerless(reading)


def _overlaps(reading: Reading) -> Iterator[Finding]:
    for (_, first), (index, second) in combinations(reading.judged(), 2):
        shared = _unparted_matter(first, second)
        if shared is not None:
            what = f"`{shared[0]}` of {first.id} and `{shared[1]}` of {second.id} are one matter with two judges"
            line = reading.line("dimensions", index, "scope", "in")
            yield finding("R301", what, dimension=second.id, line=line)


def _unparted_matter(first: Dimension, second: Dimension) -> tuple[str, str] | None:
    """Return the first matter that both list in scope although no exclusion stands between the two."""
    for one in first.scope.inside:
        for other in second.scope.inside:
            if _same_matter(one, other) and not _parts(first, second, other) and not _parts(second, first, one):
                return one, other
    return None


def _parts(dimension: Dimension, sibling: Dimension, matter: str) -> bool:
    """Say whether an exclusion leaves something to this very sibling, or `matter` to whomever."""
    return any(
        exclusion.judged_by == sibling.id or _same_matter(exclusion.what, matter)
        for exclusion in dimension.scope.outside
    )


def _same_matter(one: str, other: str) -> bool:
    """Say whether all telling words of one text stand in the other: `figures` and `figures in tables` do."""
    first, second = content(one), content(other)
    return bool(first and second) and (first <= second or second <= first)


def _exclusions(reading: Reading, index: int, dimension: Dimension) -> Iterator[Finding]:
    siblings = {d.id for d in reading.rubric.dimensions} - {dimension.id}
    for position, exclusion in enumerate(dimension.scope.outside):
        line = reading.line("dimensions", index, "scope", "out", position)
        if exclusion.judged_by is not None and exclusion.judged_by not in siblings:
            which = "itself" if exclusion.judged_by == dimension.id else f"`{exclusion.judged_by}`, which is not there"
            what = f"{dimension.id} leaves `{exclusion.what}` to {which}"
            yield finding("R302", what, dimension=dimension.id, line=line)
        for matter in dimension.scope.inside:
            # A narrower exclusion is a carve-out and fine; an equal or wider one takes the matter away.
            if content(exclusion.what) and content(exclusion.what) <= content(matter):
                what = f"{dimension.id} has `{matter}` in scope and excludes `{exclusion.what}`"
                yield finding("R303", what, dimension=dimension.id, line=line)


def _decoration(reading: Reading) -> Iterator[Finding]:
    judged = list(reading.judged())
    if len(judged) != 1:
        return
    index, dimension = judged[0]
    siblings = {d.id for d in reading.rubric.dimensions} - {dimension.id}
    if any(exclusion.judged_by not in siblings for exclusion in dimension.scope.outside):
        line = reading.line("dimensions", index, "scope", "out")
        yield finding("R304", "an exclusion where one dimension is judged", dimension=dimension.id, line=line)


def _ownerless(reading: Reading) -> Iterator[Finding]:
    dimensions = {dimension.id: dimension for _, dimension in reading.judged()}
    reported: set[frozenset[Exclusion]] = set()
    for index, dimension in reading.judged():
        for position, exclusion in enumerate(dimension.scope.outside):
            trail = _trail(exclusion, dimensions)
            if trail is None or trail in reported:
                continue
            reported.add(trail)
            line = reading.line("dimensions", index, "scope", "out", position)
            what = f"{dimension.id} leaves `{exclusion.what}` to {exclusion.judged_by}, which excludes it too"
            yield finding("R305", what, dimension=dimension.id, line=line)


def _trail(exclusion: Exclusion, dimensions: dict[str, Dimension]) -> frozenset[Exclusion] | None:
    """Follow a matter from sibling to sibling; return the exclusions passed if nobody keeps it in the end."""
    passed = [exclusion]
    while passed[-1].judged_by in dimensions:
        owner = dimensions[passed[-1].judged_by or ""]
        onward = next((other for other in owner.scope.outside if _same_matter(other.what, exclusion.what)), None)
        if onward is None:
            return None
        if onward in passed:
            return frozenset(passed)
        passed.append(onward)
    return frozenset(passed) if len(passed) > 1 and passed[-1].judged_by is None else None
