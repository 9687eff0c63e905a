"""Drawing rows with known, unequal probabilities, more than once, and the weights that undo it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field

import numpy as np

from agentanvil.stats.resample import Floats, Ints

# A probability this near to one is one: what is left of it is rounding.
_CERTAIN = 1 - 1e-9


def inclusion_probabilities(sizes: Sequence[float] | Floats, n: int) -> Floats:
    """Return with which probability each of M rows is to be drawn, so that n are: in proportion to its size, at most 1.

    Rows whose share would be above one are certain, and the others share what is left (Särndal, Swensson and Wretman
    1992, 3.6.2). They sum to n; where n is M or more every row is certain. Raises ValueError for sizes that are not
    positive and finite, and for n below 1.
    """
    given = np.asarray(sizes, dtype=np.float64)
    if n < 1 or not np.all(np.isfinite(given) & (given > 0)):
        raise ValueError("sizes must be positive and finite, and one row or more be drawn")
    if n >= len(given):
        return np.ones(len(given))
    order = np.argsort(-given, kind="stable")
    descending = given[order] / given.max()
    rest = np.cumsum(descending[::-1])[::-1]
    # The first k rows are certain, for the least k that leaves none of the others above one.
    taken = np.arange(n)
    certain = int(np.argmax(descending[:n] * (n - taken) <= rest[:n]))
    found = np.ones(len(given))
    found[certain:] = np.minimum(descending[certain:] * ((n - certain) / rest[certain]), 1.0)
    probabilities = np.empty(len(given))
    probabilities[order] = found
    return probabilities


def systematic_sample(probabilities: Floats, seed: int) -> Ints:
    """Return the indices of the rows drawn, ascending: each with just its probability, and so many as these sum to.

    The rows are laid end to end in random order, each as long as its probability, and one random start is marked off at
    every whole step (Madow 1949). Raises ValueError where the probabilities do not sum to a whole number.
    """
    n = round(float(probabilities.sum()))
    if not math.isclose(float(probabilities.sum()), n, abs_tol=1e-6):
        raise ValueError("the probabilities of a sample of fixed size sum to a whole number")
    rng = np.random.default_rng(seed)
    certain = np.flatnonzero(probabilities >= _CERTAIN)
    others = np.flatnonzero(probabilities < _CERTAIN)
    rng.shuffle(others)
    wanted = n - len(certain)
    if wanted <= 0:
        return np.sort(certain)
    ends = np.cumsum(probabilities[others])
    ends *= wanted / ends[-1]
    marks = np.arange(wanted) + rng.random()
    # The last end may have been rounded to below the last mark.
    places = np.minimum(np.searchsorted(ends, marks, side="right"), len(others) - 1)
    return np.sort(np.concatenate([certain, others[places]]))


@dataclass(frozen=True, slots=True)
class Draw:
    """One sample. `known` are the rows whose labels were there before it and which it left out.

    `probabilities` are those of the rows that it drew.
    """

    probabilities: Mapping[str, float]
    known: AbstractSet[str] = field(default_factory=frozenset)


def successive_weights(draws: Sequence[Draw], labelled: AbstractSet[str]) -> dict[str, float]:
    """Return the sampling weight of every labelled row that some draw knew or drew; they sum to about all rows.

    Each draw alone estimates the total over all rows: the rows it knew, plus those it drew at one over their
    probability. That is unbiased whatever decided on the probabilities, earlier labels included; so is the mean of the
    draws, each counted by how many of its rows have a label (the difference estimator of active testing, Farquhar, Gal
    and Rainforth 2021, with a batch in place of a single row). A draw's rows without a label are taken to lack it by
    chance, and the others stand for them.
    """
    answered = [sum(row in labelled for row in draw.probabilities) for draw in draws]
    every = sum(answered)
    weights: dict[str, float] = {}
    for draw, many in zip(draws, answered, strict=True):
        if not many:
            continue
        share = many / every
        for row in draw.known & labelled:
            weights[row] = weights.get(row, 0.0) + share
        for row, probability in draw.probabilities.items():
            if row in labelled:
                stands_for = len(draw.probabilities) / many / probability
                weights[row] = weights.get(row, 0.0) + share * stands_for
    return weights
