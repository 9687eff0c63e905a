"""What a finding is, and every kind of finding by its code."""

from __future__ import annotations

from dataclasses import dataclass

from agentanvil.rubric.codes import Code, Severity
from agentanvil.rubric.codes_data import DATA
from agentanvil.rubric.codes_structure import STRUCTURE
from agentanvil.rubric.codes_wording import WORDING

SHOWN = 80
"""Characters of a rubric's text that a message repeats."""

CODES: dict[str, Code] = STRUCTURE | WORDING | DATA


@dataclass(frozen=True, slots=True)
class Finding:
    """One finding. `line` is 1-based, None for a rubric that was not read from text.

    `message` says what was found and why it harms, `mend` how to mend it, a sentence each. `file` is None where the
    finding is in the rubric itself.
    """

    code: str
    severity: Severity
    message: str
    mend: str
    dimension: str | None = None
    line: int | None = None
    file: str | None = None

    @property
    def title(self) -> str:
        return CODES[self.code].title


def finding(
    code: str, found: str, *, dimension: str | None = None, line: int | None = None, file: str | None = None
) -> Finding:
    """Return the finding `code`; `found` is the part of its message that belongs to this rubric or its data."""
    kind = CODES[code]
    return Finding(code, kind.severity, f"{found}: {kind.why}.", kind.mend, dimension, line, file)
