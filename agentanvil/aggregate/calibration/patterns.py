"""Counts of what judge and people said of an item, in an order that arrival has no part in."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from agentanvil.aggregate.corrected.rows import UNWEIGHTED
from agentanvil.aggregate.measure import Measure
from agentanvil.stats import effective_items, scaled_weights

Pattern = tuple[tuple[float, ...], tuple[float, ...]]
"""The judge's readings of one item and its labels, both ascending; either may be empty."""
Drawn = tuple[Pattern, float]
"""An item's pattern and its sampling weight."""


@dataclass(frozen=True, slots=True)
class Patterns:
    """Distinct patterns, how many items have each, and the sampling weight of these, None where none is known."""

    each: tuple[Pattern, ...]
    times: tuple[int, ...]
    weights: tuple[float, ...] | None

    @classmethod
    def of(cls, counts: Mapping[Drawn, int], *, weighted: bool) -> Patterns:
        """Put counted patterns in order; where items are `weighted`, those without a weight are left out."""
        kept = [(drawn, times) for drawn, times in sorted(counts.items()) if not (weighted and drawn[1] == UNWEIGHTED)]
        return cls(
            each=tuple(pattern for (pattern, _), _ in kept),
            times=tuple(times for _, times in kept),
            weights=tuple(weight for (_, weight), _ in kept) if weighted else None,
        )

    @property
    def items(self) -> int:
        """How many items there are."""
        return sum(self.times)

    @property
    def effective(self) -> float:
        """Kish's effective number of items; their number where all weigh the same."""
        return effective_items(scaled_weights(self.weights, self.times), self.times)

    def where(self, keep: Callable[[Pattern], bool]) -> Patterns:
        """Return those patterns that `keep` says yes to."""
        return self.turned(lambda pattern: pattern if keep(pattern) else None)

    def in_categories(self, measure: Measure) -> Patterns:
        """Return the patterns as the measure's categories; labels that are none drop out."""

        def read(pattern: Pattern) -> Pattern:
            scores, labels = pattern
            found = [label for each in labels if (label := measure.label(each)) is not None]
            return tuple(sorted(map(measure.read, scores))), tuple(sorted(found))

        return self.turned(read)

    def turned(self, turn: Callable[[Pattern], Pattern | None]) -> Patterns:
        """Return what `turn` makes of each pattern, without the items of which it makes None."""
        counts: Counter[Drawn] = Counter()
        weights = self.weights or (UNWEIGHTED,) * len(self.each)
        for pattern, times, weight in zip(self.each, self.times, weights, strict=True):
            found = turn(pattern)
            if found is not None:
                counts[found, weight] += times
        return Patterns.of(counts, weighted=self.weights is not None)


def pairs_of(pattern: Pattern) -> list[tuple[float, float]]:
    """Return every (reading, label) of one item."""
    scores, labels = pattern
    return [(score, label) for score in scores for label in labels]


def occurring(patterns: Iterable[Pattern]) -> Sequence[float]:
    """Return all numbers that occur on either side, ascending."""
    return sorted({number for scores, labels in patterns for number in (*scores, *labels)})
