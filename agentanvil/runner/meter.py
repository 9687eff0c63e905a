"""What one judge's calls take, added up call by call: tokens, dollars, and what the cache spares."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from agentanvil.client.base import Usage
from agentanvil.client.cache_entry import decode_reply
from agentanvil.client.cache_store import CacheStore
from agentanvil.client.cached import reply_key
from agentanvil.client.provider import call_identity
from agentanvil.plan import Task
from agentanvil.runner.asking import asking_of
from agentanvil.runner.job import Job
from agentanvil.runner.seats import seat_settings
from agentanvil.runner.stack import price_table, wire_of
from agentanvil.runner.wiring import call_settings


@dataclass(frozen=True, slots=True)
class Amount:
    """Calls that are to be sent, their estimated tokens and US dollars; `cached` are those that the cache answers.

    `cost_usd` is None where a price is unknown.
    """

    calls: int = 0
    cached: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float | None = 0.0


def add(amounts: Iterable[Amount]) -> Amount:
    """Return all of them together; a sum with an unknown cost in it is unknown."""
    found = list(amounts)
    costs = [amount.cost_usd for amount in found if amount.calls]
    known = [cost for cost in costs if cost is not None]
    return Amount(
        calls=sum(amount.calls for amount in found),
        cached=sum(amount.cached for amount in found),
        input_tokens=sum(amount.input_tokens for amount in found),
        output_tokens=sum(amount.output_tokens for amount in found),
        cost_usd=sum(known) if len(known) == len(costs) else None,
    )


class _Sum:
    """An amount that grows."""

    def __init__(self) -> None:
        self.calls = self.cached = self.given = self.reply = 0
        self.cost = 0.0
        self.unpriced = False

    def call(self, given: int, reply: int, cost: float | None) -> None:
        self.calls += 1
        self.given += given
        self.reply += reply
        self.cost += cost or 0.0
        self.unpriced |= cost is None

    @property
    def amount(self) -> Amount:
        return Amount(self.calls, self.cached, self.given, self.reply, None if self.unpriced else self.cost)


class Meter:
    """Adds up the calls to the judge of one seat. Each is priced by itself: a long one is dearer, many short ones not.

    `store` is where a reply may be kept already: it is looked up by the very key that the run would use.
    """

    def __init__(self, job: Job, seat: int, store: CacheStore | None) -> None:
        spec = job.panel.specs[seat]
        settings = seat_settings(job.settings.judge, spec, seat)
        self._asking = asking_of(spec, job.rubric, job.plan.calls, call_settings(settings, spec))
        self._prices = price_table(spec, settings)
        self._model = spec.model
        self._store = store if spec.provider != "recorded" else None
        if self._store is not None:
            self._adapter, self._endpoint = wire_of(spec)
            self._identity = call_identity(self._adapter, self._endpoint)
        self._least, self._most = _Sum(), _Sum()

    def add(self, task: Task, *, certain: bool = True, kept: bool = False) -> None:
        """Count a task's call; one that is not `certain` counts towards the most alone.

        `kept`: its reply will be in the cache, whether or not it is there yet.
        """
        sums = (self._least, self._most) if certain else (self._most,)
        if kept or self._is_kept(task):
            for each in sums:
                each.cached += 1
            return
        size = self._asking.sizes[task.call.name]
        given = size.given + self._asking.row_tokens(task)
        cost = self._prices.cost(Usage(given, size.reply), self._model)
        for each in sums:
            each.call(given, size.reply, cost)

    @property
    def least(self) -> Amount:
        """What is asked in any case."""
        return self._least.amount

    @property
    def most(self) -> Amount:
        """What may be asked."""
        return self._most.amount

    def _is_kept(self, task: Task) -> bool:
        if self._store is None:
            return False
        request = self._asking.request(task)
        body = self._adapter.build(self._endpoint.model, request, self._endpoint.first)
        kept = self._store.get(reply_key(self._identity + body, request))
        return kept is not None and decode_reply(kept) is not None
