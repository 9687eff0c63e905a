"""`--dry-run`: what a run would ask and cost, without asking. Nothing is sent and nothing is written."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import asdict, dataclass

from agentanvil.client.base import Usage
from agentanvil.engine import read_index
from agentanvil.runner.asking import asking_of
from agentanvil.runner.folder import JOURNAL
from agentanvil.runner.grade import pending
from agentanvil.runner.job import Job, Surroundings, prepare
from agentanvil.runner.settings import GradeSettings
from agentanvil.runner.stack import price_table
from agentanvil.runner.wiring import call_settings


@dataclass(frozen=True, slots=True)
class Estimate:
    """`calls` are judge calls still open; tokens are estimated (no tokenizer is used); `cost_usd` None: unknown."""

    rows: int
    calls: int
    done_before: int
    input_tokens: int
    output_tokens: int
    cost_usd: float | None


def estimate(settings: GradeSettings, around: Surroundings) -> Estimate:
    """Read everything as `grade` would and add up its calls. Raises InputError as `grade` does."""
    with prepare(settings, around) as job:
        return _estimate(job)


def as_dict(found: Estimate) -> dict[str, int | float | None]:
    """Return the estimate as JSON data."""
    return asdict(found)


def _estimate(job: Job) -> Estimate:
    index = read_index(job.folder / JOURNAL, job.plan, job.rows, job.fingerprint)
    judge = job.settings.judge
    askings = [asking_of(spec, job.rubric, job.plan.calls, call_settings(judge, spec)) for spec in job.panel.specs]
    calls, tokens_in, tokens_out = ([0] * len(askings) for _ in range(3))
    for task in pending(job, index):
        if task.call.judged:
            asking = askings[task.seat]
            size = asking.sizes[task.call.name]
            calls[task.seat] += 1
            tokens_in[task.seat] += size.given + asking.row_tokens(task)
            tokens_out[task.seat] += size.reply
    return Estimate(
        rows=job.rows,
        calls=sum(calls),
        done_before=index.done_count,
        input_tokens=sum(tokens_in),
        output_tokens=sum(tokens_out),
        cost_usd=_cost(job, map(Usage, tokens_in, tokens_out)),
    )


def _cost(job: Job, usages: Iterable[Usage]) -> float | None:
    """Return what the judges cost together, None where the price of one of them is not known."""
    settings = job.settings.judge
    costs = [price_table(spec, settings).cost(u, spec.model) for spec, u in zip(job.panel.specs, usages, strict=True)]
    known = [cost for cost in costs if cost is not None]
    return math.fsum(known) if len(known) == len(costs) else None
