"""The one place that turns what happened into an exit code (design: 0, 1, 2, 3, 4, 5, 130)."""

from __future__ import annotations

from enum import IntEnum
from typing import Literal

Ending = Literal["complete", "budget", "interrupted", "stopped"]


class Exit(IntEnum):
    """Exit codes of `anvil`."""

    OK = 0
    GATE_FAILED = 1
    USAGE = 2
    MISSING = 3
    INCONCLUSIVE = 4
    INTERNAL = 5
    INTERRUPTED = 130


def exit_code(ending: Ending, gate_failed: bool, coverage: float, min_coverage: float) -> Exit:
    """Decide on a finished, stopped or interrupted run.

    An interruption says nothing about the gate. A failed gate stays failed however many verdicts are missing,
    because more verdicts cannot mend it; so it comes before missing verdicts.
    """
    if ending == "interrupted":
        return Exit.INTERRUPTED
    if gate_failed:
        return Exit.GATE_FAILED
    if ending != "complete" or coverage < min_coverage:
        return Exit.MISSING
    return Exit.OK
