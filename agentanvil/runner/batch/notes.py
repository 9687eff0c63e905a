"""What to tell a person about batches that are over: what is missing, why, and what to do about it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from agentanvil.client.batch.api import BatchState
from agentanvil.runner.batch.ledger import Part
from agentanvil.runner.batch.results import Judged, PartCounts

AGAIN = "`anvil batch submit` hands them over again"


def failed_notes(state: BatchState, problems: Sequence[str]) -> Iterator[str]:
    """Yield why a batch failed as a whole."""
    why = "; ".join(problems) if problems else "the provider gave no reason"
    yield f"batch {state.id} failed, and none of its requests was asked: {why}"
    if "limit" in why:
        yield "where a limit on queued tokens is the reason, wait for other batches, or submit with --batch-size"


def fetched_notes(part: Part, state: BatchState, counts: PartCounts, *, lost: bool) -> Iterator[str]:
    """Yield what a batch did not bring."""
    if lost:
        yield f"batch {state.id}: the provider no longer has its results; {AGAIN}"
        return
    if counts.never_asked:
        yield f"batch {state.id} ({state.word}): {counts.never_asked} requests were never asked; {AGAIN}"
    missing = part.tasks - counts.answered - counts.never_asked
    if missing:
        yield f"batch {state.id} ({state.word}): {missing} requests came back with no result; {AGAIN}"
    if counts.unreadable:
        yield f"batch {state.id}: {counts.unreadable} lines of its results cannot be read"
    if counts.strange:
        yield f"batch {state.id}: {counts.strange} results belong to no request of it and are passed over"


def judged_notes(judged: Judged) -> Iterator[str]:
    """Yield what was wrong with the replies."""
    if judged.refused:
        yield (
            f"{judged.refused} requests were refused for a parameter that the judge does not accept; it is left out "
            f"when {AGAIN}"
        )
    if judged.problem is not None:
        yield f"requests were refused as all others will be: {judged.problem}"
    elif judged.faults:
        kinds = ", ".join(f"{code} {count}" for code, count in sorted(judged.faults.items()))
        yield f"{judged.faults.total()} requests failed ({kinds}); {AGAIN}"
