"""The interval of a measure of agreement from leaving out one item at a time."""

from __future__ import annotations

import math

import numpy as np
import pytest

from agentanvil.stats import alpha_features, alphas_of_sums, jackknife_interval, krippendorff_alpha
from agentanvil.stats.jackknife import Floats

UNITS = [[1.0, 1.0, 2.0], [3.0, 3.0], [5.0, 4.0, 5.0], [2.0, 1.0, 2.0], [4.0, 4.0], [3.0, 5.0, 4.0]]
SCALE = [1.0, 2.0, 3.0, 4.0, 5.0]


def ordinal(sums: Floats) -> Floats:
    return alphas_of_sums(sums, "ordinal")


def test_alpha_by_hand() -> None:
    # Alpha of five of the six items, six times; t with 5 degrees of freedom is 2.570582.
    z = [math.atanh(alpha(UNITS[:place] + UNITS[place + 1 :])) for place in range(6)]
    error = math.sqrt(5 / 6 * sum((each - sum(z) / 6) ** 2 for each in z))
    centre = math.atanh(alpha(UNITS))
    found = jackknife_interval([alpha_features([unit], SCALE, "ordinal") for unit in UNITS], [1] * 6, ordinal)
    assert found.low == pytest.approx(math.tanh(centre - 2.570582 * error), abs=1e-6)
    assert found.high == pytest.approx(math.tanh(centre + 2.570582 * error), abs=1e-6)
    assert found.method == "jackknife, Fisher z, t"


def test_items_that_are_alike_may_be_counted() -> None:
    features = [alpha_features([unit], SCALE, "ordinal") for unit in UNITS]
    once = jackknife_interval(features * 3, [1] * 18, ordinal, level=0.9)
    counted = jackknife_interval(features, [3] * 6, ordinal, level=0.9)
    assert (once.low, once.high) == (pytest.approx(counted.low), pytest.approx(counted.high))


@pytest.mark.parametrize(
    ("units", "says"),
    [
        ([[1.0, 1.0]], "fewer than two items"),
        ([[1.0, 1.0]] * 3, "itself is undefined"),
        ([[1.0, 1.0], [1.0, 1.0], [2.0, 1.0]], "without one item"),
        ([[1.0, 1.0], [1.0, 1.0], [2.0, 2.0], [2.0, 2.0]], "no spread"),
    ],
)
def test_what_has_no_interval_says_why(units: list[list[float]], says: str) -> None:
    features = [alpha_features([unit], SCALE, "ordinal") for unit in units]
    found = jackknife_interval(features, [1] * len(units), ordinal)
    assert found.low is None
    assert says in (found.reason or "")


def test_many_kinds_of_items_are_left_out_in_parts() -> None:
    draw = np.random.default_rng(1)
    rows = [tuple(row) for row in draw.random((5_000, 500))]

    def share(sums: Floats) -> Floats:
        assert len(sums) <= 4_000
        return np.asarray(sums[:, 0] / sums.sum(axis=1) * 100, dtype=np.float64)

    assert jackknife_interval(rows, [1] * 5_000, share).low is not None


def alpha(units: list[list[float]]) -> float:
    ratings = [[unit[rater] if rater < len(unit) else None for unit in units] for rater in range(3)]
    value = krippendorff_alpha(ratings, "ordinal").value
    assert value is not None
    return value
