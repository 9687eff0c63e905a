"""Going through the pending tasks once: settled on the spot where code or the cache can, else put into a batch."""

from __future__ import annotations

import secrets
from dataclasses import dataclass, field

from agentanvil.client.adapter import Shape, memory_of
from agentanvil.client.base import ChatRequest
from agentanvil.client.batch.api import Limits
from agentanvil.client.batch.replies import NOT_HERE
from agentanvil.client.budget import Budget, BudgetSettings
from agentanvil.client.prices import Price
from agentanvil.client.provider import shape_for
from agentanvil.engine import JournalIndex
from agentanvil.errors import (
    CallError,
    EndpointError,
    JudgeSetupError,
    ParameterRefusedError,
    RateLimitedError,
    RejectedError,
)
from agentanvil.judge import build_request, judge
from agentanvil.plan import Task
from agentanvil.prompt import PromptRenderer, estimate_tokens
from agentanvil.runner.batch.access import Desk, World, known_shape, refuse_unbatchable
from agentanvil.runner.batch.ledger import Ledger, Part
from agentanvil.runner.batch.parts import Allowance, PartFile
from agentanvil.runner.batch.places import Places, custom_id
from agentanvil.runner.batch.recovery import UNCREATED, lost_on_the_way
from agentanvil.runner.batch.saved import saved
from agentanvil.runner.grade import pending
from agentanvil.runner.job import Job
from agentanvil.runner.recorder import Recorder
from agentanvil.runner.stack import JudgeFacts, price_table
from agentanvil.runner.wiring import call_settings, open_bench
from agentanvil.verdict import Outcome

_TURNED_AWAY = (EndpointError, RejectedError, RateLimitedError, ParameterRefusedError)
"""After these the provider has surely not created what it was asked for."""


@dataclass(frozen=True, slots=True)
class Scene:
    """What one verb works on: a run, what is written down about it, and the world around."""

    job: Job
    ledger: Ledger
    places: Places
    index: JournalIndex
    world: World


@dataclass(slots=True)
class Handed:
    """What became of the pending tasks. `waiting` are in batches that were open before."""

    batches: list[str] = field(default_factory=list)
    requests: int = 0
    waiting: int = 0
    shape: Shape | None = None

    @property
    def facts(self) -> JudgeFacts:
        """What the manifest says about the judge."""
        shape = self.shape
        return JudgeFacts() if shape is None else JudgeFacts(shape.rung, tuple(sorted(shape.dropped)), shape.cap_field)


class Handover:
    """One pass over a run's pending tasks. `most` bounds a batch's requests below what the provider takes."""

    def __init__(self, scene: Scene, desk: Desk, record: Recorder, allowance: Allowance, most: int | None) -> None:
        self.handed = Handed(shape=known_shape(desk))
        self._scene = scene
        self._desk = desk
        self._record = record
        self._allowance = allowance
        self._price = batch_price(scene.job)
        limits = desk.api.limits
        self._limits = limits if most is None else Limits(min(most, limits.requests), limits.size)
        self._renderer = PromptRenderer(scene.job.rubric, scene.job.plan.calls)
        self._call = call_settings(scene.job.settings.judge, scene.job.spec)
        self._file = self._new_file()

    async def run(self) -> None:
        """Raises CallError where the provider takes no batch, and what ends the call that shows what it accepts."""
        scene = self._scene
        inside = scene.ledger.membership(scene.places.tasks)
        try:
            for task in pending(scene.job, scene.index):
                if inside[scene.places.ordinal(task)]:
                    self.handed.waiting += 1
                elif (outcome := await self._settled(task)) is not None:
                    self._record(outcome)
                else:
                    await self._put(task)
            await self._hand_over()
        finally:
            self._file.close()

    async def _put(self, task: Task) -> None:
        """Add a task to the batch that is being filled, and hand that over first where it is full."""
        request = build_request(task, self._renderer.render(task), self._call)
        ceiling = self._ceiling(request)
        if not self._allowance.takes(ceiling):
            return
        shape = self.handed.shape
        if shape is None:
            self.handed.shape = await self._first_call(task)
            return
        ordinal = self._scene.places.ordinal(task)
        body = self._desk.adapter.build(self._desk.endpoint.model, request, shape_for(shape, request))
        piece = self._desk.api.request(custom_id(self._file.token, ordinal, task), body)
        if not self._file.fits(piece):
            await self._hand_over()
            self._file.close()
            self._file = self._new_file()
            piece = self._desk.api.request(custom_id(self._file.token, ordinal, task), body)
        self._file.add(ordinal, piece, ceiling)

    def _new_file(self) -> PartFile:
        return PartFile(self._scene.job.folder, self._desk.api.framing, self._limits, secrets.token_hex(8))

    async def _settled(self, task: Task) -> Outcome | None:
        """Return the outcome of a task that needs no call, None where one has to be made."""
        if not task.call.judged:
            return self._scene.job.checks.run(task)
        outcome = await judge(task, self._renderer.render(task), self._desk.cached, self._call)
        return None if outcome.exchanges[-1].error == NOT_HERE else outcome

    async def _first_call(self, task: Task) -> Shape:
        """Ask about one task at once, and return what the judge was found to accept.

        A batch cannot find that out: a parameter that is refused would cost a day.
        """
        scene = self._scene
        limits = scene.job.settings.judge
        purse = Budget(BudgetSettings(limits.max_calls, limits.max_cost), spent=sum(scene.index.spent))
        async with open_bench(scene.job, {0: purse}, scene.world.around, scene.world.listener) as bench:
            outcome = await bench.worker(task)
            facts = bench.facts()[0]
        silent = outcome.exchanges[-1].error
        if silent is not None and not any(exchange.text for exchange in outcome.exchanges):
            message = next((getattr(cell, "message", "") for cell in outcome.cells.values()), "")
            raise JudgeSetupError(
                f"the judge did not answer a first call ({silent}): {message}",
                hint="One row is asked about at once, to learn what the judge accepts. Try again later.",
            )
        self._record(outcome)
        shape = self._desk.endpoint.first
        if facts.rung in self._desk.adapter.rungs and facts.cap_field is not None:
            shape = Shape(facts.rung, frozenset(facts.dropped), facts.cap_field)
        self._desk.memory.save(memory_of(self._desk.adapter, self._desk.endpoint), self._desk.endpoint.model, shape)
        return shape

    def _ceiling(self, request: ChatRequest) -> float | None:
        """Return what a request can cost at most in a batch, in US dollars."""
        if self._price is None:
            return None
        said = sum(estimate_tokens(message.content) for message in request.messages)
        return self._price.ceiling(said, request.sampling.max_tokens or 0)

    async def _hand_over(self) -> None:
        """Create a batch of what was filled, with a line in the ledger before each step and after it."""
        shape, file = self.handed.shape, self._file
        if shape is None or not file.tasks:
            return
        file.finish()
        scene, ledger = self._scene, self._scene.ledger
        number, now = max(ledger.parts, default=0) + 1, scene.world.time.clock()
        part = Part(number, file.token, now, file.tasks, file.spans, shape, file.ceiling)
        settings = saved(scene.job.settings)
        if ledger.settings != settings:
            ledger.note("settings", settings=settings)
        ledger.note_intent(part, scene.places.layout)
        batch = await self._created(part, file)
        ledger.note("created", part=number, batch=batch)
        self.handed.batches.append(batch)
        self.handed.requests += part.tasks
        scene.world.listener.notice(f"batch {batch}: {part.tasks} requests handed over")

    async def _created(self, part: Part, file: PartFile) -> str:
        ledger, api = self._scene.ledger, self._desk.api
        mark = part.mark(self._scene.job.fingerprint)
        try:
            state = await api.create(file.path, mark, lambda name: ledger.note("uploaded", part=part.number, file=name))
        except CallError as error:
            uploading = api.uploads and ledger.parts[part.number].file is None
            if uploading or isinstance(error, _TURNED_AWAY):
                ledger.note_closed(part, UNCREATED)
            else:
                error.message = lost_on_the_way(error, part)
            raise
        return state.id


def batch_price(job: Job) -> Price | None:
    """Return what a judge's tokens cost in a batch, None where that is not known."""
    spec = refuse_unbatchable(job.spec)
    return price_table(spec, job.settings.judge).find(spec.model, batch=True)
