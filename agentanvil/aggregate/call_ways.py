"""Joint against split calls: how the scores of one dimension differ by the way in which they were asked."""

from __future__ import annotations

import math
from collections import Counter

from agentanvil.aggregate.frame import Frame, FrameDimension
from agentanvil.aggregate.item import ItemResult
from agentanvil.aggregate.summary import CallWays
from agentanvil.hashing import derive_seed
from agentanvil.plan import JOINT
from agentanvil.stats import Estimate, mean, mirrored_bootstrap_mean
from agentanvil.verdict import Scored


class WaysTally:
    """Counts one dimension; its memory grows with the distinct patterns of scores, not with the rows."""

    def __init__(self, frame: Frame, layout: FrameDimension) -> None:
        self._layout = layout
        self._own_is_joint = frame.keys[layout.slots[0]][0] == JOINT
        # Means over the repeats of one item: joint, split, split − joint, share of equal scores.
        self._items: Counter[tuple[float, float, float, float]] = Counter()
        self._missing = 0

    def add(self, item: ItemResult) -> None:
        """Count this dimension of one item."""
        # Only the first judge is asked in both ways.
        cells = [outcome.cells.get(self._layout.id) for outcome in item.firsts]
        pairs = [
            (own.score, other.score)
            for slot, compared in zip(self._layout.slots, self._layout.compared, strict=True)
            if max(slot, compared) < len(cells)
            and isinstance(own := cells[slot], Scored)
            and isinstance(other := cells[compared], Scored)
        ]
        if not pairs:
            self._missing += 1
            return
        n = len(pairs)
        first, second = (math.fsum(column) / n for column in zip(*pairs, strict=True))
        joint, split = (first, second) if self._own_is_joint else (second, first)
        equal = sum(one == two for one, two in pairs) / n
        self._items[joint, split, split - joint, equal] += 1

    def result(self, seed: int) -> CallWays:
        """Return the comparison; `seed` drives its resampling."""
        times = list(self._items.values())
        joint, split, difference, equal = (self._mean(column, times) for column in range(4))
        return CallWays(
            id=self._layout.id,
            joint=joint,
            split=split,
            difference=difference,
            interval=mirrored_bootstrap_mean(
                [(pattern[2],) for pattern in self._items], times, seed=derive_seed(seed, "ways", self._layout.id)
            ),
            equal=equal,
            missing=self._missing,
        )

    def _mean(self, column: int, times: list[int]) -> Estimate:
        found = mean([pattern[column] for pattern in self._items], times)
        return found if found.n else Estimate(None, 0, "no item has a score in both ways")
