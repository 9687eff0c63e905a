"""The engine of one process: a fixed crew of coroutines on one event loop."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from agentanvil.engine.base import Worker
from agentanvil.plan import Task
from agentanvil.verdict import Outcome

_BREATH = 8  # outcomes that never waited (cache hits) between two turns of the event loop, for each of the crew


@dataclass(slots=True)
class Stop:
    """Set `requested` to let the crew finish what is in flight and take nothing new."""

    requested: bool = False


async def run_local(
    tasks: Iterator[Task],
    worker: Worker,
    concurrency: int,
    record: Callable[[Outcome], None],
    stop: Stop,
) -> None:
    """Work through `tasks`, at most `concurrency` at a time, pulling each only when someone is free.

    `record` is called with each outcome before its worker takes another task, so that a journal written there
    is never behind by more than what is in flight. The first exception of a worker, of `tasks` or of `record`
    stops the intake, the others finish, and then it is raised. Cancelling this coroutine cancels what is in
    flight.
    """
    failures: list[Exception] = []

    async def work() -> None:
        since_turn = 0
        for task in tasks:
            if stop.requested:
                return
            record(await worker(task))
            since_turn += 1
            if since_turn == _BREATH:
                since_turn = 0
                await asyncio.sleep(0)

    async def crew() -> None:
        try:
            await work()
        except Exception as error:
            failures.append(error)
            stop.requested = True

    async with asyncio.TaskGroup() as group:
        for _ in range(concurrency):
            group.create_task(crew())
    if failures:
        raise failures[0]
