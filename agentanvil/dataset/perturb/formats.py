"""The same words as plain text or as Markdown. Only marks and line breaks come and go."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from agentanvil.dataset.perturb.segments import Segment, has_words, segments, sentences

_BOLD_WORDS = 3
_HEADING_WORDS = 8
_CODE_SPAN = re.compile(r"(`+[^`\n]+`+)")
# Between two like runs of asterisks stands no other, so that no character is looked at more than twice.
_EMPHASIS = re.compile(r"(?<![\w*])(\*{1,3})(?![\s*])([^*\n]*[^\s*])\1(?![\w*])")
_LINE_MARK = re.compile(r"\A[ \t]*(?:(?:[-*+•]|#{1,6}|>)[ \t]+)+")
_NUMBER_MARK = re.compile(r"[ \t]*\d{1,3}[.)][ \t]+")
_ENDS = ".!?…:;,。！？"
_NOT_BOLD = "*_`[]<>#"


def as_plain(text: str) -> str:
    """Return the text without headings, bullets, quote marks and emphasis by asterisks.

    Numbers of lists, code, tables and JSON stay. Nesting of emphasis is undone by one level.
    """
    return _rewritten(text, lambda part: "\n".join(_plain_line(line) for line in part.text.split("\n")))


def as_markdown(text: str) -> str | None:
    """Return the text with every line as a bullet, the first words of each sentence bold, and titles as headings.

    It is made from the plain form, so that text of any style comes to the same. None where nothing in it is prose.
    """
    parts = segments(text)
    if not any(part.prose and has_words(part.text) for part in parts):
        return None
    return _rewritten(as_plain(text), lambda part: "\n".join(_marked_lines(part.text.split("\n"))))


def _rewritten(text: str, rewrite: Callable[[Segment], str]) -> str:
    return "\n".join(rewrite(part) if part.prose else part.text for part in segments(text))


def _plain_line(line: str) -> str:
    bare = _LINE_MARK.sub("", line, count=1)
    pieces = _CODE_SPAN.split(bare if has_words(bare) or not has_words(line) else line)
    return "".join(piece if at % 2 else _EMPHASIS.sub(r"\2", piece) for at, piece in enumerate(pieces))


def _marked_lines(lines: list[str]) -> Iterator[str]:
    around = ["", *lines, ""]
    for at, line in enumerate(lines):
        if not has_words(line):
            yield line
        elif _is_title(line) and not (around[at].strip() or around[at + 2].strip()) and len(lines) > at + 1:
            yield f"## {line.strip()}"
        else:
            number = _NUMBER_MARK.match(line)
            parts = sentences(line if number is None else line[number.end() :])
            yield f"{'- ' if number is None else number[0]}{' '.join(map(_bold, parts))}"


def _is_title(line: str) -> bool:
    words = line.split()
    return len(words) <= _HEADING_WORDS and words[-1][-1] not in _ENDS and _NUMBER_MARK.match(line) is None


def _bold(sentence: str) -> str:
    words = sentence.split(" ")
    first, rest = " ".join(words[:_BOLD_WORDS]), words[_BOLD_WORDS:]
    if any(mark in first for mark in _NOT_BOLD):
        return sentence
    return " ".join((f"**{first}**", *rest))
