"""What tokens cost: US dollars per million, per model, on the day of the call. What is not known is None, never 0."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Protocol, Self

from agentanvil.client.base import Usage
from agentanvil.client.own_prices import BATCH_DISCOUNTS
from agentanvil.errors import ConfigError, Where

PRICES_FILE = "anvil.yaml"
_PER = 1_000_000.0
_REQUIRED = ("input", "output")
_OPTIONAL = ("cached_input", "cache_write", "batch_discount")
# Some prices change with the hour; what was looked up is believed for a minute, and names come from anybody's replies.
_BELIEVED_S = 60.0
_MOST_KEPT = 256


@dataclass(frozen=True, slots=True)
class Rates:
    """US dollars per million tokens. Reads of the provider's prompt cache, and writes to it, may differ."""

    input: float
    output: float
    cached_input: float
    cache_write: float

    def cost(self, input_tokens: int, output_tokens: int, cached: int, written: int) -> float:
        """Return US dollars. Cached and written tokens are parts of the input: each is billed once, at its price."""
        return (
            (input_tokens - cached - written) * self.input
            + cached * self.cached_input
            + written * self.cache_write
            + output_tokens * self.output
        ) / _PER

    def discounted(self, discount: float) -> Rates:
        """Return the same with a share taken off."""
        left = 1.0 - discount
        return Rates(self.input * left, self.output * left, self.cached_input * left, self.cache_write * left)


@dataclass(frozen=True, slots=True)
class Price(Rates):
    """What one model costs. `long` are the rates of a whole request whose input has more than so many tokens."""

    long: tuple[tuple[int, Rates], ...] = ()

    def of(self, usage: Usage) -> float | None:
        """Return US dollars, or None where the provider did not count both input and output.

        Reasoning is inside the output.
        """
        if usage.input_tokens is None or usage.output_tokens is None:
            return None
        cached = min(usage.cached_tokens or 0, usage.input_tokens)
        written = min(usage.cache_write_tokens or 0, usage.input_tokens - cached)
        return self._rates(usage.input_tokens).cost(usage.input_tokens, usage.output_tokens, cached, written)

    def ceiling(self, input_tokens: int, output_tokens: int) -> float:
        """Return US dollars that a call of at most so many tokens cannot pass, whatever is read from a cache or not."""
        reached = (self, *(rates for above, rates in self.long if input_tokens > above))
        dearest = max(max(rates.input, rates.cached_input, rates.cache_write) for rates in reached)
        return (input_tokens * dearest + output_tokens * max(rates.output for rates in reached)) / _PER

    def less(self, discount: float) -> Price:
        """Return the price of a batch: the same with a share taken off, at any length."""
        long = tuple((above, rates.discounted(discount)) for above, rates in self.long)
        rates = self.discounted(discount)
        return Price(rates.input, rates.output, rates.cached_input, rates.cache_write, long)

    def _rates(self, input_tokens: int) -> Rates:
        found: Rates = self
        for above, rates in self.long:
            if input_tokens > above:
                found = rates
        return found


@dataclass(frozen=True, slots=True)
class Quote:
    """A price and where it is from. `date` is that of the list, or of the entry where it has one of its own.

    `model` is the name under which it stands there.
    """

    price: Price
    model: str
    source: str
    version: str | None = None
    date: str | None = None


class Listed(Protocol):
    """A price list of one judge's provider."""

    @property
    def provider(self) -> str | None:
        """The provider's name in the list, None where it is told from a model's name, or not known."""

    def quote(self, model: str, reported: str | None, when: datetime, *, batch: bool) -> Quote | None:
        """Return the price on a day and hour, None where it is not known."""


@dataclass(frozen=True, slots=True)
class Given:
    """A price of anvil.yaml. `batch_discount` is the share that a batch takes off, None where it does not say."""

    price: Price
    batch_discount: float | None = None


class PriceTable:
    """Prices by model name: what anvil.yaml gives, else what a list says of the judge's provider.

    `judge` is the provider's name in `--judge`: `PROVIDER:MODEL` in anvil.yaml is for that judge alone and beats MODEL.
    `clock` gives Unix time.
    """

    def __init__(
        self,
        given: Mapping[str, Given],
        listed: Listed | None = None,
        judge: str = "",
        *,
        default: Price | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._given = dict(given)
        self._listed = listed
        self._judge = judge
        self._default = default
        self._clock = clock
        self._until = -math.inf
        self._found: dict[tuple[str, str | None, bool], Quote | None] = {}

    @classmethod
    def free(cls) -> Self:
        """Return the table of a judge that runs on this machine: every call costs 0."""
        return cls({}, default=Price(0.0, 0.0, 0.0, 0.0))

    @classmethod
    def read(cls, prices: Mapping[str, object], file: str | None = None) -> Self:
        """Read model → {input, output, cached_input?, cache_write?, batch_discount?}.

        A token price that is left out is that of the input. Raises ConfigError naming file and key.
        """
        return cls({model: _given(model, price, file) for model, price in prices.items()})

    def beside(self, listed: Listed | None, judge: str) -> PriceTable:
        """Return the same prices with a list behind them, for one judge."""
        return PriceTable(self._given, listed, judge, default=self._default, clock=self._clock)

    def find(self, model: str, reported: str | None = None, *, batch: bool = False) -> Price | None:
        """Return the price of the model as it was asked for, else as the provider names it, else None."""
        quote = self.quote(model, reported, batch=batch)
        return None if quote is None else quote.price

    def cost(self, usage: Usage, model: str, reported: str | None = None, *, batch: bool = False) -> float | None:
        """Return what a call cost in US dollars; None where price or token counts are unknown."""
        price = self.find(model, reported, batch=batch)
        return None if price is None else price.of(usage)

    def quote(self, model: str, reported: str | None = None, *, batch: bool = False) -> Quote | None:
        """Return the price that holds now, and where it is from."""
        now = self._clock()
        if now >= self._until or len(self._found) >= _MOST_KEPT:
            self._found.clear()
            self._until = now + _BELIEVED_S - now % _BELIEVED_S
        key = (model, reported, batch)
        if key not in self._found:
            self._found[key] = self._look_up(model, reported, now, batch=batch)
        return self._found[key]

    def _look_up(self, model: str, reported: str | None, now: float, *, batch: bool) -> Quote | None:
        for name in _names(self._judge, model, reported):
            if name in self._given:
                return self._quote_given(name, batch=batch)
        if self._default is not None:
            return Quote(self._default, model, "runs here")
        if self._listed is None:
            return None
        return self._listed.quote(model, reported, datetime.fromtimestamp(now, UTC), batch=batch)

    def _quote_given(self, name: str, *, batch: bool) -> Quote | None:
        found = self._given[name]
        if not batch:
            return Quote(found.price, name, PRICES_FILE)
        discount = found.batch_discount
        if discount is None and self._listed is not None and self._listed.provider is not None:
            discount = BATCH_DISCOUNTS.get(self._listed.provider)
        return None if discount is None else Quote(found.price.less(discount), name, PRICES_FILE)


def _names(judge: str, model: str, reported: str | None) -> Iterator[str]:
    yield f"{judge}:{model}"
    yield model
    if reported is not None:
        yield reported


def _given(model: str, given: object, file: str | None) -> Given:
    key = f"prices.{model}"
    if not isinstance(given, Mapping):
        raise ConfigError("a price must be a mapping of input and output", where=Where(file, key=key))
    unknown = [str(name) for name in given if name not in (*_REQUIRED, *_OPTIONAL)]
    if unknown:
        raise ConfigError(
            f"no such price: {', '.join(unknown)}",
            where=Where(file, key=key),
            hint=f"There are {', '.join((*_REQUIRED, *_OPTIONAL))}: US dollars per million tokens, and a share.",
        )
    for name in _REQUIRED:
        if given.get(name) is None:
            raise ConfigError(f"the price of {name} tokens is missing", where=Where(file, key=f"{key}.{name}"))
    amounts = {name: _amount(value, f"{key}.{name}", file) for name, value in given.items() if value is not None}
    discount = amounts.pop("batch_discount", None)
    if discount is not None and discount > 1:
        raise ConfigError(
            f"a discount is a share between 0 and 1, not {discount:g}",
            where=Where(file, key=f"{key}.batch_discount"),
            hint="0.5 halves the price of a batch.",
        )
    full = amounts["input"]
    price = Price(full, amounts["output"], amounts.get("cached_input", full), amounts.get("cache_write", full))
    return Given(price, discount)


def _amount(value: object, key: str, file: str | None) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value) or value < 0:
        raise ConfigError(f"a price must be a number of at least 0, not {value!r}", where=Where(file, key=key))
    return float(value)
