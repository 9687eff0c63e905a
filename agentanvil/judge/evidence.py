"""Whether what a judge calls a quote stands in the judged text.

The judged text is the response and, where there is one, the source; the request is not judged, so words from it are no
evidence about the response. Two texts are compared after folding: Unicode NFKC, letter case, white space, quotation
marks and dashes, invisible characters. An ellipsis inside a quote leaves words out: the parts must stand in one text,
in order. Quotation marks around a quote are the judge's own.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from agentanvil.dataset import normal_form

_QUOTATION = "\"'`´‘’‚‛“”„‟′″‵‶‹›«»「」『』〝〞〟ʼ＂＇"
_DASHES = "‐‑‒–—―−﹘﹣－⁃"
_INVISIBLE = "\u00ad\u034f\u200b\u200c\u200d\u200e\u200f\u2060\ufe0e\ufe0f\ufeff"
_FOLDS = {**dict.fromkeys(_QUOTATION, "'"), **dict.fromkeys(_DASHES, "-"), **dict.fromkeys(_INVISIBLE, ""), "⋯": "..."}
# A pattern over the few characters that change costs a tenth of `str.translate` over all of them.
_FOLDABLE = re.compile(f"[{re.escape(''.join(_FOLDS))}]")
_ELLIPSIS = re.compile(r"[\[(]\s?\.{3,}\s?[\])]|\.{3,}")
_BLANK = re.compile(rf"(?:[\s.…⋯\-{re.escape(_QUOTATION + _DASHES + _INVISIBLE)}]|[\[(]\s*(?:\.{{3}}|…)\s*[\])])*")
_PUNCTUATED = re.compile(r"'[.,;:]\Z")


def fold(text: str) -> str:
    """Return the text as it is compared."""
    if text.isascii():
        return " ".join(text.lower().replace('"', "'").replace("`", "'").split())
    text = normal_form(normal_form(text, "NFKC").casefold(), "NFKC")
    return " ".join(_FOLDABLE.sub(_folded, text).split())


def _folded(mark: re.Match[str]) -> str:
    return _FOLDS[mark.group()]


def is_blank(evidence: str) -> bool:
    """Tell whether a piece of evidence says nothing: white space, dots, dashes and quotation marks only."""
    return _BLANK.fullmatch(evidence) is not None


class JudgedText:
    """A response and its source passages; folded once, and only when a quote is not there letter for letter."""

    __slots__ = ("_folded", "_texts")

    def __init__(self, texts: tuple[str, ...]) -> None:
        self._texts = texts
        self._folded: tuple[str, ...] | None = None

    def holds_all(self, quotes: Iterable[str]) -> bool:
        """Tell whether every quote stands in one of the texts."""
        return all(self.holds(quote) for quote in quotes)

    def holds(self, quote: str) -> bool:
        """Tell whether one quote does."""
        if any(quote in text for text in self._texts):
            return True
        if self._folded is None:
            self._folded = tuple(fold(text) for text in self._texts)
        bare = _PUNCTUATED.sub("", fold(quote)).strip("' ")
        if any(bare in text for text in self._folded):
            return bool(bare)
        parts = [part for piece in _ELLIPSIS.split(bare) if (part := piece.strip("' "))]
        return bool(parts) and any(_in_order(parts, text) for text in self._folded)


def _in_order(parts: list[str], text: str) -> bool:
    position = 0
    for part in parts:
        position = text.find(part, position)
        if position < 0:
            return False
        position += len(part)
    return True
