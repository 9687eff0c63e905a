"""The seam of this room: what a check is, and what it finds."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from agentanvil.dataset import JsonValue, Row, Trace

Parameters = Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Finding:
    """What a check found, and why, in one line. `passed` is None where there was nothing to decide."""

    passed: bool | None
    reason: str


TextCheck = Callable[[JsonValue, Row], Finding]
"""Looks at the value that the check's `on` names, in its row. Raises CheckFaultError."""

TraceCheck = Callable[[Trace], Finding]
"""Looks at what an agent did. Raises CheckFaultError."""

Check = Callable[[Row], Finding]
"""Looks at a row; in a pair it is one side's. Raises CheckFaultError."""


class CheckFaultError(Exception):
    """The row cannot be checked; `code` becomes the cell's."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


class ResponseLacksError(Exception):
    """The response has nothing where the check looks, which is the response's failure and not the row's."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


class ParameterError(Exception):
    """A parameter of the check cannot be used; the runner adds the place in the rubric."""

    def __init__(self, key: str, message: str, hint: str | None = None) -> None:
        super().__init__(message)
        self.key = key
        self.message = message
        self.hint = hint


def excerpt(text: str, longest: int = 60) -> str:
    """Return `text` on one line between quote marks, cut where it is long."""
    line = " ".join(text[: 4 * longest].split())
    return f"“{line}”" if len(line) <= longest else f"“{line[: longest - 1]}…”"


def listed(texts: tuple[str, ...] | list[str], most: int = 12) -> str:
    """Return the texts between quote marks, the first `most` of them."""
    more = f" and {len(texts) - most} more" if len(texts) > most else ""
    return ", ".join(excerpt(text) for text in texts[:most]) + more


def whole_limit(params: Parameters) -> int:
    """Return the parameter `limit`. Raises ParameterError unless it is a whole number, 0 or more."""
    limit = params.get("limit")
    if not isinstance(limit, int) or isinstance(limit, bool) or limit < 0:
        raise ParameterError("limit", "must be a whole number, 0 or more")
    return limit


def text_list(params: Parameters, key: str) -> tuple[str, ...]:
    """Return the parameter `key`, one text or several. Raises ParameterError where there is none, or an empty one."""
    given = params.get(key)
    texts = (given,) if isinstance(given, str) else given
    if not isinstance(texts, tuple | list) or not texts or not all(isinstance(text, str) and text for text in texts):
        raise ParameterError(key, "must be a text, or a list of texts, none of them empty")
    return tuple(texts)
