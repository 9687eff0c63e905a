"""A regular expression → a pattern that can search text from anybody without hanging the run.

The syntax is Python's, and what `re` refuses is refused. The search is done by the `regex` library, which reads that
syntax and, unlike `re`, stops after a given time. RE2 would need no clock, but knows neither look-around nor
Unicode word characters, which rubrics in other languages need.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable
from typing import Literal

import regex

RegexFlag = Literal["ignorecase", "multiline", "dotall"]
# The two libraries have the same bits for these.
REGEX_FLAGS: dict[str, int] = {"ignorecase": re.IGNORECASE, "multiline": re.MULTILINE, "dotall": re.DOTALL}

# A brace that Python's syntax takes literally begins an approximate match in the library's own.
_ESCAPE_OR_BRACE = re.compile(r"\\N\{[^}]*\}|\\.|\{(?:[0-9]+|[0-9]*,[0-9]*)\}|(?P<literal>\{)", re.DOTALL)


class PatternFaultError(Exception):
    """The regular expression cannot be used."""


def compile_pattern(pattern: str, flags: Iterable[str] = ()) -> regex.Pattern[str]:
    """Return the pattern under `flags`, which are keys of REGEX_FLAGS. Raises PatternFaultError."""
    bits = sum(REGEX_FLAGS[flag] for flag in set(flags))
    literal = _ESCAPE_OR_BRACE.sub(lambda part: r"\{" if part["literal"] else part[0], pattern)
    try:
        with warnings.catch_warnings():
            # A bracket inside a set (`[[a]`) is only going to change its meaning some day.
            warnings.simplefilter("ignore")
            re.compile(pattern, bits)
            return regex.compile(literal, regex.VERSION0 | bits)
    except (re.error, regex.error, ValueError, OverflowError, RecursionError, MemoryError) as error:
        raise PatternFaultError(f"the regular expression cannot be read: {error}") from None
