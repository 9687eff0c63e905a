"""Batch runs in this process, with a clock of the test's own and no waiting."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agentanvil.client.batch.http import Clockwork
from agentanvil.client.prices import PriceTable
from agentanvil.runner.batch.access import World
from agentanvil.runner.batch.collect import Collection, collect
from agentanvil.runner.batch.opened import Reach
from agentanvil.runner.batch.status import Status, cancel, status
from agentanvil.runner.batch.submit import Submission, submit
from agentanvil.runner.job import Surroundings
from tests.fakes.batch_server_anthropic import AnthropicBatchServer
from tests.fakes.batch_servers import BatchServer, OpenAIBatchServer
from tests.fakes.runs import Collected, Runs

KEY = "sk-canary-0123456789"
ENVIRON = {"OPENAI_API_KEY": KEY, "ANTHROPIC_API_KEY": KEY}
PRICES = PriceTable.read({"m": {"input": 10.0, "output": 50.0, "batch_discount": 0.5}})
COST = (100 * 10.0 + 20 * 50.0) / 1_000_000 / 2


@dataclass(frozen=True)
class Kind:
    """One batch API: its judges' provider and its server."""

    provider: str
    server: Callable[..., BatchServer]


KINDS = (
    Kind("openai", OpenAIBatchServer),
    Kind("openai-responses", OpenAIBatchServer),
    Kind("anthropic", AnthropicBatchServer),
)


class BatchRuns(Runs):
    """A run at a batch server; `now` is the Unix time, `pauses` are the waits that were asked for."""

    def __init__(self, folder: Path, server: BatchServer, *data: dict[str, Any], provider: str = "openai") -> None:
        super().__init__(folder, f"{provider}:m@{server.url}", *data)
        self.listener = Collected()
        self.now = 1000.0
        self.pauses: list[float] = []
        self.while_waiting: Callable[[], None] = lambda: None
        self.around = Surroundings(ENVIRON)

    def submit(self, *, most: int | None = None, **changes: Any) -> Submission:
        return submit(self.settings(**changes), self._world(), most=most)

    def collect(self, *, wait: bool = False, prices: PriceTable = PRICES, **changes: Any) -> Collection:
        reach = Reach(changes, prices)
        return collect(self.out, reach, self._world(), wait_for_all=wait)

    def status(self) -> Status:
        return status(self.out, Reach(), self._world())

    def cancel(self) -> Status:
        return cancel(self.out, Reach(), self._world())

    def live(self, **changes: Any) -> Any:
        return self.grade(self.listener, environ=ENVIRON, **changes)

    def _world(self) -> World:
        async def sleep(seconds: float) -> None:
            self.pauses.append(seconds)
            self.now += seconds
            self.while_waiting()

        return World(self.around, self.listener, Clockwork(lambda: self.now, sleep))
