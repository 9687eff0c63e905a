"""Which rows a label would help most: each signal alone by hand, and how they share out a draw."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from agentanvil.aggregate import ItemOutcomes, Reducer
from agentanvil.aggregate.label_priority import Chances, LabelPriority
from agentanvil.plan import Plan
from agentanvil.rubric import Rubric
from agentanvil.verdict import Scored
from tests.fakes.graded import ERROR, NA, Pair, Score, compare, item, plan, rubric


def chances(
    of: Rubric, shape: Plan, rows: Sequence[ItemOutcomes], n: int = 1, random: float = 0.5, labelled: Sequence[int] = ()
) -> Chances:
    reducer = Reducer(of, shape)
    priority = LabelPriority(reducer.frame)
    for place, row in enumerate(rows):
        priority.add(reducer.reduce(row), labelled=place in labelled)
    return priority.chances(n, random)


def scored(
    scores: Sequence[Sequence[Score] | Score],
    *,
    gate: float | None = None,
    repeats: int = 1,
    n: int = 1,
    random: float = 0.5,
    labelled: Sequence[int] = (),
) -> Chances:
    of = rubric("a", gate={} if gate is None else {"a": gate})
    shape = plan(of, repeats)
    rows = [item(shape, index, {"a": each}) for index, each in enumerate(scores)]
    return chances(of, shape, rows, n, random, labelled)


def read(expected: float, entropy: float) -> Scored:
    return Scored(3.0, ("a quote",), True, "so", expected_score=expected, entropy=entropy)


def test_rows_of_which_nothing_tells_them_apart_have_equal_chances() -> None:
    found = scored([3, 3, 3])
    assert found.sizes == pytest.approx(np.ones(3))
    assert found.reasons == ("random",) * 3


def test_repeats_that_disagree_are_drawn_by_how_far_they_lie_apart() -> None:
    # Apart by 1 and 3 of the scale's 4: signals 1/4 and 3/4, so that half of the draw is shared 1 : 3.
    # Two categories in equal numbers (3, and 3.5 that counts as 4): coverage says nothing.
    found = scored([[3, 3], [3, 4], [2, 5], [3, 3]], repeats=2, random=0.5)
    assert found.sizes == pytest.approx(np.array([0.125, 0.125 + 0.125, 0.125 + 0.375, 0.125]))
    assert found.reasons == ("random", "random", "disagreement", "random")


def test_a_dimension_that_applies_in_one_repeat_and_not_in_another_is_in_full_dispute() -> None:
    found = scored([[3, NA], [3, 3], [1, 5]], repeats=2)
    assert found.sizes[0] == pytest.approx(found.sizes[2])
    assert found.sizes[1] == pytest.approx(0.5 / 3)


def test_probabilities_that_are_undecided() -> None:
    # Entropy .2 and .8 where the expected score is whole; 3.4 is .8 of the way to the middle between two scores.
    found = scored([read(3, 0.2), read(3, 0.8), read(3.4, 0.1), read(3, 0.0)], random=0.1)
    assert found.sizes - 0.1 / 4 == pytest.approx(np.array([0.1, 0.4, 0.4, 0.0]))
    assert found.reasons[1:] == ("uncertainty", "uncertainty", "random")


def test_scores_near_the_gate() -> None:
    # Passing begins at 3.5 among whole scores: 3 and 4 are half a score away, 2 and 5 more than one.
    found = scored([3, 4, 2, 5], gate=4, random=0.2)
    assert found.sizes - 0.05 == pytest.approx(np.array([0.4, 0.4, 0.0, 0.0]))
    assert found.reasons == ("gate", "gate", "random", "random")


def test_a_gate_that_everything_passes_says_nothing() -> None:
    assert scored([1, 1, 1], gate=1).reasons == ("random",) * 3


def test_rare_categories_are_covered() -> None:
    # Two labels over two categories are 1 each; an even draw would bring 1/2 of 1 and 3/2 of 5.
    found = scored([1, 5, 5, 5], n=2, random=0.5)
    assert found.sizes == pytest.approx(np.array([0.125 + 0.5, 0.125, 0.125, 0.125]))
    assert found.reasons == ("coverage", "random", "random", "random")


def test_labels_that_are_there_count_towards_a_category() -> None:
    # Three labels of 1 and two to come, 5/2 each: there are enough of 1 already, and an even draw brings 4/3 of 5.
    found = scored([1, 1, 1, 1, 5, 5], n=2, labelled=[0, 1, 2])
    assert found.indices.tolist() == [3, 4, 5]
    assert found.reasons == ("random", "coverage", "coverage")


def test_rows_without_a_verdict_are_drawn_evenly() -> None:
    found = scored([ERROR, 1, 5, 5, 5], n=2)
    assert found.reasons[0] == "random"
    assert found.sizes[0] == pytest.approx(0.1)


def test_signals_share_the_draw_by_their_greatest_values() -> None:
    # Disagreement (1 at most, one row) and the gate (1/2 at most, four rows): two thirds and one third of .9.
    of = rubric("a", gate={"a": 4})
    shape = plan(of, 2)
    rows = [item(shape, n, {"a": each}) for n, each in enumerate([[1, 5], [3, 3], [3, 3], [3, 3], [3, 3]])]
    found = chances(of, shape, rows, random=0.1)
    assert found.reasons == ("disagreement", "gate", "gate", "gate", "gate")
    assert found.sizes[0] == pytest.approx(0.02 + 0.6 + 0.3 / 5)


def test_pairs_in_dispute() -> None:
    of = replace(rubric("a"), mode="pairwise")
    shape = plan(of)
    pairs = [Pair({"a": [2, 2]}), Pair({"a": [2, -2]}), Pair({"a": [2, 0]}), Pair({"a": [-2, -2]})]
    pairs += [Pair({"a": [-2, -2]}), Pair({"a": [0, 0]})]  # two of each winner: coverage says nothing
    found = chances(of, shape, [compare(shape, n, pair) for n, pair in enumerate(pairs)], random=0.3)
    assert found.reasons[1:3] == ("disagreement", "disagreement")
    assert found.sizes[1] > found.sizes[2] > found.sizes[0] == pytest.approx(found.sizes[3])


def test_pairs_whose_probabilities_are_undecided() -> None:
    of = replace(rubric("a"), mode="pairwise")
    shape = plan(of)
    pairs = [Pair({"a": [2, 2]}, preferences=[p, p]) for p in (0.99, 0.55)]
    found = chances(of, shape, [compare(shape, n, pair) for n, pair in enumerate(pairs)], random=0.2)
    assert found.reasons == ("random", "uncertainty")


def test_every_row_keeps_its_even_share_and_the_sizes_sum_to_one() -> None:
    found = scored([[1, 5], [3, 3], [2, 3], [4, 4]], gate=3, repeats=2, random=0.3)
    assert found.sizes.sum() == pytest.approx(1)
    assert found.sizes.min() >= 0.3 / 4 - 1e-12


def test_nothing_left() -> None:
    assert len(scored([1, 5], labelled=[0, 1]).indices) == 0
