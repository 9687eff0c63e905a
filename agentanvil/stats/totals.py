"""The interval of any statistic that is a function of sums over items."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from agentanvil.stats.estimate import Interval
from agentanvil.stats.interval import RESAMPLES
from agentanvil.stats.resample import percentile_ends, resampled_totals

Floats = NDArray[np.float64]

_MAX_UNDEFINED_SHARE = 0.05


def totals_interval(
    features: Sequence[tuple[float, ...]],
    multiplicity: Sequence[int],
    statistic: Callable[[Floats], Floats],
    *,
    seed: int,
    level: float = 0.95,
    resamples: int = RESAMPLES,
) -> Interval:
    """Return the percentile interval of `statistic`, resampling items.

    `features[i]` is what one kind of item adds to the sums, `multiplicity[i]` how many items are of that kind.
    `statistic` takes sums of shape (B, F) and returns B numbers, NaN where it is undefined. Undefined below two
    items, and where more than 5 % of the resamples are, since leaving so many out would flatter.
    """
    method = f"cluster bootstrap percentile, {resamples} resamples"
    if sum(multiplicity) < 2:
        return Interval(None, None, level, method, "fewer than two items")
    patterns, counts = np.array(features, dtype=np.float64), np.array(multiplicity, dtype=np.int64)
    found = np.concatenate(
        [statistic(totals) for totals in resampled_totals(patterns, counts, seed=seed, resamples=resamples)]
    )
    defined = found[~np.isnan(found)]
    if len(defined) < (1 - _MAX_UNDEFINED_SHARE) * resamples:
        missing = resamples - len(defined)
        return Interval(None, None, level, method, f"undefined in {missing} of {resamples} resamples")
    low, high = percentile_ends(defined, level)
    return Interval(low, high, level, method)
