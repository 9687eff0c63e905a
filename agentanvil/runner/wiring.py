"""The only place where implementations meet: a judge's name becomes a stack of clients, a job becomes a worker.

Outer to inner: cached → retrying → limited → budget → provider → HTTP. The environment comes in from the cli and
is read nowhere below.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from agentanvil.checks import CheckRunner
from agentanvil.client import ChatClient
from agentanvil.client.providers import OWN_CAP
from agentanvil.client.refusals import EFFORT
from agentanvil.client.spec import JudgeSpec
from agentanvil.engine import Worker
from agentanvil.judge import CallSettings, judge
from agentanvil.plan import Task
from agentanvil.prompt import PromptRenderer
from agentanvil.runner.events import Listener
from agentanvil.runner.job import Job, Surroundings
from agentanvil.runner.settings import JudgeSettings
from agentanvil.runner.stack import JudgeFacts, JudgeStack, open_stack
from agentanvil.verdict import Outcome


class GradeWorker:
    """Turns a task into its outcome: code's own checks at once, a judged call through the client."""

    def __init__(self, renderer: PromptRenderer, checks: CheckRunner, client: ChatClient | None, call: CallSettings):
        self._renderer = renderer
        self._checks = checks
        self._client = client
        self._call = call

    async def __call__(self, task: Task) -> Outcome:
        """Raises what ends the run; a failed call is an outcome."""
        if not task.call.judged or self._client is None:
            return self._checks.run(task)
        return await judge(task, self._renderer.render(task), self._client, self._call)


@dataclass(frozen=True, slots=True)
class Bench:
    """A worker with its judge: how many calls are in flight, and what was learnt about the judge."""

    worker: Worker
    stack: JudgeStack | None

    def in_flight(self) -> int:
        """Return the calls that are on the wire right now."""
        return 0 if self.stack is None else self.stack.in_flight()

    def drain(self) -> None:
        """Give up what only waits for its turn."""
        if self.stack is not None:
            self.stack.drain()

    def facts(self) -> JudgeFacts:
        """Return what the manifest says about the judge."""
        return JudgeFacts() if self.stack is None else self.stack.facts()


@asynccontextmanager
async def open_bench(job: Job, around: Surroundings, listener: Listener) -> AsyncIterator[Bench]:
    """Put a job's worker together and close its judge afterwards, whatever happened.

    Raises JudgeSetupError or ConfigError where the judge cannot be used; nothing was sent then.
    """
    renderer = PromptRenderer(job.rubric, job.plan.calls)
    call = call_settings(job.settings.judge, job.spec)
    if job.spec is None:
        yield Bench(GradeWorker(renderer, job.checks, None, call), None)
        return
    async with open_stack(job.spec, job.settings.judge, around, listener) as stack:
        yield Bench(GradeWorker(renderer, job.checks, stack.client, call), stack)


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
