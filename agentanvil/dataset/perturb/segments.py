"""A response in parts: prose, whose form may be changed, and everything whose form is its content."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby, pairwise

from agentanvil.dataset.texts import is_blank
from agentanvil.strict_json import JsonError, parse_json

_FENCE = re.compile(r"[ \t]{0,3}(?P<mark>`{3,}|~{3,})")
_MATH = "$$"
# Indented code, table rows, and lines that begin as mark-up does.
_KEPT_LINE = re.compile(r"(?: {4}|\t)|[ \t]*(?:\||<[/!?A-Za-z])")
_SENTENCE_END = re.compile(r"(?<=[.!?…])[\"')\]”’»]*[ \t]+|(?<=[。！？])")


@dataclass(frozen=True, slots=True)
class Segment:
    """Consecutive lines, without the line end of the last. `prose`: they are words, not code, data or mark-up."""

    text: str
    prose: bool


def segments(text: str) -> tuple[Segment, ...]:
    """Return the parts of a text in order; joined by line ends they are the text again.

    Kept as they are: fenced and indented code, tables, mark-up, formulas, and JSON, whether it is all of the text or
    one block between blank lines.
    """
    if _is_json(text):
        return (Segment(text, prose=False),)
    lines = text.split("\n")
    kinds = zip(lines, _prose_lines(lines), strict=True)
    return tuple(
        Segment("\n".join(line for line, _ in run), prose) for prose, run in groupby(kinds, key=lambda pair: pair[1])
    )


def sentences(line: str) -> list[str]:
    """Return a line's sentences without the space between them. Ends are told by punctuation in any script."""
    starts = [0, *(found.end() for found in _SENTENCE_END.finditer(line)), len(line)]
    parts = (line[start:end].strip() for start, end in pairwise(starts))
    return [part for part in parts if part]


def has_words(text: str) -> bool:
    """Tell whether anything in a text is a letter or a digit."""
    return any(character.isalnum() for character in text)


def _prose_lines(lines: list[str]) -> Iterator[bool]:
    """Yield for every line whether it is prose; a blank line belongs to what it stands in."""
    data = _json_lines(lines)
    closing: str | None = None
    for number, line in enumerate(lines):
        if closing is not None:
            yield False
            if line.strip().startswith(closing):
                closing = None
            continue
        fence = _FENCE.match(line)
        if fence is not None:
            closing = fence["mark"]
        elif line.strip().startswith(_MATH) and line.count(_MATH) == 1:
            closing = _MATH
        yield (
            closing is None
            and number not in data
            and not line.strip().startswith(_MATH)
            and (is_blank(line) or _KEPT_LINE.match(line) is None)
        )


def _json_lines(lines: list[str]) -> set[int]:
    """Return the numbers of the lines in blocks that are JSON objects or arrays."""
    found: set[int] = set()
    for blank, run in groupby(enumerate(lines), key=lambda pair: is_blank(pair[1])):
        block = list(run)
        if not blank and _is_json("\n".join(line for _, line in block)):
            found.update(number for number, _ in block)
    return found


def _is_json(text: str) -> bool:
    stripped = text.strip()
    if (stripped[:1], stripped[-1:]) not in {("{", "}"), ("[", "]")}:
        return False
    try:
        parse_json(stripped)
    except JsonError:
        return False
    return True
