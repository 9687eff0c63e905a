"""What PyYAML says about a text that is not YAML → a RubricError with a line and advice."""

from __future__ import annotations

import yaml
from yaml.reader import ReaderError

from agentanvil.errors import RubricError, Where


def syntax_error(error: yaml.YAMLError, text: str, file: str | None) -> RubricError:
    """Return the error that says the same to a person."""
    if isinstance(error, ReaderError):
        return RubricError(
            f"YAML does not allow the character U+{int(error.character):04X}",
            where=Where(file, text.count("\n", 0, error.position) + 1),
            hint="remove it, or write it as an escape in double quotes",
        )
    mark = getattr(error, "problem_mark", None)
    parts = (getattr(error, "context", None), getattr(error, "problem", None))
    said = ", ".join(part for part in parts if part) or "it cannot be read"
    return RubricError(
        f"this is not valid YAML: {said}",
        where=Where(file, mark.line + 1 if mark is not None else None),
        hint="indent with spaces; text needs quotes where it holds `: ` or ` #` (inside {...} also `,` or `?`) or "
        "begins with a special character",
    )
