"""What a kind of finding is. All kinds stand in three literal registries, which `findings.py` joins.

The first digit names what the finding is about: 0 the file, 1 anchors, 2 calls, 3 scopes, 4 what the judge is shown,
5 overall and gate, 6 rules and evidence, 7 labels of replies. Codes that begin with D need rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Severity = Literal["error", "warning", "note"]
SEVERITIES: tuple[Severity, ...] = ("error", "warning", "note")

GROUPS: dict[str, str] = {
    "R0": "The file",
    "R1": "Anchors",
    "R2": "Calls",
    "R3": "Scopes",
    "R4": "What the judge is shown",
    "R5": "Overall and gate",
    "R6": "Rules and evidence",
    "R7": "Labels of replies",
    "D1": "Human labels in the data",
    "D2": "Expected answers in the data",
    "D3": "Sources in the data",
    "D4": "The judge and the candidates",
    "D5": "The rows as a sample",
}


@dataclass(frozen=True, slots=True)
class Code:
    """One kind of finding: its name, how grave it is, what is found, why it harms, how to mend it.

    `what` and `mend` are sentences; `why` is the second half of one, since it follows what was found.
    """

    title: str
    severity: Severity
    what: str
    why: str
    mend: str
