"""The user message: the row's texts, each between marker lines that its own content cannot contain."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import count

from agentanvil.dataset import JsonValue
from agentanvil.hashing import canonical_json, digest
from agentanvil.prompt.material import Material

TOKEN_LENGTH = 8

_RESPONSES = {1: ("RESPONSE",), 2: ("RESPONSE A", "RESPONSE B")}


def user_text(request: str, material: Material, closing: str, expected: JsonValue = None) -> str:
    """Return the row's texts, and `closing` after them."""
    return f"{data_blocks(request, material, expected)}\n{closing}"


def data_blocks(request: str, material: Material, expected: JsonValue = None) -> str:
    """Return request, source passages and responses between markers; each value stands there once, untouched.

    `expected` is the expected answer, for a rubric that says `allow_expected`.
    """
    blocks = [("REQUEST", request)]
    numbered = len(material.source) > 1
    blocks.extend(
        (f"SOURCE {number}" if numbered else "SOURCE", passage)
        for number, passage in enumerate(material.source, start=1)
    )
    if expected is not None:
        blocks.append(("EXPECTED", _as_text(expected)))
    blocks.extend(zip(_RESPONSES[len(material.responses)], material.texts, strict=True))
    token = marker_token(*(text for _, text in blocks))
    return "\n".join([f"<<{name} {token}>>\n{text}\n<<END {name} {token}>>\n" for name, text in blocks])


def marker_token(*texts: str) -> str:
    """Return hex digits that follow from the texts and stand in none of them, in either letter case.

    Since the token depends on all of a text, no text can be written to hold its own; the check is for chance.
    """
    return first_absent(candidate_tokens(*texts), texts)


def first_absent(candidates: Iterable[str], texts: Iterable[str]) -> str:
    """Return the first candidate that is part of no text, letter case aside. Raises StopIteration if none is."""
    lowered = [text.lower() for text in texts]
    return next(token for token in candidates if not any(token in text for text in lowered))


def candidate_tokens(*texts: str) -> Iterator[str]:
    """Yield tokens that follow from the texts, without end."""
    yield digest(*texts)[:TOKEN_LENGTH]
    for attempt in count(1):
        yield digest(str(attempt), *texts)[:TOKEN_LENGTH]


def _as_text(value: JsonValue) -> str:
    return value if isinstance(value, str) else canonical_json(value).decode()
