"""JSON read strictly: what the standard forbids or leaves open is refused, never guessed."""

from __future__ import annotations

import json
import math
import re

from agentanvil.dataset.faults import quoted
from agentanvil.dataset.records import JsonValue
from agentanvil.hashing import well_formed

# Real rows nest a dozen levels. A fixed limit makes the answer the same on every interpreter and at every
# stack depth, and keeps a value writable for every JSON writer that it meets later (orjson stops at 254).
MAX_DEPTH = 128

_SURROGATE_ESCAPE = re.compile(r"\\u[dD][89a-fA-F]")


class JsonError(ValueError):
    """The text is not one strict JSON value. `line` and `column` are 1-based, where they are known."""

    def __init__(self, message: str, line: int | None = None, column: int | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.line = line
        self.column = column


def parse_json(text: str) -> JsonValue:
    """Return the one JSON value that `text` holds.

    Raises JsonError on a syntax error, a key that stands twice in one object (at any depth), NaN and
    Infinity, a number that overflows a double, an integer of more than 4300 digits, and nesting deeper
    than MAX_DEPTH. Lone surrogates are left in: see `replace_surrogates`.
    """
    try:
        value: JsonValue = _decode(text)
    except json.JSONDecodeError as error:
        raise JsonError(_reason(error), error.lineno, error.colno) from None
    except RecursionError:
        raise _too_deep() from None
    except JsonError:
        raise
    except ValueError:
        raise JsonError("an integer has more than 4300 digits") from None
    if text.count("[") + text.count("{") > MAX_DEPTH:
        _refuse_depth(value)
    return value


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
        raise JsonError(f"the key {quoted(twice)} stands twice in one object")
    return made


def _finite(digits: str) -> float:
    number = float(digits)
    if math.isinf(number):
        raise JsonError(f"the number {digits[:40]} is too large for a double")
    return number


def _refuse_constant(name: str) -> float:
    raise JsonError(f"{name} is not JSON")


_decode = json.JSONDecoder(object_pairs_hook=_unique, parse_float=_finite, parse_constant=_refuse_constant).decode


def _too_deep() -> JsonError:
    return JsonError(f"nested deeper than {MAX_DEPTH} levels")


def _refuse_depth(value: JsonValue) -> None:
    level = [value]
    for _ in range(MAX_DEPTH):
        level = [child for item in level for child in _children(item)]
        if not level:
            return
    raise _too_deep()


def _children(value: JsonValue) -> list[JsonValue]:
    inner = list(value.values()) if isinstance(value, dict) else value
    return [item for item in inner if isinstance(item, list | dict)] if isinstance(inner, list) else []


def _reason(error: json.JSONDecodeError) -> str:
    if error.msg == "Extra data":
        return "more text follows after the JSON value"
    return f"not JSON: {error.msg[:1].lower()}{error.msg[1:]}"
