"""JSON read strictly: what the standard forbids or leaves open is refused, never guessed.

The standard library's decoder, since it lets keys be seen before they collapse: faster ones (orjson) keep the last of
two equal keys and say nothing.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from typing import Literal

from agentanvil.errors import quoted
from agentanvil.hashing import well_formed

JsonValue = None | bool | int | float | str | list["JsonValue"] | dict[str, "JsonValue"]

JsonFault = Literal["syntax", "open_string", "trailing_text", "duplicate_key", "non_finite", "limit"]

# Real data nests a dozen levels. A fixed limit makes the answer the same on every interpreter and at every
# stack depth, and keeps a value writable for every JSON writer that it meets later (orjson stops at 254).
MAX_DEPTH = 128

SURROGATES_REPLACED = "surrogates_replaced"
"""The flag on a row or a verdict in which a lone surrogate became U+FFFD."""

_SPACE = " \t\n\r"
_NOT_FINITE = object()
_SURROGATE_ESCAPE = re.compile(r"\\u[dD][89a-fA-F]")


class JsonError(ValueError):
    """The text is not one strict JSON value.

    `fault` is its kind: `open_string` for a string that never ends, `non_finite` for NaN, Infinity and numbers that
    overflow a double, `limit` for what is too deep or has too many digits. `offset` (0-based), `line` and `column`
    (1-based) are None where the place is not known.
    """

    def __init__(
        self,
        message: str,
        fault: JsonFault,
        offset: int | None = None,
        line: int | None = None,
        column: int | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.fault = fault
        self.offset = offset
        self.line = line
        self.column = column


def parse_json(text: str) -> JsonValue:
    """Return the one JSON value that `text` holds, white space around it allowed.

    Raises JsonError on a syntax error, a key that stands twice in one object (at any depth), NaN and
    Infinity, a number that overflows a double, an integer of more than 4300 digits, and nesting deeper
    than MAX_DEPTH. Lone surrogates are left in: see `replace_surrogates`.
    """
    value, end = parse_json_at(text, len(text) - len(text.lstrip(_SPACE)))
    if end != len(text) and (rest := text[end:].lstrip(_SPACE)):
        raise _refusal(json.JSONDecodeError("Extra data", text, len(text) - len(rest)))
    return value


def parse_json_at(text: str, start: int) -> tuple[JsonValue, int]:
    """Return the JSON value that begins at `start`, and the offset after its end. Raises JsonError as `parse_json`."""
    try:
        value, end = _DECODER.raw_decode(text, start)
    except (ValueError, RecursionError) as error:
        raise _refusal(error) from None
    _refuse_depth(value, text.count("[", start, end) + text.count("{", start, end))
    return value, end


def non_finite_path(text: str) -> str | None:
    """Return where in a refused text the first number that is not finite stands, such as `meta.scores.2`."""

    def noted(digits: str) -> object:
        number = float(digits)
        return number if math.isfinite(number) else _NOT_FINITE

    try:
        value = json.loads(text, parse_constant=lambda _: _NOT_FINITE, parse_float=noted)
    except (ValueError, RecursionError):
        return None
    return next(_paths_of(_NOT_FINITE, value), None)


def _paths_of(wanted: object, value: object) -> Iterator[str]:
    """Yield the dotted path of each place in `value` that holds `wanted` itself; no recursion, for any depth."""
    open_values: list[tuple[str, object]] = [("", value)]
    while open_values:
        path, found = open_values.pop()
        if found is wanted:
            yield path
        items = found.items() if isinstance(found, dict) else enumerate(found) if isinstance(found, list) else ()
        open_values.extend([(f"{path}.{key}".lstrip("."), item) for key, item in items][::-1])


def replace_surrogates(text: str, value: JsonValue) -> tuple[JsonValue, bool]:
    """Return `value`, parsed from `text`, with lone surrogates as U+FFFD, and whether there were any.

    Raises JsonError where two keys of one object become equal by it.
    """
    if _SURROGATE_ESCAPE.search(text) is None:
        return value, False
    mended = _mend(value)
    return mended, mended != value


def _mend(value: JsonValue) -> JsonValue:
    if isinstance(value, str):
        return well_formed(value)
    if isinstance(value, list):
        return [_mend(item) for item in value]
    if isinstance(value, dict):
        return _unique([(well_formed(key), _mend(item)) for key, item in value.items()])
    return value


def _unique(pairs: list[tuple[str, JsonValue]]) -> dict[str, JsonValue]:
    made = dict(pairs)
    if len(made) != len(pairs):
        seen: set[str] = set()
        twice = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        raise JsonError(f"the key {quoted(twice)} stands twice in one object", "duplicate_key")
    return made


def _finite(digits: str) -> float:
    number = float(digits)
    if math.isinf(number):
        raise JsonError(f"the number {digits[:40]} is too large for a double", "non_finite")
    return number


def _refuse_constant(name: str) -> float:
    raise JsonError(f"{name} is not JSON", "non_finite")


_DECODER = json.JSONDecoder(object_pairs_hook=_unique, parse_float=_finite, parse_constant=_refuse_constant)


def _refusal(error: ValueError | RecursionError) -> JsonError:
    if isinstance(error, JsonError):
        return error
    if isinstance(error, json.JSONDecodeError):
        fault: JsonFault = "open_string" if error.msg.startswith("Unterminated string") else "syntax"
        message = f"not JSON: {error.msg[:1].lower()}{error.msg[1:]}"
        if error.msg == "Extra data":
            fault, message = "trailing_text", "more text follows after the JSON value"
        return JsonError(message, fault, error.pos, error.lineno, error.colno)
    if isinstance(error, RecursionError):
        return _too_deep()
    return JsonError("an integer has more than 4300 digits", "limit")


def _refuse_depth(value: JsonValue, brackets: int) -> None:
    """Look at the levels only where the text has enough brackets (those inside strings counted) to be too deep."""
    if brackets <= MAX_DEPTH:
        return
    level = [value]
    for _ in range(MAX_DEPTH):
        level = [child for item in level for child in _children(item)]
        if not level:
            return
    raise _too_deep()


def _children(value: JsonValue) -> list[JsonValue]:
    inner = list(value.values()) if isinstance(value, dict) else value
    return [item for item in inner if isinstance(item, list | dict)] if isinstance(inner, list) else []


def _too_deep() -> JsonError:
    return JsonError(f"nested deeper than {MAX_DEPTH} levels", "limit")
