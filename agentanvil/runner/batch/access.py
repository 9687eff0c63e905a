"""A judge's batch API, opened for one verb: which providers have one, and what is known about the judge."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, TypeVar

from agentanvil.client import ChatClient
from agentanvil.client.adapter import Adapter, Endpoint, Shape, memory_of
from agentanvil.client.batch.anthropic import AnthropicBatches
from agentanvil.client.batch.api import BatchApi
from agentanvil.client.batch.http import Address, BatchHttp, Clockwork
from agentanvil.client.batch.openai import OpenAIBatches
from agentanvil.client.batch.replies import CollectedClient, KeepingClient
from agentanvil.client.cache_store import CacheStore
from agentanvil.client.cached import CachedClient
from agentanvil.client.ladder import Ladder
from agentanvil.client.proxies import find_proxy, proxy_secrets
from agentanvil.client.secret import Secret
from agentanvil.client.spec import JudgeSpec
from agentanvil.errors import UsageError
from agentanvil.runner.batch.ledger import Ledger, shape_data
from agentanvil.runner.events import Listener
from agentanvil.runner.job import Surroundings
from agentanvil.runner.loop import loop_factory
from agentanvil.runner.settings import JudgeSettings
from agentanvil.runner.stack import judge_key, open_store, price_table, wire_of

_APIS: Mapping[str, Callable[[BatchHttp, str], BatchApi]] = {
    "openai": OpenAIBatches,
    "openai-responses": OpenAIBatches,
    "anthropic": AnthropicBatches,
}
_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class World:
    """What a verb is given by the process around it."""

    around: Surroundings
    listener: Listener
    time: Clockwork = field(default_factory=Clockwork)


@dataclass(frozen=True, slots=True)
class Desk:
    """A judge's batch API and what reads its replies.

    `collected` answers from replies that are laid out for it; `keeping` does the same and has what the judge confirms
    kept in the cache; `cached` answers from the cache alone.
    """

    api: BatchApi
    adapter: Adapter
    endpoint: Endpoint
    memory: ShapeMemory
    collected: CollectedClient
    keeping: ChatClient
    cached: ChatClient


class ShapeMemory:
    """What the endpoint accepts, as this run's batches found and as the cache remembers: either may be absent."""

    def __init__(self, ledger: Ledger, store: CacheStore | None) -> None:
        self._ledger = ledger
        self._store = store

    def load(self, place: str, model: str) -> Shape | None:
        """Return what this run's last batch was asked in, else what the cache remembers."""
        return self._ledger.shape or self.remembered(place, model)

    def remembered(self, place: str, model: str) -> Shape | None:
        """Return what the cache remembers, which live calls may have taught it since."""
        return None if self._store is None else self._store.load(place, model)

    def save(self, place: str, model: str, shape: Shape) -> None:
        """Remember it in both."""
        self._ledger.note("shape", shape=shape_data(shape))
        if self._store is not None:
            self._store.save(place, model, shape)


def refuse_unbatchable(spec: JudgeSpec | None) -> JudgeSpec:
    """Return the judge if its provider has a batch API. Raises UsageError, also where no judge is asked at all."""
    if spec is None:
        raise UsageError("code decides this whole rubric, so there is nothing to submit", hint="Run `anvil grade`.")
    if spec.provider not in _APIS:
        raise UsageError(
            f"{spec.provider} judges cannot be asked in batches here; those of {', '.join(_APIS)} can",
            hint="Run `anvil grade`, which asks about the rows at once.",
        )
    return spec


@asynccontextmanager
async def open_desk(spec: JudgeSpec, settings: JudgeSettings, ledger: Ledger, world: World) -> AsyncIterator[Desk]:
    """Open the batch API of a judge, and close it with the cache afterwards. Nothing is sent by opening it."""
    adapter, endpoint = wire_of(spec)
    environ = world.around.environ
    key = judge_key(spec, settings, environ)
    proxy = find_proxy(endpoint.base_url, environ)
    secrets: tuple[Secret, ...] = (*((key,) if key else ()), *proxy_secrets(proxy))
    headers = adapter.headers(key.reveal() if key else None)
    http = BatchHttp(
        Address(endpoint.base_url, headers, secrets, proxy),
        idle_s=settings.timeout,
        attempts=settings.max_attempts,
        time_=world.time,
    )
    api = _APIS[spec.provider](http, adapter.path(endpoint.model))
    store = open_store(settings, environ, world.listener)
    memory = ShapeMemory(ledger, store)
    ladder = Ladder(adapter, endpoint, memory)
    collected = CollectedClient(adapter, endpoint, ladder, price_table(spec, settings), secrets)
    cached: ChatClient = collected if store is None else CachedClient(collected, store, str(spec))
    desk = Desk(api, adapter, endpoint, memory, collected, KeepingClient(collected, cached), cached)
    try:
        yield desk
    finally:
        await cached.close()
        await api.close()


def known_shape(desk: Desk) -> Shape | None:
    """Return what the judge is known to accept, the latest first; None where nobody has asked it lately."""
    remembered = desk.memory.remembered(memory_of(desk.adapter, desk.endpoint), desk.endpoint.model)
    known = remembered or desk.memory.load(memory_of(desk.adapter, desk.endpoint), desk.endpoint.model)
    return known if known is not None and known.rung in desk.adapter.rungs else None


def in_loop(work: Coroutine[Any, Any, _T]) -> _T:
    """Run a coroutine on an event loop of its own."""
    with asyncio.Runner(loop_factory=loop_factory()) as runner:
        return runner.run(work)
