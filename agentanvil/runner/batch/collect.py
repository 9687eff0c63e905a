"""`anvil batch collect`: results into the journal, through the same reading as a live run's, and reports from that."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from agentanvil.engine import JournalWriter, Stop, read_index
from agentanvil.errors import CallError, EndpointError, JudgeSetupError
from agentanvil.runner.batch.access import Desk, World, in_loop, open_desk, refuse_unbatchable
from agentanvil.runner.batch.handover import Scene
from agentanvil.runner.batch.ledger import Part
from agentanvil.runner.batch.notes import failed_notes, fetched_notes, judged_notes
from agentanvil.runner.batch.opened import Reach, open_run, stored_settings
from agentanvil.runner.batch.places import Places, undone
from agentanvil.runner.batch.recovery import recover
from agentanvil.runner.batch.reporting import finish, with_batches
from agentanvil.runner.batch.results import Judged, Judging, PartCounts, ResultSpool
from agentanvil.runner.batch.watch import Watched, is_unknown, look, problems_of, wait
from agentanvil.runner.events import RunStart
from agentanvil.runner.exits import Ending
from agentanvil.runner.folder import RunFolder, refuse_other_run
from agentanvil.runner.grade import GradeResult
from agentanvil.runner.job import prepare
from agentanvil.runner.manifest import open_manifest
from agentanvil.runner.recorder import Recorder
from agentanvil.runner.session import SessionEnd
from agentanvil.runner.stack import JudgeFacts

LOST = "lost"
"""How a part ended whose results the provider no longer has."""


@dataclass(frozen=True, slots=True)
class Collection:
    """What `collect` came to. `running` batches go on; `notes` say what is missing, and what to do about it."""

    result: GradeResult
    running: int
    notes: tuple[str, ...]


@dataclass(slots=True)
class _Gathered:
    """What one collecting found. `ended` parts with how and their counts, `running` ones left alone."""

    ended: list[tuple[Part, str, PartCounts]] = field(default_factory=list)
    running: int = 0
    notes: list[str] = field(default_factory=list)
    judged: Judged = field(default_factory=Judged)
    facts: JudgeFacts = field(default_factory=JudgeFacts)


def collect(folder: Path, reach: Reach, world: World, *, wait_for_all: bool = False) -> Collection:
    """Fetch the results of every batch that has ended; with `wait_for_all` of all, as soon as they have.

    Raises RunFolderError for a folder without a submission, DatasetError or RunFolderError where rows or rubric have
    changed since, JudgeSetupError where the provider does not give anything out, RunWriteError.
    """
    manifest, ledger = open_run(folder)
    settings = stored_settings(folder, ledger, reach)
    with prepare(settings, world.around) as job:
        refuse_other_run(folder, manifest, job.identity)
        with RunFolder(folder) as taken:
            manifest, ledger = open_run(folder)  # nobody else writes it from here on
            places = Places(job.plan, job.rows)
            ledger.refuse_other_plan(places.layout)
            index = read_index(taken.journal, job.plan, job.rows, job.fingerprint)
            scene = Scene(job, ledger, places, index, world)
            return _collected(scene, taken, manifest, wait_for_all=wait_for_all)


def _collected(scene: Scene, folder: RunFolder, before: dict[str, Any], *, wait_for_all: bool) -> Collection:
    job, ledger = scene.job, scene.ledger
    manifest = open_manifest(job, before)
    gathered, started = _Gathered(), datetime.now(UTC)
    with JournalWriter(folder.journal, job.fingerprint) as journal:
        record = Recorder(journal, scene.world.listener, Stop(), patience=scene.places.tasks + 1)
        try:
            if ledger.open:
                in_loop(_gather(scene, record, gathered, wait_for_all=wait_for_all))
        except CallError as error:
            raise JudgeSetupError(error.message, hint=error.hint) from error
        finally:
            scene.world.listener.finished()
    for part, how, counts in gathered.ended:  # what they brought is in the journal, and on the disk
        ledger.note_closed(part, how, counts.as_dict())
    index = read_index(folder.journal, job.plan, job.rows, job.fingerprint)
    ending: Ending = "stopped" if ledger.open or undone(index) else "complete"
    if gathered.ended:
        end = SessionEnd(
            ending=ending,
            problem=gathered.judged.problem,
            asked=record.asked,
            tally=record.tally,
            judges={0: gathered.facts},
        )
        batches = [part.batch for part, _, _ in gathered.ended if part.batch is not None]
        manifest = with_batches(job, manifest, end, started, batches)
    result = finish(job, manifest, ending, scene.world.listener, record.tally)
    return Collection(result, gathered.running, tuple(gathered.notes))


async def _gather(scene: Scene, record: Recorder, gathered: _Gathered, *, wait_for_all: bool) -> None:
    job, ledger = scene.job, scene.ledger
    spec = refuse_unbatchable(job.spec)
    async with open_desk(spec, job.settings.judge, ledger, scene.world) as desk:
        await recover(desk.api, ledger, scene.world)
        watched = await (wait(desk.api, ledger.open, scene.world) if wait_for_all else look(desk.api, ledger.open))
        over = [each for each in watched if each.is_over]
        gathered.running = len(watched) - len(over)
        if not over:
            return
        scene.world.listener.started(_start(scene, sum(each.part.tasks for each in over)))
        spool = ResultSpool(job.folder, ledger.membership(scene.places.tasks))
        try:
            for each in over:
                await _fetch(scene, desk, each, spool, gathered)
            judging = Judging(scene, desk, record)
            gathered.judged = judging.judged
            await judging.run(spool)
        finally:
            spool.close()
        shape = ledger.shape or desk.endpoint.first
        gathered.facts = JudgeFacts(shape.rung, tuple(sorted(shape.dropped)), shape.cap_field)
        gathered.notes += judged_notes(gathered.judged)


async def _fetch(scene: Scene, desk: Desk, watched: Watched, spool: ResultSpool, gathered: _Gathered) -> None:
    """Fetch the results of one batch that is over."""
    part, state = watched.part, watched.state
    if state is None:
        return
    how, counts = state.word, PartCounts()
    if state.phase == "failed":
        gathered.notes += failed_notes(state, problems_of(part, state, scene.places))
    else:
        try:
            counts = await spool.take(desk, part, state)
        except EndpointError as error:
            if not is_unknown(error):
                raise
            how = LOST
        gathered.notes += fetched_notes(part, state, counts, lost=how == LOST)
    gathered.ended.append((part, how, counts))


def _start(scene: Scene, tasks: int) -> RunStart:
    job = scene.job
    return RunStart(
        judge=job.plan.judge, folder=str(job.folder), rows=job.rows, tasks=tasks, resumed=scene.index.done_count
    )
