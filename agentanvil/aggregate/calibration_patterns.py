"""Counts of what judge and people said of an item, in an order that arrival has no part in."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from agentanvil.aggregate.measure import Measure

Pattern = tuple[tuple[float, ...], tuple[float, ...]]
"""The judge's readings of one item and its labels, both ascending; either may be empty."""


@dataclass(frozen=True, slots=True)
class Patterns:
    """Distinct patterns and how many items have each."""

    each: tuple[Pattern, ...]
    times: tuple[int, ...]

    @classmethod
    def of(cls, counts: Mapping[Pattern, int]) -> Patterns:
        """Put counted patterns in order."""
        counted = sorted(counts.items())
        return cls(tuple(pattern for pattern, _ in counted), tuple(times for _, times in counted))

    @property
    def items(self) -> int:
        """How many items there are."""
        return sum(self.times)

    def where(self, keep: Callable[[Pattern], bool]) -> Patterns:
        """Return those patterns that `keep` says yes to."""
        kept = [(pattern, times) for pattern, times in zip(self.each, self.times, strict=True) if keep(pattern)]
        return Patterns(tuple(pattern for pattern, _ in kept), tuple(times for _, times in kept))

    def in_categories(self, measure: Measure) -> Patterns:
        """Return the patterns as the measure's categories; labels that are none drop out."""
        counts: Counter[Pattern] = Counter()
        for (scores, labels), times in zip(self.each, self.times, strict=True):
            found = [label for each in labels if (label := measure.label(each)) is not None]
            counts[tuple(sorted(map(measure.read, scores))), tuple(sorted(found))] += times
        return Patterns.of(counts)


def pairs_of(pattern: Pattern) -> list[tuple[float, float]]:
    """Return every (reading, label) of one item."""
    scores, labels = pattern
    return [(score, label) for score in scores for label in labels]


def occurring(patterns: Iterable[Pattern]) -> Sequence[float]:
    """Return all numbers that occur on either side, ascending."""
    return sorted({number for scores, labels in patterns for number in (*scores, *labels)})
