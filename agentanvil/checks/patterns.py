"""The regular-expression check, whose patterns meet text from anybody and must not hang the run.

How a pattern is prepared, and with which library, is in `rubric/patterns.py`.
"""

from __future__ import annotations

import regex

from agentanvil.checks.fields import plain_text
from agentanvil.checks.finding import CheckFaultError, Finding, ParameterError, Parameters, TextCheck, excerpt
from agentanvil.dataset import JsonValue, Row
from agentanvil.rubric import REGEX_FLAGS, PatternFaultError, compile_pattern

TIMED_OUT = "check_timeout"

# Seconds of processor time for one search. An honest pattern needs about a thousandth of it on a long text.
SEARCH_LIMIT_S = 0.2


def matches(params: Parameters) -> TextCheck:
    """Passes where `pattern` is found anywhere in the text, under `flags`.

    The text is searched as `plain_text` has it, so that `$` ends a line whatever system wrote it. A search beyond
    SEARCH_LIMIT_S is no answer: CheckFaultError `check_timeout`.
    """
    compiled = compiled_pattern(params.get("pattern"), params.get("flags"))

    def check(value: JsonValue, _row: Row) -> Finding:
        found = search(compiled, plain_text(value))
        if found is None:
            return Finding(False, f"nothing matches {compiled.pattern}")
        return Finding(True, f"{excerpt(found[0])} matches {compiled.pattern} at character {found.start() + 1}")

    return check


def search(pattern: regex.Pattern[str], text: str) -> regex.Match[str] | None:
    """Return the first match. Raises CheckFaultError `check_timeout` where that takes too long."""
    try:
        return pattern.search(text, timeout=SEARCH_LIMIT_S)
    except TimeoutError:
        raise CheckFaultError(
            TIMED_OUT,
            f"{pattern.pattern} needed more than {SEARCH_LIMIT_S} s on this text: "
            "repeats inside repeats, such as (a+)+",
        ) from None


def compiled_pattern(pattern: object, flags: object = ()) -> regex.Pattern[str]:
    """Return the parameter `pattern`, prepared. Raises ParameterError naming `pattern` or `flags`."""
    if not isinstance(pattern, str):
        raise ParameterError("pattern", "must be a regular expression")
    named = flags if isinstance(flags, tuple | list) else ()
    for flag in named:
        if flag not in REGEX_FLAGS:
            raise ParameterError("flags", f"{flag!r} is none of {', '.join(REGEX_FLAGS)}")
    try:
        return compile_pattern(pattern, named)
    except PatternFaultError as fault:
        raise ParameterError("pattern", str(fault)) from None
