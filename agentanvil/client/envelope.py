"""A provider's JSON bodies, read and written: fast where they are sound, patient where they are odd, never crashing."""

from __future__ import annotations

import json
import re

import orjson

from agentanvil.errors import MalformedBodyError
from agentanvil.hashing import well_formed

_EXCERPT = 300
_HIGH, _LOW = r"u[dD][89abAB][0-9a-fA-F]{2}", r"u[dD][c-fC-F][0-9a-fA-F]{2}"
_ESCAPES = re.compile(rf"\\(?:{_HIGH}\\{_LOW}|{_HIGH}|{_LOW}|.)")
_TITLE = re.compile(r"<title[^>]*>([^<]*)</title>", re.IGNORECASE)


class Written(dict[str, object]):
    """A JSON object that remembers its members as they were written, repeated keys included."""

    __slots__ = ("pairs",)

    def __init__(self, pairs: list[tuple[str, object]]) -> None:
        super().__init__(pairs)
        self.pairs = pairs


def read_body(body: bytes) -> object:
    """Parse a whole JSON body. Raises MalformedBodyError.

    What orjson refuses is tried once more by the standard library's rules: a BOM, NaN, numbers beyond 64
    bits, and lone surrogates, which become U+FFFD.
    """
    try:
        return orjson.loads(body)
    except orjson.JSONDecodeError:
        return _read_oddities(body, None)


def read_as_written(body: bytes) -> object:
    """Parse a body with every object as `Written`. Raises MalformedBodyError."""
    return _read_oddities(body, Written)


def write_as_written(value: object) -> str:
    """Return the JSON text of a value, the repeated keys of `Written` objects kept. Raises MalformedBodyError."""
    try:
        return _write(value)
    except RecursionError:
        raise MalformedBodyError("the tool call's arguments are nested too deeply") from None


def write_body(body: dict[str, object]) -> bytes:
    """Return a request body as JSON; lone surrogates, which UTF-8 has no place for, become U+FFFD."""
    try:
        return orjson.dumps(body)
    except orjson.JSONEncodeError:
        return well_formed(json.dumps(body, ensure_ascii=False, separators=(",", ":"))).encode()


def readable(text: str, limit: int = _EXCERPT) -> str:
    """Return one printable line of at most `limit` characters, for a message; a web page becomes its title."""
    if text.lstrip()[:1] == "<":
        title = _TITLE.search(text[:4000])
        text = f"a web page, {title[1]!r}" if title else "a web page"
    line = " ".join(text[: limit * 4].split())
    line = "".join(char if char.isprintable() else "\N{REPLACEMENT CHARACTER}" for char in line)
    return line if len(line) <= limit else line[: limit - 1] + "…"


def _write(value: object) -> str:
    if isinstance(value, Written):
        members = (f"{json.dumps(key, ensure_ascii=False)}:{_write(item)}" for key, item in value.pairs)
        return "{" + ",".join(members) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(_write, value)) + "]"
    return json.dumps(value, ensure_ascii=False)


def _read_oddities(body: bytes, hook: type[Written] | None) -> object:
    try:
        text = well_formed(body.decode("utf-8-sig", "surrogatepass"))
        return json.loads(_without_lone_escapes(text), object_pairs_hook=hook)
    except (ValueError, RecursionError):
        start = readable(body[:2000].decode("utf-8", "replace"), 120)
        raise MalformedBodyError(
            f"the body is not JSON: {start}" if start else "the body is empty",
            hint="A proxy or a wrong address may have answered in the judge's place.",
        ) from None


def _without_lone_escapes(text: str) -> str:
    """Replace each escaped surrogate that has no partner by U+FFFD."""
    return _ESCAPES.sub(_mend_escape, text) if "\\ud" in text.lower() else text


def _mend_escape(match: re.Match[str]) -> str:
    escape = match[0]
    return "\N{REPLACEMENT CHARACTER}" if len(escape) == 6 else escape
