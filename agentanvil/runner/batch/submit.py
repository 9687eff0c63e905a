"""`anvil batch submit`: what needs no call is settled, all other pending tasks are handed over in batches.

One of them is asked about at once where nothing is known about the judge: it shows what the judge accepts.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from agentanvil.engine import JournalWriter, Stop, read_index
from agentanvil.errors import (
    AnvilError,
    CallError,
    ConfigError,
    JudgeSetupError,
    RunWriteError,
    UsageError,
)
from agentanvil.runner.batch.access import Desk, World, in_loop, open_desk, refuse_unbatchable
from agentanvil.runner.batch.handover import Handed, Handover, Scene, batch_price
from agentanvil.runner.batch.ledger import FILE, Ledger
from agentanvil.runner.batch.parts import Allowance
from agentanvil.runner.batch.places import Places
from agentanvil.runner.batch.recovery import recover
from agentanvil.runner.batch.reporting import finish, with_batches
from agentanvil.runner.exits import Exit
from agentanvil.runner.folder import RunFolder, read_manifest, refuse_foreign_folder, refuse_other_run, write_manifest
from agentanvil.runner.job import STDIN, Job, prepare
from agentanvil.runner.manifest import open_manifest
from agentanvil.runner.recorder import Recorder
from agentanvil.runner.session import SessionEnd
from agentanvil.runner.settings import GradeSettings


@dataclass(frozen=True, slots=True)
class Submission:
    """What `submit` came to. `settled` tasks needed no batch, `waiting` ones are in batches of before.

    `held_back` are those that a limit kept from being handed over; `problem` is what broke it off.
    """

    folder: Path
    batches: tuple[str, ...]
    requests: int
    settled: int
    waiting: int
    held_back: int
    exit: Exit
    problem: AnvilError | None = None


def submit(settings: GradeSettings, world: World, *, most: int | None = None) -> Submission:
    """Hand the pending tasks of a run over. `most` is how many requests a batch may have.

    Raises InputError where nothing could begin; nothing was spent then, and no folder is left behind.
    """
    _refuse_strangers(settings, most)
    with prepare(settings, world.around) as job:
        refuse_unbatchable(job.spec)
        if read_manifest(job.folder) is None:
            refuse_foreign_folder(job.folder)
        with RunFolder(job.folder) as folder:
            try:
                return _submitted(job, folder, world, most)
            except BaseException:
                if folder.is_unbegun() and not (folder.path / FILE).exists():
                    folder.take_back(None)
                raise


def _submitted(job: Job, folder: RunFolder, world: World, most: int | None) -> Submission:
    before = read_manifest(folder.path)
    if before is not None:
        refuse_other_run(folder.path, before, job.identity)
    places = Places(job.plan, job.rows)
    ledger = Ledger(folder.path / FILE, job.fingerprint)
    ledger.refuse_other_plan(places.layout)
    index = read_index(folder.journal, job.plan, job.rows, job.fingerprint)
    scene = Scene(job, ledger, places, index, world)
    pass_ = _Pass(scene, _allowance(job, ledger, index.spent[0]))
    manifest, started = open_manifest(job, before), datetime.now(UTC)
    write_manifest(folder.path, manifest)
    with JournalWriter(folder.journal, job.fingerprint) as journal:
        record = Recorder(journal, world.listener, Stop())
        in_loop(pass_.run(record, most))
    handed, problem = pass_.handed, pass_.problem
    if problem is not None and not ledger.parts and not record.tally.done:
        folder.take_back(before)
        raise _as_input(problem)
    if record.tally.done or handed.batches:
        end = SessionEnd(asked=record.asked, tally=record.tally, judges={0: handed.facts}, problem=problem)
        manifest = with_batches(job, manifest, end, started, handed.batches)
    return Submission(
        folder=folder.path,
        batches=tuple(handed.batches),
        requests=handed.requests,
        settled=record.tally.done,
        waiting=handed.waiting,
        held_back=pass_.allowance.refused,
        exit=_end(scene, manifest, cut_short=pass_.is_cut_short),
        problem=problem,
    )


def _end(scene: Scene, manifest: dict[str, Any], *, cut_short: bool) -> Exit:
    """Write down how a submission left the run; where nothing is open the reports are due. Return the exit code."""
    if scene.ledger.open or cut_short:
        write_manifest(scene.job.folder, {**manifest, "state": "stopped"})
        return Exit.MISSING if cut_short else Exit.OK
    return finish(scene.job, manifest, "complete", scene.world.listener).exit


class _Pass:
    """The part of a submission that speaks with the provider."""

    def __init__(self, scene: Scene, allowance: Allowance) -> None:
        self.handed = Handed()
        self.allowance = allowance
        self.problem: AnvilError | None = None
        self._unsettled = 0
        self._scene = scene

    @property
    def is_cut_short(self) -> bool:
        """Whether something that could have been handed over was not, or it is not known whether it was."""
        return bool(self.problem or self.allowance.refused or self._unsettled)

    async def run(self, record: Recorder, most: int | None) -> None:
        """Hand over what is pending; an error that ends this becomes `problem`."""
        scene = self._scene
        job = scene.job
        spec = refuse_unbatchable(job.spec)
        judge = job.settings.judge
        async with open_desk(spec, judge, scene.ledger, scene.world) as desk:
            try:
                await self._through(desk, record, most)
            except RunWriteError:
                raise
            except AnvilError as error:
                self.problem = error

    async def _through(self, desk: Desk, record: Recorder, most: int | None) -> None:
        scene = self._scene
        unsettled = await recover(desk.api, scene.ledger, scene.world)
        self._unsettled = len(unsettled)
        handover = Handover(scene, desk, record, self.allowance, most)
        self.handed = handover.handed
        await handover.run()


def _as_input(problem: AnvilError) -> AnvilError:
    """Return the problem of a submission that did nothing at all: a matter of input, not of a run."""
    return JudgeSetupError(problem.message, hint=problem.hint) if isinstance(problem, CallError) else problem


def _allowance(job: Job, ledger: Ledger, spent: float) -> Allowance:
    """Return what may be handed over: under the limit less what was spent, and less what open batches may cost."""
    limits = job.settings.judge
    if limits.max_cost is None:
        return Allowance(limits.max_calls)
    if batch_price(job) is None:
        raise ConfigError(
            f"--max-cost needs the price of {job.plan.judge} in a batch, which is not known",
            hint="Give it in anvil.yaml: prices, with a batch_discount.",
        )
    open_ = sum(part.ceiling or 0.0 for part in ledger.open)
    return Allowance(limits.max_calls, limits.max_cost - spent - open_)


def _refuse_strangers(settings: GradeSettings, most: int | None) -> None:
    """Raise UsageError for what a batch cannot do."""
    panel = settings.panel
    if panel.jury or panel.cross_judge or panel.escalate_to:
        raise UsageError(
            "a batch asks one judge",
            hint="Submit with one --judge and an --out of its own for each, or ask them all with `anvil grade`.",
        )
    if settings.adaptive:
        raise UsageError(
            "a batch asks everything at once, so it cannot repeat what the first answers leave open",
            hint="Give --repeats a number, or run `anvil grade --repeats auto`.",
        )
    if settings.data == STDIN:
        raise UsageError(
            "a batch is collected later, when standard input is gone", hint="Write the rows to a file and name that."
        )
    if most is not None and most < 1:
        raise UsageError(f"--batch-size must be at least 1, not {most}")
