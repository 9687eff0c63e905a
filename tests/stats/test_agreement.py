from __future__ import annotations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from agentanvil.stats import (
    adjacent_agreement,
    agreement_table,
    cohen_kappa,
    exact_agreement,
    kappa_of_tables,
)
from tests.fakes.published import read_json, read_lines

SCALE = (1, 2, 3, 4, 5)
PAIRS = st.lists(st.tuples(st.sampled_from(SCALE), st.sampled_from(SCALE)), min_size=2, max_size=40)


def test_kappa_by_hand() -> None:
    # 2×2 table 20 5 / 10 15 (Cohen's layout): observed 0.7, expected 0.5·0.6 + 0.5·0.4 = 0.5, kappa 0.4.
    a = [0] * 25 + [1] * 25
    b = [0] * 20 + [1] * 5 + [0] * 10 + [1] * 15
    assert cohen_kappa(a, b, (0, 1)).value == pytest.approx(0.4)


def test_quadratic_kappa_by_hand() -> None:
    # Pairs (1,1) (2,3) (3,3): observed distance² 0 + 1 + 0 = 1. Expected Σ over all 9 crossings / 3:
    # 1 against 1,3,3: 0 + 4 + 4; 2: 1 + 1 + 1; 3: 4 + 0 + 0 → 15 / 3 = 5. Kappa 1 − 1/5.
    assert cohen_kappa([1, 2, 3], [1, 3, 3], (1, 2, 3), "quadratic").value == pytest.approx(0.8)


@pytest.mark.parametrize("weights", [None, "linear", "quadratic"])
def test_one_label_has_agreement_but_no_kappa(weights: None) -> None:
    kappa = cohen_kappa([1, 1, 1], [1, 1, 1], (0, 1), weights)
    assert (kappa.value, kappa.n) == (None, 3), "O-E10"
    assert kappa.reason
    assert "one and the same label" in kappa.reason
    assert exact_agreement([1, 1, 1], [1, 1, 1]).value == 1.0


def test_an_always_pass_judge_agrees_often_and_means_nothing() -> None:
    judge, human = [1] * 10, [1] * 9 + [0]
    assert exact_agreement(judge, human).value == 0.9, "O-E11"
    assert cohen_kappa(judge, human, (0, 1)).value == 0.0


def test_an_undeclared_label_is_refused() -> None:
    with pytest.raises(ValueError, match="declared scale"):
        cohen_kappa([1, 6], [1, 5], SCALE)


def test_decimal_scores_one_step_apart_are_adjacent() -> None:
    assert adjacent_agreement([0.3], [0.2], step=0.1).value == 1.0


@given(PAIRS, st.sampled_from([None, "linear", "quadratic"]))
def test_kappa_is_symmetric_and_at_most_one(pairs: list[tuple[int, int]], weights: None) -> None:
    a, b = [x for x, _ in pairs], [y for _, y in pairs]
    one, other = cohen_kappa(a, b, SCALE, weights), cohen_kappa(b, a, SCALE, weights)
    assume(one.value is not None)
    assert one.value == pytest.approx(other.value)
    assert one.value is not None
    assert one.value <= 1 + 1e-12


@given(PAIRS, st.integers(2, 9))
def test_a_table_of_fractions_gives_the_same_kappa(pairs: list[tuple[int, int]], parts: int) -> None:
    whole = agreement_table(pairs, SCALE)
    scaled = kappa_of_tables([whole / parts], [parts], "quadratic")
    assert scaled == pytest.approx(kappa_of_tables([whole], [1], "quadratic"))


@pytest.mark.published
def test_kappa_of_three_people_on_published_pairs() -> None:
    expected = read_json("pandalm/expected.json")["pairwise_cohen_kappa"]
    rows = read_lines("pandalm/testset.jsonl")
    raters = [[row["human"][k] for row in rows] for k in range(3)]
    for name, (i, j) in {"1-2": (0, 1), "1-3": (0, 2), "2-3": (1, 2)}.items():
        kappa = cohen_kappa(raters[i], raters[j], (0, 1, 2)).value
        assert kappa == pytest.approx(expected[name], abs=1e-6)
