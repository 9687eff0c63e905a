"""Keys that do not show themselves, and their removal from any text by value."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable
from urllib.parse import quote, quote_plus

MASK = "[redacted]"
SHORTEST_IN_MESSAGES = 4
SHORTEST_IN_REPLIES = 8


class Secret:
    """A key or password. Printing, formatting or logging it shows a mask; `reveal` gives the value."""

    __slots__ = ("_value",)

    def __init__(self, value: str) -> None:
        self._value = value

    def reveal(self) -> str:
        return self._value

    def __repr__(self) -> str:
        return f"Secret({MASK})"

    def __str__(self) -> str:
        return MASK


class Redactor:
    """Replaces every spelling of some secrets.

    Spellings: as it is, percent-encoded, JSON-escaped, and inside base64 at any offset (so that a Basic
    header with an unknown user is caught too). Values of fewer than `shortest` characters are placeholders
    (`x`, `none`), not secrets, and are left alone.
    """

    __slots__ = ("_forms",)

    def __init__(self, secrets: Iterable[Secret], shortest: int = SHORTEST_IN_MESSAGES) -> None:
        values = {secret.reveal() for secret in secrets}
        forms = {form for value in values if len(value) >= shortest for form in _spellings(value)}
        self._forms = sorted(forms, key=lambda form: (-len(form), form))

    def __call__(self, text: str) -> str:
        for form in self._forms:
            if form in text:
                text = text.replace(form, MASK)
        return text


def _spellings(value: str) -> set[str]:
    encoded = {quote(value, safe=""), quote(value), quote_plus(value)}
    lowered = {_lower_escapes(form) for form in encoded}
    return {value, json.dumps(value)[1:-1], *encoded, *lowered, *_in_base64(value)}


def _lower_escapes(text: str) -> str:
    head, *escapes = text.split("%")
    return head + "".join(f"%{part[:2].lower()}{part[2:]}" for part in escapes)


def _in_base64(value: str) -> Iterable[str]:
    """Yield what any base64 text holding `value` must contain, for each of the three alignments.

    A base64 digit is 6 bits, so the digits that share bits with a neighbour are cut off at both ends.
    """
    data = value.encode()
    for shift in range(3):
        first = -(-shift * 8 // 6)
        last = (shift + len(data)) * 8 // 6
        padded = b"\0" * shift + data
        for encode in (base64.b64encode, base64.urlsafe_b64encode):
            core = encode(padded).decode()[first:last]
            if len(core) >= SHORTEST_IN_MESSAGES:
                yield core
