"""Sampling weights: what a measure is over all items, from items drawn with unequal probabilities."""

from __future__ import annotations

import math
import random
import warnings
from collections.abc import Callable, Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentanvil.stats import (
    Estimate,
    Interval,
    alpha_features,
    alpha_of_features,
    alphas_of_sums,
    association_interval,
    association_of_items,
    brier_score,
    clopper_pearson_interval,
    cluster_bootstrap_mean,
    confusion_of_items,
    expected_calibration_error,
    fleiss_kappa,
    inclusion_probabilities,
    jackknife_interval,
    kappa_features,
    kappa_items_interval,
    kappa_of_features,
    macro_f1_interval,
    mean_error,
    mean_error_interval,
    mean_of_drawn,
    mirrored_bootstrap_mean,
    systematic_sample,
)
from agentanvil.stats.weighting import effective_items, scaled_weights

SCALE = (1.0, 2.0, 3.0, 4.0, 5.0)
Items = Sequence[Sequence[tuple[float, float]]]
Weights = Sequence[float] | None


def kappa(items: Items, times: Sequence[int], weights: Weights) -> Estimate:
    return kappa_of_features([kappa_features(i, SCALE, quadratic=True) for i in items], times, weights, quadratic=True)


def plain_kappa(items: Items, times: Sequence[int], weights: Weights) -> Estimate:
    each = [kappa_features(item, SCALE, quadratic=False) for item in items]
    return kappa_of_features(each, times, weights, quadratic=False)


ESTIMATES: dict[str, Callable[[Items, Sequence[int], Weights], Estimate]] = {
    "kappa": kappa,
    "plain kappa": plain_kappa,
    "pearson": lambda items, times, w: association_of_items(items, "pearson", times, w),
    "spearman": lambda items, times, w: association_of_items(items, "spearman", times, w),
    "kendall": lambda items, times, w: association_of_items(items, "kendall_tau_b", times, w),
    "mae": lambda items, times, w: mean_error(items, "mean_absolute_error", times, w),
    "bias": lambda items, times, w: mean_error(items, "signed_bias", times, w),
    "accuracy": lambda items, times, w: confusion_of_items(items, SCALE, times, w).accuracy,
    "macro F1": lambda items, times, w: confusion_of_items(items, SCALE, times, w).macro_f1,
}

INTERVALS: dict[str, Callable[[Items, Sequence[int], Weights], Interval]] = {
    "kappa": lambda items, times, w: kappa_items_interval(items, SCALE, times, w, quadratic=True),
    "plain kappa": lambda items, times, w: kappa_items_interval(items, SCALE, times, w, quadratic=False),
    "pearson": lambda items, times, w: association_interval(items, "pearson", times, w),
    "spearman": lambda items, times, w: association_interval(items, "spearman", times, w),
    "kendall": lambda items, times, w: association_interval(items, "kendall_tau_b", times, w),
    "mae": lambda items, times, w: mean_error_interval(items, "mean_absolute_error", times, w, seed=1, resamples=200),
    "macro F1": lambda items, times, w: macro_f1_interval(items, SCALE, times, w, seed=1),
    "alpha": lambda items, times, w: jackknife_interval(
        [alpha_features(item, SCALE, "interval") for item in items],
        times,
        lambda sums: alphas_of_sums(sums, "interval"),
        w,
    ),
    "bootstrap": lambda items, times, w: cluster_bootstrap_mean(
        [[x - y for x, y in item or [(0, 0)]] for item in items], times, weights=w, seed=1, resamples=200
    ),
    "mirrored": lambda items, times, w: mirrored_bootstrap_mean(
        [[x - y for x, y in item or [(0, 0)]] for item in items], times, weights=w, seed=1, resamples=200
    ),
}


def test_weights_average_one_and_their_effective_number_is_kishs() -> None:
    # 1 + 1 + 4 over three items averages 2; (1 + 1 + 4)² / (1 + 1 + 16) = 2
    scaled = scaled_weights([1, 4], [2, 1])
    assert scaled.tolist() == [0.5, 2.0]
    assert effective_items(scaled, [2, 1]) == pytest.approx(2)
    assert scaled_weights([3.7, 3.7], [2, 5]).tolist() == [1, 1]
    assert effective_items(np.ones(2), [2, 5]) == 7


def test_a_weighted_mean_by_hand() -> None:
    # (1 · 0 + 1 · 0 + 4 · 1) / 6
    found = mean_of_drawn([0, 1], [2, 1], [1, 4])
    assert found.value == pytest.approx(2 / 3)
    assert found.n == 3
    assert mean_of_drawn([0, 1], [2, 1], None) == Estimate(1 / 3, 3)
    assert mean_of_drawn([], [], []).reason == "no values"


def test_a_weighted_kappa_by_hand() -> None:
    # Weights 3 on 1:1, 1 on 1:2 and 2 on 2:2. Agreement 5/6; by chance (4/6 · 3/6) + (2/6 · 3/6) = 1/2; 1/3 / 1/2.
    items = [[(1.0, 1.0)], [(1.0, 2.0)], [(2.0, 2.0)]]
    found = plain_kappa(items, [1, 1, 1], [3, 1, 2])
    assert found.value == pytest.approx(2 / 3)
    assert found.n == 3


def test_a_confusion_counts_items_by_their_weight_and_sums_to_their_number() -> None:
    found = confusion_of_items([[("a", "a")], [("b", "a")]], ["a", "b"], [2, 1], [1, 4])
    assert found.table == ((1.0, 2.0, 0), (0, 0, 0), (0, 0, 0))
    assert found.accuracy.value == pytest.approx(1 / 3)
    assert found.accuracy.n == 3


def test_probabilities_and_raters_by_hand() -> None:
    # errors .01 and .25, weights 1 and 3
    p, came = [0.9, 0.5, None], [True, False, True]
    brier = brier_score(p, came, [1, 3, 9])
    assert brier.value == pytest.approx((0.01 + 3 * 0.25) / 4)
    assert brier.n == 2
    assert expected_calibration_error(p, came, weights=[1, 3, 9]).value == pytest.approx((0.1 + 3 * 0.5) / 4)
    assert fleiss_kappa([[2, 0], [1, 1]], [1, 3]).value == pytest.approx(
        fleiss_kappa([[2, 0], [1, 1], [1, 1], [1, 1]]).value or 0
    )
    alpha = [alpha_features([unit], [1, 2], "nominal") for unit in ([1, 1], [1, 2], [2, 2])]
    # o: 1:1 3 · 2, 1:2 1 · 2, 2:2 2 · 2 at weights that sum to 3 items: halved. 1 − 5 · 1 / (3.5 · 2.5)
    assert alpha_of_features(alpha, [1, 1, 1], "nominal", [3, 1, 2]) == pytest.approx(1 - 5 * 1 / (2 * 3.5 * 2.5))


PAIRS = st.tuples(st.sampled_from(SCALE), st.sampled_from(SCALE))
KINDS = st.lists(st.tuples(st.lists(PAIRS, min_size=1, max_size=2), st.integers(1, 4)), min_size=1, max_size=8)


@pytest.mark.parametrize("name", ESTIMATES)
@given(kinds=st.lists(st.tuples(st.lists(PAIRS, min_size=1, max_size=2), st.integers(1, 5)), min_size=2, max_size=8))
def test_a_weighted_measure_is_that_of_items_which_occur_as_often(
    name: str, kinds: list[tuple[list[tuple[float, float]], int]]
) -> None:
    items, weights = [item for item, _ in kinds], [float(weight) for _, weight in kinds]
    found = ESTIMATES[name](items, [1] * len(items), weights)
    repeated = ESTIMATES[name](items, [weight for _, weight in kinds], None)
    assert found.n == len(items)
    if found.value is not None and repeated.value is not None:
        assert found.value == pytest.approx(repeated.value, abs=1e-9)


@pytest.mark.parametrize("name", INTERVALS)
@given(kinds=KINDS, weight=st.sampled_from([0.1, 1.0, 37.3, 1e12]))
def test_equal_weights_give_exactly_what_none_give(
    name: str, kinds: list[tuple[list[tuple[float, float]], int]], weight: float
) -> None:
    items, times = [item for item, _ in kinds], [times for _, times in kinds]
    assert INTERVALS[name](items, times, [weight] * len(items)) == INTERVALS[name](items, times, None)
    if name in ESTIMATES:
        assert ESTIMATES[name](items, times, [weight] * len(items)) == ESTIMATES[name](items, times, None)


@pytest.mark.parametrize("name", INTERVALS)
@given(
    kinds=st.lists(st.tuples(st.lists(PAIRS, max_size=2), st.integers(0, 3)), max_size=6),
    weights=st.lists(st.floats(5e-324, 1.7e308), min_size=6, max_size=6),
)
def test_weights_of_any_size_give_an_interval_around_the_estimate_or_a_reason(
    name: str, kinds: list[tuple[list[tuple[float, float]], int]], weights: list[float]
) -> None:
    items, times = [item for item, _ in kinds], [times for _, times in kinds]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = INTERVALS[name](items, times, weights[: len(items)])
        estimate = ESTIMATES.get(name, kappa)(items, times, weights[: len(items)])
    assert (found.low is None) == (found.reason is not None)
    if found.low is not None and found.high is not None:
        assert math.isfinite(found.low)
        assert found.low <= found.high
    assert (estimate.value is None) == (estimate.reason is not None)


@pytest.mark.parametrize("name", INTERVALS)
def test_unequal_weights_widen_an_interval_and_its_method_says_so(name: str) -> None:
    rng = random.Random(3)
    items = []
    for _ in range(60):
        label = rng.choice(SCALE)
        items.append([(min(5.0, max(1.0, label + rng.choice((-1, 0, 0, 1)))), label)])
    weights = [rng.choice((1.0, 8.0)) for _ in items]
    plain, weighted = INTERVALS[name](items, [1] * 60, None), INTERVALS[name](items, [1] * 60, weights)
    assert weighted.method == f"{plain.method}, sampling weights"
    assert None not in (plain.low, plain.high, weighted.low, weighted.high)
    assert (weighted.high or 0) - (weighted.low or 0) > 1.03 * ((plain.high or 0) - (plain.low or 0))


def test_one_item_with_all_the_weight_has_no_interval() -> None:
    items = [[(1.0, 1.0)], [(2.0, 2.0)], [(3.0, 2.0)], [(3.0, 4.0)], [(5.0, 4.0)]]
    for name in ("kappa", "pearson", "spearman", "alpha"):
        found = INTERVALS[name](items, [1] * 5, [1e9, 1, 1, 1, 1])
        assert found.low is None
        assert "the weight lies on one item" in (found.reason or "")


def test_few_disagreements_of_heavy_items_are_no_proof_that_there_are_no_more() -> None:
    # Thirty items of weight 20 agree throughout; of thirty of weight 1, ten differ. Margins are even but for these.
    heavy: Items = [[(1.0, 1.0)]] * 15 + [[(2.0, 2.0)]] * 15
    light: Items = [[(1.0, 1.0)]] * 10 + [[(2.0, 2.0)]] * 10 + [[(1.0, 2.0)]] * 5 + [[(2.0, 1.0)]] * 5
    found = kappa_items_interval([*heavy, *light], (1.0, 2.0), [1] * 60, [20.0] * 30 + [1.0] * 30, quadratic=False)
    # By chance half disagrees. The light disagreements are 10 of 630; of the heavy, 600 of 630, up to 1 − a(low) do.
    least = clopper_pearson_interval(30, 30).low or 0.0
    assert found.low == pytest.approx(1 - (10 / 630) / 0.5 - 600 / 630 * (1 - least) / 0.5)
    assert found.method == "jackknife, Fisher z, t, and Clopper-Pearson for few disagreements, sampling weights"


def population(of: str) -> tuple[tuple[float, ...], list[list[tuple[float, float]]], list[float]]:
    """Three thousand items with two readings each, a quarter of them hard, and how far the readings lie apart."""
    rng = random.Random(5)
    items, apart = [], []
    for _ in range(3_000):
        hard = rng.random() < 0.25
        if of == "scores":
            label = float(rng.choices((1, 2, 3, 4, 5), (1, 2, 3, 6, 8))[0])
            readings = [min(5.0, max(1.0, round(label + rng.gauss(0, 1.7 if hard else 0.4)) + 0.0)) for _ in range(2)]
        else:
            label = float(rng.random() < (0.9 if of == "lopsided booleans" else 0.6))
            readings = [1 - label if rng.random() < (0.25 if hard else 0.03) else label for _ in range(2)]
        items.append([(reading, label) for reading in readings])
        apart.append(abs(readings[0] - readings[1]))
    return (SCALE if of == "scores" else (0.0, 1.0)), items, apart


@pytest.mark.slow
@pytest.mark.parametrize("n", [15, 50, 150])
@pytest.mark.parametrize("of", ["scores", "booleans", "lopsided booleans"])
def test_no_end_of_a_drawn_kappa_lies_on_the_wrong_side_of_the_populations_oftener_than_it_may(of: str, n: int) -> None:
    scale, items, apart = population(of)
    quadratic = of == "scores"
    each = [kappa_features(item, scale, quadratic=quadratic) for item in items]
    truth = kappa_of_features(each, [1] * len(items), quadratic=quadratic).value or 0.0
    probabilities = inclusion_probabilities([0.5 / len(items) + far / sum(apart) / 2 for far in apart], n)
    above = below = 0
    for seed in range(300):
        places = systematic_sample(probabilities, seed)
        weights = (1 / probabilities[places]).tolist()
        found = kappa_items_interval([items[at] for at in places], scale, [1] * n, weights, quadratic=quadratic)
        above += found.low is not None and found.low > truth
        below += found.high is not None and found.high < truth
    # 3 and 6 in a hundred, and two Monte Carlo errors
    assert above / 300 < 0.03 + 0.02
    assert below / 300 < 0.06 + 0.028
