"""Intraclass correlations against the data that Shrout and Fleiss published, and by hand."""

from __future__ import annotations

from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentanvil.stats import ICCForm, icc, icc_interval

FORMS: tuple[ICCForm, ...] = get_args(ICCForm)

# Shrout and Fleiss (1979), table 2: four judges, six targets.
JUDGES: list[list[float | None]] = [[9, 6, 8, 7, 10, 6], [2, 1, 4, 1, 5, 2], [5, 3, 6, 2, 6, 4], [8, 2, 8, 6, 9, 7]]


@pytest.mark.parametrize(
    ("form", "published", "low", "high"),
    [
        # Estimates: their table 4. Intervals: what the R package psych prints for these data.
        ("ICC(1,1)", 0.17, -0.133, 0.72),
        ("ICC(2,1)", 0.29, 0.019, 0.76),
        ("ICC(3,1)", 0.71, 0.342, 0.95),
        ("ICC(1,k)", 0.44, -0.884, 0.91),
        ("ICC(2,k)", 0.62, 0.071, 0.93),
        ("ICC(3,k)", 0.91, 0.676, 0.99),
    ],
)
def test_the_published_example(form: ICCForm, published: float, low: float, high: float) -> None:
    assert icc(JUDGES, form).value == pytest.approx(published, abs=0.005)
    found = icc_interval(JUDGES, form)
    assert found.low == pytest.approx(low, abs=0.0006)
    assert found.high == pytest.approx(high, abs=0.006)


def test_one_rating_by_hand() -> None:
    # Items' means 2, 3, 4, 5, 6: MSR = 2·10/4 = 5. Each item differs by 2: MSW = 5·2/5 = 2. (5 − 2) / (5 + 2) = 3/7.
    ratings = [[1, 2, 3, 4, 5], [3, 4, 5, 6, 7]]
    assert icc(ratings, "ICC(1,1)").value == pytest.approx(3 / 7)
    # MSC = 5·2/1 = 10 and MSE = 0: 5 / (5 + 2·10/5) = 5/9, and the raters agree on all differences.
    assert icc(ratings, "ICC(2,1)").value == pytest.approx(5 / 9)
    assert icc(ratings, "ICC(3,1)").value == 1.0
    assert icc_interval(ratings, "ICC(3,1)").reason == "ratings of one item never differ, so F is infinite"


def test_an_item_with_a_missing_rating_is_left_out() -> None:
    ragged: list[list[float | None]] = [[1, None, 2, 3], [1, 5, 3, 3]]
    assert icc(ragged, "ICC(1,1)") == icc([[1, 2, 3], [1, 3, 3]], "ICC(1,1)")
    assert icc(ragged, "ICC(1,1)").n == 3


@pytest.mark.parametrize(
    ("ratings", "reason"),
    [
        ([[3, 3, 3], [3, 3, 3]], "no variance"),
        ([[1, 2, 3]], "fewer than two ratings"),
        ([[1], [2]], "fewer than two complete items"),
        ([[None, 1], [2, None]], "fewer than two complete items"),
        ([], "fewer than two complete items"),
    ],
)
@pytest.mark.parametrize("form", FORMS)
def test_undefined_with_a_reason(ratings: list[list[float | None]], reason: str, form: ICCForm) -> None:
    found = icc(ratings, form)
    assert found.value is None
    assert reason in (found.reason or "")
    assert icc_interval(ratings, form).reason == found.reason


def test_a_mean_of_k_is_undefined_where_all_means_are_equal() -> None:
    crossed = [[1, 2], [2, 1]]
    assert icc(crossed, "ICC(1,1)").value == -1.0
    for form in ("ICC(1,k)", "ICC(2,1)", "ICC(2,k)", "ICC(3,k)"):
        assert icc(crossed, form).value is None, form
    assert icc_interval(crossed, "ICC(1,k)").low is None


tables = st.integers(2, 4).flatmap(
    lambda k: st.lists(st.lists(st.integers(1, 5), min_size=k, max_size=k), min_size=2, max_size=7)
)


@given(tables, st.sampled_from(FORMS))
def test_neither_order_nor_scale_matters(table: list[list[int]], form: ICCForm) -> None:
    ratings = list(zip(*table, strict=True))
    found, span = icc(ratings, form), icc_interval(ratings, form)
    turned = [[-1000.0 * value + 7 for value in rater] for rater in reversed(ratings)]
    shuffled = sorted(range(len(table)), key=lambda place: table[place])
    other = [[rater[place] for place in shuffled] for rater in turned]
    assert icc(other, form).value == pytest.approx(found.value, abs=1e-9)
    assert icc_interval(other, form).low == pytest.approx(span.low, abs=1e-7)
    if span.low is not None and span.high is not None and found.value is not None:
        assert span.low - 1e-9 <= found.value <= span.high + 1e-9
    assert (found.value is None) == (found.reason is not None)


@pytest.mark.parametrize("form", FORMS)
def test_no_size_of_numbers_loses_the_answer(form: ICCForm) -> None:
    huge = [[(value or 0) * 1e300 for value in rater] for rater in JUDGES]
    assert icc(huge, form).value == pytest.approx(icc(JUDGES, form).value)
