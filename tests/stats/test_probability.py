from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentanvil.stats import brier_score, expected_calibration_error

PAIRS = st.lists(st.tuples(st.floats(0, 1), st.booleans()), min_size=1, max_size=30)


def test_by_hand() -> None:
    p, came = [0.9, 0.8, 0.3, None], [True, False, False, True]
    assert brier_score(p, came).value == pytest.approx((0.01 + 0.64 + 0.09) / 3)
    # Two bins: 0.3 against 0 came, and a mean of 0.85 against one half.
    assert expected_calibration_error(p, came, 2).value == pytest.approx(1 / 3 * 0.3 + 2 / 3 * 0.35)
    assert expected_calibration_error(p, came, 2).n == 3


def test_an_edge_belongs_to_the_bin_below() -> None:
    # 0.3 and 0.1 + 0.2 share the bin (0.2, 0.3] with 0.25, where 0.31 does not: gaps 0.15 and 0.31.
    p = [0.25, 0.3, 0.1 + 0.2, 0.31]
    came = [True, False, False, False]
    assert expected_calibration_error(p, came).value == pytest.approx((0.15 + 0.31) / 4)
    # 0 falls into the first bin, 1 into the last.
    assert expected_calibration_error([0, 0.1, 1, 0.95], [False, False, True, True]).value == pytest.approx(0.15 / 4)


@given(PAIRS, st.integers(1, 20))
def test_order_does_not_matter_and_both_are_shares(pairs: list[tuple[float, bool]], bins: int) -> None:
    p, came = [stated for stated, _ in pairs], [truth for _, truth in pairs]
    for found, turned in (
        (brier_score(p, came), brier_score(p[::-1], came[::-1])),
        (expected_calibration_error(p, came, bins), expected_calibration_error(p[::-1], came[::-1], bins)),
    ):
        assert found.value is not None
        assert 0 <= found.value <= 1
        assert turned.value == pytest.approx(found.value)


@given(PAIRS)
def test_one_bin_compares_the_means(pairs: list[tuple[float, bool]]) -> None:
    p, came = [stated for stated, _ in pairs], [truth for _, truth in pairs]
    gap = abs(math.fsum(p) - sum(came)) / len(pairs)
    assert expected_calibration_error(p, came, 1).value == pytest.approx(gap)


@pytest.mark.parametrize("p", [[], [None], [1.2], [-0.1], [math.nan], [math.inf]])
def test_undefined_with_a_reason(p: list[float | None]) -> None:
    for found in (brier_score(p, [True] * len(p)), expected_calibration_error(p, [True] * len(p))):
        assert found.value is None
        assert found.reason


def test_bins_there_must_be() -> None:
    with pytest.raises(ValueError, match="0 bins"):
        expected_calibration_error([0.5], [True], 0)
