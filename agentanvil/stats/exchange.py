"""Is a statistic of the same items under two conditions different by more than chance would bring?

Where the condition makes no difference, each item might as well have come about with its two conditions exchanged. So
the two are exchanged item by item by the toss of a coin, and the statistic's change is compared with what that brings
(Fisher 1935; for any statistic: Good 2005, chapter 3). What is exchanged is whole items, repeats and raters with them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from agentanvil.stats.hypothesis import SignificanceTest

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Features = tuple[float, ...]
Statistic = Callable[[Floats], Floats]
"""From sums over items, of shape (B, F), to B numbers, NaN where there is none."""

DRAWS = 9_999
_MAX_ENUMERATED = 12
# Changes that are equal in exact arithmetic differ by rounding.
_EQUAL = 1e-9
_CHUNK = 500
# So many hits tell a p-value within 15 % of itself, and no more draws are needed.
_ENOUGH_HITS = 50


def exchange_test(
    features: Sequence[tuple[Features, Features]],
    multiplicity: Sequence[int],
    statistic: Statistic,
    *,
    seed: int,
    draws: int = DRAWS,
) -> SignificanceTest:
    """Test whether `statistic` is the same under both conditions, two-sided.

    `features[i]` is what one kind of item adds to the sums under the first condition and under the second,
    `multiplicity[i]` how many items are of that kind. All exchanges are counted where few items differ; else they are
    drawn, and p = (1 + hits) / (1 + draws). Drawing ends early, at the 50th hit in the n-th draw with p = 50 / n, which
    is as valid (Besag and Clifford 1991). An exchange without a statistic counts as a hit. The result depends on the
    multiset of items and the seed.
    """
    kinds, counts = _kinds(features, multiplicity)
    n = int(counts.sum())
    if not n:
        return SignificanceTest(None, None, 0, "exchange of conditions", "no items")
    half = kinds.shape[1] // 2
    first, second = counts @ kinds[:, :half], counts @ kinds[:, half:]
    observed = float((statistic(second[np.newaxis]) - statistic(first[np.newaxis]))[0])
    if math.isnan(observed):
        return SignificanceTest(None, None, n, "exchange of conditions", "undefined under one of the conditions")
    moves = kinds[:, half:] - kinds[:, :half]
    differs = np.abs(moves).max(axis=1) > 0
    moves, times = moves[differs], counts[differs]

    def reached(exchanged: Floats) -> NDArray[np.bool_]:
        moved = exchanged @ moves
        changes = np.abs(statistic(second - moved) - statistic(first + moved))
        return np.isnan(changes) | (changes >= abs(observed) - _EQUAL)

    if int(times.sum()) <= _MAX_ENUMERATED:
        hits = reached(_every_exchange(times))
        return SignificanceTest(observed, float(hits.mean()), n, "exact exchange of conditions")
    p_value, drawn = _drawn(reached, times, seed, draws)
    error = math.sqrt(p_value * (1 - p_value) / drawn)
    return SignificanceTest(observed, p_value, n, f"exchange of conditions, {drawn:,} drawn", None, error)


def _kinds(features: Sequence[tuple[Features, Features]], multiplicity: Sequence[int]) -> tuple[Floats, Ints]:
    """Return the distinct kinds of item in one order, whichever they came in, and how many items are of each."""
    joined: dict[Features, int] = {}
    for (first, second), times in zip(features, multiplicity, strict=True):
        if times:
            kind = (*first, *second)
            joined[kind] = joined.get(kind, 0) + times
    ordered = sorted(joined)
    return np.array(ordered, dtype=np.float64), np.array([joined[kind] for kind in ordered], dtype=np.int64)


def _every_exchange(times: Ints) -> Floats:
    """Return how many items of each kind are exchanged in each of the 2^n ways, of shape (2^n, kinds)."""
    items = int(times.sum())
    coins = (np.arange(2**items)[:, np.newaxis] >> np.arange(items)) & 1
    ends = np.concatenate([[0], np.cumsum(times)])
    columns = [coins[:, start:end].sum(axis=1) for start, end in pairwise(ends.tolist())]
    return np.stack(columns, axis=1).astype(np.float64) if columns else np.zeros((1, 0))


def _drawn(reached: Callable[[Floats], NDArray[np.bool_]], times: Ints, seed: int, draws: int) -> tuple[float, int]:
    """Return the p-value and after how many draws it was settled."""
    rng = np.random.default_rng(seed)
    hits = drawn = 0
    while drawn < draws:
        size = min(_CHUNK, draws - drawn)
        found = reached(rng.binomial(times, 0.5, size=(size, len(times))).astype(np.float64))
        if hits + int(found.sum()) >= _ENOUGH_HITS:
            drawn += int(np.flatnonzero(found)[_ENOUGH_HITS - hits - 1]) + 1
            return _ENOUGH_HITS / drawn, drawn
        hits += int(found.sum())
        drawn += size
    return (1 + hits) / (1 + draws), draws
