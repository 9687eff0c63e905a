"""`--dry-run`: what a run would ask and cost, without asking. Nothing is sent and nothing is written."""

from __future__ import annotations

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
    tables = [price_table(spec, judge) for spec in job.panel.specs]
    calls = tokens_in = tokens_out = 0
    cost: float | None = 0.0
    for task in pending(job, index):
        if task.call.judged:
            asking = askings[task.seat]
            size = asking.sizes[task.call.name]
            usage = Usage(size.given + asking.row_tokens(task), size.reply)
            calls += 1
            tokens_in += usage.input_tokens or 0
            tokens_out += size.reply
            # Each by itself: a long request is dearer, many short ones are not.
            one = tables[task.seat].cost(usage, job.panel.specs[task.seat].model)
            cost = None if cost is None or one is None else cost + one
    return Estimate(
        rows=job.rows,
        calls=calls,
        done_before=index.done_count,
        input_tokens=tokens_in,
        output_tokens=tokens_out,
        cost_usd=cost,
    )
