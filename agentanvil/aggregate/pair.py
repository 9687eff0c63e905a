"""What one pair came to: its calls, its repeats, and the winner by either reading."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from agentanvil.aggregate.frame import Reading
from agentanvil.plan import UNORDERED
from agentanvil.verdict import State, Winner

Consistency = Literal["consistent", "partial", "inconsistent", "single"]
"""Two orders of one pair: the same winner twice; a win and a tie; two different winners; or one order alone."""
Picked = Literal["A", "B", "tie"]

POINTS: dict[Winner, float] = {"a": 1.0, "tie": 0.5, "b": 0.0}
"""What response_a gets of one comparison."""


@dataclass(frozen=True, slots=True)
class PairCall:
    """One repeat in one order, over all its dimensions.

    There is a `delta` (positive where response_a is better), and a winner, exactly when `state` is `scored`. `log_odds`
    are those of response_a being better, None where some dimension brought no probability. `stated` is the winner that
    the judge named itself.
    """

    order: str
    state: State
    delta: float | None
    winner: Winner | None
    log_odds: float | None
    stated: Winner | None

    @property
    def picked(self) -> Picked | None:
        """The slot of the winner, A being shown first; None without one, and where nothing was ordered."""
        return None if self.winner is None or self.order == UNORDERED else picked_slot(self.winner, self.order)


@dataclass(frozen=True, slots=True)
class PairRepeat:
    """One repeat in all its orders: a win and a tie count as that win, two different winners as a tie."""

    delta: float
    winner: Winner
    consistency: Consistency


@dataclass(frozen=True, slots=True)
class PairResult:
    """One pair. `calls` stand repeat by repeat; `repeats` are those in which no order lacks its winner.

    `winner` is the verdicts': response_a's mean points over the repeats against one half. `preference` is the
    probability that response_a is better, from the mean log-odds of all calls of repeats that have them in every order,
    and `expected` its winner. `p_ab` and `p_ba` are the same of one order alone. `stated` is what the judge's own
    words come to by the rule for verdicts. `consistency` is the worst among the repeats.
    """

    reading: Reading
    calls: tuple[PairCall, ...]
    repeats: tuple[PairRepeat, ...]
    winner: Winner | None
    preference: float | None
    expected: Winner | None
    p_ab: float | None
    p_ba: float | None
    stated: Winner | None
    consistency: Consistency | None
    models: tuple[str | None, ...]
    group: str

    @property
    def result(self) -> Winner | None:
        """The winner by the reading that was chosen."""
        return self.winner if self.reading == "verdict" else self.expected

    def of_first(self, repeats: int, orders: int) -> PairResult:
        """Return the same with the calls of the first so many repeats, each in so many `orders`; winners stay."""
        calls = self.calls[: repeats * orders]
        if len(calls) == len(self.calls):
            return self
        groups = (calls[at : at + orders] for at in range(0, len(calls), orders))
        whole = sum(all(call.winner is not None for call in group) for group in groups)
        return replace(self, calls=calls, repeats=self.repeats[:whole])


def winner_of(value: float) -> Winner:
    """Return whose favour a signed number is in."""
    return "a" if value > 0 else "b" if value < 0 else "tie"


def picked_slot(winner: Winner, order: str) -> Picked:
    """Return the slot in which an ordered call showed the winner."""
    if winner == "tie":
        return "tie"
    return "A" if (winner == "a") == (order == "ab") else "B"
