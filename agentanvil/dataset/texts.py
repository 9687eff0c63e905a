"""What readers, checks and the look-up of quotes all ask about text."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Iterable
from itertools import count
from typing import Literal

import regex

from agentanvil.hashing import digest, well_formed
from agentanvil.strict_json import JsonValue

_ZERO_WIDTH = "\u200b\u200c\u200d\u2060\ufeff\u00ad"
# Thirty marks on one letter are what the Stream-Safe Text Format (Unicode Standard Annex 15) allows; a joiner begins
# the next thirty.
_THIRTY_MARKS = regex.compile(r"\p{M}{30}(?=\p{M})")
_JOINER = "\u034f"
_MOST_BRACKETS = 12
_TOKEN_LENGTH = 8


def is_blank(text: str) -> bool:
    """Say whether a person would see nothing: white space and zero-width characters only."""
    if text.isascii():
        return not text or text.isspace()
    return all(character.isspace() or character in _ZERO_WIDTH for character in text)


def heading_marks(forged: int, texts: Iterable[str]) -> tuple[str, str]:
    """Return what stands before and after a heading among `texts`, in which one has at most `forged` brackets.

    One bracket more than that; where those would be many, since every heading has them, one bracket and a token that
    follows from the texts and stands in none of them.
    """
    if forged < _MOST_BRACKETS:
        return "[" * (forged + 1), "]" * (forged + 1)
    folded = [well_formed(text).casefold() for text in texts]
    tokens = (digest(str(attempt), *folded)[:_TOKEN_LENGTH] for attempt in count())
    return "[", f" {next(token for token in tokens if not any(token in text for text in folded))}]"


def canonical_text(value: JsonValue) -> str:
    """Return JSON text with sorted keys and no spaces; integers of any size keep their digits."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False, sort_keys=True, separators=(",", ":"))


def normal_form(text: str, form: Literal["NFC", "NFKC"]) -> str:
    """Return `text` in a Unicode normal form, made stream-safe first.

    Putting marks in order takes time that grows with the square of their number, so that a letter with a hundred
    thousand of them would hang the run.
    """
    if text.isascii():
        return text
    return unicodedata.normalize(form, _THIRTY_MARKS.sub(rf"\g<0>{_JOINER}", text))
