"""How often a total at least as far out comes about when every addend's sign is the toss of a coin.

Three ways to the same number: all flips one by one for few addends; the distribution of the sum, by its characteristic
function, where the addends are multiples of one step; signs drawn at random for anything else.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Tail = Literal["two-sided", "greater", "less"]

_MAX_ENUMERATED = 18
_MAX_DENOMINATOR = 10_000
# A distribution of four million sums takes half a second.
_MAX_SPAN = 2_000_000
# Sums that are equal in exact arithmetic differ by rounding, relative to the size of the addends.
_EQUAL = 1e-12
# The transform's rounding: a smaller p-value would be noise.
_SMALLEST = 1e-12
_MOST_DRAWS = 9_999
_FEWEST_DRAWS = 999
_DRAWN_SIGNS = 100_000_000
_CHUNK = 4_000_000


@dataclass(frozen=True, slots=True)
class FlipTail:
    """A tail's probability, and its Monte Carlo error where it was drawn."""

    p_value: float
    method: str
    standard_error: float | None = None


def flip_tail(addends: Mapping[float, int], alternative: Tail, seed: int) -> FlipTail:
    """Return the share of sign flips whose total is at least as far out as that of the signed `addends`.

    `addends[v]` says how many are v; none is 0. Without any, every flip is the same: 1.
    """
    sizes: Counter[float] = Counter()
    for value, times in addends.items():
        sizes[abs(value)] += times
    n = sum(sizes.values())
    if n <= _MAX_ENUMERATED:
        return FlipTail(_enumerated(sizes, _total(addends), alternative), "exact sign flips")
    lattice = _steps(sizes)
    if lattice is not None:
        step, multiples = lattice
        units = sum(round(value / step) * times for value, times in addends.items())
        p_value = _of_sums(multiples, units, alternative)
        return FlipTail(min(1.0, max(p_value, _SMALLEST)), "exact sign flips")
    return _drawn(sizes, _total(addends), alternative, seed)


def _total(addends: Mapping[float, int]) -> float:
    return math.fsum(value * times for value, times in addends.items())


def _reached(totals: Floats, observed: float, alternative: Tail, slack: float) -> int:
    """Count the totals that are at least as far out as the observed one."""
    if alternative == "greater":
        return int(np.count_nonzero(totals >= observed - slack))
    if alternative == "less":
        return int(np.count_nonzero(totals <= observed + slack))
    return int(np.count_nonzero(np.abs(totals) >= abs(observed) - slack))


def _slack(sizes: Mapping[float, int]) -> float:
    return _EQUAL * math.fsum(size * times for size, times in sizes.items())


def _enumerated(sizes: Mapping[float, int], observed: float, alternative: Tail) -> float:
    totals = np.zeros(1)
    for size in sorted(Counter(sizes).elements()):
        totals = np.concatenate([totals + size, totals - size])
    return _reached(totals, observed, alternative, _slack(sizes)) / len(totals)


def _steps(sizes: Mapping[float, int]) -> tuple[float, dict[int, int]] | None:
    """Return the largest step that every size is a multiple of and how often each multiple occurs, None without one."""
    denominator = 1
    tolerance = _EQUAL * max(sizes)
    found: list[tuple[Fraction, int]] = []
    for size, times in sizes.items():
        fraction = Fraction(size).limit_denominator(_MAX_DENOMINATOR)
        if not fraction or abs(float(fraction) - size) > tolerance:
            return None
        denominator = math.lcm(denominator, fraction.denominator)
        if denominator > _MAX_SPAN:
            return None
        found.append((fraction, times))
    counts: Counter[int] = Counter()
    for fraction, times in found:
        counts[int(fraction * denominator)] += times
    common = math.gcd(*counts)
    multiples = {value // common: times for value, times in counts.items()}
    if sum(value * times for value, times in multiples.items()) > _MAX_SPAN:
        return None
    return common / denominator, multiples


def _of_sums(multiples: Mapping[int, int], observed: int, alternative: Tail) -> float:
    """Return the tail from the distribution of Σ ± v, the inverse transform of Π cos(v t)^times."""
    span = sum(value * times for value, times in multiples.items())
    length = 1 << (2 * span + 1).bit_length()
    frequencies = np.arange(length // 2 + 1)
    logs = np.zeros(len(frequencies))
    odd = np.zeros(len(frequencies), dtype=bool)
    for value, times in sorted(multiples.items()):
        # Whole turns are taken off exactly, in integers, and ln |cos| from the sine, which is exact near 0.
        turns = (frequencies * value) % length
        sines = np.sin(turns * (2 * math.pi / length)) ** 2
        with np.errstate(divide="ignore"):
            logs += times / 2 * np.log1p(-np.minimum(sines, 1.0))
        if times % 2:
            odd ^= (4 * turns > length) & (4 * turns < 3 * length)
    masses = np.fft.irfft(np.where(odd, -1.0, 1.0) * np.exp(logs), length)
    upper = masses[max(abs(observed), 1) if alternative == "two-sided" else 0 : span + 1]
    if alternative == "two-sided":
        return 1.0 if observed == 0 else 2 * float(upper.sum())
    bound = observed if alternative == "greater" else -observed  # the distribution is even
    if bound > 0:
        return float(masses[bound : span + 1].sum())
    return 1 - float(masses[1 - bound : span + 1].sum())


def _drawn(sizes: Mapping[float, int], observed: float, alternative: Tail, seed: int) -> FlipTail:
    values = np.array(sorted(Counter(sizes).elements()))
    draws = int(min(_MOST_DRAWS, max(_FEWEST_DRAWS, _DRAWN_SIGNS // len(values))))
    rng = np.random.default_rng(seed)
    width = math.ceil(len(values) / 8)
    rows = max(1, _CHUNK // len(values))
    hits, slack = 0, _slack(sizes)
    for start in range(0, draws, rows):
        size = min(rows, draws - start)
        bits = np.unpackbits(rng.integers(0, 256, size=(size, width), dtype=np.uint8), axis=1, count=len(values))
        totals = 2 * (bits.astype(np.float64) @ values) - values.sum()
        hits += _reached(totals, observed, alternative, slack)
    p_value = (1 + hits) / (1 + draws)
    error = math.sqrt(p_value * (1 - p_value) / draws)
    return FlipTail(p_value, f"sign flips, {draws:,} drawn", error)
