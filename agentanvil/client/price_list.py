"""What providers list: the prices that `genai-prices` carries with it, and the few of our own that it lacks.

The library was chosen because it is kept up to date, knows tiers by length, prices that begin on a day or hold for
hours of it, and batches, and needs no network: it could fetch newer prices, which is never asked of it here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from functools import cache, lru_cache
from importlib.metadata import version
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from agentanvil.client.own_prices import BATCH_DISCOUNTS, OWN_PRICES, OwnPrice
from agentanvil.client.prices import Price, Quote, Rates
from agentanvil.client.spec import is_loopback

if TYPE_CHECKING:
    from genai_prices.data_snapshot import DataSnapshot
    from genai_prices.types import ModelInfo, ModelPrice, Provider

LIBRARY = "genai-prices"
NAMED = "litellm"
"""What stands for the provider where the model's name begins with it."""
_OWN = "agentanvil"
_BATCH = {"processing": "batch"}
# What such a model costs does not follow from the token counts that replies state.
_UNCOUNTED = frozenset({"requests_kcount", "output_reasoning_mtok", "output_citation_mtok", "input_mchars"})


@dataclass(frozen=True, slots=True)
class ProviderPrices:
    """The list prices of one judge.

    `named` is the library's id of the provider; None tells it from the address. `decides`: a model without a price for
    output gives it for nothing, where for others such a price is not known.
    """

    named: str | None
    base_url: str | None = None
    decides: bool = False

    @property
    def provider(self) -> str | None:
        """The library's id of the provider, None where it follows from a model's name, or is not known."""
        if self.named is not None:
            return None if self.named == NAMED else self.named
        return _provider_at(self.base_url)

    def quote(self, model: str, reported: str | None, when: datetime, *, batch: bool) -> Quote | None:
        """Return what a model costs at `when`, None where no list says so.

        A deployment on Azure is called as its owner likes, so the name that its replies give comes first there.
        """
        names = (reported, model) if self.named == "azure" else (model, reported)
        for name in names:
            found = None if name is None else self._quote(name, when, batch=batch)
            if found is not None:
                return found
        return None

    def _quote(self, model: str, when: datetime, *, batch: bool) -> Quote | None:
        provider, name = self.provider, model
        if self.named == NAMED:
            provider, name = _named_in(model)
        if provider is None:
            return None
        own = OWN_PRICES.get((provider, name.casefold()))
        listed = _find(provider, name)
        if listed is not None:
            price = _listed(listed, when, batch=batch, provider=provider, decides=self.decides)
            return (
                None
                if price is None
                else Quote(price, listed.id, LIBRARY, version(LIBRARY), _newest_change(when.date()))
            )
        if own is None:
            return None
        full = _priced(own)
        price = _batched(full, provider) if batch else full
        return None if price is None else Quote(price, name, f"{_OWN}: {own.source}", None, own.date)


def _listed(model: ModelInfo, when: datetime, *, batch: bool, provider: str, decides: bool) -> Price | None:
    full = _convert(model.get_prices(when), decides=decides)
    if full is None or not batch:
        return full
    if any(variant.when == _BATCH for variant in model.price_variants or ()):
        return _convert(model.get_prices(when, _BATCH), decides=decides)
    return _batched(full, provider)


def _batched(price: Price, provider: str) -> Price | None:
    discount = BATCH_DISCOUNTS.get(provider)
    return None if discount is None else price.less(discount)


def _priced(own: OwnPrice) -> Price:
    rates = Rates(own.input, own.output, own.cached_input, own.cache_write)
    if own.long_above is None:
        return Price(rates.input, rates.output, rates.cached_input, rates.cache_write)
    factor = own.long_input
    long = Rates(own.input * factor, own.output * own.long_output, own.cached_input * factor, own.cache_write * factor)
    return Price(rates.input, rates.output, rates.cached_input, rates.cache_write, ((own.long_above, long),))


def _convert(listed: ModelPrice, *, decides: bool) -> Price | None:
    """Return the library's prices as ours, None where a text call's cost does not follow from them."""
    amounts = {name: value for name, value in vars(listed).items() if value is not None}
    if "input_mtok" not in amounts or not _UNCOUNTED.isdisjoint(amounts):
        return None
    if "output_mtok" not in amounts and not decides:
        return None
    starts = sorted({tier.start for value in amounts.values() for tier in getattr(value, "tiers", ())})
    rates = _rates(amounts, 0)
    long = tuple((start, _rates(amounts, start + 1)) for start in starts)
    return Price(rates.input, rates.output, rates.cached_input, rates.cache_write, long)


def _rates(amounts: Mapping[str, Any], input_tokens: int) -> Rates:
    full = _amount(amounts["input_mtok"], input_tokens)
    return Rates(
        input=full,
        output=_amount(amounts["output_mtok"], input_tokens) if "output_mtok" in amounts else 0.0,
        cached_input=_amount(amounts.get("cache_read_mtok", full), input_tokens),
        cache_write=_amount(amounts.get("cache_write_mtok", full), input_tokens),
    )


def _amount(listed: Any, input_tokens: int) -> float:
    """Return a price that may depend on the length of the input; the tiers ascend."""
    reached = [tier.price for tier in getattr(listed, "tiers", ()) if input_tokens > tier.start]
    return float(reached[-1] if reached else getattr(listed, "base", listed))


@cache
def _library() -> DataSnapshot:
    # Its 2,400 prices take 0.2 s to load: only a run that looks one up is to wait for them.
    from genai_prices.data import providers  # noqa: PLC0415
    from genai_prices.data_snapshot import DataSnapshot  # noqa: PLC0415

    return DataSnapshot(providers=providers, from_auto_update=False)


@cache
def _newest_change(day: date) -> str | None:
    """Return the newest day up to `day` on which a price of the list changed: the list is at least as young."""
    starts: Iterator[date] = (
        change.constraint.start_date
        for provider in _library().providers
        for model in provider.models
        for change in (*(model.prices if isinstance(model.prices, list) else ()), *(model.price_variants or ()))
        if hasattr(change.constraint, "start_date")
    )
    newest = max((start for start in starts if start <= day), default=None)
    return None if newest is None else newest.isoformat()


@cache
def _provider_at(base_url: str | None) -> str | None:
    """Return whose public address this is, by the library; a machine of one's own is nobody's."""
    if base_url is None or is_loopback(urlsplit(base_url).hostname or ""):
        return None
    return next((provider.id for provider in _library().providers if re.match(provider.api_pattern, base_url)), None)


def _named_in(model: str) -> tuple[str | None, str]:
    """Return provider and model of a name such as `anthropic/claude-haiku-5-5`; without a slash the name must tell."""
    named, slash, rest = model.partition("/")
    if slash:
        found = _provider(named)
        return None if found is None else found.id, rest
    name = model.casefold()
    matches = (p.id for p in _library().providers if p.model_match is not None and p.model_match.is_match(name))
    return next(matches, None), model


@lru_cache(maxsize=256)
def _provider(named: str) -> Provider | None:
    """Return a provider by its id, or by another name that the library knows it by."""
    from genai_prices.data_snapshot import find_provider_by_id  # noqa: PLC0415

    return find_provider_by_id(_library().providers, named)


def _find(provider: str, model: str) -> ModelInfo | None:
    # Not by the library's own look-up: it remembers every name for good, and names come from anybody's replies.
    found = _provider(provider)
    return None if found is None else found.find_model(model, all_providers=_library().providers)
