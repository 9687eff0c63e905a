from __future__ import annotations

import math
from statistics import pstdev, stdev

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentanvil.stats import (
    mean,
    modal_agreement,
    pooled_sd,
    population_sd,
    sample_sd,
    unanimous_share,
)
from tests.fakes.published import read_json, read_lines

SCORES = st.lists(st.integers(1, 5).map(float), min_size=1, max_size=9)


@pytest.mark.parametrize(
    ("scores", "value", "n"),
    [
        pytest.param([7, None, 9], 8.0, 2, id="O-E01-an-error-is-not-minus-one"),
        pytest.param([None, 0.5, 1.0], 0.75, 2, id="O-E04-failure-on-the-first-row"),
        pytest.param([1] * 5 + [None] * 5, 1.0, 5, id="O-E03-n-tells-crashes-apart"),
    ],
)
def test_mean_leaves_out_what_is_missing_and_carries_n(scores: list[float | None], value: float, n: int) -> None:
    estimate = mean(scores)
    assert (estimate.value, estimate.n) == (value, n)


def test_an_empty_set_has_no_mean() -> None:
    assert mean([]).value is None
    assert mean([None]).reason == "no values"


def test_one_value_has_no_sample_sd_and_no_modal_agreement() -> None:
    assert sample_sd([4]).value is None
    assert sample_sd([4]).reason == "fewer than two values"
    assert modal_agreement([4]).value is None


def test_spread_by_hand() -> None:
    # 5, 3, 4: mean 4, squares 1 + 1 + 0 = 2; population sqrt(2/3), sample sqrt(2/2).
    assert population_sd([5, 3, 4]).value == pytest.approx(math.sqrt(2 / 3))
    assert sample_sd([5, 3, 4]).value == 1.0
    assert modal_agreement([5, 5, 4]).value == pytest.approx(2 / 3)


def test_pooled_sd_by_hand() -> None:
    # [5,3,4]: 2 with 2 degrees; [2,4]: 2 with 1; [1]: no degree. sqrt(4 / 3).
    estimate = pooled_sd([[5, 3, 4], [2, 4], [1]])
    assert estimate.value == pytest.approx(math.sqrt(4 / 3))
    assert estimate.n == 2


def test_pooled_sd_and_unanimity_need_two_values_somewhere() -> None:
    assert pooled_sd([[1], [2]]).value is None
    assert unanimous_share([[1], [2]]).reason == "no item with two values"


def test_unanimous_share_leaves_single_values_out() -> None:
    assert unanimous_share([[4, 4], [4, 5], [3, 3, 3], [1]]).value == pytest.approx(2 / 3)


@given(SCORES)
def test_equal_to_the_standard_library(scores: list[float]) -> None:
    assert population_sd(scores).value == pytest.approx(pstdev(scores))
    if len(scores) > 1:
        assert sample_sd(scores).value == pytest.approx(stdev(scores))


@given(st.lists(SCORES, min_size=1, max_size=6), st.data())
def test_multiplicity_means_repeated_groups(groups: list[list[float]], data: st.DataObject) -> None:
    times = data.draw(st.lists(st.integers(1, 4), min_size=len(groups), max_size=len(groups)))
    written_out = [group for group, count in zip(groups, times, strict=True) for _ in range(count)]
    for function in (pooled_sd, unanimous_share):
        short, long = function(groups, times), function(written_out)
        assert short.n == long.n
        assert short.value == pytest.approx(long.value)


@given(st.floats(-1e6, 1e6), st.integers(2, 12))
def test_equal_values_spread_by_exactly_nothing(value: float, n: int) -> None:
    assert sample_sd([value] * n).value == 0
    assert population_sd([value] * n).value == 0


@pytest.mark.published
def test_spread_of_eight_repeats_on_published_scores() -> None:
    expected = read_json("composo_k8/expected.json")["gpt54_base"]["full"]
    rows = read_lines("composo_k8/gpt54_base.jsonl")
    groups = [[s for s in scores if s is not None] for row in rows for scores in row["full"]]
    assert mean([population_sd(g).value for g in groups]).value == pytest.approx(expected["mean_pop_sd"], abs=5e-5)
    complete = [g for g in groups if len(g) == 8]
    pooled = pooled_sd(complete).value
    assert pooled is not None
    assert len(complete) == expected["complete_rows"]
    assert pooled**2 == pytest.approx(expected["within_variance"], abs=1e-6)
