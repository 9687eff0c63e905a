"""The JSON objects in a reply's text, wherever they stand: found strictly, and never guessed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from agentanvil.strict_json import JsonError, JsonValue, parse_json, parse_json_at

# Each unbalanced brace costs a scan to the end of the text; a reply with more of them is no reply to this contract.
MAX_STRAY_BRACES = 64

# Well-formed enough to be the verdict, but forbidden in a way that asking again should not paper over.
_FORBIDDEN = frozenset({"duplicate_key", "non_finite"})
_STRUCTURE = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"|[{}"]', re.DOTALL)
_UNFINISHED = re.compile(r"[\w+.\\-]{0,8}\s*")
_QUOTED_KEY = re.compile(r"""\w\\?["'”]\s*:""")


def unquoted(text: str) -> str:
    """Return the text inside a text that is one JSON string; any other text as it is. Undone once, never again."""
    if not text.startswith('"'):
        return text
    try:
        inner = parse_json(text)
    except JsonError:
        return text
    return inner.strip() if isinstance(inner, str) else text


def whole_object(text: str) -> dict[str, JsonValue] | None:
    """Return the object that a text is, if it is one without fault and nothing else."""
    if not text.startswith("{"):
        return None
    try:
        found = parse_json(text)
    except JsonError:
        return None
    return found if isinstance(found, dict) else None


@lru_cache(maxsize=256)
def _mention(keys: tuple[str, ...]) -> re.Pattern[str]:
    names = "|".join(map(re.escape, keys))
    return re.compile(rf"""["'“]({names})\\?["'”]|(?<![\w"'])({names})\s*[:=]""", re.IGNORECASE)


class BrokenObjectError(Exception):
    """A brace opens what was meant to be the verdict, and JSON it is not; `truncated` tells that its end is missing."""

    def __init__(self, *, truncated: bool = False) -> None:
        super().__init__()
        self.truncated = truncated


def objects(text: str, keys: tuple[str, ...]) -> Iterator[dict[str, JsonValue]]:
    """Yield the outermost JSON objects in a text but empty ones, whatever stands around; code fences mean nothing.

    Braces that are prose are passed over. Raises BrokenObjectError at a brace block that mentions one of `keys` and is
    not JSON, so that a second object can never stand in for a damaged verdict, and JsonError `duplicate_key` or
    `non_finite` at one with repeated keys, NaN, Infinity or a number beyond a double.
    """
    stray = 0
    start = text.find("{")
    while start >= 0:
        try:
            value, end = parse_json_at(text, start)
        except JsonError as error:
            if error.fault in _FORBIDDEN:
                end = _closing(text, start) or len(text)
                if _mention(keys).search(text, start, end):
                    raise
            else:
                end = _prose_end(text, start, keys, error)
                stray += end == start + 1
                if stray > MAX_STRAY_BRACES:
                    raise BrokenObjectError from None
        else:
            if isinstance(value, dict) and value:
                yield value
        start = text.find("{", end)


def _prose_end(text: str, start: int, keys: tuple[str, ...], error: JsonError) -> int:
    """Return where to look on after a brace that opens no JSON; raise BrokenObjectError if it meant to."""
    closing = _closing(text, start)
    if closing is not None:
        if _mention(keys).search(text, start, closing):
            raise BrokenObjectError
        return closing
    # Never closed: prose, or an object cut short. What stands before the next brace tells which.
    following = text.find("{", start + 1)
    end = following if following >= 0 else len(text)
    if _QUOTED_KEY.search(text, start, end) or _mention(keys).search(text, start, end):
        raise BrokenObjectError(truncated=_is_cut(text, error))
    return start + 1


def _is_cut(text: str, error: JsonError) -> bool:
    """Tell whether decoding failed for want of more text: at its end, inside a word there, or inside a string."""
    if error.fault == "open_string":
        return not text.rstrip("` \n").endswith("}")
    return error.offset is not None and _UNFINISHED.fullmatch(text, error.offset) is not None


def _closing(text: str, start: int) -> int | None:
    """Return the index after the brace that closes the one at `start`, braces inside strings not counted."""
    depth = 0
    for match in _STRUCTURE.finditer(text, start):
        mark = match.group()
        if mark == "{":
            depth += 1
        elif mark == "}":
            depth -= 1
            if depth == 0:
                return match.end()
        elif mark == '"':
            return None
    return None
