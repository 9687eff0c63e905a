"""Tokens and money behind the verdicts."""

from __future__ import annotations

import math
from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from agentanvil.stats import Estimate
from agentanvil.verdict import Exchange, Outcome

_COUNTED = ("input_tokens", "output_tokens", "cached_tokens", "reasoning_tokens")


@dataclass(frozen=True, slots=True)
class Usage:
    """What the verdicts took, however often they were replayed since.

    Token counts sum what providers stated; None where none did, `without_tokens` counts answers that stated
    none. `cost` is in US dollars, None as soon as one answer has no price (`without_price` counts those):
    an unknown price is not a price of 0. `cost_per_item` is its mean over the items that a judge was asked about, all
    calls and repeats of an item together. `cost_by_dimension` adds up to `cost`: a call about several dimensions counts
    for each of them with an equal part, since nobody bills them apart; None where an answer about it has no price.
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
    cost_per_item: Estimate
    cost_by_dimension: Mapping[str, float | None]


class UsageTally:
    """Sums what exchanges stated; whether they came from a cache, and how often they were tried, is no part of it."""

    def __init__(self) -> None:
        self._exchanges = self._failed = self._without_tokens = self._items = 0
        self._tokens: dict[str, int | None] = dict.fromkeys(_COUNTED)
        self._calls: dict[tuple[str, ...], _Money] = {}

    def add(self, outcomes: Sequence[Outcome]) -> None:
        """Count the exchanges of one item."""
        costs: dict[tuple[str, ...], list[float]] = {}
        for outcome in outcomes:
            if not outcome.exchanges:
                continue
            call = tuple(outcome.cells)
            known = costs.setdefault(call, [])
            for exchange in outcome.exchanges:
                self._count(exchange)
                if exchange.cost is not None:
                    known.append(exchange.cost)
                elif exchange.error is None:
                    self._money(call).without_price += 1
        self._items += bool(costs)
        for call, known in costs.items():
            if known:
                self._money(call).costs.append(math.fsum(known))

    def result(self) -> Usage:
        """Return the totals; sums of money are exact, so the order of items cannot show in them."""
        calls = self._calls.values()
        without_price = sum(money.without_price for money in calls)
        unknown = without_price > 0 or not any(money.costs for money in calls)
        cost = None if unknown else math.fsum(cost for money in calls for cost in money.costs)
        reason = "an answer has no price" if without_price else "no answer has a price"
        return Usage(
            exchanges=self._exchanges,
            failed_exchanges=self._failed,
            input_tokens=self._tokens["input_tokens"],
            output_tokens=self._tokens["output_tokens"],
            cached_tokens=self._tokens["cached_tokens"],
            reasoning_tokens=self._tokens["reasoning_tokens"],
            without_tokens=self._without_tokens,
            cost=cost,
            without_price=without_price,
            cost_per_item=Estimate(None, 0, reason) if cost is None else Estimate(cost / self._items, self._items),
            cost_by_dimension=self._by_dimension(),
        )

    def _by_dimension(self) -> dict[str, float | None]:
        parts: dict[str, list[float] | None] = {}
        for call, money in self._calls.items():
            part = None if money.without_price else math.fsum(money.costs) / len(call)
            for dimension in call:
                held = parts.setdefault(dimension, [])
                if held is not None and part is not None:
                    held.append(part)
                else:
                    parts[dimension] = None
        return {dimension: None if held is None else math.fsum(held) for dimension, held in parts.items()}

    def _money(self, call: tuple[str, ...]) -> _Money:
        return self._calls.setdefault(call, _Money())

    def _count(self, exchange: Exchange) -> None:
        self._exchanges += 1
        self._add("input_tokens", exchange.input_tokens)
        self._add("output_tokens", exchange.output_tokens)
        self._add("cached_tokens", exchange.cached_tokens)
        self._add("reasoning_tokens", exchange.reasoning_tokens)
        if exchange.error is not None:
            # An exchange that brought no answer states nothing, and as far as anyone knows costs nothing.
            self._failed += 1
        else:
            self._without_tokens += exchange.input_tokens is None or exchange.output_tokens is None

    def _add(self, kind: str, tokens: int | None) -> None:
        if tokens is not None:
            self._tokens[kind] = (self._tokens[kind] or 0) + tokens


class _Money:
    """What the calls about some dimensions took: US dollars an item, and the answers without a price."""

    def __init__(self) -> None:
        self.costs = array("d")
        self.without_price = 0
