"""Keeping a live run from asking again what is asked already."""

from __future__ import annotations

from pathlib import Path

from agentanvil.errors import RunFolderError, Where
from agentanvil.runner.batch.ledger import FILE, Ledger


def refuse_open_batches(folder: Path, fingerprint: str) -> None:
    """Raise RunFolderError where tasks of the run are in open batches: they would be paid for twice."""
    ledger = Ledger(folder / FILE, fingerprint)
    if ledger.open:
        batches = "an open batch" if len(ledger.open) == 1 else f"{len(ledger.open)} open batches"
        raise RunFolderError(
            f"{ledger.open_tasks} judge calls of this run are in {batches}, and would be paid for twice",
            where=Where(str(folder)),
            hint="Run `anvil batch collect` on this folder first, or `anvil batch cancel` and then collect.",
        )
