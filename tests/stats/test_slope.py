"""Slopes with clustered errors, by hand and in simulation."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentanvil.stats import clustered_slope

NUMBERS = st.integers(-5, 5).map(float)
ROWS = st.lists(st.tuples(NUMBERS, NUMBERS, NUMBERS, st.integers(0, 6)), min_size=6, max_size=20)


def test_two_groups_by_hand() -> None:
    # Means 1 and 3: slope 2. Residuals −1, 1, −2, 2 times x − 1/2 = ∓1/2: squares 1/4 + 1/4 + 1 + 1 = 5/2, over
    # Σ(x − x̄)² = 1.
    # CR1: 4/3 · 3/2 = 2, so the variance is 5. t = 2/√5 with 3 degrees of freedom; t(0.975, 3) = 3.182446.
    found = clustered_slope([0, 2, 1, 5], [0, 0, 1, 1], clusters=[0, 1, 2, 3])
    assert found.estimate.value == pytest.approx(2)
    assert found.standard_error == pytest.approx(math.sqrt(5))
    assert found.interval.low == pytest.approx(2 - 3.182446 * math.sqrt(5), abs=1e-5)
    # The distribution function of t with 3 degrees of freedom, in closed form.
    t = 2 / math.sqrt(5)
    tail = 0.5 - (math.atan(t / math.sqrt(3)) + t / math.sqrt(3) / (1 + t * t / 3)) / math.pi
    assert found.p_value == pytest.approx(2 * tail)


def test_rows_of_one_cluster_are_one_piece_of_news() -> None:
    x, y = [0.0, 0, 1, 1, 2, 2], [0.0, 1, 1, 3, 2, 1]
    alone = clustered_slope(y, x, clusters=range(6))
    doubled = clustered_slope(y * 2, x * 2, clusters=[*range(6), *range(6)])
    assert doubled.estimate.value == pytest.approx(alone.estimate.value)
    # The sums over clusters are twice as large and so is Σ(x−x̄)²; only the correction for n differs: 11/10 against 5/4.
    assert alone.standard_error is not None
    assert doubled.standard_error == pytest.approx(alone.standard_error * math.sqrt(1.1 / 1.25))


def test_a_control_takes_what_it_explains() -> None:
    label, length = [1.0, 2, 3, 4, 5, 5], [1.0, 2, 2, 4, 4, 6]
    found = clustered_slope(label, length, [label], clusters=range(6))
    assert (found.estimate.value, found.standard_error, found.p_value) == (0.0, 0.0, 1.0)
    biased = [score + 0.5 * size for score, size in zip(label, length, strict=True)]
    assert clustered_slope(biased, length, [label], clusters=range(6)).estimate.value == pytest.approx(0.5)


@pytest.mark.parametrize(
    ("x", "controls", "clusters", "reason"),
    [
        ([1.0] * 6, [], range(6), "constant"),
        ([1.0, 2, 3, 4, 5, 6], [[2.0, 4, 6, 8, 10, 12]], range(6), "follows from the controls"),
        ([1.0, 2, 3, 4, 5, 6], [], [0, 0, 0, 1, 1, 1], "fewer than 3 clusters"),
    ],
)
def test_what_cannot_be_told_says_why(
    x: list[float], controls: list[list[float]], clusters: list[int], reason: str
) -> None:
    found = clustered_slope([1.0, 2, 2, 3, 5, 4], x, controls, clusters=clusters)
    assert found.estimate.value is found.standard_error is found.p_value is found.interval.low is None
    assert reason in (found.estimate.reason or "")


def test_no_rows() -> None:
    assert clustered_slope([], [], clusters=[]).estimate.n == 0


@given(ROWS, st.randoms(use_true_random=False))
def test_order_and_names_of_clusters_do_not_matter(rows: list[tuple[float, float, float, int]], rng: object) -> None:
    def slope(given_rows: list[tuple[float, float, float, int]], shift: int) -> object:
        y, x, z, cluster = zip(*given_rows, strict=True)
        return clustered_slope(y, x, [z], clusters=[c * 7 + shift for c in cluster])

    shuffled = list(rows)
    rng.shuffle(shuffled)  # type: ignore[attr-defined]
    assert slope(rows, 0) == slope(shuffled, 3)


def test_no_effect_is_found_about_as_often_as_promised() -> None:
    rng = np.random.default_rng(11)
    found = 0
    for _ in range(400):
        group = np.repeat(np.arange(25), 2)
        shared = np.repeat(rng.normal(size=25), 2)
        x = np.repeat(rng.normal(size=25), 2)
        p_value = clustered_slope(list(shared + rng.normal(size=50)), list(x), clusters=list(group)).p_value
        found += p_value is not None and p_value < 0.05
    assert found / 400 < 0.09
