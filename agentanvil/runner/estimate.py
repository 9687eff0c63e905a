"""`--dry-run`: what a run would ask and cost, without asking. Nothing is sent and nothing is written."""

from __future__ import annotations

from dataclasses import asdict, dataclass

from agentanvil.client.base import Usage
from agentanvil.engine import read_index
from agentanvil.plan import Task
from agentanvil.prompt import PromptRenderer, estimate_reply_tokens, estimate_tokens
from agentanvil.runner.folder import JOURNAL
from agentanvil.runner.grade import pending
from agentanvil.runner.job import Job, Surroundings, prepare
from agentanvil.runner.settings import GradeSettings
from agentanvil.runner.stack import price_table


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
    renderer = PromptRenderer(job.rubric, job.plan.calls)
    system = {name: estimate_tokens(template.system) for name, template in renderer.templates.items()}
    reply = {name: estimate_reply_tokens(template.contract) for name, template in renderer.templates.items()}
    calls = tokens_in = tokens_out = 0
    for task in pending(job, index):
        if task.call.judged:
            calls += 1
            tokens_in += system[task.call.name] + _user_tokens(renderer, task)
            tokens_out += reply[task.call.name]
    return Estimate(
        rows=job.rows,
        calls=calls,
        done_before=index.done_count,
        input_tokens=tokens_in,
        output_tokens=tokens_out,
        cost_usd=_cost(job, Usage(tokens_in, tokens_out)),
    )


def _cost(job: Job, usage: Usage) -> float | None:
    return 0.0 if job.spec is None else price_table(job.spec, job.settings.judge).cost(usage, job.spec.model)


def _user_tokens(renderer: PromptRenderer, task: Task) -> int:
    return estimate_tokens(renderer.render(task).user)
