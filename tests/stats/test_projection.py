from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentanvil.stats import least_deciding, wilson_interval


@given(st.integers(0, 500), st.integers(1, 10_000))
def test_the_smallest_number_above_the_start_that_decides(start: int, bar: int) -> None:
    asked: list[int] = []

    def decides(number: int) -> bool:
        asked.append(number)
        return number >= bar

    assert least_deciding(decides, start, 10_000) == max(start + 1, bar)
    assert len(asked) < 32
    assert min(asked) > start


def test_none_where_nothing_up_to_the_limit_decides() -> None:
    assert least_deciding(lambda number: False, 10, 1_000) is None
    assert least_deciding(lambda number: number >= 1_001, 10, 1_000) is None
    assert least_deciding(lambda number: number >= 1_000, 10, 1_000) == 1_000


@pytest.mark.parametrize(("share", "threshold", "expected"), [(0.95, 0.9, 139), (0.8, 0.9, 35), (0.7, 0.5, 25)])
def test_rows_that_wilson_needs_by_hand(share: float, threshold: float, expected: int) -> None:
    # The score interval leaves t out from n > z² t (1 − t) / (p − t)² on: 3.8415 · 0.09 / 0.0025 = 138.3.
    def decides(n: int) -> bool:
        found = wilson_interval(share * n, n)
        assert found.low is not None
        assert found.high is not None
        return found.low >= threshold or found.high < threshold

    assert least_deciding(decides, 5, 10_000) == expected
