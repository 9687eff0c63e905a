from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentanvil.aggregate.wording import plain, telling


@pytest.mark.parametrize(
    ("value", "threshold", "text"),
    [
        pytest.param(0.7966, 0.8, "0.797", id="O-E13"),
        pytest.param(0.5, 0.8, "0.50", id="two-decimals-by-default"),
        pytest.param(0.79999999, 0.8, "0.79999999", id="in-full-where-six-are-too-few"),
        pytest.param(4.0, 4.0, "4", id="whole"),
        pytest.param(0.804, 0.8, "0.80", id="above"),
    ],
)
def test_digits_show_the_side(value: float, threshold: float, text: str) -> None:
    assert telling(value, threshold) == text


@given(st.floats(-10, 10), st.floats(-10, 10))
def test_what_is_shown_compares_as_the_number_does(value: float, threshold: float) -> None:
    assert (float(telling(value, threshold)) >= threshold) == (value >= threshold)


def test_plain_numbers() -> None:
    assert [plain(4.0), plain(0.1), plain(3.6666666666666665)] == ["4", "0.1", "3.6666666666666665"]
