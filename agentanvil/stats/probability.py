"""How good stated probabilities are: the Brier score and the expected calibration error.

`p[i]` is the probability that was stated for an event, `happened[i]` whether it came. Pairs in which either is None are
left out; n counts the pairs that remain.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from agentanvil.stats.estimate import Estimate
from agentanvil.stats.weighting import scaled_weights

_DECIMALS = 9
_Pairs = list[tuple[float, bool, float]]


def brier_score(
    p: Sequence[float | None], happened: Sequence[bool | None], weights: Sequence[float] | None = None
) -> Estimate:
    """Return the mean of (p − outcome)² (Brier 1950, in the form for one event, 0..1), by the sampling weights.

    Undefined without pairs, and where a probability lies outside 0..1.
    """
    pairs = _pairs(p, happened, weights)
    if reason := _unusable(pairs):
        return Estimate(None, len(pairs), reason)
    total = math.fsum(w * (stated - came) ** 2 for stated, came, w in pairs)
    return Estimate(total / math.fsum(w for _, _, w in pairs), len(pairs))


def expected_calibration_error(
    p: Sequence[float | None],
    happened: Sequence[bool | None],
    bins: int = 10,
    weights: Sequence[float] | None = None,
) -> Estimate:
    """Return Σ share of pairs in the bin · |mean p − share that came| (Naeini et al. 2015).

    Bins are of equal width and closed on the right, (a, b], the first one at 0 too; a probability equal to an edge to 9
    decimals is on it. Undefined where `brier_score` is. Raises ValueError below one bin.
    """
    if bins < 1:
        raise ValueError(f"{bins} bins are none to sort probabilities into")
    pairs = _pairs(p, happened, weights)
    if reason := _unusable(pairs):
        return Estimate(None, len(pairs), reason)
    gaps: dict[int, list[float]] = {}
    for stated, came, w in pairs:
        place = max(1, math.ceil(round(stated * bins, _DECIMALS)))
        gaps.setdefault(place, []).append(w * (stated - came))
    total = math.fsum(abs(math.fsum(gap)) for gap in gaps.values())
    return Estimate(total / math.fsum(w for _, _, w in pairs), len(pairs))


def _pairs(p: Sequence[float | None], happened: Sequence[bool | None], weights: Sequence[float] | None) -> _Pairs:
    w = scaled_weights(weights, [1] * len(p)).tolist()
    rows = zip(p, happened, w, strict=True)
    return [(stated, came, weight) for stated, came, weight in rows if stated is not None and came is not None]


def _unusable(pairs: _Pairs) -> str | None:
    if not pairs:
        return "no pairs of a probability and an outcome"
    wrong = next((stated for stated, _, _ in pairs if not 0 <= stated <= 1), None)
    return None if wrong is None else f"{wrong!r} is no probability"
