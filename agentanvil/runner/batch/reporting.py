"""How a batch's sitting enters the manifest, and the reports that a run gets from it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from agentanvil.runner.batch.access import refuse_unbatchable
from agentanvil.runner.events import Listener, Tally
from agentanvil.runner.exits import Ending
from agentanvil.runner.folder import write_manifest
from agentanvil.runner.grade import GradeResult
from agentanvil.runner.job import Job
from agentanvil.runner.manifest import with_session
from agentanvil.runner.pricing import price_entry
from agentanvil.runner.reports import write_reports
from agentanvil.runner.session import SessionEnd
from agentanvil.runner.stack import price_table


def with_batches(
    job: Job, manifest: Mapping[str, Any], end: SessionEnd, started: datetime, batches: Sequence[str]
) -> dict[str, Any]:
    """Return the manifest with one more sitting: the only place that tells a batch run from a live one.

    `price` there is that of a batch; the judge's own is beside its name.
    """
    added = with_session(manifest, end, started)
    *earlier, last = added["sessions"]
    spec = refuse_unbatchable(job.spec)
    price = price_entry(price_table(spec, job.settings.judge).quote(spec.model, batch=True))
    return {**added, "sessions": [*earlier, {**last, "kind": "batch", "batches": list(batches), "price": price}]}


def finish(
    job: Job, manifest: dict[str, Any], ending: Ending, listener: Listener, tally: Tally | None = None
) -> GradeResult:
    """Write the reports of a run as it stands, and the manifest with how it ended. Raises RunWriteError."""
    manifest = {**manifest, "state": ending}
    summary, code = write_reports(job.folder, manifest, job.read_rows, listener.failed)
    write_manifest(job.folder, manifest | {"exit_code": int(code)})
    return GradeResult(job.folder, summary, manifest, tally or Tally(), ending, code)
