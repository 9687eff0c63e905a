"""Money by run, item and dimension, checked by hand; every sum is exact, so that no order can show in it."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentanvil.aggregate.usage import Usage, UsageTally
from agentanvil.verdict import Exchange, Outcome, Scored
from tests.fakes.records import outcome


def asked(call: str, dimensions: tuple[str, ...], *costs: float | None, repeat: int = 0) -> Outcome:
    exchanges = tuple(Exchange(input_tokens=1, output_tokens=1, cost=cost) for cost in costs)
    return outcome(0, dict.fromkeys(dimensions, Scored(4.0)), call=call, repeat=repeat, exchanges=exchanges)


def usage(*items: list[Outcome]) -> Usage:
    tally = UsageTally()
    for outcomes in items:
        tally.add(outcomes)
    return tally.result()


JOINT = ("a", "b", "c", "d")


def test_a_joint_call_counts_for_each_of_its_dimensions_with_an_equal_part() -> None:
    """0.08 and 0.04 over four dimensions: 0.03 each."""
    found = usage([asked("joint", JOINT, 0.08)], [asked("joint", JOINT, 0.04)])
    assert found.cost == pytest.approx(0.12)
    assert found.cost_by_dimension == pytest.approx({"a": 0.03, "b": 0.03, "c": 0.03, "d": 0.03})
    assert (found.cost_per_item.value, found.cost_per_item.n) == pytest.approx((0.06, 2))


def test_calls_of_their_own_are_told_as_they_were_billed() -> None:
    """Repeats and re-asks of an item add up: 0.01 + 0.02 + 0.03 for a, 0.05 for b."""
    first = [asked("a", ("a",), 0.01, 0.02), asked("a", ("a",), 0.03, repeat=1), asked("b", ("b",), 0.05)]
    found = usage(first)
    assert found.cost_by_dimension == pytest.approx({"a": 0.06, "b": 0.05})
    assert (found.cost_per_item.value, found.cost_per_item.n) == pytest.approx((0.11, 1))


def test_joint_and_split_calls_add_up() -> None:
    found = usage([asked("joint", ("a", "b"), 0.04), asked("a", ("a",), 0.01), asked("b", ("b",), 0.02)])
    assert found.cost_by_dimension == pytest.approx({"a": 0.03, "b": 0.04})


def test_one_answer_without_a_price_leaves_its_dimensions_and_the_whole_unknown() -> None:
    found = usage([asked("a", ("a",), 0.01, None), asked("b", ("b",), 0.05)])
    assert (found.cost, found.without_price) == (None, 1)
    assert found.cost_by_dimension == {"a": None, "b": 0.05}
    assert (found.cost_per_item.value, found.cost_per_item.reason) == (None, "an answer has no price")


def test_items_that_no_judge_was_asked_about_do_not_lower_the_mean() -> None:
    code = outcome(1, {"short": Scored(1.0)}, call="checks", exchanges=())
    found = usage([asked("a", ("a",), 0.02)], [code])
    assert (found.cost_per_item.value, found.cost_per_item.n) == (0.02, 1)
    assert found.cost_by_dimension == {"a": 0.02}
    nothing = usage([code])
    assert (nothing.cost, nothing.cost_per_item.reason) == (None, "no answer has a price")
    assert nothing.cost_by_dimension == {}


COSTS = st.lists(st.floats(0, 1e3), min_size=1, max_size=30)


@given(COSTS, st.randoms(use_true_random=False))
def test_the_order_of_items_does_not_show(costs: list[float], random: object) -> None:
    items = [[asked("joint", JOINT, cost)] for cost in costs]
    shuffled = items[:]
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    found = usage(*items)
    assert found == usage(*shuffled)
    assert found.cost == math.fsum(costs)
    parts = found.cost_by_dimension.values()
    assert math.fsum(part for part in parts if part is not None) == pytest.approx(found.cost)
