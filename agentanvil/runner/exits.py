"""The one place that turns what happened into an exit code (design: 0, 1, 2, 3, 4, 5, 130)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from enum import IntEnum
from typing import Literal

from agentanvil.aggregate import Summary, Trust
from agentanvil.aggregate.comparison.tally import RegressionVerdict
from agentanvil.aggregate.probe.findings import ProbeVerdict

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
    because more verdicts cannot mend it; so it comes before missing verdicts, and these before a gate that is open,
    which they may be the reason of. A gate that let nothing through has not been passed, even where it failed nobody
    because nothing that it asks for applied to any item.
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
    return Exit.INCONCLUSIVE if gate.verdict == "inconclusive" else Exit.OK


_REGRESSION: Mapping[RegressionVerdict, Exit] = {
    "pass": Exit.OK,
    "fail": Exit.GATE_FAILED,
    "missing": Exit.MISSING,
    "inconclusive": Exit.INCONCLUSIVE,
}


def compare_exit(verdict: RegressionVerdict, *, asked: bool) -> Exit:
    """Decide on a comparison. Where nobody asked that a regression fail, it tells its figures and ends well."""
    return _REGRESSION[verdict] if asked else Exit.OK


_TRUST: Mapping[Trust | None, Exit] = {
    "TRUSTED": Exit.OK,
    "UNTRUSTED": Exit.GATE_FAILED,
    "INCONCLUSIVE": Exit.INCONCLUSIVE,
    None: Exit.INCONCLUSIVE,
}


def trust_exit(verdict: Trust | None) -> Exit:
    """Decide on a calibration by its worst verdict; without any nothing is known of the judge."""
    return _TRUST[verdict]


def study_exit(ending: Ending, runs: Iterable[tuple[Summary, float]], min_coverage: float) -> Exit:
    """Decide on a study by how it ended and by its runs, each with the share of records that could be read.

    What it found is no failure; verdicts that are missing are.
    """
    if ending == "interrupted":
        return Exit.INTERRUPTED
    shares = [(_covered(summary), read) for summary, read in runs]
    missing = any(share is not None and share * read < min_coverage for share, read in shares)
    return Exit.MISSING if missing or ending != "complete" else Exit.OK


def _covered(summary: Summary) -> float | None:
    """Return the share of verdicts that are there; in pairs read by probabilities also the share of items with one."""
    share, pairs = summary.coverage.share, summary.pairwise
    if share is None or pairs is None or pairs.reading == "verdict" or not summary.items:
        return share
    return min(share, pairs.expected.rate.n / summary.items)


def probe_exit(ending: Ending, verdicts: Collection[ProbeVerdict], *, enough: bool, on_bias: bool) -> Exit:
    """Decide on a probe by how it ended and what it found. A finding is no failure, except where it was asked to be.

    `enough`: verdicts are there for as many rows as must have one. What is missing comes first, since another effect
    in the table changes every test's correction.
    """
    if ending == "interrupted":
        return Exit.INTERRUPTED
    if ending != "complete" or not enough:
        return Exit.MISSING
    if on_bias and "bias found" in verdicts:
        return Exit.GATE_FAILED
    return Exit.INCONCLUSIVE if on_bias and "inconclusive" in verdicts else Exit.OK
