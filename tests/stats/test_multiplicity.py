from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentanvil.stats import benjamini_hochberg, holm

P = st.one_of(st.none(), st.floats(0, 1))
FAMILY = st.lists(P, max_size=12)


def test_by_hand() -> None:
    # Ascending .005 .01 .03 .04 .2: times 5 4 3 2 1 is .025 .04 .09 .08 .2, and .08 may not fall below .09.
    assert holm([0.01, 0.04, 0.03, 0.005, 0.2]) == pytest.approx([0.04, 0.09, 0.09, 0.025, 0.2])
    # Times 5/1 5/2 5/3 5/4 5/5 is .025 .025 .05 .05 .2.
    assert benjamini_hochberg([0.01, 0.04, 0.03, 0.005, 0.2]) == pytest.approx([0.025, 0.05, 0.05, 0.025, 0.2])


def test_what_was_not_tested_is_no_member() -> None:
    assert holm([0.01, None, 0.04]) == pytest.approx([0.02, None, 0.04])
    assert benjamini_hochberg([None, 0.01]) == [None, 0.01]
    assert holm([]) == benjamini_hochberg([]) == []
    assert holm([None]) == [None]


@given(FAMILY)
def test_adjusted_is_never_smaller_and_holm_never_below_bh(family: list[float | None]) -> None:
    for raw, strict, loose in zip(family, holm(family), benjamini_hochberg(family), strict=True):
        if raw is None:
            assert strict is None
            assert loose is None
        else:
            assert strict is not None
            assert loose is not None
            assert raw <= loose + 1e-15
            assert loose <= strict + 1e-15
            assert strict <= 1


@given(FAMILY, st.randoms())
def test_the_order_of_tests_changes_nothing(family: list[float | None], rng: random.Random) -> None:
    places = rng.sample(range(len(family)), len(family))
    for adjust in (holm, benjamini_hochberg):
        adjusted = adjust(family)
        assert adjust([family[place] for place in places]) == [adjusted[place] for place in places]
