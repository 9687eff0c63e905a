"""How the inner parts of this room say what is wrong, before the place in the file is known."""

from __future__ import annotations

from collections.abc import Iterable

from agentanvil.errors import quoted


class FieldError(Exception):
    """One field of one record is not as declared; the row builder adds file and line."""

    def __init__(self, field: str | None, message: str, hint: str | None = None) -> None:
        super().__init__(message)
        self.field = field
        self.message = message
        self.hint = hint


def listed(names: Iterable[str], most: int = 12) -> str:
    """Return names as `a`, `b`, … with the number of those left out."""
    every = list(names)
    text = ", ".join(quoted(name) for name in every[:most]) or "nothing"
    return text if len(every) <= most else f"{text} and {len(every) - most} more"


def json_type(value: object) -> str:
    """Return what a person calls a JSON value of this type."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true or false"
    if isinstance(value, int | float):
        return "a number"
    if isinstance(value, str):
        return "text"
    return "a list" if isinstance(value, list) else "an object"
