"""Which of two responses is shown first, and the way back: swap and unswap side by side.

The judge sees two slots, A (shown first) and B. Every report speaks of response_a and response_b.
"""

from __future__ import annotations

from typing import Literal

from agentanvil.dataset import Contender, Row
from agentanvil.hashing import derive_seed, digest
from agentanvil.verdict import Winner

Order = Literal["-", "ab", "ba"]
OrderMode = Literal["random", "both", "fixed"]
Slot = Literal["A", "B", "tie"]

UNORDERED: Order = "-"
AB: Order = "ab"
BA: Order = "ba"

_SLOTS: dict[Order, dict[Slot, Winner]] = {
    AB: {"A": "a", "B": "b", "tie": "tie"},
    BA: {"A": "b", "B": "a", "tie": "tie"},
}


def drawn_order(row: Row, repeat: int, seed: int) -> Order:
    """Return the order of one call under `random`.

    A coin from seed and item id picks between the two texts in an order that does not depend on which of them is
    called response_a, so that exchanging the two leaves the prompt as it is. Every repeat turns the order
    round: an even number of repeats is balanced exactly, many items are balanced by the coin.
    """
    coin = (derive_seed("order", seed, row.id) + repeat) % 2
    canonical = _identity(*contenders(row)[:1]) <= _identity(*contenders(row)[1:])
    return AB if canonical == (coin == 0) else BA


def contenders(row: Row) -> tuple[Contender, Contender]:
    """Return response_a and response_b. Raises ValueError for a row with one response."""
    if row.rival is None:
        raise ValueError(f"the row {row.id!r} has one response, not two")
    return Contender(row.response, row.model, row.trace), row.rival


def shown(row: Row, order: Order) -> tuple[Contender, Contender]:
    """Return what stands in the slots A and B."""
    first, second = contenders(row)
    return (second, first) if order == BA else (first, second)


def unswap_slot(slot: Slot, order: Order) -> Winner:
    """Return which response stood in a slot."""
    return _SLOTS[order][slot]


def unswap_delta(delta: float, order: Order) -> float:
    """Return how much better response_a is, for a delta that is positive where slot A is better."""
    return delta if order == AB or delta == 0 else -delta


def unswap_probability(first: float, order: Order) -> float:
    """Return the probability that response_a is better, for the one that slot A is better."""
    return first if order == AB else 1.0 - first


def _identity(contender: Contender) -> str:
    trace = contender.trace
    return digest(contender.response, "" if trace is None else repr(trace))
