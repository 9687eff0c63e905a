"""Components of variance, by hand and against readings whose components are known."""

from __future__ import annotations

import math
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from agentanvil.stats import (
    NestedVariance,
    Source,
    icc,
    least_detectable_difference,
    nested_features,
    nested_variance,
    repeats_needed,
    variance_components,
)

Floats = NDArray[np.float64]


def nested(readings: object, *, seed: int = 1, resamples: int = 200) -> NestedVariance:
    table = np.array(readings, dtype=np.float64)
    return nested_variance(nested_features(table, 3, 4), 4, seed=seed, resamples=resamples)


def repeats(scores: list[list[float]]) -> Floats:
    """Items with repeats alone, as (items, 1 judge, 1 order, repeats)."""
    return np.array(scores, dtype=np.float64)[:, np.newaxis, np.newaxis, :]


def raw(found: NestedVariance, source: Source) -> float | None:
    return next(component.raw for component in found.components if component.source == source)


def reason(found: NestedVariance, source: Source) -> str | None:
    return next(c.variance.estimate.reason for c in found.components if c.source == source)


def test_one_way_by_hand() -> None:
    # Means 2 and 5 about 3.5: MS item = 2·(1.5² + 1.5²)/1 = 9. Squares within: 2 and 0, so MS repeat = 2/2 = 1.
    found = variance_components([[1, 3], [5, 5]])
    assert (found.ms_item.value, found.ms_repeat.value) == (9, 1)
    assert (found.var_item.value, found.var_repeat.value) == (4, 1)
    assert (found.var_item.n, found.var_repeat.n) == (2, 2)


def test_one_way_with_a_missing_repeat() -> None:
    # N = 3, centre 3: MS item = 2·(2 − 3)² + (5 − 3)² = 6; MS repeat = 2/1; k₀ = 3 − (4 + 1)/3 = 4/3; (6 − 2)/k₀ = 3.
    found = variance_components([[1, 3], [None, 5]])
    assert (found.ms_item.value, found.ms_repeat.value) == (6, 2)
    assert found.var_item_raw.value == pytest.approx(3)
    assert (found.var_item.n, found.var_repeat.n) == (2, 1)


def test_one_item_has_repeats_and_no_variance_of_items() -> None:
    found = variance_components([[1, 3], [None, None]])
    assert found.var_repeat.value == 2
    assert found.var_item.reason == "fewer than two items"


def test_nothing_is_told_without_scores() -> None:
    assert variance_components([]).var_repeat.reason
    assert variance_components([[None], [1]]).var_item.reason


scores = st.integers(2, 4).flatmap(
    lambda k: st.lists(st.lists(st.integers(1, 5), min_size=k, max_size=k), min_size=2, max_size=6)
)


@given(scores)
def test_complete_repeats_alone_are_the_analysis_of_variance(table: list[list[float]]) -> None:
    found, wanted = nested(repeats(table), resamples=5), variance_components(table)
    assert raw(found, "item") == pytest.approx(wanted.var_item_raw.value, abs=1e-9)
    assert raw(found, "repeat") == pytest.approx(wanted.var_repeat.value, abs=1e-9)
    ratings = list(zip(*table, strict=True))
    assert found.icc_single.estimate.value == pytest.approx(icc(ratings, "ICC(1,1)").value, abs=1e-9)
    assert found.icc_mean.estimate.value == pytest.approx(icc(ratings, "ICC(1,k)").value, abs=1e-9)


def test_both_orders_by_hand() -> None:
    # Two items, one judge, two orders of two repeats each. Within orders: SS 2, 0, 0, 2 over 4 degrees: σ²repeat = 1.
    # Order means 2, 5 | 1, 4: SS order = 4.5 + 4.5 over 2 degrees is 4.5 = σ²order + 1/2, so σ²order = 4.
    # Item means 3.5 and 2.5, variance 0.5 = σ²item + 4/2 + (1/2 + 1/2)/4: σ²item = 0.5 − 2 − 0.25 = −1.75.
    found = nested([[[[1, 3], [5, 5]]], [[[1, 1], [3, 5]]]])
    assert [raw(found, source) for source in ("repeat", "order", "item")] == pytest.approx([1, 4, -1.75])
    shares = {c.source: c.share.estimate.value for c in found.components}
    assert shares["item"] == 0
    assert shares["order"] == pytest.approx(0.8)
    # The SD of one reading is √(4 + 1); that of a mean of both orders, twice each, √(4/2 + 1/4).
    assert found.sd_single.estimate.value == pytest.approx(math.sqrt(5))
    assert found.sd_mean.estimate.value == pytest.approx(1.5)


def test_what_is_asked_once_is_not_told_apart_from_the_source_above() -> None:
    found = nested([[[[1], [3]]], [[[2], [5]]]])
    assert reason(found, "repeat") == "no judge read an item twice in one order"
    assert reason(found, "judge") == "no item was read by two judges"
    # Both orders once: (2 + 4.5)/2, which holds whatever a repeat would have brought.
    assert raw(found, "order") == pytest.approx(3.25)
    assert found.icc_single.estimate.value is not None


def test_readings_once_each_tell_nothing() -> None:
    found = nested([[[[1]]], [[[2]]], [[[5]]]])
    assert all(component.variance.estimate.value is None for component in found.components)
    assert found.icc_single.estimate.reason
    assert found.sd_single.estimate.reason == "no item was read twice"
    assert found.readings == 3


def test_nothing_at_all() -> None:
    for table in (np.empty((0, 2, 2, 2)), np.full((3, 1, 1, 2), np.nan)):
        found = nested(table)
        assert found.readings == 0
        assert found.icc_single.estimate.reason


def test_scores_that_are_all_alike_have_no_shares() -> None:
    found = nested(np.full((3, 1, 1, 2), 4.0))
    assert raw(found, "item") == raw(found, "repeat") == 0
    assert found.icc_single.estimate.reason == "no variance at all"
    assert found.sd_single.estimate.value == 0
    assert found.sd_single.interval.reason == "all items are alike in it, so resampling cannot tell"


def test_the_error_of_a_reading_has_the_jackknife_interval_of_its_logarithm_by_hand() -> None:
    # Sums of squares 2, 0.5 and 0 of two readings each: 2.5 / 3; without one item at a time 0.25, 1 and 1.25.
    found = nested(repeats([[3, 5], [1, 2], [4, 4]]))
    logs = [math.log(0.25), math.log(1), math.log(1.25)]
    centre = sum(logs) / 3
    error = math.sqrt(2 / 3 * sum((x - centre) ** 2 for x in logs))
    # Student's 97.5 % quantile with two degrees of freedom. No variance exceeds the square of the scale's range.
    low, high = (2.5 / 3 * math.exp(sign * 4.302653 * error) for sign in (-1, 1))
    interval = found.components[3].variance.interval
    assert (interval.low, interval.high) == pytest.approx((low, min(high, 16)), rel=1e-6)
    assert found.sd_single.interval.low == pytest.approx(math.sqrt(low), rel=1e-6)
    assert found.sd_single.interval.high == 4
    assert interval.method == "jackknife, logarithm, t"


def test_reliability_has_the_interval_of_fishers_z_by_hand() -> None:
    table: list[list[float]] = [[1, 2], [3, 3], [5, 4], [2, 2], [5, 5]]
    found = nested(repeats(table))
    # F = MSR / MSW of all items and without each; the interval of ½ · ln F, turned back.
    ratios = [_f_ratio(table), *(_f_ratio(table[:i] + table[i + 1 :]) for i in range(5))]
    whole, *others = [math.log(ratio) / 2 for ratio in ratios]
    error = math.sqrt(4 / 5 * sum((z - sum(others) / 5) ** 2 for z in others))
    for figure, more in ((found.icc_single, 1), (found.icc_mean, 0)):
        ends = [math.exp(2 * (whole + sign * 2.776445 * error)) for sign in (-1, 1)]
        wanted = [(ratio - 1) / (ratio + more) for ratio in ends]
        assert [figure.interval.low, figure.interval.high] == pytest.approx(wanted, abs=1e-6)
        assert figure.interval.method == "jackknife, Fisher z, t"


def test_the_sign_of_the_readings_does_not_move_an_interval() -> None:
    for seed in range(20):
        readings = np.random.default_rng(seed).integers(-2, 3, (5, 1, 2, 2)).astype(np.float64)
        one, other = (nested(table + 3, resamples=20) for table in (readings, -readings[:, :, ::-1]))
        assert one.icc_single.interval == other.icc_single.interval
        assert one.sd_mean.interval == other.sd_mean.interval


def _f_ratio(table: list[list[float]]) -> float:
    scores = np.array(table, dtype=np.float64)
    within = ((scores - scores.mean(axis=1, keepdims=True)) ** 2).sum() / len(scores)
    return float(2 * scores.mean(axis=1).var(ddof=1) / within)


def test_an_error_that_rests_on_one_item_may_be_none_at_all() -> None:
    found = nested(repeats([[1, 2], *([float(n % 5 + 1)] * 2 for n in range(30))]))
    interval = found.sd_single.interval
    assert (interval.low, "bootstrap" in interval.method) == (0, True)
    assert interval.high is not None
    assert interval.high > (found.sd_single.estimate.value or 0)


@pytest.mark.parametrize("items", [2, 3])
def test_intervals_of_a_handful_of_items_stay_on_the_scale(items: int) -> None:
    for seed in range(30):
        scores = np.random.default_rng(seed).integers(1, 6, (items, 1, 1, 2)).astype(np.float64)
        found = nested(scores, resamples=50)
        for figure, least, most in ((found.sd_single, 0, 4), (found.icc_single, -1, 1), (found.icc_mean, None, 1)):
            value, low, high = figure.estimate.value, figure.interval.low, figure.interval.high
            assert (low is None) == (high is None)
            if value is not None and low is not None and high is not None:
                assert low - 1e-9 <= value <= high + 1e-9
                assert high <= most
                assert low >= (min(-1, value) - 1e-9 if least is None else least)


def test_intervals_hold_with_twenty_items() -> None:
    covered = {"sd": 0, "icc": 0}
    for seed in range(200):
        rng = np.random.default_rng(seed)
        found = nested(rng.normal(0, 1, (20, 1, 1, 1)) + rng.normal(0, 0.5, (20, 1, 1, 2)), resamples=2)
        for name, figure, true in (("sd", found.sd_single, 0.5), ("icc", found.icc_single, 0.8)):
            low, high = figure.interval.low, figure.interval.high
            covered[name] += low is not None and high is not None and low <= true <= high
    # 95 % less three Monte Carlo errors of 1.5; the percentile bootstrap covers 86 % and 90 % of the time.
    assert all(count > 0.905 * 200 for count in covered.values()), covered


def _simulated(seed: int, items: int = 400) -> Floats:
    """Three judges, two orders, three repeats with components 1, 0.25, 0.16, 0.36, a third of them missing."""
    rng = np.random.default_rng(seed)
    parts = [
        rng.normal(0, 1, (items, 1, 1, 1)),
        rng.normal(0, 0.5, (items, 3, 1, 1)),
        rng.normal(0, 0.4, (items, 3, 2, 1)),
        rng.normal(0, 0.6, (items, 3, 2, 3)),
    ]
    found = np.asarray(sum(parts[1:], parts[0]), dtype=np.float64)
    found[rng.random(found.shape) < 1 / 3] = np.nan
    return found


def test_ragged_readings_are_estimated_without_bias() -> None:
    runs = [nested(_simulated(seed), resamples=2) for seed in range(40)]
    for source, wanted in (("item", 1.0), ("judge", 0.25), ("order", 0.16), ("repeat", 0.36)):
        values = [next(c.raw or 0.0 for c in run.components if c.source == source) for run in runs]
        error = np.std(values, ddof=1) / math.sqrt(len(values))
        assert abs(np.mean(values) - wanted) < 4 * error, source


@pytest.mark.slow
def test_intervals_cover_what_is_true() -> None:
    wanted = {"item": 1.0, "judge": 0.25, "order": 0.16, "repeat": 0.36}
    covered = dict.fromkeys(wanted, 0)
    for seed in range(400):
        for component in nested(_simulated(seed, 200), resamples=500).components:
            low, high = component.variance.interval.low, component.variance.interval.high
            assert low is not None
            assert high is not None
            covered[component.source] += low <= wanted[component.source] <= high
    # 0.95 with a Monte Carlo error of 0.011; the percentile intervals among them are known to be a little short.
    assert all(count / 400 > 0.91 for count in covered.values()), covered


ragged = st.lists(
    st.lists(st.one_of(st.none(), st.integers(1, 5)), min_size=8, max_size=8), min_size=1, max_size=6
).map(lambda items: np.array(items, dtype=np.float64).reshape(-1, 2, 2, 2))


@given(ragged)
def test_neither_order_nor_names_matter(readings: Floats) -> None:
    found = nested(readings, resamples=20)
    ways = [
        readings[::-1],
        readings[:, ::-1],
        readings[:, :, ::-1],
        readings[:, :, :, ::-1],
        6 - readings,
    ]
    for other in ways:
        _same(nested(other, resamples=20), found)


def _same(one: NestedVariance, other: NestedVariance) -> None:
    assert one.readings == other.readings
    for a, b in zip(one.components, other.components, strict=True):
        assert a.raw == pytest.approx(b.raw, abs=1e-9)
        assert a.variance.estimate.reason == b.variance.estimate.reason
        assert a.variance.interval.low == pytest.approx(b.variance.interval.low, abs=1e-6)
        assert a.variance.interval.high == pytest.approx(b.variance.interval.high, abs=1e-6)
    assert one.icc_single.estimate.value == pytest.approx(other.icc_single.estimate.value, abs=1e-9)


def test_the_order_of_many_equal_items_does_not_move_an_interval() -> None:
    table = [[1.0, 2.0], [3.0, 3.0], [5.0, 4.0], [2.0, 2.0]]
    intervals = {nested(repeats(list(order))).icc_single.interval for order in permutations(table)}
    assert len(intervals) == 1


def test_a_difference_that_can_be_detected() -> None:
    # Weir (2005): 1.96·√2·SEM.
    assert least_detectable_difference(0.5) == pytest.approx(1.959964 * math.sqrt(2) * 0.5)
    assert least_detectable_difference(0) == 0
    with pytest.raises(ValueError, match="not negative"):
        least_detectable_difference(-1)


@pytest.mark.parametrize(
    ("sd", "half_width", "wanted"),
    [
        (0.5, 0.25, 16),  # (1.95996·0.5/0.25)² = 15.37
        (0.5, 0.5, 4),  # 3.84
        (0.0, 0.25, 1),
        (0.1, 5.0, 1),
    ],
)
def test_repeats_needed(sd: float, half_width: float, wanted: int) -> None:
    assert repeats_needed(sd, half_width) == wanted


@pytest.mark.parametrize(("sd", "half_width"), [(-1, 1), (1, 0), (math.nan, 1)])
def test_repeats_of_nonsense_are_refused(sd: float, half_width: float) -> None:
    with pytest.raises(ValueError, match="no number of repeats"):
        repeats_needed(sd, half_width)
