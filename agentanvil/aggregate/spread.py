"""The spread of one item's repeats, and the anchors between which it lies."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from agentanvil.aggregate.as_read import nearest
from agentanvil.stats import modal_agreement, population_sd, sample_sd

Straddled = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Spread:
    """Repeats of one dimension on one item. `scores` ascend.

    Both standard deviations and `modal_agreement` are None for a single score, which cannot show stability.
    `straddles` names the pairs of neighbouring anchors between which the repeats could not decide; a score between two
    verdicts, as a mean or an expected one is, counts as the nearer there.
    """

    scores: tuple[float, ...]
    mean: float
    population_sd: float | None
    sample_sd: float | None
    modal_agreement: float | None
    straddles: tuple[Straddled, ...]

    @property
    def n(self) -> int:
        """The number of repeats that scored."""
        return len(self.scores)

    @property
    def range(self) -> float:
        """Highest minus lowest score."""
        return self.scores[-1] - self.scores[0]


# Few patterns occur, since scores are few: rows look theirs up instead of computing it again.
@lru_cache(maxsize=65_536)
def spread_of(scores: tuple[float, ...], points: tuple[int, ...]) -> Spread:
    """Describe one or more scores, given ascending, against the ascending anchor `points`."""
    several = len(scores) > 1
    return Spread(
        scores=scores,
        mean=math.fsum(scores) / len(scores),
        population_sd=population_sd(scores).value if several else None,
        sample_sd=sample_sd(scores).value,
        modal_agreement=modal_agreement(scores).value,
        straddles=straddled(nearest(scores[0]), nearest(scores[-1]), points),
    )


def straddled(low: float, high: float, points: tuple[int, ...]) -> tuple[Straddled, ...]:
    """Return the neighbouring points whose gap the span from `low` to `high` enters; none where they are equal."""
    if low == high:
        return ()
    return tuple((below, above) for below, above in pairwise(points) if low < above and high > below)
