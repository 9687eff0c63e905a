"""The tokens of a Chat Completions reply with their log-probabilities, laid over the reply's text. Never an error."""

from __future__ import annotations

import math
from collections.abc import Iterator
from operator import itemgetter

from agentanvil.client.base import TokenLogprob

ALTERNATIVES = 5
"""How many alternatives a token are asked for: the most that every provider with log-probabilities was seen to take."""

_Piece = tuple[bytes, float, tuple[tuple[str, float], ...]]


def read_tokens(logprobs: object, text: str) -> tuple[TokenLogprob, ...]:
    """Return the tokens that spell `text`, from a choice's `logprobs`; none where they do not, or are not well-formed.

    Tokens around the text are left out: those that end a reply or think ahead of it. A token that begins inside a
    character, as bytes of rare ones do, has that character's offset.
    """
    entries = logprobs.get("content") if isinstance(logprobs, dict) else None
    if not isinstance(entries, list):
        return ()
    pieces: list[_Piece] = []
    for entry in entries:
        spelt, logprob = _bytes(entry), _logprob(entry)
        if spelt is None or logprob is None:
            return ()
        pieces.append((spelt, logprob, _alternatives(entry)))
    wanted = _encoded(text)
    begin = b"".join(spelt for spelt, _, _ in pieces).rfind(wanted) if wanted else -1
    return () if begin < 0 else tuple(_placed(pieces, begin, len(wanted or b"")))


def _placed(pieces: list[_Piece], begin: int, length: int) -> Iterator[TokenLogprob]:
    """Yield the tokens whose first byte lies in the text, which takes up `length` bytes from `begin` on."""
    offset = -begin
    characters = 0
    for spelt, logprob, alternatives in pieces:
        if 0 <= offset < length and spelt:
            inside = spelt[0] & 0xC0 == 0x80
            yield TokenLogprob(characters - inside, spelt.decode("utf-8", "replace"), logprob, alternatives)
            characters += len(spelt) if spelt.isascii() else sum(byte & 0xC0 != 0x80 for byte in spelt)
        offset += len(spelt)


def _alternatives(entry: dict[str, object]) -> tuple[tuple[str, float], ...]:
    """Return the alternatives with their log-probabilities, likeliest first; what is no alternative is passed over."""
    listed = entry.get("top_logprobs")
    found: list[tuple[str, float]] = []
    for other in listed if isinstance(listed, list) else ():
        spelt, logprob = _spelt(other), _logprob(other)
        if spelt is not None and logprob is not None:
            found.append((spelt, logprob))
    found.sort(key=itemgetter(1), reverse=True)
    return tuple(found)


def _spelt(entry: object) -> str | None:
    """Return an alternative as text. There are many, and few whose bytes are not the ASCII that they are named by."""
    if isinstance(entry, dict):
        name, values = entry.get("token"), entry.get("bytes")
        if isinstance(name, str) and isinstance(values, list) and len(values) == len(name) and name.isascii():
            return name
    spelt = _bytes(entry)
    return None if spelt is None else spelt.decode("utf-8", "replace")


def _bytes(entry: object) -> bytes | None:
    """Return what a token spells: its `bytes`, else its text. A token's text alone cannot tell part of a character."""
    if not isinstance(entry, dict):
        return None
    values = entry.get("bytes")
    if isinstance(values, list):
        try:
            return bytes(values)
        except (TypeError, ValueError):
            return None
    token = entry.get("token")
    return _encoded(token) if isinstance(token, str) else None


def _logprob(entry: object) -> float | None:
    value = entry.get("logprob") if isinstance(entry, dict) else None
    if type(value) is float and math.isfinite(value):
        return value
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        return float(value) if math.isfinite(value) else None
    except OverflowError:
        return None


def _encoded(text: str) -> bytes | None:
    try:
        return text.encode()
    except UnicodeEncodeError:
        return None
