from __future__ import annotations

from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentanvil.stats import GwetWeights, category_counts, cohen_kappa, fleiss_kappa, gwet_ac, krippendorff_alpha
from tests.fakes.published import read_json, read_lines

SCALE = (1, 2, 3, 4)
WEIGHTS: tuple[GwetWeights, ...] = get_args(GwetWeights)
TABLES = st.integers(2, 5).flatmap(
    lambda raters: st.lists(st.lists(st.sampled_from(SCALE), min_size=raters, max_size=raters), min_size=1, max_size=12)
)


def _counts(items: list[list[int]]) -> list[list[int]]:
    return [[item.count(category) for category in SCALE] for item in items]


def test_fleiss_by_hand() -> None:
    # Two items of three ratings: all on the first, and 1 : 2. Observed (1 + 1/3) / 2 = 2/3, shares 2/3 and 1/3,
    # expected 5/9: (2/3 − 5/9) / (4/9) = 1/4.
    assert fleiss_kappa([[3, 0], [1, 2]]).value == pytest.approx(0.25)


def test_gwet_by_hand() -> None:
    # The same table: shares 2/3 and 1/3, expected 2 · (2/9 + 2/9) / (2 · 1) = 4/9: (2/3 − 4/9) / (5/9) = 0.4.
    assert gwet_ac([[3, 0], [1, 2]]).value == pytest.approx(0.4)


def test_gwet_with_linear_weights_by_hand() -> None:
    # Three categories, weights 1, 1/2 and 0. Items 1-2 and 3-3: observed (1/2 + 1) / 2. Shares 1/4, 1/4, 1/2: the
    # weights sum to 5, Σ p(1 − p) = 5/8, expected 5 · 5/8 / 6 = 25/48: (36 − 25) / (48 − 25).
    assert gwet_ac([[1, 1, 0], [0, 0, 2]], "linear").value == pytest.approx(11 / 23)


def test_a_declared_category_counts_though_nobody_chose_it() -> None:
    narrow, wide = gwet_ac([[2, 0], [1, 1]]), gwet_ac([[2, 0, 0], [1, 1, 0]])
    assert narrow.value is not None
    assert wide.value is not None
    assert wide.value > narrow.value
    assert fleiss_kappa([[2, 0], [1, 1]]) == fleiss_kappa([[2, 0, 0], [1, 1, 0]])


def test_a_single_rating_tells_of_the_shares_alone() -> None:
    # Observed as without it (1); shares (1 + 1 + 0) / 3 and 1/3, expected 2 · (2/9 + 2/9) / 2 = 4/9.
    found = gwet_ac([[2, 0], [2, 0], [0, 1], [0, 0]])
    assert (found.value, found.n) == (1, 2)
    # Observed (1 + 0) / 2, shares (1 + 1/2 + 0) / 3 = 1/2: expected 1/2.
    assert gwet_ac([[2, 0], [1, 1], [0, 1]]).value == pytest.approx(0)


@pytest.mark.parametrize(
    ("counts", "reason"),
    [
        ([], "no items"),
        ([[2, 0], [1, 0]], "unequal"),
        ([[1, 0], [0, 1]], "fewer than two ratings"),
        ([[0, 0], [0, 0]], "fewer than two ratings"),
        ([[3, 0], [3, 0]], "one category"),
    ],
)
def test_fleiss_undefined(counts: list[list[int]], reason: str) -> None:
    found = fleiss_kappa(counts)
    assert found.value is None
    assert reason in (found.reason or "")


def test_gwet_undefined() -> None:
    for counts in ([], [[0, 0]], [[1, 0], [0, 1]]):
        assert gwet_ac(counts).reason == "no item has two ratings"
    assert "categories" in (gwet_ac([[2], [2]]).reason or "")


def test_counting_ratings() -> None:
    assert category_counts([["a", "b", None], ["a", None, None]], ["a", "b"]) == [[2, 0], [0, 1], [0, 0]]
    assert category_counts([[], []], ["a"]) == []
    with pytest.raises(ValueError, match="none of the categories"):
        category_counts([[1], [7]], [1, 2])


@given(TABLES)
def test_fleiss_is_nominal_alpha_but_for_the_small_sample(items: list[list[int]]) -> None:
    # Krippendorff (2011): alpha's expected disagreement has N (N − 1) where kappa's has N².
    found = fleiss_kappa(_counts(items))
    alpha = krippendorff_alpha([list(column) for column in zip(*items, strict=True)], "nominal")
    assert (found.value is None) == (alpha.value is None)
    if found.value is not None and alpha.value is not None:
        ratings = sum(map(len, items))
        assert 1 - alpha.value == pytest.approx((1 - found.value) * (ratings - 1) / ratings)


@given(TABLES, st.sampled_from(WEIGHTS))
def test_order_and_direction_of_the_scale_do_not_matter(items: list[list[int]], weights: GwetWeights) -> None:
    counts = _counts(items)
    turned = [row[::-1] for row in counts[::-1]]
    assert gwet_ac(turned, weights).value == pytest.approx(gwet_ac(counts, weights).value)
    assert fleiss_kappa(turned).value == pytest.approx(fleiss_kappa(counts).value)


@given(st.lists(st.tuples(st.sampled_from((1, 2)), st.sampled_from((1, 2))), min_size=1, max_size=20))
def test_weights_tell_nothing_of_two_categories(pairs: list[tuple[int, int]]) -> None:
    counts = [[pair.count(1), pair.count(2)] for pair in pairs]
    values = [gwet_ac(counts, weights).value for weights in WEIGHTS]
    assert values == pytest.approx([values[0]] * len(values))


def test_kappa_paradox() -> None:
    # Feinstein and Cicchetti (1990): 118, 5, 2, 0 of 125 agree on 94 %, and kappa is about −.02.
    pairs = [(1, 1)] * 118 + [(1, 2)] * 5 + [(2, 1)] * 2
    kappa = cohen_kappa([x for x, _ in pairs], [y for _, y in pairs], (1, 2)).value
    chance_free = gwet_ac([[pair.count(1), pair.count(2)] for pair in pairs]).value
    assert kappa is not None
    assert chance_free is not None
    assert kappa < 0
    assert chance_free > 0.9


@pytest.mark.published
def test_fleiss_of_three_people_on_published_pairs() -> None:
    rows = read_lines("pandalm/testset.jsonl")
    raters = [[row["human"][k] for row in rows] for k in range(3)]
    assert fleiss_kappa(category_counts(raters, (0, 1, 2))).value == pytest.approx(
        read_json("pandalm/expected.json")["fleiss_kappa"], abs=1e-6
    )
