"""One sitting of a run: an event loop, its judges, an engine, and a person who may press Ctrl-C."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from agentanvil.client.budget import Budget, BudgetSettings
from agentanvil.engine import JournalWriter, Stop, run_local
from agentanvil.errors import AnvilError, BudgetReachedError
from agentanvil.plan import Escalation, Task
from agentanvil.runner.escalate import escalation_notices, read_escalated
from agentanvil.runner.events import Listener, RunStart, Tally
from agentanvil.runner.exits import Ending
from agentanvil.runner.job import Job, Surroundings
from agentanvil.runner.keys import Keys
from agentanvil.runner.loop import loop_factory
from agentanvil.runner.more_repeats import read_more_repeats
from agentanvil.runner.recorder import LEAST_PATIENCE, Recorder
from agentanvil.runner.seats import seat_settings
from agentanvil.runner.stack import JudgeFacts
from agentanvil.runner.wiring import Bench, open_bench

ESCALATION_LIMIT = "--escalate-max-cost"


@dataclass(frozen=True, slots=True)
class Agenda:
    """What a sitting is to work through, and how that is announced once the judges are ready.

    `seats` are those of its tasks, `spent` is what each judge of the run has cost before, in US dollars. `escalation`
    tells what follows from the outcomes of the tasks, None where nothing does; `adaptive` that more repeats may.
    """

    tasks: Iterator[Task]
    start: RunStart
    seats: tuple[int, ...]
    spent: tuple[float, ...]
    escalation: Escalation | None = None
    adaptive: bool = False

    @property
    def is_open(self) -> bool:
        """Whether there is anything to do."""
        return self.start.tasks > 0 or self.adaptive or self.escalation is not None


@dataclass(slots=True)
class SessionEnd:
    """How a sitting ended. `problem` is what stopped it; `judges` what was learnt about each judge, by seat.

    `asked` counts the tasks that a judge was asked about and whose outcome, whatever it is, is in the journal.
    """

    ending: Ending = "complete"
    problem: AnvilError | None = None
    asked: int = 0
    tally: Tally = field(default_factory=Tally)
    judges: Mapping[int, JudgeFacts] = field(default_factory=dict)


def run_session(
    job: Job, agenda: Agenda, journal: JournalWriter, around: Surroundings, listener: Listener
) -> SessionEnd:
    """Work through an agenda until it is done, the budget is used up, the judge is lost, or a person stops it.

    An error that ends the whole run comes back as `problem`; a bug is raised.
    """
    with asyncio.Runner(loop_factory=loop_factory()) as runner:
        return runner.run(_sitting(job, agenda, journal, around, listener))


@dataclass(frozen=True, slots=True)
class _Sitting:
    """What the phases of one sitting share."""

    job: Job
    bench: Bench
    record: Recorder
    journal: Path
    stop: Stop
    listener: Listener

    async def run(self, tasks: Iterator[Task], seats: Sequence[int], count: int) -> None:
        """Work through the tasks of some seats, as many at a time as their judges take together."""
        judge, specs = self.job.settings.judge, self.job.panel.specs
        together = sum(seat_settings(judge, specs[seat], seat).concurrency for seat in seats)
        crew = min(together or judge.concurrency, count)
        self.record.patience = max(LEAST_PATIENCE, 2 * crew)
        await run_local(tasks, self.bench.worker, crew, self.record, self.stop)


async def _sitting(
    job: Job, agenda: Agenda, journal: JournalWriter, around: Surroundings, listener: Listener
) -> SessionEnd:
    stop = Stop()
    record = Recorder(journal, listener, stop)
    end = SessionEnd(tally=record.tally)
    interrupted = False
    try:
        async with open_bench(job, _purses(job, agenda), around, listener) as bench:
            sitting = _Sitting(job, bench, record, journal.path, stop, listener)
            work = asyncio.ensure_future(_through(sitting, agenda))
            try:
                interrupted = await _steered(work, stop, bench, listener)
            finally:
                end.judges = bench.facts()
    except BudgetReachedError as error:
        end.ending, end.problem = "budget", error
    except AnvilError as error:
        end.ending, end.problem = "stopped", error
    if record.lost and end.problem is None:
        end.ending, end.problem = "stopped", record.lost
    if interrupted:
        end.ending, end.problem = "interrupted", None
    end.asked = record.asked
    totals = [facts.totals for facts in end.judges.values() if facts.totals is not None]
    if totals:  # the account of the wire also knows calls that were given up
        record.tally.calls = sum(total.calls for total in totals)
    return end


def _purses(job: Job, agenda: Agenda) -> dict[int, Budget]:
    """Return what the judge of each seat that may be asked spends from: all from one budget, with a part for some."""
    judge, panel = job.settings.judge, job.settings.panel
    whole = Budget(BudgetSettings(judge.max_calls, judge.max_cost), spent=sum(agenda.spent))
    purses = dict.fromkeys(agenda.seats, whole)
    if agenda.escalation is not None:
        seat = agenda.escalation.seat
        limits = BudgetSettings(max_cost=panel.escalate_max_cost, flag=ESCALATION_LIMIT)
        purses[seat] = whole.part(limits, spent=agenda.spent[seat])
    return purses


async def _through(sitting: _Sitting, agenda: Agenda) -> None:
    """Work through the tasks, and then through what follows from their outcomes."""
    if agenda.start.tasks:
        sitting.listener.started(agenda.start)
        await sitting.run(agenda.tasks, agenda.seats, agenda.start.tasks)
    if agenda.adaptive and not sitting.stop.requested:
        await _repeated(sitting, agenda)
    if agenda.escalation is None or sitting.stop.requested:
        return
    # In a thread, since a long journal takes its time and Ctrl-C must be heard.
    found = await asyncio.to_thread(read_escalated, sitting.job, agenda.escalation, sitting.journal, sitting.stop)
    for notice in escalation_notices(sitting.job, found):
        sitting.listener.notice(notice)
    tasks, seat = found.open.total(), agenda.escalation.seat
    if tasks and not sitting.stop.requested:
        judge = sitting.job.plan.judges[seat]
        sitting.listener.started(replace(agenda.start, judge=judge, tasks=tasks, escalated=True))
        try:
            await sitting.run(found.tasks(sitting.job), (seat,), tasks)
        except BudgetReachedError as error:
            if error.flag != ESCALATION_LIMIT:
                raise
            sitting.listener.notice(f"{error.message}; where nobody else was asked, the first judge's verdict stands")


async def _repeated(sitting: _Sitting, agenda: Agenda) -> None:
    """Ask more repeats where the first ones disagree."""
    # In a thread, since a long journal takes its time and Ctrl-C must be heard.
    found = await asyncio.to_thread(read_more_repeats, sitting.job, sitting.journal, sitting.stop)
    seats = sorted(found.open)
    if seats and not sitting.stop.requested:
        judges = " + ".join(sitting.job.plan.judges[seat] for seat in seats)
        tasks = found.open.total()
        sitting.listener.started(replace(agenda.start, judge=judges, tasks=tasks, repeated=True))
        await sitting.run(found.tasks(sitting.job), seats, tasks)


async def _steered(work: asyncio.Future[None], stop: Stop, bench: Bench, listener: Listener) -> bool:
    """Await `work`; return whether a person ended it."""

    def wind_down() -> None:
        stop.requested = True
        bench.drain()
        calls = bench.in_flight()
        finish = f"{calls} call(s) in flight finish; press Ctrl-C again to stop at once"
        listener.notice(f"stopping: {finish if calls else 'no call is in flight'}")

    keys = Keys(work, wind_down, bench.in_flight)
    try:
        with keys:
            await work
    except (asyncio.CancelledError, BudgetReachedError):
        if not keys.presses:
            raise
    return bool(keys.presses)
