"""Samples of unequal probability: the probabilities by hand, the draw by count, the weights by simulation."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentanvil.stats import Draw, inclusion_probabilities, successive_weights, systematic_sample

SIZES = st.lists(st.floats(1e-6, 1e6), min_size=1, max_size=40)


@pytest.mark.parametrize(
    ("sizes", "n", "expected"),
    [
        pytest.param([1, 1, 1, 1], 2, [0.5, 0.5, 0.5, 0.5], id="even"),
        pytest.param([1, 2, 3, 4], 1, [0.1, 0.2, 0.3, 0.4], id="in-proportion"),
        # 3 · 100 / 104 is above 1, so the first row is certain and the others share the two that are left.
        pytest.param([100, 1, 1, 2], 3, [1, 0.5, 0.5, 1], id="two-certain-in-turn"),
        pytest.param([100, 1, 1, 1, 1], 3, [1, 0.5, 0.5, 0.5, 0.5], id="one-certain"),
        pytest.param([3, 1], 2, [1, 1], id="all"),
        pytest.param([3, 1], 9, [1, 1], id="more-than-there-are"),
    ],
)
def test_probabilities_by_hand(sizes: list[float], n: int, expected: list[float]) -> None:
    assert inclusion_probabilities(sizes, n) == pytest.approx(np.array(expected))


@given(SIZES, st.integers(1, 45))
def test_probabilities_sum_to_the_sample_and_rise_with_size(sizes: list[float], n: int) -> None:
    found = inclusion_probabilities(sizes, n)
    assert float(found.sum()) == pytest.approx(min(n, len(sizes)))
    assert ((found > 0) & (found <= 1)).all()
    order = np.argsort(sizes)
    assert (np.diff(found[order]) >= -1e-12).all()
    assert inclusion_probabilities(np.array(sizes) * 7.5, n) == pytest.approx(found)


@given(SIZES, st.integers(1, 45), st.integers(0, 2**63 - 1))
def test_a_sample_has_its_size_and_no_row_twice(sizes: list[float], n: int, seed: int) -> None:
    probabilities = inclusion_probabilities(sizes, n)
    drawn = systematic_sample(probabilities, seed)
    assert len(set(drawn.tolist())) == len(drawn) == min(n, len(sizes))
    assert set(np.flatnonzero(probabilities == 1)) <= set(drawn)
    assert (np.diff(drawn) > 0).all()
    assert systematic_sample(probabilities, seed).tolist() == drawn.tolist()


@pytest.mark.parametrize("sizes", [[1.0, 0.0], [1.0, -1.0], [1.0, math.inf], [math.nan]])
def test_a_row_that_could_never_be_drawn_is_refused(sizes: list[float]) -> None:
    with pytest.raises(ValueError, match="positive"):
        inclusion_probabilities(sizes, 1)


def test_nothing_to_draw_and_no_whole_sample_are_refused() -> None:
    with pytest.raises(ValueError, match="one row or more"):
        inclusion_probabilities([1.0], 0)
    with pytest.raises(ValueError, match="whole number"):
        systematic_sample(np.array([0.5, 0.6]), 1)


def test_every_row_is_drawn_as_often_as_its_probability_says() -> None:
    probabilities = inclusion_probabilities([1, 1, 2, 3, 5, 8, 13, 40], 4)
    draws = 4_000
    counts = np.zeros(8)
    for seed in range(draws):
        counts[systematic_sample(probabilities, seed)] += 1
    errors = np.sqrt(probabilities * (1 - probabilities) / draws)
    assert (np.abs(counts / draws - probabilities) <= 4 * errors).all()


def test_weights_by_hand() -> None:
    # Ten rows; two were labelled before. The first draw took c (1/4) and d (1/2), the second e (1/5), knowing all four.
    # Of three labels two are of the first draw: it counts 2/3. By it c stands for 4 rows and d for 2, by the second one
    # a to d for one each and e for 5.
    first = Draw({"c": 0.25, "d": 0.5}, frozenset("ab"))
    second = Draw({"e": 0.2}, frozenset("abcd"))
    found = successive_weights([first, second], frozenset("abcde"))
    assert found == pytest.approx({"a": 1, "b": 1, "c": 8 / 3 + 1 / 3, "d": 4 / 3 + 1 / 3, "e": 5 / 3})


def test_one_draw_weighs_by_its_probabilities_alone() -> None:
    assert successive_weights([Draw({"a": 0.5, "b": 0.1})], frozenset("ab")) == pytest.approx({"a": 2, "b": 10})


def test_rows_left_empty_are_stood_for_by_the_others_and_draws_without_labels_do_not_count() -> None:
    draws = [Draw({"a": 0.5, "b": 0.1, "c": 0.5}), Draw({"d": 0.1})]
    assert successive_weights(draws, frozenset("ac")) == pytest.approx({"a": 3, "c": 3})
    assert successive_weights(draws, frozenset()) == {}


def test_what_no_draw_knew_has_no_weight() -> None:
    assert successive_weights([Draw({"a": 0.5})], frozenset("az")).keys() == {"a"}


def test_two_draws_side_by_side_count_both() -> None:
    # The row a is in both, neither of which knew of the other: half of 1/.5 by the first, half of 1/.25 by the second.
    found = successive_weights([Draw({"a": 0.5}), Draw({"a": 0.25})], frozenset("a"))
    assert found == pytest.approx({"a": 3})


def test_weighted_totals_are_unbiased_over_draws_that_follow_what_was_labelled_before() -> None:
    # The second and third draw prefer rows like those whose labels were high before: the worst that a choice can do to
    # an estimate. The plain mean of the labels shows that it is not harmless.
    rng = np.random.default_rng(11)
    rows = 120
    kind = rng.integers(0, 4, rows)
    truth = kind + rng.normal(0, 0.5, rows)
    names = [str(row) for row in range(rows)]
    totals, ratios, plain = [], [], []
    for seed in range(500):
        draws: list[Draw] = []
        known: set[str] = set()
        liking = np.ones(rows)
        for step, n in enumerate((8, 14, 10)):
            left = np.array([row for row in range(rows) if names[row] not in known])
            probabilities = inclusion_probabilities(0.4 / len(left) + 0.6 * liking[left] / liking[left].sum(), n)
            drawn = systematic_sample(probabilities, 10 * seed + step)
            draws.append(Draw({names[left[at]]: probabilities[at] for at in drawn}, frozenset(known)))
            known |= draws[-1].probabilities.keys()
            labelled = [int(name) for name in known]
            liking = np.array([0.01 + max(0.0, truth[labelled][kind[labelled] == k].sum()) for k in range(4)])[kind]
        weights = successive_weights(draws, known)
        total = sum(weight * truth[int(name)] for name, weight in weights.items())
        totals.append(total / rows)
        ratios.append(total / sum(weights.values()))
        plain.append(truth[[int(name) for name in known]].mean())
    error = np.std(totals) / math.sqrt(len(totals))
    assert abs(np.mean(totals) - truth.mean()) <= 3 * error
    assert abs(np.mean(ratios) - truth.mean()) <= 3 * np.std(ratios) / math.sqrt(len(ratios)) + 0.01
    assert np.mean(plain) - truth.mean() > 0.2
