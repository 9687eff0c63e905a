"""The cluster bootstrap's engine: totals of resampled clusters, without ever holding all draws in memory."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

# Beyond this many distinct patterns, drawing cluster by cluster beats drawing a count per pattern (measured).
_MAX_COUNTED = 2_000
# Unless there are so many clusters times columns to each of them: drawing singly has to look up every column.
_LOOKUPS_A_PATTERN = 40
_CHUNK_CELLS = 1_000_000


def resampled_totals(patterns: Floats, multiplicity: Ints, *, seed: int, resamples: int) -> Iterator[Floats]:
    """Yield, in chunks of shape (b, F), the column totals of G clusters drawn with replacement from G.

    `patterns` (P, F) holds the distinct clusters' features, `multiplicity` (P,) how many clusters have each;
    G is its sum. Clusters with equal features are interchangeable, so a multinomial count per pattern is the
    same draw as G single ones.
    """
    rng = np.random.default_rng(seed)
    clusters = int(multiplicity.sum())
    counted = len(patterns) <= max(_MAX_COUNTED, clusters * patterns.shape[1] // _LOOKUPS_A_PATTERN)
    step = max(1, _CHUNK_CELLS // (len(patterns) if counted else clusters))
    for start in range(0, resamples, step):
        size = min(step, resamples - start)
        if counted:
            yield rng.multinomial(clusters, multiplicity / clusters, size=size) @ patterns
        else:
            yield _drawn_singly(rng, patterns, multiplicity, size)


def _drawn_singly(rng: np.random.Generator, patterns: Floats, multiplicity: Ints, size: int) -> Floats:
    members = np.repeat(patterns, multiplicity, axis=0)
    drawn = rng.integers(0, len(members), size=(size, len(members)), dtype=np.uint32)
    columns = [_column_totals(np.ascontiguousarray(column), drawn) for column in members.T]
    return np.stack(columns, axis=1)


def _column_totals(column: Floats, drawn: NDArray[np.uint32]) -> Floats:
    if column.min() == column.max():
        return np.full(len(drawn), column[0] * len(column))
    return np.asarray(column[drawn].sum(axis=1), dtype=np.float64)


def percentile_ends(values: Floats, level: float) -> tuple[float, float]:
    """Return the percentile interval's ends by linear interpolation, rounded to 9 decimals.

    Matrix products add in an order that differs between machines; their last bits are far below the Monte
    Carlo error and must not change a report.
    """
    tail = (1 - level) / 2
    low, high = np.quantile(values, [tail, 1 - tail])
    return round(float(low), 9), round(float(high), 9)
