"""Two questions about text that readers and checks both ask."""

from __future__ import annotations

import json

from agentanvil.strict_json import JsonValue

_ZERO_WIDTH = "\u200b\u200c\u200d\u2060\ufeff\u00ad"


def is_blank(text: str) -> bool:
    """Say whether a person would see nothing: white space and zero-width characters only."""
    if text.isascii():
        return not text or text.isspace()
    return all(character.isspace() or character in _ZERO_WIDTH for character in text)


def canonical_text(value: JsonValue) -> str:
    """Return JSON text with sorted keys and no spaces; integers of any size keep their digits."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False, sort_keys=True, separators=(",", ":"))
