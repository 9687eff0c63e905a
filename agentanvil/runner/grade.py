"""The main job: rows × rubric × judge → a journaled, resumable run and its reports."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from agentanvil.aggregate import Summary
from agentanvil.engine import JournalIndex, JournalWriter, Stop, read_index
from agentanvil.errors import AnvilError, BudgetReachedError, EndpointError, JudgeSetupError, RunWriteError
from agentanvil.plan import Task
from agentanvil.runner.batch.guard import refuse_open_batches
from agentanvil.runner.escalate import read_escalated
from agentanvil.runner.events import Listener, RunStart, Tally
from agentanvil.runner.exits import Ending, Exit
from agentanvil.runner.folder import (
    RunFolder,
    read_manifest,
    refuse_foreign_folder,
    refuse_other_run,
    write_manifest,
)
from agentanvil.runner.job import Job, Surroundings, prepare
from agentanvil.runner.kinship import self_judged
from agentanvil.runner.manifest import open_manifest, with_session
from agentanvil.runner.more_repeats import read_more_repeats
from agentanvil.runner.reports import write_reports
from agentanvil.runner.session import Agenda, SessionEnd, run_session
from agentanvil.runner.settings import GradeSettings


@dataclass(frozen=True, slots=True)
class GradeResult:
    """What a run came to. `problem` is the error that stopped it, if one did."""

    folder: Path
    summary: Summary
    manifest: dict[str, Any]
    tally: Tally
    ending: Ending
    exit: Exit
    problem: AnvilError | None = None


def grade(settings: GradeSettings, around: Surroundings, listener: Listener) -> GradeResult:
    """Run or resume one `anvil grade`.

    Raises InputError where the input, the folder or the judge cannot be used: then nothing was spent and no
    folder is left behind. Everything that happens after the first verdict ends in a GradeResult, except that a
    disk which takes no reports raises RunWriteError.
    """
    with prepare(settings, around) as job:
        if read_manifest(job.folder) is None:
            refuse_foreign_folder(job.folder)
        with RunFolder(job.folder) as folder:
            try:
                return _graded(job, folder, around, listener)
            except BaseException:
                if folder.is_unbegun():
                    folder.take_back(None)
                raise


def pending(job: Job, index: JournalIndex) -> Iterator[Task]:
    """Yield the tasks that have no verdict yet, in the plan's order; what else is due follows from their outcomes."""
    for task in job.plan.tasks(job.read_rows()):
        if not index.done(task):
            yield task


def open_seats(job: Job, index: JournalIndex) -> Counter[int | None]:
    """Count the pending tasks by seat, code's own under None."""
    plan = job.plan
    if any(seat.role == "cross" for seat in plan.others):  # who is drawn follows from the rows' ids
        return Counter(task.seat if task.call.judged else None for task in pending(job, index))
    counts: Counter[int | None] = Counter()
    for slot in plan.slots():
        if slot.repeat >= plan.certain:
            continue
        if not slot.seat or plan.others[slot.seat - 1].role == "jury":
            counts[slot.seat if slot.call.judged else None] += index.open_rows(slot)
    return +counts


def _graded(job: Job, folder: RunFolder, around: Surroundings, listener: Listener) -> GradeResult:
    before = read_manifest(folder.path)
    if before is not None:
        refuse_other_run(folder.path, before, job.identity)
    refuse_open_batches(folder.path, job.fingerprint)
    manifest = open_manifest(job, before)
    agenda = _agenda(job, folder.journal)
    end = SessionEnd()
    if agenda.is_open:
        write_manifest(folder.path, manifest)
        started = datetime.now(UTC)
        try:
            with JournalWriter(folder.journal, job.fingerprint) as journal:
                end = run_session(job, agenda, journal, around, listener)
        finally:
            listener.finished()
        problem = _unbegun(end)
        if problem is not None:
            folder.take_back(before)
            raise problem
        manifest = with_session(manifest, end, started)
    manifest["state"] = end.ending
    summary, code = write_reports(folder.path, manifest, job.read_rows, listener.failed)
    write_manifest(folder.path, manifest | {"exit_code": int(code)})
    return GradeResult(folder.path, summary, manifest, end.tally, end.ending, code, end.problem)


def _unbegun(end: SessionEnd) -> AnvilError | None:
    """Return what stopped a sitting before a judge was heard on anything: that is a matter of input, not a run."""
    if end.problem is None or end.asked or isinstance(end.problem, BudgetReachedError | RunWriteError):
        return None
    if isinstance(end.problem, EndpointError):
        return JudgeSetupError(end.problem.message, hint=end.problem.hint)
    return end.problem


def _agenda(job: Job, journal: Path) -> Agenda:
    index = read_index(journal, job.plan, job.rows, job.fingerprint)
    counts, escalation = open_seats(job, index), job.escalation()
    if escalation is not None and not counts:
        found = read_escalated(job, escalation, journal, Stop())
        limit = job.settings.panel.escalate_max_cost
        if not found.open or (limit is not None and index.spent[escalation.seat] >= limit):
            escalation = None
    adaptive = job.plan.certain < job.plan.repeats and bool(job.rubric.judged)
    if adaptive and not counts:
        adaptive = bool(read_more_repeats(job, journal, Stop()).open)
    seats = tuple(sorted(seat for seat in counts if seat is not None))
    if adaptive:  # whose first repeats disagree is not known yet
        seats = tuple(range(len(job.plan.judges)))
    return Agenda(
        tasks=pending(job, index),
        start=_start(job, index, seats, counts.total()),
        seats=seats,
        spent=tuple(index.spent),
        escalation=escalation,
        adaptive=adaptive,
    )


def _start(job: Job, index: JournalIndex, seats: tuple[int, ...], open_tasks: int) -> RunStart:
    return RunStart(
        judge=" + ".join(job.plan.judges[seat] for seat in seats) or job.plan.judge,
        folder=str(job.folder),
        rows=job.rows,
        tasks=open_tasks,
        resumed=index.done_count,
        hidden_fields=() if job.rubric.allow_expected else job.info.hidden_fields,
        unread=job.info.unread,
        unread_examples=job.info.unread_examples,
        kinship=_kinship(job),
    )


def _kinship(job: Job) -> tuple[str, ...]:
    """Return what is said before a run of the judges' families; a refused one never comes to that."""
    own = self_judged(job.kinship.as_dict(), job.rubric)
    return job.kinship.told if own is None else (*job.kinship.told, own)
