"""What a judge's probabilities over the values on offer come to: the expected value, its entropy, and the mass seen.

With p_k the probability of value v_k, n values on offer and m = sum(p_k):

    q_k = p_k / m        expected = sum(q_k * v_k)        entropy = -sum(q_k * ln q_k) / ln n

Entropy is Shannon's, divided by that of n equally likely values (Pielou's evenness, 1966): 0 where one value holds all
of the mass, 1 where every value holds the same.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Reading:
    """`expected` lies between the smallest and the largest value, `entropy` in 0..1, `mass` in (0, 1].

    `mass` is what the values hold of all probability before it is shared out; what is missing from 1 lay elsewhere.
    """

    expected: float
    entropy: float
    mass: float


def read_distribution(values: Sequence[float], probabilities: Sequence[float]) -> Reading | None:
    """Return the reading of `probabilities`, one for each of `values`; they need not add up to 1.

    None where they tell nothing: one of them is no finite number or below zero, or they add up to zero. A sum above 1,
    as rounding brings it, is a mass of 1. Raises ValueError where there are not as many of the one as of the other.
    """
    pairs = list(zip(values, probabilities, strict=True))
    if not all(math.isfinite(p) and p >= 0 for p in probabilities):
        return None
    mass = math.fsum(probabilities)
    if not 0 < mass < math.inf:
        return None
    expected = math.fsum(value * (p / mass) for value, p in pairs)
    shares = [p / mass for p in probabilities if p / mass > 0]
    entropy = -math.fsum(q * math.log(q) for q in shares) / math.log(len(pairs)) if len(pairs) > 1 else 0.0
    within = min(max(expected, min(values)), max(values))
    return Reading(within, min(max(entropy, 0.0), 1.0), min(mass, 1.0))
