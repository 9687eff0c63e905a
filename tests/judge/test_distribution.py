from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentanvil.judge.distribution import Reading, read_distribution

VALUES = st.lists(st.integers(-100, 100), min_size=1, max_size=12, unique=True)


def test_by_hand() -> None:
    # q = 0.25, 0.5, 0.25 over 1, 2, 3: H = 0.5 * ln 2 + 0.5 * ln 4 = 1.5 ln 2, against ln 3; 0.2 lay elsewhere.
    found = read_distribution([1, 2, 3], [0.2, 0.4, 0.2])
    assert found is not None
    assert found.expected == pytest.approx(2.0)
    assert found.entropy == pytest.approx(1.5 * math.log(2) / math.log(3))
    assert found.mass == pytest.approx(0.8)


def test_one_certain_value_has_no_entropy() -> None:
    assert read_distribution([1, 2, 3, 4, 5], [0, 0, 0, 1, 0]) == Reading(4.0, 0.0, 1.0)


def test_equal_shares_have_all_of_it() -> None:
    found = read_distribution([0, 1], [0.3, 0.3])
    assert found == Reading(0.5, 1.0, 0.6)


def test_one_value_on_offer_is_certain() -> None:
    assert read_distribution([3], [0.4]) == Reading(3.0, 0.0, 0.4)


def test_rounded_probabilities_above_one_are_a_mass_of_one() -> None:
    found = read_distribution([0, 1], [0.34, 0.68])
    assert found is not None
    assert found.mass == 1.0
    assert found.expected == pytest.approx(2 / 3)


@pytest.mark.parametrize(
    "probabilities",
    [[0.0, 0.0], [-0.1, 1.0], [math.nan, 0.5], [math.inf, 0.5], [1e308, 1e308 * 10]],
    ids=["none", "negative", "nan", "infinite", "overflow"],
)
def test_what_tells_nothing_is_none(probabilities: list[float]) -> None:
    assert read_distribution([0, 1], probabilities) is None


def test_values_and_probabilities_must_match() -> None:
    with pytest.raises(ValueError, match="zip"):
        read_distribution([0, 1], [1.0])


@given(VALUES, st.data())
def test_every_reading_is_in_range(values: list[int], data: st.DataObject) -> None:
    p = data.draw(st.lists(st.floats(0, 1, allow_nan=False), min_size=len(values), max_size=len(values)))
    found = read_distribution(values, p)
    if found is None:
        assert sum(p) == 0
        return
    assert min(values) <= found.expected <= max(values)
    assert 0 <= found.entropy <= 1
    assert 0 < found.mass <= 1


@given(VALUES, st.floats(0.01, 1))
def test_the_scale_of_the_probabilities_does_not_matter(values: list[int], factor: float) -> None:
    p = [1 / len(values)] * len(values)
    whole, part = read_distribution(values, p), read_distribution(values, [factor * x for x in p])
    assert whole is not None
    assert part is not None
    assert part.expected == pytest.approx(whole.expected, abs=1e-9)
    assert part.entropy == pytest.approx(whole.entropy)
