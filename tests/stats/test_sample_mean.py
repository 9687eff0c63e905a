"""Student's quantile, against scipy's and against tables."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import stdtrit

from agentanvil.stats.sample_mean import normal_quantile, student_quantile


@pytest.mark.parametrize(
    ("freedom", "level", "wanted"),
    [
        (1, 0.95, 12.706),
        (2, 0.95, 4.303),
        (10, 0.95, 2.228),
        (10, 0.99, 3.169),
        (120, 0.9, 1.658),
        (math.inf, 0.95, 1.96),
    ],
)
def test_students_quantile_is_that_of_the_tables(freedom: float, level: float, wanted: float) -> None:
    assert student_quantile(freedom, level) == pytest.approx(wanted, abs=5e-4)


@given(st.floats(0.5, 1e7), st.floats(0.5, 0.99))
def test_students_quantile_is_scipys(freedom: float, level: float) -> None:
    assert student_quantile(freedom, level) == pytest.approx(float(stdtrit(freedom, (1 + level) / 2)), rel=1e-7)


def test_many_degrees_of_freedom_are_normal() -> None:
    assert student_quantile(1e5, 0.95) == pytest.approx(student_quantile(1.000001e5, 0.95), rel=1e-9)
    assert student_quantile(1e12, 0.95) == pytest.approx(normal_quantile(0.95), rel=1e-9)
