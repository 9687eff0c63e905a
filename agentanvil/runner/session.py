"""One sitting of a run: an event loop, a judge, an engine, and a person who may press Ctrl-C."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass, field

from agentanvil.engine import JournalWriter, Stop, run_local
from agentanvil.errors import AnvilError, BudgetReachedError, ConnectionFaultError, EndpointError, RateLimitedError
from agentanvil.plan import Task
from agentanvil.runner.events import Listener, RunStart, Tally
from agentanvil.runner.exits import Ending
from agentanvil.runner.job import Job, Surroundings
from agentanvil.runner.keys import Keys
from agentanvil.runner.loop import loop_factory
from agentanvil.runner.stack import JudgeFacts
from agentanvil.runner.wiring import Bench, open_bench
from agentanvil.verdict import JudgeError, Outcome

_LEAST_PATIENCE = 20
# Not server faults and timeouts: a provider that is down for minutes should not end a run of hours.
_LOST = {
    ConnectionFaultError.code: "the judge is gone: {tasks} tasks in a row found no connection",
    RateLimitedError.code: "the judge takes no calls: {tasks} tasks in a row were turned away by its rate limit",
}
_LATER = "Run the same command again once the judge answers; it goes on where it stopped."


@dataclass(frozen=True, slots=True)
class Agenda:
    """What a sitting is to work through, and how that is announced once the judge is ready."""

    tasks: Iterator[Task]
    start: RunStart


@dataclass(slots=True)
class SessionEnd:
    """How a sitting ended. `problem` is what stopped it; `judge` what was learnt about the judge.

    `asked` counts the tasks that a judge was asked about and whose outcome, whatever it is, is in the journal.
    """

    ending: Ending = "complete"
    problem: AnvilError | None = None
    asked: int = 0
    tally: Tally = field(default_factory=Tally)
    judge: JudgeFacts = field(default_factory=JudgeFacts)


class Recorder:
    """Journals each outcome, counts it, and notices when nobody answers any more: `lost` is what to say then."""

    def __init__(self, journal: JournalWriter, listener: Listener, stop: Stop, patience: int) -> None:
        self.tally = Tally()
        self.asked = 0
        self.lost: EndpointError | None = None
        self._journal = journal
        self._listener = listener
        self._stop = stop
        self._patience = patience
        self._streak = 0

    def __call__(self, outcome: Outcome) -> None:
        """Take one outcome: it is in the journal when this returns."""
        self._journal.append(outcome)
        self._count(outcome)
        self._listener.advanced(self.tally)

    def _count(self, outcome: Outcome) -> None:
        tally = self.tally
        tally.done += 1
        self.asked += bool(outcome.exchanges)
        codes = [cell.code for cell in outcome.cells.values() if isinstance(cell, JudgeError)]
        tally.errors += bool(codes)
        for exchange in outcome.exchanges:
            if exchange.cached:
                tally.cached += 1
                tally.saved_tokens += (exchange.input_tokens or 0) + (exchange.output_tokens or 0)
                continue
            tally.calls += exchange.attempts
            tally.input_tokens += exchange.input_tokens or 0
            tally.output_tokens += exchange.output_tokens or 0
            if exchange.cost is not None:
                tally.cost = (tally.cost or 0.0) + exchange.cost
        lost = next((code for code in codes if code in _LOST), None)
        self._streak = self._streak + 1 if lost else 0
        if lost and self._streak >= self._patience:
            self.lost = EndpointError(_LOST[lost].format(tasks=self._streak), hint=_LATER)
            self._stop.requested = True


def run_session(
    job: Job, agenda: Agenda, journal: JournalWriter, around: Surroundings, listener: Listener
) -> SessionEnd:
    """Work through an agenda until it is done, the budget is used up, the judge is lost, or a person stops it.

    An error that ends the whole run comes back as `problem`; a bug is raised.
    """
    with asyncio.Runner(loop_factory=loop_factory()) as runner:
        return runner.run(_sitting(job, agenda, journal, around, listener))


async def _sitting(
    job: Job, agenda: Agenda, journal: JournalWriter, around: Surroundings, listener: Listener
) -> SessionEnd:
    stop = Stop()
    concurrency = min(job.settings.judge.concurrency, agenda.start.tasks)
    record = Recorder(journal, listener, stop, patience=max(_LEAST_PATIENCE, 2 * concurrency))
    end = SessionEnd(tally=record.tally)
    interrupted = False
    try:
        async with open_bench(job, around, listener) as bench:
            listener.started(agenda.start)
            work = asyncio.ensure_future(run_local(agenda.tasks, bench.worker, concurrency, record, stop))
            try:
                interrupted = await _steered(work, stop, bench, listener)
            finally:
                end.judge = bench.facts()
    except BudgetReachedError as error:
        end.ending, end.problem = "budget", error
    except AnvilError as error:
        end.ending, end.problem = "stopped", error
    if record.lost and end.problem is None:
        end.ending, end.problem = "stopped", record.lost
    if interrupted:
        end.ending, end.problem = "interrupted", None
    end.asked = record.asked
    if end.judge.totals is not None:  # the account of the wire also knows calls that were given up
        record.tally.calls = end.judge.totals.calls
    return end


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
