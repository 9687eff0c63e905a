"""A reply schema as a llama.cpp grammar without any white space between tokens.

llama.cpp makes a grammar of a schema by itself, but one that allows blanks and line ends wherever JSON does. The
small local model likes to indent: of 250 tokens that a verdict on four dimensions took, 50 were white space, at
20 to 45 ms each.

One blank is allowed before a text of an enumeration, whose log-probabilities are read. Where a model is bent on
`": "`, the blank is part of its next token, ` "`; without it the token that names the choice would be one, such as
`"B`, that the model gives a probability of 0.00001, beside others as unlikely.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

_CHARACTER = r"""char ::= [^"\\\x7F\x00-\x1F] | "\\" (["\\/bfnrt] | "u" [0-9a-fA-F]{4})
"""


def compact_grammar(schema: Mapping[str, object]) -> str | None:
    """Return the grammar (GBNF) of the JSON texts that `schema` allows, written as short as they can be, but for
    that blank.

    Reads what reply schemas are made of: objects whose properties are all required, in their order; bounded
    arrays and strings; enumerations; booleans. None where `schema` says anything else: llama.cpp reads that itself.
    """
    rule = _rule(schema)
    return None if rule is None else f"root ::= {rule}\n{_CHARACTER}"


def _rule(schema: object) -> str | None:
    if not isinstance(schema, Mapping):
        return None
    if "enum" in schema:
        return _choice(schema["enum"])
    kind = schema.get("type")
    if kind in ("boolean", ["boolean", "null"]):
        return _choice((True, False, None) if "null" in kind else (True, False))
    read = {"object": _object, "array": _array, "string": _string}.get(kind) if isinstance(kind, str) else None
    return None if read is None else read(schema)


def _choice(values: object) -> str | None:
    if not isinstance(values, Sequence) or not values:
        return None
    return f"({' | '.join(_literal(_dumps(value)) for value in values)})"


def _object(schema: Mapping[str, object]) -> str | None:
    properties, required = schema.get("properties"), schema.get("required")
    if not isinstance(properties, Mapping) or not properties or not isinstance(required, Sequence):
        return None
    if set(required) != set(properties):
        return None
    parts: list[str] = []
    before = "{"
    for name, value in properties.items():
        rule = _rule(value)
        if rule is None:
            return None
        parts += (_literal(f"{before}{_dumps(name)}:"), *(('" "?',) if _is_worded(value) else ()), rule)
        before = ","
    return " ".join((*parts, _literal("}")))


def _is_worded(schema: object) -> bool:
    values = schema.get("enum") if isinstance(schema, Mapping) else None
    return isinstance(values, Sequence) and any(isinstance(value, str) for value in values)


def _array(schema: Mapping[str, object]) -> str | None:
    least, most = schema.get("minItems", 0), schema.get("maxItems")
    item = _rule(schema.get("items"))
    if item is None or not isinstance(least, int) or not isinstance(most, int) or not 0 <= least <= most or not most:
        return None
    rest = f'({item} ("," {item}){{{max(least - 1, 0)},{most - 1}}})' if most > 1 else f"({item})"
    return f'"[" {rest}{"" if least else "?"} "]"'


def _string(schema: Mapping[str, object]) -> str | None:
    most = schema.get("maxLength")
    if not schema.keys() <= {"type", "maxLength"} or not isinstance(most, int):
        return None
    # Bounds in words were tried: the small model then goes on without blanks.
    return rf'"\"" char{{0,{most}}} "\""'


def _literal(text: str) -> str:
    # GBNF escapes in literals are those of JSON, for the characters that occur here.
    return _dumps(text)


def _dumps(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)
