"""The numeric-range check: a number that stands alone, never one that is picked out of prose."""

from __future__ import annotations

import math
import re
from decimal import Decimal, InvalidOperation

from agentanvil.checks.fields import plain_text
from agentanvil.checks.finding import Finding, ParameterError, Parameters, TextCheck, excerpt
from agentanvil.checks.patterns import compiled_pattern, search
from agentanvil.dataset import JsonValue, Row

_NUMBER = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")


def numeric_range(params: Parameters) -> TextCheck:
    r"""Passes where the number is at least `min` and at most `max`.

    The number is a JSON number, or a text that is wholly a number (digits 0 to 9, a decimal point, an exponent, a
    sign; white space around it aside). With `pattern` it is what the pattern's one group matches first, such as
    `Total: (\d+)`. Anything else fails: `1,000`, `5 %`, `about 5`, NaN. Compared exactly, as decimals.
    """
    low, high = _bound(params, "min"), _bound(params, "max")
    if low is None and high is None:
        raise ParameterError("min", "a range needs `min`, `max` or both")
    if low is not None and high is not None and low > high:
        raise ParameterError("min", f"min ({low}) is more than max ({high})")
    given = params.get("pattern")
    pattern = None if given is None else compiled_pattern(given)
    if pattern is not None and pattern.groups != 1:
        raise ParameterError("pattern", f"has {pattern.groups} groups; the number is what one group matches")

    def check(value: JsonValue, _row: Row) -> Finding:
        text = plain_text(value)
        if pattern is not None:
            found = search(pattern, text)
            if found is None:
                return Finding(False, f"nothing matches {pattern.pattern}")
            text = found[1] or ""
        number = read_number(text)
        if number is None:
            return Finding(False, f"{excerpt(text)} is not a number")
        return _placed(number, excerpt(text), low, high)

    return check


def read_number(text: str) -> Decimal | None:
    """Return the number that `text` is, None where it is none."""
    text = text.strip()
    if _NUMBER.fullmatch(text) is None:
        return None
    try:
        return Decimal(text)
    except InvalidOperation:  # an exponent of twenty digits
        return None


def _placed(number: Decimal, shown: str, low: Decimal | None, high: Decimal | None) -> Finding:
    if low is not None and number < low:
        return Finding(False, f"{shown} is less than {low}")
    if high is not None and number > high:
        return Finding(False, f"{shown} is more than {high}")
    if low is None:
        return Finding(True, f"{shown} is at most {high}")
    return Finding(True, f"{shown} is at least {low}" if high is None else f"{shown} is in {low} to {high}")


def _bound(params: Parameters, key: str) -> Decimal | None:
    bound = params.get(key)
    if bound is None:
        return None
    if isinstance(bound, bool) or not isinstance(bound, int | float) or not math.isfinite(bound):
        raise ParameterError(key, "must be a number")
    # By its digits: 0.1 means one tenth, not the binary fraction that is nearest to it.
    return Decimal(repr(bound).removesuffix(".0"))
