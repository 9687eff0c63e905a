"""`--dry-run`: what a run would ask and cost, and how long it would take. Nothing is sent and nothing is written.

Tokens are estimated, no tokenizer is used. Replies that the cache holds are told apart: they cost nothing. What cannot
be known beforehand is not counted: questions that are asked again, failed attempts, and what a provider takes off for
the part of a prompt that it has in its own cache.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import ExitStack
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

from agentanvil.engine import JournalIndex, Stop, read_index
from agentanvil.plan import Role, Task
from agentanvil.runner.escalate import read_escalated
from agentanvil.runner.events import Silent
from agentanvil.runner.folder import JOURNAL
from agentanvil.runner.grade import pending
from agentanvil.runner.job import Job, Surroundings, prepare
from agentanvil.runner.meter import Amount, Meter, add
from agentanvil.runner.more_repeats import read_more_repeats
from agentanvil.runner.pace import Latency, duration, latency_of
from agentanvil.runner.seats import seat_settings
from agentanvil.runner.settings import GradeSettings
from agentanvil.runner.stack import cache_path, open_store


@dataclass(frozen=True, slots=True)
class JudgeEstimate:
    """What one judge is still to be asked.

    `most` is there for one that is escalated to: it is asked about its random share in any case (`least`), and
    at the most about every row; and where items whose first repeats disagree get more of them. Both are `least` where
    no more than that can come. `seconds` and `most_seconds` are None where nobody knows how long a call takes.
    """

    judge: str
    role: Role | Literal["first"]
    least: Amount
    most: Amount
    seconds: float | None
    most_seconds: float | None
    latency: Latency


@dataclass(frozen=True, slots=True)
class Estimate:
    """A run before it is made, all judges together: what is asked in any case, and at the most.

    `calls` are those to be sent, `cached` those that the cache answers; `done_before` counts tasks, those of code among
    them. `cost_usd` is None where a price is unknown, `seconds` where nobody knows how long a call takes.
    """

    rows: int
    calls: int
    done_before: int
    cached: int
    input_tokens: int
    output_tokens: int
    cost_usd: float | None
    seconds: float | None
    most: Amount
    most_seconds: float | None
    judges: tuple[JudgeEstimate, ...]


def estimate(settings: GradeSettings, around: Surroundings, shared: Collection[str] = frozenset()) -> Estimate:
    """Read everything as `grade` would and add up its calls. Raises InputError as `grade` does.

    `shared` names the calls whose replies another run will have put into the cache by then.
    """
    with prepare(settings, around) as job:
        return _estimate(job, around, shared)


def as_dict(found: Estimate) -> dict[str, Any]:
    """Return the estimate as JSON data: the least of everything stands at the top, the most under `most`."""
    return {
        "rows": found.rows,
        "calls": found.calls,
        "done_before": found.done_before,
        "cached": found.cached,
        "input_tokens": found.input_tokens,
        "output_tokens": found.output_tokens,
        "cost_usd": found.cost_usd,
        "seconds": found.seconds,
        "most": _amount(found.most, found.most_seconds),
        "judges": [
            {
                "judge": each.judge,
                "role": each.role,
                **_amount(each.least, each.seconds),
                "most": _amount(each.most, each.most_seconds),
                "latency_s": each.latency.seconds,
                "latency_from": each.latency.source,
            }
            for each in found.judges
        ],
    }


def _amount(amount: Amount, seconds: float | None) -> dict[str, Any]:
    return {**asdict(amount), "seconds": seconds}


def _estimate(job: Job, around: Surroundings, shared: Collection[str]) -> Estimate:
    index = read_index(job.folder / JOURNAL, job.plan, job.rows, job.fingerprint)
    escalated = None if job.escalation() is None else len(job.plan.others)
    with ExitStack() as opened:
        store = None
        if cache_path(job.settings.judge.cache, around.environ).exists():
            store = open_store(job.settings.judge, around.environ, Silent())
        if store is not None:
            opened.callback(store.close)
        meters = [Meter(job, seat, store) for seat in range(len(job.panel.specs))]
        for task in pending(job, index):
            if task.call.judged:
                meters[task.seat].add(task, kept=task.call.name in shared)
        if job.plan.certain < job.plan.repeats:
            begun = any(meter.least.calls or meter.least.cached for meter in meters)
            for task, certain in _more_repeats(job, index, begun=begun):
                meters[task.seat].add(task, certain=certain)
        if escalated is not None:
            first = meters[0].least
            for task, certain in _escalated(job, index, escalated, begun=bool(first.calls or first.cached)):
                meters[escalated].add(task, certain=certain)
    judges = tuple(_judge(job, index, seat, meter) for seat, meter in enumerate(meters))
    phases = [[each for each in judges if (each.role == "escalation") is second] for second in (False, True)]
    least = add(each.least for each in judges)
    return Estimate(
        rows=job.rows,
        calls=least.calls,
        done_before=index.done_count,
        cached=least.cached,
        input_tokens=least.input_tokens,
        output_tokens=least.output_tokens,
        cost_usd=least.cost_usd,
        most=add(each.most for each in judges),
        seconds=_together([[each.seconds for each in phase] for phase in phases]),
        most_seconds=_together([[each.most_seconds for each in phase] for phase in phases]),
        judges=judges,
    )


def _more_repeats(job: Job, index: JournalIndex, *, begun: bool) -> Iterator[tuple[Task, bool]]:
    """Yield what may be asked beyond the repeats that every item gets, and whether it will be.

    Once these are all there (not `begun`: nothing of them is left), it is known; before, nothing is.
    """
    if not begun:
        for task in read_more_repeats(job, job.folder / JOURNAL, Stop()).tasks(job):
            yield task, True
        return
    slots = [slot for slot in job.plan.slots() if slot.repeat >= job.plan.certain]
    for row in job.read_rows():
        for slot in slots:
            task = job.plan.task(row, slot)
            if job.plan.is_planned(slot.seat, row.id) and not index.done(task):
                yield task, False


def _escalated(job: Job, index: JournalIndex, seat: int, *, begun: bool) -> Iterator[tuple[Task, bool]]:
    """Yield what the judge that is escalated to may be asked, and whether it will be.

    Once the first judge has said everything (not `begun`: nothing of it is left), it is known; before, the random share
    is.
    """
    escalation = job.escalation()
    if escalation is not None and not begun:
        for task in read_escalated(job, escalation, job.folder / JOURNAL, Stop()).tasks(job):
            yield task, True
        return
    slots = [slot for slot in job.plan.slots() if slot.seat == seat]
    for row in job.read_rows():
        drawn = job.plan.is_drawn(seat, row.id)
        for slot in slots:
            task = job.plan.task(row, slot)
            if not index.done(task):
                yield task, drawn


def _judge(job: Job, index: JournalIndex, seat: int, meter: Meter) -> JudgeEstimate:
    spec = job.panel.specs[seat]
    settings = seat_settings(job.settings.judge, spec, seat)
    latency = latency_of(spec, *index.waited[seat])
    role: Role | Literal["first"] = job.plan.others[seat - 1].role if seat else "first"
    limit = job.settings.panel.escalate_max_cost if role == "escalation" else None
    left = None if limit is None else max(0.0, limit - index.spent[seat])
    return JudgeEstimate(
        judge=str(spec),
        role=role,
        least=_within(meter.least, left),
        most=_within(meter.most, left),
        seconds=duration(meter.least, settings, latency),
        most_seconds=duration(meter.most, settings, latency),
        latency=latency,
    )


def _within(amount: Amount, left: float | None) -> Amount:
    """Return the amount with no more dollars than are left for it; which calls they pay for is not known before."""
    if left is None or amount.cost_usd is None:
        return amount
    return replace(amount, cost_usd=min(amount.cost_usd, left))


def _together(phases: list[list[float | None]]) -> float | None:
    """Return how long the phases take one after the other; the judges of one are asked at the same time."""
    total = 0.0
    for phase in phases:
        known = [seconds for seconds in phase if seconds is not None]
        if len(known) < len(phase):
            return None
        total += max(known, default=0.0)
    return total
