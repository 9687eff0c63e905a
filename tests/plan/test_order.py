"""Which response is shown first, and the way back."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentanvil.dataset import Contender, Row
from agentanvil.plan import (
    UNORDERED,
    CallPlan,
    Plan,
    contenders,
    shown,
    unswap_delta,
    unswap_probability,
    unswap_slot,
)

CALL = CallPlan("joint", ("d",), judged=True)
CHECKS = CallPlan("checks", ("c",), judged=False)
TEXTS = st.text(max_size=12)


def pair(name: str = "p", first: str = "one", second: str = "two") -> Row:
    return Row(0, 1, name, "q", first, model="m1", rival=Contender(second, "m2"))


def exchanged(row: Row) -> Row:
    first, second = contenders(row)
    return replace(row, response=second.response, model=second.model, rival=first)


def plan(orders: str, repeats: int = 1, seed: int = 0) -> Plan:
    return Plan((CHECKS, CALL), repeats, "j", orders, seed)  # type: ignore[arg-type]


def test_both_asks_every_pair_in_both_orders_and_fixed_in_one() -> None:
    asked = [(task.call.name, task.repeat, task.order) for task in plan("both", repeats=2).tasks([pair()])]
    assert asked == [
        ("checks", 0, UNORDERED),
        *(("joint", repeat, order) for repeat in (0, 1) for order in ("ab", "ba")),
    ]
    assert {task.order for task in plan("fixed", repeats=3).tasks([pair()]) if task.call.judged} == {"ab"}


def test_the_ids_of_the_two_orders_differ() -> None:
    names = [task.id for task in plan("both").tasks([pair("a/b")])]
    assert names == ["a%2Fb/checks/0", "a%2Fb/joint/0/ab", "a%2Fb/joint/0/ba"]


@given(st.text(min_size=1, max_size=8), TEXTS, TEXTS, st.integers(0, 2**40), st.integers(1, 6))
def test_exchanging_the_two_responses_leaves_what_is_shown(
    name: str, first: str, second: str, seed: int, repeats: int
) -> None:
    row = pair(name, first, second)
    for ours, theirs in zip(
        plan("random", repeats, seed).tasks([row]), plan("random", repeats, seed).tasks([exchanged(row)]), strict=True
    ):
        if ours.call.judged:
            assert [c.response for c in shown(ours.row, ours.order)] == [
                c.response for c in shown(theirs.row, theirs.order)
            ]
            assert first == second or ours.order != theirs.order


def test_a_drawn_order_turns_round_with_every_repeat_and_is_fair_over_items() -> None:
    drawn = [
        [task.order for task in plan("random", 4).tasks([pair(f"item-{n}")]) if task.call.judged] for n in range(400)
    ]
    assert all(orders[0] == orders[2] != orders[1] == orders[3] for orders in drawn)
    first = sum(orders[0] == "ab" for orders in drawn)
    assert 150 < first < 250  # 200 expected; five standard deviations are 50


def test_the_seed_draws_other_orders_and_the_row_s_place_none() -> None:
    orders = {
        seed: [task.order for n in range(40) for task in plan("random", seed=seed).tasks([pair(f"item-{n}")])]
        for seed in (0, 1)
    }
    assert orders[0] != orders[1]
    moved = [task.order for n in range(40) for task in plan("random").tasks([replace(pair(f"item-{n}"), index=9 * n)])]
    assert moved == orders[0]


def test_swap_and_unswap_are_inverse() -> None:
    row = pair()
    for order in ("ab", "ba"):
        first, second = shown(row, order)
        named = {"a": row.response, "b": row.rival.response if row.rival else ""}
        assert named[unswap_slot("A", order)] == first.response
        assert named[unswap_slot("B", order)] == second.response
        assert unswap_slot("tie", order) == "tie"
    assert [unswap_delta(2, "ab"), unswap_delta(2, "ba"), unswap_delta(0, "ba")] == [2, -2, 0]
    assert str(unswap_delta(0.0, "ba")) == "0.0"
    assert unswap_probability(0.75, "ab") == 0.75
    assert unswap_probability(0.75, "ba") == 0.25


def test_places_tell_the_orders_apart_only_where_both_are_asked() -> None:
    for orders, order in product(("random", "fixed", "both"), ("ab", "ba", "-")):
        assert plan(orders).place_of(order) == int(orders == "both" and order == "ba")


def test_a_row_with_one_response_has_no_order() -> None:
    with pytest.raises(ValueError, match="one response"):
        contenders(Row(0, 1, "p", "q", "one"))
