"""The regular-expression check, whose patterns meet text from anybody and must not hang the run.

The `regex` library reads Python's own syntax and, unlike `re`, stops a search after a given time. RE2 would
need no clock, but knows neither look-around nor Unicode word characters, which rubrics in other languages need.
"""

from __future__ import annotations

import re

import regex

from agentanvil.checks.fields import as_text
from agentanvil.checks.finding import Check, CheckFaultError, Finding, ParameterError, Parameters, excerpt
from agentanvil.dataset import JsonValue, Row

TIMED_OUT = "check_timeout"

# Seconds of processor time for one search. An honest pattern needs about a thousandth of it on a long text.
SEARCH_LIMIT_S = 0.2

_FLAGS: dict[object, int] = {"ignorecase": regex.IGNORECASE, "multiline": regex.MULTILINE, "dotall": regex.DOTALL}

# A brace that Python's syntax takes literally begins an approximate match in the library's own.
_ESCAPE_OR_BRACE = re.compile(r"\\N\{[^}]*\}|\\.|\{(?:[0-9]+|[0-9]*,[0-9]*)\}|(?P<literal>\{)", re.DOTALL)


def matches(params: Parameters) -> Check:
    """Passes where `pattern` is found anywhere in the text, under `flags`.

    A search beyond SEARCH_LIMIT_S is no answer: CheckFaultError `check_timeout`.
    """
    pattern = params.get("pattern")
    if not isinstance(pattern, str):
        raise ParameterError("pattern", "must be a regular expression")
    compiled = _compiled(pattern, params.get("flags"))

    def check(value: JsonValue, _row: Row) -> Finding:
        try:
            found = compiled.search(as_text(value), timeout=SEARCH_LIMIT_S)
        except TimeoutError:
            raise CheckFaultError(
                TIMED_OUT,
                f"{pattern} needed more than {SEARCH_LIMIT_S} s on this text: repeats inside repeats, such as (a+)+",
            ) from None
        if found is None:
            return Finding(False, f"nothing matches {pattern}")
        return Finding(True, f"{excerpt(found[0])} matches {pattern} at character {found.start() + 1}")

    return check


def _compiled(pattern: str, flags: object) -> regex.Pattern[str]:
    named = flags if isinstance(flags, tuple | list) else ()
    unknown = [flag for flag in named if flag not in _FLAGS]
    if unknown:
        raise ParameterError("flags", f"{unknown[0]!r} is none of {', '.join(map(str, _FLAGS))}")
    combined = regex.VERSION0
    for flag in named:
        combined |= _FLAGS[flag]
    literal = _ESCAPE_OR_BRACE.sub(lambda part: r"\{" if part["literal"] else part[0], pattern)
    try:
        return regex.compile(literal, combined)
    except (regex.error, OverflowError, RecursionError, MemoryError) as error:
        raise ParameterError("pattern", f"the regular expression cannot be read: {error}") from None
