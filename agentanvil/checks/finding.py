"""The seam of this room: what a check is, and what it finds."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from agentanvil.dataset import JsonValue, Row

Parameters = Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Finding:
    """What a check found, and why, in one line."""

    passed: bool
    reason: str


Check = Callable[[JsonValue, Row], Finding]
"""Looks at the value that the check's `on` names, in its row. Raises CheckFaultError."""

Compile = Callable[[Parameters], Check]
"""Prepares a check once per rubric. Raises ParameterError."""


class CheckFaultError(Exception):
    """The row cannot be checked; `code` becomes the cell's."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


class ParameterError(Exception):
    """A parameter of the check cannot be used; the runner adds the place in the rubric."""

    def __init__(self, key: str, message: str) -> None:
        super().__init__(message)
        self.key = key
        self.message = message


def excerpt(text: str, longest: int = 60) -> str:
    """Return `text` on one line between quote marks, cut where it is long."""
    line = " ".join(text[: 4 * longest].split())
    return f"“{line}”" if len(line) <= longest else f"“{line[: longest - 1]}…”"
