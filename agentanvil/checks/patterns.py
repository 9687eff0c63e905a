"""The regular-expression check, whose patterns meet text from anybody and must not hang the run.

How a pattern is prepared, and with which library, is in `rubric/patterns.py`.
"""

from __future__ import annotations

import regex

from agentanvil.checks.fields import as_text
from agentanvil.checks.finding import Check, CheckFaultError, Finding, ParameterError, Parameters, excerpt
from agentanvil.dataset import JsonValue, Row
from agentanvil.rubric import REGEX_FLAGS, PatternFaultError, compile_pattern

TIMED_OUT = "check_timeout"

# Seconds of processor time for one search. An honest pattern needs about a thousandth of it on a long text.
SEARCH_LIMIT_S = 0.2


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
    for flag in named:
        if flag not in REGEX_FLAGS:
            raise ParameterError("flags", f"{flag!r} is none of {', '.join(REGEX_FLAGS)}")
    try:
        return compile_pattern(pattern, named)
    except PatternFaultError as fault:
        raise ParameterError("pattern", str(fault)) from None
