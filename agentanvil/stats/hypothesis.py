"""Paired tests: is a difference between two readings of the same items more than chance would bring?

The sign-flip test (Fisher 1935) asks how often a total as large as the observed one comes about when every pair's
difference keeps its size and takes its sign by the toss of a coin. Wilcoxon's test (1945) is the same on signed ranks,
McNemar's (1947) the same on differences of −1 and 1.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from agentanvil.stats.binomial import beta_share
from agentanvil.stats.sign_flips import Tail, flip_tail

ZeroMethod = Literal["wilcox", "pratt"]
_DIGITS = 13


@dataclass(frozen=True, slots=True)
class SignificanceTest:
    """A test of `n` pairs. `p_value` is None exactly when `reason` says why.

    `standard_error` is the Monte Carlo error of a p-value that was drawn, None for an exact or asymptotic one.
    """

    statistic: float | None
    p_value: float | None
    n: int
    method: str
    reason: str | None = None
    standard_error: float | None = None


def paired_differences(x: Sequence[float | None], y: Sequence[float | None]) -> list[float]:
    """Return x − y of the pairs of which neither is missing. Raises ValueError for unequal lengths."""
    return [one - other for one, other in zip(x, y, strict=True) if one is not None and other is not None]


def paired_permutation_test(
    differences: Sequence[float],
    multiplicity: Sequence[int] | None = None,
    *,
    alternative: Tail = "two-sided",
    seed: int,
) -> SignificanceTest:
    """Test whether the mean difference is 0 by flipping signs; `multiplicity[i]` pairs differ by `differences[i]`.

    All 2^n flips count, the identity among them: by enumeration for few pairs, by the distribution of their sums where
    the differences are multiples of one step. Else signs are drawn, and p = (1 + hits) / (1 + draws), which is never 0
    (Phipson and Smyth 2010). An exact p below 1e-12 is told as 1e-12. Pairs without a difference change nothing but n.
    """
    counts = _counted(differences, multiplicity)
    n = sum(counts.values())
    if n == 0:
        return SignificanceTest(None, None, 0, "exact sign flips", "no pairs")
    tail = flip_tail({value: times for value, times in counts.items() if value}, alternative, seed)
    mean = math.fsum(value * times for value, times in counts.items()) / n
    return SignificanceTest(mean, tail.p_value, n, tail.method, None, tail.standard_error)


def wilcoxon_signed_rank(
    differences: Sequence[float],
    *,
    zero_method: ZeroMethod = "wilcox",
    asymptotic: bool = False,
    correction: bool = False,
    alternative: Tail = "two-sided",
    seed: int,
) -> SignificanceTest:
    """Test whether the differences lie evenly around 0 by the ranks of their sizes; equal sizes share their mean rank.

    Exactly, by flipping the signs of those ranks, so that ties are no trouble; with `asymptotic` by the normal
    approximation with the variance corrected for ties, `correction` being the half unit for continuity. Zeros are
    dropped before ranking (`wilcox`) or after it (`pratt`, 1959). The statistic is the smaller rank sum, and that of
    the positive differences in a one-sided test.
    """
    counts = _counted(differences, None)
    n = sum(counts.values())
    method = "wilcoxon signed ranks, " + ("normal approximation" if asymptotic else "exact")
    if not counts.keys() - {0}:
        return SignificanceTest(None, None, n, method, "all differences are zero" if n else "no pairs")
    zeros = counts.get(0, 0)
    ranks, sizes = _ranks(counts, zeros if zero_method == "pratt" else 0)
    positive = math.fsum(ranks[abs(value)] * times for value, times in counts.items() if value > 0)
    negative = math.fsum(ranks[abs(value)] * times for value, times in counts.items() if value < 0)
    statistic = min(positive, negative) if alternative == "two-sided" else positive
    if asymptotic:
        ranked = n - zeros + (zeros if zero_method == "pratt" else 0)
        left_out = zeros if zero_method == "pratt" else 0
        p_value = _rank_tail(positive, _RankSums.of(ranked, left_out, sizes), correction, alternative)
        return SignificanceTest(statistic, p_value, n, method)
    signed: Counter[float] = Counter()
    for value, times in counts.items():
        if value:
            signed[math.copysign(ranks[abs(value)], value)] += times
    tail = flip_tail(signed, alternative, seed)
    if tail.standard_error is not None:
        method = f"wilcoxon signed ranks, {tail.method}"
    return SignificanceTest(statistic, tail.p_value, n, method, None, tail.standard_error)


def discordant(x: Sequence[float | None], y: Sequence[float | None]) -> tuple[int, int]:
    """Return how many pairs are true in `x` alone and in `y` alone; pairs with a missing side are left out."""
    pairs = [(one, other) for one, other in zip(x, y, strict=True) if one is not None and other is not None]
    return sum(bool(one and not other) for one, other in pairs), sum(bool(other and not one) for one, other in pairs)


def mcnemar_exact(b: int, c: int) -> SignificanceTest:
    """Return McNemar's exact test of `b` pairs true on one side alone against `c` true on the other alone.

    p = min(1, 2 P(X <= min(b, c))) with X binomial, one half of b + c. Without any such pair it is 1.
    """
    n, low = b + c, min(b, c)
    p_value = 1.0 if b == c else min(1.0, 2 * beta_share(0.5, n - low, low + 1))
    return SignificanceTest(float(low), p_value, n, "mcnemar exact")


def mcnemar_midp(b: int, c: int) -> SignificanceTest:
    """Return McNemar's mid-p test: 2 P(X < m) + P(X = m) with m = min(b, c), 1 where b = c (Fagerland et al. 2013).

    Less conservative than the exact test, without its guarantee.
    """
    n, low = b + c, min(b, c)
    if b == c:
        return SignificanceTest(float(low), 1.0, n, "mcnemar mid-p")
    below = beta_share(0.5, n - low + 1, low) if low else 0.0
    ways = math.lgamma(n + 1) - math.lgamma(low + 1) - math.lgamma(n - low + 1)
    return SignificanceTest(float(low), min(1.0, 2 * below + math.exp(ways - n * math.log(2))), n, "mcnemar mid-p")


def _counted(differences: Sequence[float], multiplicity: Sequence[int] | None) -> Counter[float]:
    """Count the differences; those that rounding alone tells apart are one."""
    times = [1] * len(differences) if multiplicity is None else multiplicity
    largest = max((abs(value) for value in differences), default=0.0)
    decimals = _DIGITS - math.ceil(math.log10(largest)) if largest else 0
    counts: Counter[float] = Counter()
    for value, count in zip(differences, times, strict=True):
        if count:
            counts[round(value, decimals) + 0.0] += count
    return counts


def _ranks(counts: Mapping[float, int], below: int) -> tuple[dict[float, float], list[int]]:
    """Return the mean rank of each size of difference, `below` of them ranked lower, and how many share each."""
    shared: Counter[float] = Counter()
    for value, times in counts.items():
        if value:
            shared[abs(value)] += times
    ranks: dict[float, float] = {}
    for size in sorted(shared):
        ranks[size] = below + (shared[size] + 1) / 2
        below += shared[size]
    return ranks, list(shared.values())


@dataclass(frozen=True, slots=True)
class _RankSums:
    """Mean and standard deviation of the rank sum of the positive differences when signs are tossed."""

    mean: float
    sd: float

    @classmethod
    def of(cls, ranked: int, left_out: int, sizes: Sequence[int]) -> _RankSums:
        mean = (ranked * (ranked + 1) - left_out * (left_out + 1)) / 4
        squares = ranked * (ranked + 1) * (2 * ranked + 1) - left_out * (left_out + 1) * (2 * left_out + 1)
        return cls(mean, math.sqrt((squares - sum(size**3 - size for size in sizes) / 2) / 24))


def _rank_tail(positive: float, under: _RankSums, correction: bool, alternative: Tail) -> float:
    off = positive - under.mean
    towards = {"two-sided": float((off > 0) - (off < 0)), "greater": 1.0, "less": -1.0}[alternative]
    z = (off - (towards / 2 if correction else 0)) / under.sd
    upper = math.erfc(z / math.sqrt(2)) / 2
    if alternative == "two-sided":
        return min(1.0, math.erfc(abs(z) / math.sqrt(2)))
    return upper if alternative == "greater" else math.erfc(-z / math.sqrt(2)) / 2
