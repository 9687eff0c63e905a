"""What a pairwise run comes to. Field order is the order in `summary.json`.

Everything is told from response_a's side, and exchanging the two responses mirrors every figure: wins become losses, a
mean delta changes its sign, and what concerns the place (first picks, flips) stays as it is.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from agentanvil.aggregate.frame import Reading
from agentanvil.aggregate.measure import Agreement
from agentanvil.aggregate.wins import Ranking, WinRate
from agentanvil.plan import OrderMode
from agentanvil.stats import BinomialTest, Estimate, Interval


@dataclass(frozen=True, slots=True)
class OrderAgreement:
    """How the two orders of a pair agree, counted over the repeats that have both.

    `consistent`: the same winner twice. `partial`: a win and a tie, which counts as that win. `inconsistent`: two
    different winners, which counts as a tie. `single`: repeats asked in one order only, which show nothing of it.
    `examples` names inconsistent items, the first ones.
    """

    consistent: int
    partial: int
    inconsistent: int
    single: int
    same_winner: Estimate
    flip_rate: Estimate
    flip_interval: Interval
    examples: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Position:
    """Whether the judge prefers a place. Ties have picked neither.

    `rate` is first / (first + second) over calls; its interval counts the calls of one item as one, since they depend
    on each other. `test` is over items for the same reason: how many lean to the first place, against those that lean
    to the second. Under `both` orders an item leans by its inconsistent repeats alone (a sign test: without a
    preference for a place both directions are equally likely, whatever the responses are worth); under `random` by its
    calls. Under `fixed` there is no test: the place cannot be told from the response in it.
    """

    first: int
    second: int
    tie: int
    rate: Estimate
    interval: Interval
    test: BinomialTest


@dataclass(frozen=True, slots=True)
class Stated:
    """The winners that judges named themselves, against those computed from the deltas of the same call."""

    compared: int
    disagreements: int
    examples: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Preferences:
    """How far token log-probabilities came back. `label_mass` is the mean probability of the answers on offer."""

    cells: int
    without: int
    label_mass: Estimate


@dataclass(frozen=True, slots=True)
class PairAgreement:
    """The winner against the label `winner`, on a/b/tie, kappa unweighted; None where nobody labelled one.

    `calls`: each call alone, whichever response it showed first. `verdict` and `expected`: the item's winner in either
    reading. `labelled - exact.n` of each is how many labelled items it lacks.
    """

    calls: Agreement
    verdict: Agreement
    expected: Agreement


@dataclass(frozen=True, slots=True)
class Pairwise:
    """One pairwise run. `models` are those of response_a and response_b where all rows agree.

    `reading` says which of `verdict` and `expected` is the result. `shown_first` counts the calls in which each
    response stood first. `ranking` is there where rows compare different pairs of models.
    """

    models: tuple[str, str] | None
    orders: OrderMode | None
    reading: Reading
    verdict: WinRate
    expected: WinRate
    agreement: OrderAgreement
    position: Position
    shown_first: Mapping[str, int]
    stated: Stated
    preferences: Preferences
    labels: PairAgreement | None
    ranking: Ranking | None

    @property
    def result(self) -> WinRate:
        """The win rate by the reading that was chosen."""
        return self.verdict if self.reading == "verdict" else self.expected
