"""JSON as the standard writes it, and nothing looser: repeated keys, NaN and Infinity are faults, never read away."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from functools import lru_cache
from typing import NoReturn

from agentanvil.judge.verdicts import ParseFault

# Each unbalanced brace costs a scan to the end of the text; a reply with more of them is no reply to this contract.
MAX_STRAY_BRACES = 64

_STRUCTURE = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"|[{}"]', re.DOTALL)
_UNFINISHED = re.compile(r"[\w+.\\-]{0,8}\s*")
_QUOTED_KEY = re.compile(r"""\w\\?["'”]\s*:""")


class FaultyJsonError(Exception):
    """Well-formed enough to be the verdict, but forbidden in a way that asking again should not paper over."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.fault = ParseFault(code, message)


def _object(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) != len(pairs):
        repeated, _ = Counter(key for key, _ in pairs).most_common(1)[0]
        raise FaultyJsonError("duplicate_key", f"the key `{repeated[:60]}` stands twice in one object")
    return found


def _constant(name: str) -> NoReturn:
    raise FaultyJsonError("non_finite", f"{name} is not a number that JSON knows")


_DECODER = json.JSONDecoder(object_pairs_hook=_object, parse_constant=_constant)


def unquoted(text: str) -> str:
    """Return the text inside a text that is one JSON string; any other text as it is. Undone once, never again."""
    if not text.startswith('"'):
        return text
    try:
        inner = _DECODER.decode(text)
    except ValueError:
        return text
    return inner.strip() if isinstance(inner, str) else text


def whole_object(text: str) -> dict[str, object] | None:
    """Return the object that a text is, if it is one without fault and nothing else."""
    if not text.startswith("{"):
        return None
    try:
        found = _DECODER.decode(text)
    except (ValueError, RecursionError, FaultyJsonError):
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


def objects(text: str, keys: tuple[str, ...]) -> Iterator[dict[str, object]]:
    """Yield the outermost JSON objects in a text but empty ones, whatever stands around; code fences mean nothing.

    Braces that are prose are passed over. Raises BrokenObjectError at a brace block that mentions one of `keys` and is
    not JSON, so that a second object can never stand in for a damaged verdict, and FaultyJsonError at one with repeated
    keys, NaN or Infinity.
    """
    stray = 0
    start = text.find("{")
    while start >= 0:
        try:
            value, end = _DECODER.raw_decode(text, start)
        except FaultyJsonError:
            end = _closing(text, start) or len(text)
            if _mention(keys).search(text, start, end):
                raise
        except (ValueError, RecursionError) as error:
            end = _prose_end(text, start, keys, cut=_is_cut(text, error))
            stray += end == start + 1
            if stray > MAX_STRAY_BRACES:
                raise BrokenObjectError from None
        else:
            if value:
                yield value
        start = text.find("{", end)


def _prose_end(text: str, start: int, keys: tuple[str, ...], *, cut: bool) -> int:
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
        raise BrokenObjectError(truncated=cut)
    return start + 1


def _is_cut(text: str, error: Exception) -> bool:
    """Tell whether decoding failed for want of more text: at its end, inside a word there, or inside a string."""
    if not isinstance(error, json.JSONDecodeError):
        return False
    if error.msg.startswith("Unterminated string"):
        return not text.rstrip("` \n").endswith("}")
    return _UNFINISHED.fullmatch(text, error.pos) is not None


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
