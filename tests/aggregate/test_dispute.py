"""Which first repeats disagree, and what becomes of items that have more of them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentanvil.aggregate import Dispute, ItemOutcomes, Reducer, Summariser
from agentanvil.plan import Plan
from agentanvil.verdict import InputFault
from tests.fakes.graded import ERROR, NA, Pair, Score, compare, item, plan, rubric
from tests.fakes.seated import said, seated

SECOND, THIRD = "openai:two", "gemini:three"


def adaptive(of: Plan, repeats: int = 4) -> Plan:
    return replace(of, repeats=repeats, adaptive=True)


def first(row: ItemOutcomes, repeats: int = 2) -> ItemOutcomes:
    """The same item without its further repeats."""
    return replace(row, outcomes=[outcome for outcome in row.outcomes if outcome.repeat < repeats])


@pytest.mark.parametrize(
    ("scores", "disputed"),
    [
        pytest.param({"a": [4, 4], "b": [2, 2]}, False, id="agreed"),
        pytest.param({"a": [4, 5], "b": [2, 2]}, True, id="one dimension"),
        pytest.param({"a": [4, 2], "b": [2, 4]}, True, id="the minimum is the same"),
        pytest.param({"a": [4, NA], "b": [2, 2]}, True, id="once not applicable"),
        pytest.param({"a": [NA, NA], "b": [2, 2]}, False, id="never applicable"),
        pytest.param({"a": [4, ERROR], "b": [2, 2]}, False, id="nothing to hold against it"),
        pytest.param({"a": [4, ERROR], "b": [2, 3]}, True, id="missing here, apart there"),
        pytest.param({"a": [InputFault("too_long"), 4], "b": [2, 2]}, False, id="not judged"),
    ],
)
@pytest.mark.parametrize("calls", ["joint", "split"])
def test_scores_of_the_first_two_are_held_against_each_other(
    scores: dict[str, Any], disputed: bool, calls: str
) -> None:
    of = rubric("a", "b", checks=["c"], calls=calls)
    shape = adaptive(plan(of))
    row = item(plan(of, 2), 0, {**scores, "c": 5})
    assert Dispute(of, shape).arises(row.outcomes) is disputed
    assert Dispute(of, shape).arises(list(reversed(row.outcomes))) is disputed


def test_later_repeats_and_lone_ones_dispute_nothing() -> None:
    of = rubric("a")
    dispute = Dispute(of, adaptive(plan(of)))
    assert not dispute.arises(item(plan(of, 4), 0, {"a": [4, 4, 1, 5]}).outcomes)
    assert not dispute.arises(item(plan(of, 1), 0, {"a": 4}).outcomes)
    assert not dispute.arises([])


@pytest.mark.parametrize(
    ("second", "disputed"), [([2, 2], False), ([2, 3], True)], ids=["each of one mind", "one of two minds"]
)
def test_judges_may_differ_from_each_other(second: list[Score], disputed: bool) -> None:
    of = rubric("a")
    shape = seated(plan(of, 2), SECOND)
    row = said(shape, 0, {"a": [5, 5]}, {"a": second})
    assert Dispute(of, adaptive(shape)).arises(row.outcomes) is disputed
    aside = seated(plan(of, 2), SECOND, role="cross")
    assert Dispute(of, adaptive(aside)).arises(row.outcomes) is False


@pytest.mark.parametrize(
    ("leads", "orders", "disputed"),
    [
        pytest.param([2, -1, 1, -2], "both", False, id="the place decides, twice"),
        pytest.param([2, 1, 1, -1], "both", True, id="another winner in one order"),
        pytest.param([2, 1, 1, 0], "both", True, id="a tie in one order"),
        pytest.param([2, 1], "fixed", False, id="by more or less"),
        pytest.param([2, -1], "random", True, id="drawn orders"),
        pytest.param([2, ERROR], "fixed", False, id="missing"),
    ],
)
def test_winners_are_held_against_each_other_in_the_same_order(leads: list[Score], orders: Any, disputed: bool) -> None:
    of = rubric("a", checks=["c"], mode="pairwise")
    shape = plan(of, 2, orders)
    pair = Pair({"a": leads, "c": [0] * len(leads)}, ("ab", "ba") if orders == "random" else ())
    row = compare(shape, 0, pair)
    assert Dispute(of, adaptive(shape)).arises(row.outcomes) is disputed


def test_a_pair_that_lacks_a_call_is_not_disputed() -> None:
    of = rubric("a", mode="pairwise")
    shape = plan(of, 2, "both")
    outcomes = compare(shape, 0, Pair({"a": [2, -1, -1, 2]})).outcomes
    assert not Dispute(of, adaptive(shape)).arises(outcomes[:3])


SCORES = st.one_of(st.integers(1, 5), st.just(NA), st.just(ERROR))


@given(st.lists(st.tuples(st.lists(SCORES, min_size=4, max_size=4), st.booleans()), min_size=1, max_size=6))
def test_spread_is_that_of_the_first_two_whoever_has_more(rows: list[tuple[list[Score], bool]]) -> None:
    of = rubric("a", checks=["c"])
    shape = adaptive(plan(of))
    more, twice = Summariser(of, shape, seed=7), Summariser(of, plan(of, 2), seed=7)
    for n, (scores, repeated) in enumerate(rows):
        whole = item(plan(of, 4), n, {"a": scores, "c": 5})
        more.add(whole if repeated else first(whole))
        twice.add(first(whole))
    mine, theirs = more.finish(), twice.finish()
    for one, other in ((mine.dimensions[0], theirs.dimensions[0]), (mine.overall, theirs.overall)):
        if all(not repeated for _, repeated in rows):
            assert one.mean == other.mean
        assert one.variance == other.variance
    states = mine.dimensions[0].states
    assert sum(states.values()) == sum(4 if repeated else 2 for _, repeated in rows)
    assert sum(mine.dimensions[0].distribution.values()) == states["scored"]
    assert mine.more_repeats is not None
    assert mine.more_repeats.items == sum(repeated for _, repeated in rows)


def test_some_but_not_all_further_repeats_are_refused() -> None:
    of = rubric("a")
    reducer = Reducer(of, adaptive(plan(of)))
    row = item(plan(of, 4), 0, {"a": [1, 2, 3, 4]})
    assert [len(reducer.reduce(found).dimensions[0].cells) for found in (row, first(row))] == [4, 2]
    for kept in (1, 3):
        with pytest.raises(ValueError, match="the plan has"):
            reducer.reduce(first(row, kept))


def test_a_jury_takes_either_number_of_repeats() -> None:
    of = rubric("a")
    shape = seated(adaptive(plan(of), 3), SECOND, THIRD)
    fixed = seated(plan(of, 3), SECOND, THIRD)
    row = said(fixed, 0, {"a": [5, 4, 5]}, {"a": [5, 5, 5]}, {"a": [3, 3, 3]})
    reducer = Reducer(of, shape)
    results = [reducer.reduce(row), reducer.reduce(first(row))]
    assert [result.repeat_overalls for result in results] == [(4, 5, 5), (4, 5)]
    with pytest.raises(ValueError, match="lacks an outcome"):
        reducer.reduce(replace(row, outcomes=[o for o in row.outcomes if o.repeat < 2 or o.judge == SECOND]))
