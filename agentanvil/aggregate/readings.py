"""What the judge's probabilities say of one dimension, beside its verdicts, whichever of the two decides."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from agentanvil.aggregate.item import ItemResult
from agentanvil.aggregate.scores import ItemMean
from agentanvil.stats import Estimate
from agentanvil.verdict import Cell, Scored

LEAST_MASS = 0.5
"""Below this, most of what the model would have written at a verdict's place is none of the verdicts on offer."""
_KEPT = 3
_NONE = "no verdict came with probabilities"


@dataclass(frozen=True, slots=True)
class UncertainItem:
    """One of the items whose verdict the judge was least sure of: means over its verdicts that have a reading.

    `expected_score` is None in a comparison of two texts, whose reading is the preference.
    """

    index: int
    id: str
    entropy: float
    expected_score: float | None
    score: float


@dataclass(frozen=True, slots=True)
class ReadingSummary:
    """The readings of one dimension's verdicts.

    `share` is that of the verdicts which have one. The means are over items that have some, each counting once:
    `expected_score` beside the verdicts' `score` on the same items, `entropy` in 0..1, and `outside`, the probability
    that lay on none of the verdicts on offer. `uncertain` names the items with the highest entropy.
    """

    share: Estimate
    expected_score: Estimate
    score: Estimate
    entropy: Estimate
    outside: Estimate
    uncertain: tuple[UncertainItem, ...]


class ReadingTally:
    """Counts one dimension; its memory does not grow with the rows."""

    def __init__(self) -> None:
        self._verdicts = self._read = 0
        self._expected, self._score, self._entropy, self._outside = (ItemMean(_NONE) for _ in range(4))
        self._uncertain: list[UncertainItem] = []

    def add(self, item: ItemResult, cells: Iterable[Cell]) -> None:
        """Count one item's verdicts as they were given."""
        verdicts = [cell for cell in cells if isinstance(cell, Scored)]
        self._verdicts += len(verdicts)
        read = [cell for cell in verdicts if cell.entropy is not None]
        if not read:
            return
        self._read += len(read)
        entropy = _mean([cell.entropy for cell in read]) or 0.0
        outside = _mean([None if cell.label_mass is None else 1.0 - cell.label_mass for cell in read])
        expected = _mean([cell.expected_score for cell in read])
        score = math.fsum(cell.score for cell in read) / len(read)
        self._entropy.add(entropy)
        self._outside.add(outside)
        self._expected.add(expected)
        self._score.add(None if expected is None else score)
        self._keep(UncertainItem(item.index, item.id, entropy, expected, score))

    def result(self) -> ReadingSummary:
        """Return the dimension's part of the summary."""
        n = self._verdicts
        return ReadingSummary(
            share=Estimate(self._read / n, n) if n else Estimate(None, 0, "no verdict was scored"),
            expected_score=self._expected.result(),
            score=self._score.result(),
            entropy=self._entropy.result(),
            outside=self._outside.result(),
            uncertain=tuple(self._uncertain),
        )

    def _keep(self, found: UncertainItem) -> None:
        if not found.entropy or (len(self._uncertain) == _KEPT and found.entropy < self._uncertain[-1].entropy):
            return
        self._uncertain.append(found)
        self._uncertain.sort(key=lambda kept: (-kept.entropy, kept.index))
        del self._uncertain[_KEPT:]


def _mean(values: Sequence[float | None]) -> float | None:
    present = [value for value in values if value is not None]
    return math.fsum(present) / len(present) if present else None


def reading_notes(name: str, readings: ReadingSummary, missing: int) -> list[str]:
    """Return what a person should know before believing a dimension's readings, as sentences.

    `missing` counts verdicts that lack the reading by which the run is decided.
    """
    notes = []
    if missing:
        notes.append(
            f"{name}: {missing} verdict(s) came without probabilities and count as missing: for --reading expected the "
            "judge's endpoint must return log-probabilities"
        )
    outside = readings.outside.value
    if outside is not None and outside > 1 - LEAST_MASS:
        notes.append(
            f"{name}: only {1 - outside:.0%} of the probability at the token of a verdict is on the verdicts on offer: "
            "the judge would have written something else there, so its expected scores mean little"
        )
    return notes
