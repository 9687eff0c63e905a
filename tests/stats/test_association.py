from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from itertools import pairwise
from statistics import NormalDist, fmean
from typing import get_args

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import stdtrit

from agentanvil.stats import (
    Association,
    Estimate,
    association_interval,
    association_of_items,
    kendall_tau_b,
    pearson,
    spearman,
)

STATISTICS: tuple[Association, ...] = get_args(Association)
OF_PAIRS: dict[Association, Callable[[Sequence[float | None], Sequence[float | None]], Estimate]] = {
    "pearson": pearson,
    "spearman": spearman,
    "kendall_tau_b": kendall_tau_b,
}
SCORE = st.integers(1, 5).map(float)
PAIRS = st.lists(st.tuples(SCORE, SCORE), min_size=3, max_size=25)
ITEMS = st.lists(st.lists(st.tuples(SCORE, SCORE), min_size=1, max_size=4), min_size=3, max_size=15)


def _columns(pairs: Sequence[tuple[float, float]]) -> tuple[list[float], list[float]]:
    return [x for x, _ in pairs], [y for _, y in pairs]


def _sign(value: float) -> int:
    return (value > 0) - (value < 0)


def _tau_by_definition(pairs: Sequence[tuple[float, float]]) -> float | None:
    crossed = [(_sign(a - c), _sign(b - d)) for a, b in pairs for c, d in pairs]
    untied = sum(x != 0 for x, _ in crossed) * sum(y != 0 for _, y in crossed)
    return sum(x * y for x, y in crossed) / math.sqrt(untied) if untied else None


def _average_ranks(values: Sequence[float]) -> list[float]:
    return [
        sum(other < value for other in values) + (sum(other == value for other in values) + 1) / 2 for value in values
    ]


def test_by_hand() -> None:
    # Deviations −1 0 1 and −1 1 0: Σ 1, Σ squares 2 and 2. Pairs: two concordant, one discordant of three.
    x, y = [1, 2, 3], [1, 3, 2]
    assert pearson(x, y).value == pytest.approx(1 / 2)
    assert spearman(x, y).value == pytest.approx(1 / 2)
    assert kendall_tau_b(x, y).value == pytest.approx(1 / 3)


def test_ties_by_hand() -> None:
    # Ranks 1.5 1.5 3 4 and 1 2 3.5 3.5: deviations −1 −1 .5 1.5 and −1.5 −.5 1 1, Σ 4, Σ squares 4.5 and 4.5.
    # Six pairs: four concordant; one tied in x alone, one in y alone: 4 / sqrt(5 · 5).
    x, y = [1, 1, 2, 5], [1, 2, 4, 4]
    assert spearman(x, y).value == pytest.approx(4 / 4.5)
    assert kendall_tau_b(x, y).value == pytest.approx(4 / 5)


def test_a_published_correlation() -> None:
    # Anscombe (1973), table 1: "r² = .667" for each of the four sets.
    x = [10.0, 8.0, 13.0, 9.0, 11.0, 14.0, 6.0, 4.0, 12.0, 7.0, 5.0]
    y = [8.04, 6.95, 7.58, 8.81, 8.33, 9.96, 7.24, 4.26, 10.84, 4.82, 5.68]
    found = pearson(x, y).value
    assert found is not None
    assert found**2 == pytest.approx(0.667, abs=5e-4)


@pytest.mark.parametrize("statistic", STATISTICS)
def test_missing_values_leave_their_pair_out(statistic: Association) -> None:
    x, y = [1.0, None, 2.0, 3.0, None], [1.0, 5.0, 3.0, 2.0, None]
    found = OF_PAIRS[statistic](x, y)
    assert found == OF_PAIRS[statistic]([1, 2, 3], [1, 3, 2])
    assert found.n == 3


@pytest.mark.parametrize("statistic", STATISTICS)
def test_sums_that_meet_a_decimal_are_tied_with_it(statistic: Association) -> None:
    assert OF_PAIRS[statistic]([0.1 + 0.2, 0.3], [1, 2]).value is None
    if statistic != "pearson":
        exact, dusty = [0.3, 0.3, 0.5, 0.9], [0.1 + 0.2, 0.3, 0.5, 0.9]
        assert OF_PAIRS[statistic](dusty, [1, 2, 3, 4]) == OF_PAIRS[statistic](exact, [1, 2, 3, 4])


@pytest.mark.parametrize("statistic", STATISTICS)
@pytest.mark.parametrize(
    ("pairs", "n", "reason"),
    [
        ([], 0, "no pairs"),
        ([(4, 4)], 1, "fewer than two"),
        ([(3, 1), (3, 2), (3, 5)], 3, "one and the same value"),
        ([(1, 2), (math.nan, 3), (4, 5)], 3, "finite"),
        ([(1, 2), (math.inf, 3), (4, 5)], 3, "finite"),
    ],
)
def test_undefined_with_a_reason(statistic: Association, pairs: list[tuple[float, float]], n: int, reason: str) -> None:
    found = OF_PAIRS[statistic](*_columns(pairs))
    assert (found.value, found.n) == (None, n)
    assert reason in (found.reason or "")
    interval = association_interval([[pair] for pair in pairs], statistic)
    assert (interval.low, interval.high) == (None, None)
    assert reason in (interval.reason or "")


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("statistic", STATISTICS)
def test_the_largest_numbers_there_are(statistic: Association) -> None:
    x = [1.7e308, -1.7e308, 0.0, 1e-300]
    found = OF_PAIRS[statistic](x, x)
    assert found.value == 1
    association_interval([[(a, -b)] for a, b in pairwise(x)], statistic)


@given(PAIRS)
def test_the_ranks_are_their_definitions(pairs: list[tuple[float, float]]) -> None:
    x, y = _columns(pairs)
    tau, rho = kendall_tau_b(x, y), spearman(x, y)
    assert tau.value == (None if _tau_by_definition(pairs) is None else pytest.approx(_tau_by_definition(pairs)))
    assert rho.value == pytest.approx(pearson(_average_ranks(x), _average_ranks(y)).value)


@given(PAIRS, st.sampled_from(STATISTICS), st.randoms(use_true_random=False))
def test_neither_order_nor_side_nor_scale_matters(
    pairs: list[tuple[float, float]], statistic: Association, chance: random.Random
) -> None:
    shuffled = chance.sample(pairs, len(pairs))
    other = [[(10 * y - 3, -x)] for x, y in shuffled]
    one, turned = association_of_items([[p] for p in pairs], statistic), association_of_items(other, statistic)
    assert turned.n == one.n
    assert turned.value == (None if one.value is None else pytest.approx(-one.value, abs=1e-11))
    interval, mirrored = association_interval([[p] for p in pairs], statistic), association_interval(other, statistic)
    if interval.low is None or interval.high is None:
        assert mirrored.low is None
    else:
        assert (mirrored.low, mirrored.high) == pytest.approx((-interval.high, -interval.low), abs=1e-8)


@settings(max_examples=40)
@given(ITEMS, st.sampled_from(STATISTICS), st.integers(1, 3))
def test_an_item_counts_once_however_often_it_was_read(
    items: list[list[tuple[float, float]]], statistic: Association, times: int
) -> None:
    repeated = [pairs * times for pairs in items]
    one, other = association_of_items(items, statistic), association_of_items(repeated, statistic)
    assert other.n == one.n == len(items)
    assert other.value == (None if one.value is None else pytest.approx(one.value))
    interval, again = association_interval(items, statistic), association_interval(repeated, statistic)
    assert (interval.low, interval.high) == pytest.approx((again.low, again.high), abs=1e-8)


@settings(max_examples=40)
@given(ITEMS, st.sampled_from(STATISTICS), st.integers(1, 4))
def test_multiplicity_stands_for_so_many_items(
    items: list[list[tuple[float, float]]], statistic: Association, times: int
) -> None:
    counted = [times] * len(items)
    assert association_of_items(items, statistic, counted).n == times * len(items)
    interval = association_interval(items, statistic, counted)
    spelt_out = association_interval(items * times, statistic)
    assert (interval.low, interval.high) == pytest.approx((spelt_out.low, spelt_out.high), abs=1e-8)


@given(ITEMS, st.sampled_from(STATISTICS))
def test_the_interval_holds_the_estimate(items: list[list[tuple[float, float]]], statistic: Association) -> None:
    found, interval = association_of_items(items, statistic), association_interval(items, statistic)
    assert (interval.reason is None) == (interval.low is not None) == (interval.high is not None)
    if interval.low is not None and interval.high is not None and found.value is not None:
        assert -1 <= interval.low <= found.value <= interval.high <= 1


@pytest.mark.parametrize(
    ("items", "reason"),
    [
        ([(1, 1), (2, 3)], "fewer than three items"),
        ([(1, 2), (2, 3), (3, 5)], "perfect"),
        ([(1, 2), (1, 3), (1, 5), (4, 1)], "without one item"),
    ],
)
@pytest.mark.parametrize("statistic", STATISTICS)
def test_no_interval_with_a_reason(items: list[tuple[float, float]], reason: str, statistic: Association) -> None:
    if statistic == "pearson" and reason == "perfect":
        items = [(x, 2 * x) for x, _ in items]
    interval = association_interval([[pair] for pair in items], statistic)
    assert reason in (interval.reason or "")


def _fisher(value: float, error: float, freedom: int) -> tuple[float, float]:
    half = float(stdtrit(freedom, 0.975)) * error / (1 - value**2)
    return math.tanh(math.atanh(value) - half), math.tanh(math.atanh(value) + half)


def test_the_interval_of_r_leaves_out_one_item_at_a_time() -> None:
    pairs = [(1.0, 2.0), (2.0, 1.0), (3.0, 4.0), (4.0, 3.0), (5.0, 5.0)]
    left = [pearson(*_columns(pairs[:at] + pairs[at + 1 :])).value or 0.0 for at in range(5)]
    error = math.sqrt(4 / 5 * math.fsum((r - fmean(left)) ** 2 for r in left))
    interval = association_interval([[pair] for pair in pairs], "pearson")
    assert (interval.low, interval.high) == pytest.approx(_fisher(0.8, error, 4), abs=1e-8)


def test_the_interval_of_tau_by_hand() -> None:
    # Four items in the order 1 2 4 3: each meets the other three, concordance 3, 3, 1, 1 of 4 (itself is a tie), mean
    # κ = 1/2; untied 3/4 on both sides, equally at each item: tau 2/3, influence 2 (c − κ) / (3/4) = ±2/3.
    interval = association_interval([[pair] for pair in ((1, 1), (2, 2), (3, 4), (4, 3))], "kendall_tau_b")
    error = math.sqrt(4 * (2 / 3) ** 2 / (4 * 2))
    assert (interval.low, interval.high) == pytest.approx(_fisher(2 / 3, error, 2), abs=1e-8)


def test_one_item_that_dwarfs_all_others() -> None:
    items = [[(1.0, 1.0)], [(2.0, -1e308)], [(4.0, 1e300)], [(3.0, 3.0)]]
    assert "without one item" in (association_interval(items, "pearson").reason or "")
    assert association_interval(items, "spearman").reason is None


def test_many_items_have_the_standard_error_of_normal_scores() -> None:
    # For normal scores r has the standard error (1 − r²) / sqrt(n), and rho and tau at r = 0 have
    # 1 / sqrt(n) and sqrt(4 / (9 n)) (Kendall 1970).
    rng, n = np.random.default_rng(4), 6_000
    x, noise = rng.normal(size=(2, n))
    cases: list[tuple[Association, float, float]] = [
        ("pearson", 0.0, 1.0),
        ("pearson", 1.0, 0.5),
        ("spearman", 0.0, 1.0),
        ("kendall_tau_b", 0.0, 2 / 3),
    ]
    for statistic, slope, error in cases:
        items = [[pair] for pair in zip(x.tolist(), (slope * x + noise).tolist(), strict=True)]
        interval = association_interval(items, statistic)
        assert interval.low is not None
        assert interval.high is not None
        assert interval.high - interval.low == pytest.approx(2 * 1.96 * error / math.sqrt(n), rel=0.04), (
            statistic,
            slope,
        )


@pytest.mark.slow
@pytest.mark.parametrize("statistic", STATISTICS)
@pytest.mark.parametrize("items", [30, 100])
def test_coverage_of_five_point_scores(statistic: Association, items: int) -> None:
    """Nominal 95 %. Worst is Pearson's r of 30 items most of which have the top score: about 90 %."""
    floor = {("pearson", 30): 0.88, ("pearson", 100): 0.92}.get((statistic, items), 0.925)
    found = {
        (name, rho): _coverage(statistic, items, rho, cuts)
        for name, cuts in {"even": (0.1, 0.3, 0.6, 0.85), "ceiling": (0.03, 0.08, 0.18, 0.4)}.items()
        for rho in (0.3, 0.7, 0.95)
    }
    assert min(found.values()) >= floor, found
    assert fmean(found.values()) >= (0.93 if statistic == "pearson" else 0.94), found


def _coverage(statistic: Association, items: int, rho: float, cuts: tuple[float, ...], samples: int = 1_000) -> float:
    edges = [NormalDist().inv_cdf(cut) for cut in cuts]
    rng = np.random.default_rng(17)
    x, noise = rng.normal(size=(2, 2_000_000))
    cells = np.searchsorted(edges, x) * 5 + np.searchsorted(edges, rho * x + math.sqrt(1 - rho * rho) * noise)
    population = np.bincount(cells, minlength=25)
    patterns = [[(float(cell // 5), float(cell % 5))] for cell in range(25)]
    truth = association_of_items(patterns, statistic, population.tolist()).value
    assert truth is not None
    held = told = 0
    for drawn in rng.multinomial(items, population / population.sum(), size=samples).tolist():
        interval = association_interval(patterns, statistic, drawn)
        if interval.low is not None and interval.high is not None:
            told += 1
            held += interval.low <= truth <= interval.high
    return held / told


@settings(max_examples=20)
@given(st.lists(st.tuples(st.floats(-5, 5), st.floats(-5, 5)), min_size=3, max_size=60))
def test_continuous_scores_by_definition(pairs: list[tuple[float, float]]) -> None:
    rounded = [(round(x, 6), round(y, 6)) for x, y in pairs]
    wanted = _tau_by_definition(rounded)
    assert kendall_tau_b(*_columns(rounded)).value == (None if wanted is None else pytest.approx(wanted))
