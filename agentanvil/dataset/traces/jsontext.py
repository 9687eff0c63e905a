"""JSON inside JSON: texts that formats keep encoded, and arguments that may be broken."""

from __future__ import annotations

import ast
import json
import math
import warnings

from agentanvil.strict_json import MAX_DEPTH, JsonError, JsonValue, parse_json, replace_surrogates

_LONGEST_LITERAL = 1 << 20


class Undecoded:
    """The one value that no JSON text has."""


UNDECODED = Undecoded()


def decode(text: str) -> JsonValue | Undecoded:
    """Return the JSON value that `text` holds, or UNDECODED where it is no strict JSON."""
    try:
        return replace_surrogates(text, parse_json(text))[0]
    except JsonError:
        return UNDECODED


def decode_container(value: JsonValue) -> JsonValue:
    """Return the object or list that a text holds; any other value, and any other text, as it is."""
    if not isinstance(value, str) or value.lstrip()[:1] not in ("{", "["):
        return value
    found = decode(value)
    return value if isinstance(found, Undecoded) else found


def decode_text(value: JsonValue) -> JsonValue:
    """Return the text inside JSON strings that were encoded again and again; anything else as it is."""
    while isinstance(value, str) and value.startswith('"'):
        found = decode(value)
        if not isinstance(found, str):
            return value
        value = found
    return value


def decode_all(value: JsonValue) -> JsonValue:
    """Return what is left when text is decoded until it is no JSON text of a string, an object or a list."""
    return decode_container(decode_text(value))


def read_args(value: JsonValue, notes: set[str], *, literals: bool = False) -> tuple[JsonValue, str | None]:
    """Return a call's arguments, and their text where it is broken: exactly one of the two is set.

    Nothing is mended. `literals`: the format also writes Python literals. Adds `args_not_json` or
    `args_not_object` to `notes`.
    """
    found = value
    if isinstance(value, str):
        decoded = decode(value)
        if isinstance(decoded, Undecoded) and literals:
            decoded = _literal(value)
        if isinstance(decoded, Undecoded):
            notes.add("args_not_json")
            return None, value
        found = decoded
    if found is not None and not isinstance(found, dict):
        notes.add("args_not_object")
    return found, None


def decode_literal(text: str) -> JsonValue | Undecoded:
    """Return the value of a JSON text or of a Python literal that is a dict, a list or a tuple."""
    found = decode(text)
    return _literal(text) if isinstance(found, Undecoded) else found


def _literal(text: str) -> JsonValue | Undecoded:
    if len(text) > _LONGEST_LITERAL or text.lstrip()[:1] not in ("{", "[", "("):
        return UNDECODED
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return _as_json(ast.literal_eval(text.strip()), 0)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return UNDECODED


def _as_json(value: object, depth: int) -> JsonValue:
    if depth > MAX_DEPTH:
        raise ValueError("too deep")
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float) and math.isfinite(value):
        return value
    if isinstance(value, list | tuple):
        return [_as_json(item, depth + 1) for item in value]
    if isinstance(value, dict) and all(isinstance(key, str) for key in value):
        return {key: _as_json(item, depth + 1) for key, item in value.items()}
    raise ValueError("no JSON value")


def _unique(pairs: list[tuple[str, JsonValue]]) -> dict[str, JsonValue]:
    made = dict(pairs)
    if len(made) != len(pairs):
        raise ValueError("a key stands twice in one object")
    return made


# Inspect writes NaN and Infinity bare; they stay visible as their names, since no JSON number can hold them.
NAN_DECODER = json.JSONDecoder(object_pairs_hook=_unique, parse_constant=str)
PLAIN_DECODER = json.JSONDecoder()
