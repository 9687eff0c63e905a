"""Findings about anchors: are they there, and could two strangers apply them alike?"""

from __future__ import annotations

from collections.abc import Iterator

from agentanvil.errors import quoted
from agentanvil.rubric.findings import SHOWN, Finding, finding
from agentanvil.rubric.lint_reading import Reading
from agentanvil.rubric.lint_words import (
    CATEGORIES,
    COUNTS,
    FILLERS,
    GENERIC,
    HEDGES,
    OBJECTS,
    QUANTIFIERS,
    UNIVERSAL,
    VAGUE,
    words,
)
from agentanvil.rubric.model import Dimension

_CROWDED_FROM = 5
_NEGATIONS = ("un", "in", "im", "non", "dis", "ir")


def lint_anchors(reading: Reading) -> Iterator[Finding]:
    """Yield the findings R101 to R105."""
    for index, dimension in reading.judged():
        if not dimension.anchors:
            if _yes_or_no(reading):
                continue
            line = reading.line("dimensions", index, "id")
            yield finding("R101", "the scale has no anchors", dimension=dimension.id, line=line)
            continue
        yield from _coverage(reading, index, dimension)
        yield from _texts(reading, index, dimension)


def _yes_or_no(reading: Reading) -> bool:
    """Say whether the question alone decides: which of two is better, or whether a two-step scale is passed."""
    return reading.rubric.mode != "absolute" and len(reading.rubric.scale.values) == len(("no", "yes"))


def _coverage(reading: Reading, index: int, dimension: Dimension) -> Iterator[Finding]:
    scale = reading.rubric.scale
    line = reading.line("dimensions", index, "anchors")
    if len(scale.values) >= _CROWDED_FROM and len(dimension.anchors) == len(scale.values):
        yield finding("R103", f"all {len(scale.values)} scores have anchors", dimension=dimension.id, line=line)
    for name, score in (("highest", scale.max), ("lowest", scale.min)):
        if score not in dimension.anchors:
            what = f"the {name} score, {score}, has no anchor"
            yield finding("R104", what, dimension=dimension.id, line=line)


def _texts(reading: Reading, index: int, dimension: Dimension) -> Iterator[Finding]:
    seen: dict[str, int] = {}
    for score, text in dimension.anchors.items():
        line = reading.line("dimensions", index, "anchors", score)
        if is_unobservable(text, dimension):
            what = f"anchor {score} ({quoted(text, SHOWN)}) names nothing that can be counted or found"
            yield finding("R102", what, dimension=dimension.id, line=line)
        twin = seen.setdefault(" ".join(words(text)) or text, score)
        if twin != score:
            yield finding("R105", f"anchors {twin} and {score} say the same", dimension=dimension.id, line=line)


def is_unobservable(text: str, dimension: Dimension) -> bool:
    """Say whether an anchor is made of praise and blame alone.

    A number, a count word (`exactly one`, `none`), or any word that is neither filler, nor a word of
    judgement, nor the dimension's own name makes it observable. So a doubtful anchor passes.
    """
    found = words(text)
    if not found or any(word in COUNTS or any(c.isdigit() for c in word) for word in found):
        return False
    own = _own_names(dimension)
    ignored = FILLERS | UNIVERSAL | GENERIC
    telling = {word for word in found if word not in ignored and not _is_own(word, own)}
    if not telling and QUANTIFIERS & set(found):
        return any(word in GENERIC or _is_own(word, own) for word in found)
    if any(word in HEDGES for word in found):
        telling -= CATEGORIES
    if any(word in VAGUE for word in found):
        telling -= OBJECTS
    return telling <= VAGUE


def _own_names(dimension: Dimension) -> frozenset[str]:
    return frozenset(name[:5] for name in dimension.id.split("_") if len(name) > 3)


def _is_own(word: str, own: frozenset[str]) -> bool:
    """`Fully complete` and `incomplete` say nothing that the name `completeness` does not say."""
    bare = [word, *(word.removeprefix(prefix) for prefix in _NEGATIONS)]
    return any(form.startswith(name) for form in bare for name in own)
