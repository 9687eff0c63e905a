"""The same content at twice its length or more: every sentence said once more, in a frame that adds nothing."""

from __future__ import annotations

import re

from agentanvil.dataset.perturb.segments import has_words, segments, sentences
from agentanvil.hashing import derive_seed

_TIMES = 2
_MOST_ROUNDS = 3
_FRAMES = (
    "In other words:",
    "To put it another way:",
    "That is to say:",
    "To say the same once more:",
    "As has been said above:",
    "To restate this point:",
    "Said again:",
    "To repeat:",
)
_WORDLESS = "—"
_ENGLISH = frozenset(
    {
        *("a", "and", "are", "as", "at", "be", "by", "for", "from", "has", "have", "in", "is", "it", "of", "on", "or"),
        *("that", "the", "this", "to", "was", "with", "you"),
    }
)
_ENGLISH_SHARE = 0.1
_WORD = re.compile(r"[^\W\d_]+")
_LIST_MARK = re.compile(r"\A[ \t]*(?:[-*+•>][ \t]+|#{1,6}[ \t]+|\d{1,3}[.)][ \t]+)+")


def padded(text: str, seed: int) -> str | None:
    """Return the text as it is, and after it its sentences again, each in a neutral frame; None without any prose.

    Nothing is said that the text does not say, and code, JSON and tables are not repeated. Sentences are said again
    until the text has doubled, three times at most. Frames are drawn by seed; those of a text that does not read as
    English are a dash without words, so that no language is mixed into another.
    """
    said = _said(text)
    if not said:
        return None
    frames = _FRAMES if _reads_as_english(text) else (_WORDLESS,)
    lines: list[str] = []
    length = len(text)
    for round_ in range(_MOST_ROUNDS):
        start = derive_seed("padding", seed, round_, text) % len(frames)
        lines.append(" ".join(f"{frames[(start + at) % len(frames)]} {said[at]}" for at in range(len(said))))
        length += len(lines[-1])
        if length >= _TIMES * len(text):
            break
    return "\n\n".join((text, *lines))


def _said(text: str) -> list[str]:
    prose = (line for part in segments(text) if part.prose for line in part.text.split("\n"))
    found = (sentence for line in prose for sentence in sentences(_LIST_MARK.sub("", line, count=1)))
    return [sentence for sentence in found if has_words(sentence)]


def _reads_as_english(text: str) -> bool:
    words = _WORD.findall(text.casefold())
    if not words:
        return False
    return sum(word in _ENGLISH for word in words) >= _ENGLISH_SHARE * len(words)
