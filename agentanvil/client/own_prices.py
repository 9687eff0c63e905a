"""Prices that the library behind `price_list.py` lacks: each with its source and the day on which it was read.

US dollars per million tokens. What the library has is taken from there; an entry goes once the library has it too.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class OwnPrice:
    """One model of a provider, by the library's name for that.

    `long_above` tokens of input make the whole request dearer, by a factor for the input with its cache and one for the
    output. `date` is the day of the newest source.
    """

    input: float
    output: float
    cached_input: float
    cache_write: float
    date: str
    source: str
    long_above: int | None = None
    long_input: float = 1.0
    long_output: float = 1.0


_GPT_6_2 = "resellers' and gateways' notes on its release; cache writes and long requests as with GPT-5.6 and later"

OWN_PRICES: Mapping[tuple[str, str], OwnPrice] = {
    ("openai", "gpt-6.2-astra"): OwnPrice(8, 40, 0.4, 10, "2026-11-18", _GPT_6_2, 272_000, 2, 1.5),
    ("openai", "gpt-6.2-sol"): OwnPrice(2, 10, 0.1, 2.5, "2026-11-18", _GPT_6_2, 272_000, 2, 1.5),
    ("google", "gemini-4-hydrogen"): OwnPrice(1.5, 7.5, 0.075, 1.5, "2026-11", "the price map of litellm 1.110.2"),
}

BATCH_DISCOUNTS: Mapping[str, float] = {"openai": 0.5, "anthropic": 0.5, "google": 0.5, "mistral": 0.5, "x-ai": 0.2}
"""The share that a batch takes off, for models of which the library lists no batch price (provider pages, 2026-11)."""
