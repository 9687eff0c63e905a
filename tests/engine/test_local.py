from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest

from agentanvil.engine import Stop, run_local
from agentanvil.errors import DatasetError, EndpointError, RunFolderError
from agentanvil.plan import CallPlan, Plan, Task
from agentanvil.verdict import Outcome
from tests.fakes.records import outcome, row

PLAN = Plan((CallPlan("joint", ("faithfulness",), judged=True),), repeats=1, judge="scripted:test")


def tasks(count: int) -> Iterator[Task]:
    return PLAN.tasks(row(index) for index in range(count))


class Bench:
    """A worker that counts who is at work."""

    def __init__(self, turns: int = 1) -> None:
        self.turns = turns
        self.at_work = self.peak = self.started = 0

    async def __call__(self, task: Task) -> Outcome:
        self.started += 1
        self.at_work += 1
        self.peak = max(self.peak, self.at_work)
        for _ in range(self.turns):
            await asyncio.sleep(0)
        self.at_work -= 1
        return outcome(task.row.index)


@pytest.mark.parametrize(("count", "concurrency", "peak"), [(0, 4, 0), (1, 4, 1), (50, 4, 4), (3, 8, 3)])
def test_every_task_is_done_once_within_the_concurrency(count: int, concurrency: int, peak: int) -> None:
    bench, seen = Bench(), []
    asyncio.run(run_local(tasks(count), bench, concurrency, seen.append, Stop()))
    assert sorted(o.row for o in seen) == list(range(count))
    assert bench.peak == peak


def test_tasks_are_pulled_only_when_someone_is_free() -> None:
    pulled = 0

    def counted() -> Iterator[Task]:
        nonlocal pulled
        for task in tasks(1000):
            pulled += 1
            yield task

    lead = []
    bench = Bench()
    asyncio.run(run_local(counted(), bench, 5, lambda o: lead.append(pulled - o.row), Stop()))
    assert max(lead) <= 2 * 5


def test_a_stop_finishes_what_is_in_flight_and_takes_nothing_new() -> None:
    stop, seen, bench = Stop(), [], Bench()

    def record(done: Outcome) -> None:
        seen.append(done.row)
        stop.requested = len(seen) >= 10

    asyncio.run(run_local(tasks(100), bench, 4, record, stop))
    assert len(seen) == bench.started
    assert 10 <= len(seen) <= 13


def test_the_first_failure_ends_the_intake_and_is_raised_after_the_others_finished() -> None:
    seen: list[int] = []
    bench = Bench(turns=3)

    async def worker(task: Task) -> Outcome:
        if task.row.index == 5:
            raise EndpointError("the key is not accepted")
        return await bench(task)

    with pytest.raises(EndpointError, match="not accepted"):
        asyncio.run(run_local(tasks(100), worker, 4, lambda o: seen.append(o.row), Stop()))
    assert len(seen) == bench.started <= 5 + 4


def test_rows_that_cannot_be_read_any_more_end_the_run_by_their_own_error() -> None:
    def changed() -> Iterator[Task]:
        yield from tasks(3)
        raise DatasetError("the file was changed")

    seen: list[int] = []
    with pytest.raises(DatasetError, match="was changed"):
        asyncio.run(run_local(changed(), Bench(turns=3), 4, lambda o: seen.append(o.row), Stop()))
    assert sorted(seen) == [0, 1, 2]


def test_an_outcome_that_cannot_be_kept_ends_the_run_by_its_own_error() -> None:
    def full(_: Outcome) -> None:
        raise RunFolderError("no space left")

    bench = Bench()
    with pytest.raises(RunFolderError, match="no space"):
        asyncio.run(run_local(tasks(100), bench, 4, full, Stop()))
    assert bench.started == 4


def test_work_that_never_waits_still_lets_others_have_a_turn() -> None:
    turns = 0

    async def instant(task: Task) -> Outcome:
        return outcome(task.row.index)

    async def watch() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    async def main() -> None:
        watcher = asyncio.create_task(watch())
        await run_local(tasks(1000), instant, 2, lambda o: None, Stop())
        watcher.cancel()

    asyncio.run(main())
    assert turns >= 1000 // 2 // 8


def test_cancelling_cancels_what_is_in_flight() -> None:
    bench = Bench(turns=10**9)

    async def main() -> None:
        run = asyncio.create_task(run_local(tasks(10), bench, 3, lambda o: None, Stop()))
        await asyncio.sleep(0.01)
        run.cancel()
        with pytest.raises(asyncio.CancelledError):
            await run

    asyncio.run(main())
    assert bench.started == 3
