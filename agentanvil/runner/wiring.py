"""The only place where implementations meet: judges' names become stacks of clients, a job becomes a worker.

Outer to inner: cached → retrying → limited → budget → provider → HTTP. The environment comes in from the cli and
is read nowhere below.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass

from agentanvil.checks import CheckRunner
from agentanvil.client import ChatClient
from agentanvil.client.budget import Budget
from agentanvil.client.providers import OWN_CAP
from agentanvil.client.refusals import EFFORT
from agentanvil.client.spec import JudgeSpec
from agentanvil.engine import Worker
from agentanvil.errors import EndpointError
from agentanvil.judge import CallSettings, decide, judge
from agentanvil.plan import Task
from agentanvil.prompt import PromptRenderer, QuestionRenderer
from agentanvil.runner.events import Listener
from agentanvil.runner.job import Job, Surroundings
from agentanvil.runner.seats import seat_settings
from agentanvil.runner.settings import JudgeSettings
from agentanvil.runner.stack import JudgeFacts, JudgeStack, open_stack
from agentanvil.verdict import Outcome


@dataclass(frozen=True, slots=True)
class Chair:
    """The judge of one seat, ready to be asked, and the way in which it is."""

    stack: JudgeStack
    ask: Worker


class GradeWorker:
    """Turns a task into its outcome: code's own checks at once, a judged call through its judge's client."""

    def __init__(self, checks: CheckRunner, chairs: Mapping[int, Chair], *, several: bool = False) -> None:
        """`chairs` are by seat; `several` lets what ends the run name the judge that it came from."""
        self._checks = checks
        self._chairs = chairs
        self._several = several

    async def __call__(self, task: Task) -> Outcome:
        """Raises what ends the run; a failed call is an outcome."""
        if not task.call.judged:
            return self._checks.run(task)
        chair = self._chairs[task.seat]
        try:
            return await chair.ask(task)
        except EndpointError as error:
            if self._several and not error.message.startswith(task.judge):
                error.message = f"{task.judge}: {error.message}"
            raise


@dataclass(frozen=True, slots=True)
class Bench:
    """A worker with its judges: how many calls are in flight, and what was learnt about each judge."""

    worker: Worker
    chairs: Mapping[int, Chair]

    def in_flight(self) -> int:
        """Return the calls that are on the wire right now."""
        return sum(chair.stack.in_flight() for chair in self.chairs.values())

    def drain(self) -> None:
        """Give up what only waits for its turn."""
        for chair in self.chairs.values():
            chair.stack.drain()

    def facts(self) -> dict[int, JudgeFacts]:
        """Return what the manifest says about the judges, by seat."""
        return {seat: chair.stack.facts() for seat, chair in self.chairs.items()}


@asynccontextmanager
async def open_bench(
    job: Job, purses: Mapping[int, Budget], around: Surroundings, listener: Listener
) -> AsyncIterator[Bench]:
    """Put a job's worker together with its judges, and close them afterwards, whatever happened.

    `purses` names the judges by their seats, each with what it spends from. Raises JudgeSetupError or ConfigError where
    a judge cannot be used; nothing was sent then.
    """
    specs = job.panel.specs
    chairs: dict[int, Chair] = {}
    async with AsyncExitStack() as opened:
        for seat, purse in purses.items():
            settings = seat_settings(job.settings.judge, specs[seat], seat)
            stack = await opened.enter_async_context(open_stack(specs[seat], settings, around, listener, purse))
            chairs[seat] = Chair(stack, _way(job, stack.client, call_settings(settings, specs[seat]), specs[seat]))
        yield Bench(GradeWorker(job.checks, chairs, several=len(specs) > 1), chairs)


def _way(job: Job, client: ChatClient, call: CallSettings, spec: JudgeSpec) -> Worker:
    """Return how a judge is asked: for a text with its verdicts, or for the probabilities of typed questions."""
    if spec.rules.decides:
        questions = QuestionRenderer(job.rubric, job.plan.calls)
        return lambda task: decide(task, questions.render(task), client)
    prompts = PromptRenderer(job.rubric, job.plan.calls)
    return lambda task: judge(task, prompts.render(task), client, call)


def call_settings(settings: JudgeSettings, spec: JudgeSpec | None) -> CallSettings:
    """Return how each call is asked; what the user set must not be dropped."""
    given = {
        "temperature": settings.temperature,
        "max_tokens": settings.max_tokens,
        "seed": settings.seed,
        EFFORT: settings.effort,
    }
    return CallSettings(
        temperature=0.0 if settings.temperature is None else settings.temperature,
        seed=settings.seed_sent,
        max_tokens=settings.max_tokens or (OWN_CAP if spec is None else spec.rules.max_tokens),
        effort=settings.effort,
        explicit=frozenset(name for name, value in given.items() if value is not None),
    )
