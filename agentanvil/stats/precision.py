"""What one reading is worth: how far two must lie apart to differ, and how many make a mean precise."""

from __future__ import annotations

import math
from statistics import NormalDist


def least_detectable_difference(sem: float, level: float = 0.95) -> float:
    """Return by how much two readings must differ before error alone is unlikely to be all: z·√2·SEM.

    `sem` is the standard error of measurement, the SD of one reading of an unchanging item (or of a mean of several).
    Weir, J. P. (2005), Quantifying test–retest reliability using the intraclass correlation coefficient and the SEM,
    where it is called the minimal difference. Raises ValueError for a negative `sem`.
    """
    if not sem >= 0:
        raise ValueError(f"a standard deviation is not negative: {sem!r}")
    return _z(level) * math.sqrt(2) * sem


def repeats_needed(sd_one_reading: float, half_width: float, level: float = 0.95) -> int:
    """Return the least number of repeats whose mean lies within ± `half_width` of what endlessly many would give.

    The least k with z·SD / √k ≤ half-width, by the normal distribution, since the SD is pooled over many items; at
    least 1. Raises ValueError for a negative SD or a half-width that is not positive.
    """
    if not sd_one_reading >= 0 or not half_width > 0:
        raise ValueError(f"an SD of {sd_one_reading!r} and a half-width of {half_width!r} make no number of repeats")
    # What is a whole number by hand may be a hair above it here.
    exact = (_z(level) * sd_one_reading / half_width) ** 2
    return max(1, math.ceil(exact - 1e-9))


def _z(level: float) -> float:
    return NormalDist().inv_cdf(1 - (1 - level) / 2)
