"""Tokens and money behind the verdicts."""

from __future__ import annotations

import math
from array import array
from collections.abc import Sequence
from dataclasses import dataclass

from agentanvil.verdict import Outcome

_COUNTED = ("input_tokens", "output_tokens", "cached_tokens", "reasoning_tokens")


@dataclass(frozen=True, slots=True)
class Usage:
    """What the verdicts took, however often they were replayed since.

    Token counts sum what providers stated; None where none did, `without_tokens` counts answers that stated
    none. `cost` is in US dollars, None as soon as one answer has no price (`without_price` counts those):
    an unknown price is not a price of 0.
    """

    exchanges: int
    failed_exchanges: int
    input_tokens: int | None
    output_tokens: int | None
    cached_tokens: int | None
    reasoning_tokens: int | None
    without_tokens: int
    cost: float | None
    without_price: int


class UsageTally:
    """Sums what exchanges stated; whether they came from a cache, and how often they were tried, is no part of it."""

    def __init__(self) -> None:
        self._exchanges = self._failed = self._without_tokens = self._without_price = 0
        self._tokens: dict[str, int | None] = dict.fromkeys(_COUNTED)
        self._costs = array("d")

    def add(self, outcomes: Sequence[Outcome]) -> None:
        """Count the exchanges of one item."""
        costs: list[float] = []
        for outcome in outcomes:
            for exchange in outcome.exchanges:
                self._exchanges += 1
                self._count(exchange.input_tokens, "input_tokens")
                self._count(exchange.output_tokens, "output_tokens")
                self._count(exchange.cached_tokens, "cached_tokens")
                self._count(exchange.reasoning_tokens, "reasoning_tokens")
                if exchange.cost is not None:
                    costs.append(exchange.cost)
                if exchange.error is not None:
                    # An exchange that brought no answer states nothing, and as far as anyone knows costs nothing.
                    self._failed += 1
                    continue
                self._without_tokens += exchange.input_tokens is None or exchange.output_tokens is None
                self._without_price += exchange.cost is None
        if costs:
            self._costs.append(math.fsum(costs))

    def result(self) -> Usage:
        """Return the totals; sums of money are exact, so the order of items cannot show in them."""
        unknown = self._without_price > 0 or not self._costs
        return Usage(
            exchanges=self._exchanges,
            failed_exchanges=self._failed,
            input_tokens=self._tokens["input_tokens"],
            output_tokens=self._tokens["output_tokens"],
            cached_tokens=self._tokens["cached_tokens"],
            reasoning_tokens=self._tokens["reasoning_tokens"],
            without_tokens=self._without_tokens,
            cost=None if unknown else math.fsum(self._costs),
            without_price=self._without_price,
        )

    def _count(self, tokens: int | None, kind: str) -> None:
        if tokens is not None:
            self._tokens[kind] = (self._tokens[kind] or 0) + tokens
