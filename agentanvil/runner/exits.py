"""The one place that turns what happened into an exit code (design: 0, 1, 2, 3, 4, 5, 130)."""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntEnum
from typing import Literal

from agentanvil.aggregate import Summary
from agentanvil.aggregate.comparison import RegressionVerdict

Ending = Literal["complete", "budget", "interrupted", "stopped", "running"]


class Exit(IntEnum):
    """Exit codes of `anvil`."""

    OK = 0
    GATE_FAILED = 1
    USAGE = 2
    MISSING = 3
    INCONCLUSIVE = 4
    INTERNAL = 5
    INTERRUPTED = 130


def run_exit(ending: Ending, summary: Summary, min_coverage: float, *, read: float = 1.0) -> Exit:
    """Decide on a run by how its last sitting ended (`running`: it was killed) and what its summary says.

    `read` is the share of the data's records that could be read; those that could not have no verdict either.

    An interruption says nothing about the gate. A failed gate stays failed however many verdicts are missing,
    because more verdicts cannot mend it; so it comes before missing verdicts. A gate that let nothing through has
    not been passed, even where it failed nobody because nothing that it asks for applied to any item.
    """
    if ending == "interrupted":
        return Exit.INTERRUPTED
    gate = summary.gate
    if gate.verdict == "fail":
        return Exit.GATE_FAILED
    share = _covered(summary)
    if ending in {"budget", "stopped"} or (share is not None and share * read < min_coverage):
        return Exit.MISSING
    if gate.verdict == "undecided" and not gate.passed:
        return Exit.MISSING
    return Exit.OK


_REGRESSION: Mapping[RegressionVerdict, Exit] = {
    "pass": Exit.OK,
    "fail": Exit.GATE_FAILED,
    "missing": Exit.MISSING,
    "inconclusive": Exit.INCONCLUSIVE,
}


def compare_exit(verdict: RegressionVerdict, *, asked: bool) -> Exit:
    """Decide on a comparison. Where nobody asked that a regression fail, it tells its figures and ends well."""
    return _REGRESSION[verdict] if asked else Exit.OK


def _covered(summary: Summary) -> float | None:
    """Return the share of verdicts that are there; in pairs read by probabilities also the share of items with one."""
    share, pairs = summary.coverage.share, summary.pairwise
    if share is None or pairs is None or pairs.reading == "verdict" or not summary.items:
        return share
    return min(share, pairs.expected.rate.n / summary.items)
