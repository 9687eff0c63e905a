"""What a rubric's clauses do: the records of an ablation study.

Every change is that of leaving a clause out: the figure without it less the figure with it, over the items that have
both.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from agentanvil.rubric.variant import Clause
from agentanvil.stats import Estimate, Interval, PairedChange, SignificanceTest

ClauseVerdict = Literal["earns_its_tokens", "no_measurable_effect", "harmful", "inconclusive"]
ALPHA = 0.05
"""The family-wise error rate of the tests."""
POWER = 0.8
FEWEST_ITEMS = 6
"""With fewer, all changes one way have a probability of 2 / 2^n above ALPHA: nothing could be found at all."""


@dataclass(frozen=True, slots=True)
class Change:
    """A figure of the `whole` rubric, the same `without` the clause, and the change.

    `test` is there where it is a member of the family, in which `p_adjusted` is its p-value.
    """

    whole: Estimate
    without: Estimate
    change: Estimate
    interval: Interval
    test: SignificanceTest | None = None
    p_adjusted: float | None = None

    @classmethod
    def of(cls, found: PairedChange, *, tested: bool = False) -> Change:
        """Return a change of which one knows nothing about the other tests yet."""
        return cls(found.first, found.second, found.change, found.interval, found.test if tested else None)

    @property
    def significant(self) -> bool:
        """Whether chance is ruled out, after adjustment for all tests of the study."""
        return self.p_adjusted is not None and self.p_adjusted <= ALPHA

    @property
    def value(self) -> float:
        """The change, 0 where there is none to be told."""
        return self.change.value or 0.0


@dataclass(frozen=True, slots=True)
class Flips:
    """Items whose result is another one without the clause: higher (`up`) or lower (`down`), of `n` that have both."""

    n: int
    up: int
    down: int
    share: Estimate
    interval: Interval

    @property
    def changed(self) -> int:
        return self.up + self.down


@dataclass(frozen=True, slots=True)
class DimensionEffect:
    """What leaving a clause out does to one dimension, or to the overall.

    `about`: it is what the clause is about. `unpaired` counts the items with a score in one of the arms alone. `sd` is
    the standard deviation of the items' changes. `kappa` and `distance` (the mean of |score - label|, as the kappa's
    categories) are None without labels.
    """

    id: str
    about: bool
    unpaired: int
    mean: Change
    flips: Flips
    sd: Estimate
    kappa: Change | None
    distance: Change | None


@dataclass(frozen=True, slots=True)
class PairEffect:
    """What leaving a clause out does to the correlation of two dimensions; `separates`: it is there to part them."""

    dimensions: tuple[str, str]
    separates: bool
    correlation: Change


@dataclass(frozen=True, slots=True)
class ClauseEffect:
    """Everything that tells one arm from another. The last of `dimensions` is the overall.

    `decided` are the verdicts that change: pass or fail, in pairs the winner; None where nothing is decided. Tokens and
    cost are of one item.
    """

    dimensions: tuple[DimensionEffect, ...]
    pairs: tuple[PairEffect, ...]
    decided: Flips | None
    input_tokens: Change
    output_tokens: Change
    cost: Change


@dataclass(frozen=True, slots=True)
class ClauseFinding:
    """A clause, what leaving it out does, and what that comes to.

    `because` gives the reasons, a sentence each, the deciding one first.
    `detectable` is the least change of each dimension's mean that this study would have found with a probability of
    POWER; it is undefined where no score changed at all.
    """

    clause: Clause
    effect: ClauseEffect
    verdict: ClauseVerdict
    because: tuple[str, ...]
    detectable: Mapping[str, Estimate]


@dataclass(frozen=True, slots=True)
class Ablation:
    """A study. `tests` is the size of the family over which p-values were adjusted.

    `noise` is what asking the whole rubric again changes, with nothing left out; None where that was not asked.
    """

    findings: tuple[ClauseFinding, ...]
    noise: ClauseEffect | None
    items: int
    labelled: bool
    tests: int
