"""A judge's name → the clients that speak with it, opened and closed as one."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from platformdirs import user_cache_path

from agentanvil.client import ChatClient
from agentanvil.client.adapter import Adapter, Endpoint, Shape
from agentanvil.client.budget import Account, Budget, BudgetSettings, Totals
from agentanvil.client.budget_client import BudgetClient, MeteredTransport
from agentanvil.client.cache_store import CacheStore
from agentanvil.client.cached import CachedClient
from agentanvil.client.limited import LimitedClient, LimitSettings
from agentanvil.client.litellm_chat import NOWHERE
from agentanvil.client.litellm_transport import LitellmTransport, environment_secrets
from agentanvil.client.local import LocalCompletions, LocalTransport
from agentanvil.client.price_list import ProviderPrices
from agentanvil.client.prices import PriceTable
from agentanvil.client.provider import ProviderClient
from agentanvil.client.providers import FREE
from agentanvil.client.proxies import find_proxy, proxy_secrets
from agentanvil.client.reach import reach
from agentanvil.client.recorded import RecordedClient
from agentanvil.client.retrying import RetryingClient, RetryPolicy
from agentanvil.client.secret import Secret
from agentanvil.client.spec import JudgeSpec, find_key
from agentanvil.client.transport import HttpTransport, Transport
from agentanvil.errors import JudgeSetupError
from agentanvil.plan import task_id
from agentanvil.runner.events import Listener
from agentanvil.runner.job import Surroundings
from agentanvil.runner.key_command import key_from
from agentanvil.runner.local_judge import local_transport, model_label
from agentanvil.runner.settings import JudgeSettings

CACHE_OFF = "off"
CACHE_FILE = "replies.sqlite"


@dataclass(frozen=True, slots=True)
class JudgeFacts:
    """What a sitting learnt about the judge: its ladder rung, what it refused, what was spent on it."""

    rung: str | None = None
    dropped: tuple[str, ...] = ()
    cap_field: str | None = None
    totals: Totals | None = None

    def as_dict(self) -> dict[str, Any]:
        """Return the manifest's entries."""
        return {"rung": self.rung, "dropped": list(self.dropped), "cap_field": self.cap_field}


class JudgeStack(Protocol):
    """A judge that is ready to be asked."""

    @property
    def client(self) -> ChatClient: ...

    def in_flight(self) -> int: ...

    def drain(self) -> None: ...

    def facts(self) -> JudgeFacts: ...


@dataclass(frozen=True, slots=True)
class ReplayStack:
    """Recorded replies: nothing is in flight, nothing is learnt."""

    client: RecordedClient

    def in_flight(self) -> int:
        """Return 0: a reply is there at once."""
        return 0

    def drain(self) -> None:
        """Nothing waits."""

    def facts(self) -> JudgeFacts:
        """Return nothing: no endpoint was asked."""
        return JudgeFacts()


@dataclass(frozen=True, slots=True)
class LiveStack:
    """A judge behind an endpoint."""

    client: ChatClient
    provider: ProviderClient
    limiter: LimitedClient
    account: Account
    transport: Transport

    def in_flight(self) -> int:
        """Return the calls on the wire: none while they only wait for a server of our own to start."""
        starting = isinstance(self.transport, LocalTransport) and not self.transport.ready
        return 0 if starting else self.limiter.in_flight

    def drain(self) -> None:
        """Give up the calls that only wait for their turn."""
        self.limiter.drain()

    def facts(self) -> JudgeFacts:
        """Return what was learnt so far."""
        shape = self.provider.shape
        cap = None if shape.rung == "questions" else shape.cap_field
        return JudgeFacts(shape.rung, self.provider.dropped, cap, self.account.totals)


def wire_of(spec: JudgeSpec) -> tuple[Adapter, Endpoint]:
    """Return how a judge is spoken to, and where. Raises JudgeSetupError for one that has no endpoint."""
    if spec.provider == "local":
        return LocalCompletions(), Endpoint("local", model_label(spec.model))
    adapter = spec.make_adapter()
    address = NOWHERE if spec.provider == "litellm" and spec.base_url is None else spec.base_url
    if address is None or adapter is None:
        raise JudgeSetupError(f"the judge {spec} has no endpoint")
    return adapter, Endpoint(address, spec.model, Shape(adapter.rungs[0], spec.rules.lacks, spec.rules.cap_field))


def price_table(spec: JudgeSpec, settings: JudgeSettings) -> PriceTable:
    """Return the prices of a judge: 0 for one that runs or is replayed here, else anvil.yaml's, else the list's."""
    rules = spec.rules
    if rules.prices == FREE:
        return PriceTable.free()
    return settings.prices.beside(ProviderPrices(rules.prices, spec.base_url, rules.decides), spec.provider)


@asynccontextmanager
async def open_stack(
    spec: JudgeSpec,
    settings: JudgeSettings,
    around: Surroundings,
    listener: Listener,
    budget: Budget | None = None,
) -> AsyncIterator[JudgeStack]:
    """Open the judge that `spec` names. It spends from `budget`; None gives it one of its own, by the settings.

    Raises JudgeSetupError or ConfigError; nothing was sent then.
    """
    if spec.provider == "recorded":
        replay = RecordedClient(Path(spec.model), task_id)
        try:
            yield ReplayStack(replay)
        finally:
            await replay.close()
        return
    way = _find_way(spec, settings, around, listener)
    purse = budget or Budget(BudgetSettings(settings.max_calls, settings.max_cost))
    account = purse.account(price_table(spec, settings), spec.model)
    if spec.base_url is not None:
        await reach(spec.base_url, proxy=way.proxy)
    store = open_store(settings, around.environ, listener)
    stack = _live(spec, settings, way, account, store)
    try:
        yield stack
    finally:
        await stack.client.close()


def open_store(settings: JudgeSettings, environ: Mapping[str, str], listener: Listener) -> CacheStore | None:
    """Return the reply cache, None with `--cache off`. Trouble with it becomes one notice."""
    if settings.cache == CACHE_OFF:
        return None
    return CacheStore(cache_path(settings.cache, environ), listener.notice)


def cache_path(chosen: str | None, environ: Mapping[str, str]) -> Path:
    """Return the cache's file: what was chosen, else `ANVIL_CACHE`, else the user's cache folder."""
    named = chosen or environ.get("ANVIL_CACHE")
    return Path(named) if named else user_cache_path("agentanvil") / CACHE_FILE


@dataclass(frozen=True, slots=True)
class _Way:
    """How one judge is reached: nothing of it has been used yet."""

    adapter: Adapter
    endpoint: Endpoint
    secrets: tuple[Secret, ...]
    proxy: str | None
    transport: Transport


def _find_way(spec: JudgeSpec, settings: JudgeSettings, around: Surroundings, listener: Listener) -> _Way:
    adapter, endpoint = wire_of(spec)
    if spec.provider == "local":
        return _Way(adapter, endpoint, (), None, local_transport(spec.model, settings, around.environ, listener))
    key = judge_key(spec, settings, around.environ)
    own = () if key is None else (key,)
    proxy = find_proxy(endpoint.base_url, around.environ)
    if spec.provider == "litellm":
        litellm = LitellmTransport(spec.base_url, key, timeout_s=settings.timeout)
        return _Way(adapter, endpoint, (*own, *environment_secrets(around.environ)), proxy, litellm)
    transport = HttpTransport(
        endpoint.base_url + adapter.path(endpoint.model),
        adapter.headers(key.reveal() if key else None),
        timeout_s=settings.timeout,
        proxy=proxy,
    )
    return _Way(adapter, endpoint, (*own, *proxy_secrets(proxy)), proxy, transport)


def judge_key(spec: JudgeSpec, settings: JudgeSettings, environ: Mapping[str, str]) -> Secret | None:
    """Return the key that a judge is asked with. Raises JudgeSetupError, UsageError or ConfigError."""
    if settings.api_key_command is None:
        return find_key(spec, environ, settings.api_key_env)
    return key_from(settings.api_key_command, environ)


def _live(spec: JudgeSpec, settings: JudgeSettings, way: _Way, account: Account, store: CacheStore | None) -> LiveStack:
    provider = ProviderClient(
        way.adapter,
        MeteredTransport(way.transport, account),
        way.endpoint,
        store=store,
        secrets=way.secrets,
    )
    limiter = LimitedClient(
        BudgetClient(provider, account), LimitSettings(settings.concurrency, settings.rpm, settings.tpm)
    )
    client: ChatClient = RetryingClient(limiter, RetryPolicy(max_attempts=settings.max_attempts))
    if store is not None:
        client = CachedClient(client, store, str(spec))
    return LiveStack(client, provider, limiter, account, way.transport)
