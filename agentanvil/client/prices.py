"""What tokens cost: US dollars per million, per model. What is not known is None, never 0."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self

from agentanvil.client.base import Usage
from agentanvil.errors import ConfigError, Where

_PER = 1_000_000.0
_REQUIRED = ("input", "output")
_OPTIONAL = ("cached_input", "cache_write")


@dataclass(frozen=True, slots=True)
class Price:
    """US dollars per million tokens. Reads of the provider's prompt cache, and writes to it, may differ."""

    input: float
    output: float
    cached_input: float
    cache_write: float

    def cost(self, usage: Usage) -> float | None:
        """Return US dollars, or None where the provider did not count both input and output.

        Cached and written tokens are parts of the input: each token is billed once, at its own price.
        """
        if usage.input_tokens is None or usage.output_tokens is None:
            return None
        cached = min(usage.cached_tokens or 0, usage.input_tokens)
        written = min(usage.cache_write_tokens or 0, usage.input_tokens - cached)
        return (
            (usage.input_tokens - cached - written) * self.input
            + cached * self.cached_input
            + written * self.cache_write
            + usage.output_tokens * self.output
        ) / _PER


class PriceTable:
    """Prices by model name, as `prices` in anvil.yaml gives them."""

    def __init__(self, prices: Mapping[str, Price], default: Price | None = None) -> None:
        self._prices = dict(prices)
        self._default = default

    @classmethod
    def free(cls) -> Self:
        """Return the table of a judge that runs on this machine: every call costs 0."""
        return cls({}, Price(0.0, 0.0, 0.0, 0.0))

    @classmethod
    def read(cls, prices: Mapping[str, object], file: str | None = None) -> Self:
        """Read model → {input, output, cached_input?, cache_write?}. Raises ConfigError naming file and key.

        A price that is left out is that of the input.
        """
        return cls({model: _price(model, price, file) for model, price in prices.items()})

    def find(self, model: str, reported: str | None = None) -> Price | None:
        """Return the price of the model as it was asked for, else as the provider names it, else None."""
        price = self._prices.get(model)
        if price is None and reported is not None:
            price = self._prices.get(reported)
        return price or self._default

    def cost(self, usage: Usage, model: str, reported: str | None = None) -> float | None:
        """Return what a call cost in US dollars; None where price or token counts are unknown."""
        price = self.find(model, reported)
        return None if price is None else price.cost(usage)


def _price(model: str, given: object, file: str | None) -> Price:
    key = f"prices.{model}"
    if not isinstance(given, Mapping):
        raise ConfigError("a price must be a mapping of input and output", where=Where(file, key=key))
    unknown = [str(name) for name in given if name not in (*_REQUIRED, *_OPTIONAL)]
    if unknown:
        raise ConfigError(
            f"no such price: {', '.join(unknown)}",
            where=Where(file, key=key),
            hint=f"Prices are {', '.join((*_REQUIRED, *_OPTIONAL))}, in US dollars per million tokens.",
        )
    for name in _REQUIRED:
        if given.get(name) is None:
            raise ConfigError(f"the price of {name} tokens is missing", where=Where(file, key=f"{key}.{name}"))
    amounts = {name: _amount(value, f"{key}.{name}", file) for name, value in given.items() if value is not None}
    full = amounts["input"]
    return Price(full, amounts["output"], amounts.get("cached_input", full), amounts.get("cache_write", full))


def _amount(value: object, key: str, file: str | None) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value) or value < 0:
        raise ConfigError(f"a price must be a number of at least 0, not {value!r}", where=Where(file, key=key))
    return float(value)
