"""Krippendorff's alpha by hand, its interval, and what must not matter to it."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentanvil.stats import Level, alpha_features, alpha_interval, alpha_of_features, krippendorff_alpha

LEVELS: list[Level] = ["nominal", "ordinal", "interval"]
RATING = st.sampled_from([1.0, 2.0, 3.0, 5.0, None])
SCALE = [1.0, 2.0, 3.0, 4.0, 5.0]


@pytest.mark.parametrize(
    ("level", "alpha"),
    [
        # Three items, two raters: (1, 1), (1, 2), (4, 4). n = 6 values: three 1, one 2, two 4.
        # nominal: observed pairs that differ 2; 6² − 3² − 1² − 2² = 22; 1 − 5·2/22.
        pytest.param("nominal", 1 - 10 / 22, id="nominal"),
        # interval: observed 2·(1−2)² = 2; twice [3·1·1 + 3·2·9 + 1·2·4] = 2·65; 1 − 5·2/130.
        pytest.param("interval", 1 - 10 / 130, id="interval"),
        # ordinal: mid-ranks 1.5, 3.5, 5; observed 2·2² = 8; twice [3·1·4 + 3·2·12.25 + 1·2·2.25] = 2·90; 1 − 5·8/180.
        pytest.param("ordinal", 1 - 40 / 180, id="ordinal"),
    ],
)
def test_by_hand(level: Level, alpha: float) -> None:
    found = krippendorff_alpha([[1, 1, 4], [1, 2, 4]], level)
    assert found.value == pytest.approx(alpha, abs=1e-12)
    assert found.n == 3


@pytest.mark.parametrize("level", LEVELS)
def test_one_item_with_two_different_values_says_nothing_for_or_against(level: Level) -> None:
    assert krippendorff_alpha([[1], [4]], level).value == 0


def test_texts_have_no_order() -> None:
    with pytest.raises(ValueError, match="no ordinal distance"):
        krippendorff_alpha([["low", "high"], ["low", "low"]], "ordinal")


def test_a_rating_that_may_not_occur_is_refused() -> None:
    with pytest.raises(ValueError, match="are not all among"):
        alpha_features([[1, 7]], SCALE, "ordinal")


@pytest.mark.parametrize("level", LEVELS)
@given(ratings=st.lists(st.lists(RATING, min_size=6, max_size=6), min_size=2, max_size=4), seed=st.integers(0, 99))
def test_who_rated_and_in_which_order_does_not_matter(
    level: Level, ratings: list[list[float | None]], seed: int
) -> None:
    found = krippendorff_alpha(ratings, level)
    assert found.value is None or found.value <= 1
    assert (found.value is None) == (found.reason is not None)
    rng = random.Random(seed)
    raters = rng.sample(ratings, len(ratings))
    items = rng.sample(range(6), 6)
    assert krippendorff_alpha([[rater[item] for item in items] for rater in raters], level) == found


@pytest.mark.parametrize("level", LEVELS)
@given(ratings=st.lists(st.lists(RATING, min_size=5, max_size=5), min_size=2, max_size=3))
def test_features_add_up_and_unused_values_change_nothing(level: Level, ratings: list[list[float | None]]) -> None:
    units = [[value for value in item if value is not None] for item in zip(*ratings, strict=True)]
    whole = krippendorff_alpha(ratings, level)
    each = [alpha_features([unit], SCALE, level) for unit in units]
    found = alpha_of_features(each, [1] * len(each), level)
    assert found == (None if whole.value is None else pytest.approx(whole.value, abs=1e-9))


@pytest.mark.parametrize("level", LEVELS)
@given(
    unit=st.lists(st.lists(st.sampled_from(SCALE[:3]), min_size=2, max_size=3), min_size=2, max_size=6),
)
def test_perfect_agreement_is_one_and_one_value_alone_is_undefined(level: Level, unit: list[list[float]]) -> None:
    same = [[values[0]] * len(values) for values in unit]
    features = [alpha_features([values], SCALE, level) for values in same]
    found = alpha_of_features(features, [1] * len(features), level)
    assert found == (None if len({values[0] for values in same}) == 1 else 1)


@pytest.mark.parametrize("level", LEVELS)
def test_a_rare_value_among_many_is_no_dust(level: Level) -> None:
    features = [alpha_features([[3, 3]], SCALE, level), alpha_features([[3, 4]], SCALE, level)]
    found = alpha_of_features(features, [999_999, 1], level)
    assert found is not None
    assert found == pytest.approx(0, abs=1e-5)


@pytest.mark.parametrize("level", LEVELS)
def test_the_interval_holds_the_estimate_and_repeats_itself(level: Level) -> None:
    units = [[1, 1], [2, 3], [5, 4], [2, 2], [3, 1], [4, 4]]
    features, times = [alpha_features([unit], SCALE, level) for unit in units], [9, 4, 5, 8, 3, 6]
    alpha = alpha_of_features(features, times, level)
    interval = alpha_interval(features, times, level, seed=3)
    assert interval.low is not None
    assert interval.high is not None
    assert alpha is not None
    assert -1 <= interval.low < alpha < interval.high <= 1
    assert alpha_interval(features, times, level, seed=3) == interval
    assert alpha_interval(features, times, level, seed=4) != interval


def test_ratings_that_never_differ_show_no_spread() -> None:
    features = [alpha_features([unit], SCALE, "ordinal") for unit in ([1, 1], [5, 5])]
    found = alpha_interval(features, [20, 20], "ordinal", seed=1)
    assert (found.low, found.high) == (None, None)
    assert "no spread" in (found.reason or "")


def test_a_cluster_counts_once_in_the_interval() -> None:
    """Twenty items in two clusters tell hardly more than two."""
    units = [[1, 1], [2, 5]]
    single = [alpha_features([unit], SCALE, "interval") for unit in units]
    clusters = [alpha_features([unit] * 10, SCALE, "interval") for unit in units]
    alone = alpha_interval(single, [10, 10], "interval", seed=1)
    together = alpha_interval(clusters, [1, 1], "interval", seed=1)
    assert alone.low is not None
    assert together.reason is not None, "half of the resamples hold one cluster twice"


@pytest.mark.parametrize(
    ("features", "times", "reason"),
    [
        pytest.param([[1, 2]], [1], "fewer than two items", id="one-item"),
        pytest.param([[2, 2]], [50], "alpha is undefined in 2000 of 2000 resamples", id="one-value"),
    ],
)
def test_an_interval_that_cannot_be_had_says_why(features: list[list[float]], times: list[int], reason: str) -> None:
    found = alpha_interval([alpha_features([unit], SCALE, "nominal") for unit in features], times, "nominal", seed=1)
    assert (found.low, found.high, found.reason) == (None, None, reason)
