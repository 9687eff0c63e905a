"""Which calls a run makes: ids that never repeat, an order that never changes."""

from __future__ import annotations

from itertools import product

from hypothesis import given
from hypothesis import strategies as st

from agentanvil.plan import BY_CODE, CHECKS, JOINT, UNORDERED, CallPlan, Plan, plan_calls, task_id
from agentanvil.rubric import Rubric
from agentanvil.verdict import Exchange, Outcome, Scored
from tests.fakes.records import row
from tests.fakes.records import rubric as make_rubric

IDS = st.lists(st.text(min_size=1), min_size=1, max_size=6, unique=True)


def rubric(judged: int, checked: int, calls: str = "joint") -> Rubric:
    names = (f"j{n}" for n in range(judged))
    return make_rubric(*names, checks=[f"c{n}" for n in range(checked)], calls=calls)


def test_a_joint_rubric_makes_one_judged_call() -> None:
    assert plan_calls(rubric(2, 0)) == (CallPlan(JOINT, ("j0", "j1"), judged=True),)


def test_a_split_rubric_makes_one_call_a_dimension() -> None:
    assert plan_calls(rubric(2, 0, "split")) == (
        CallPlan("j0", ("j0",), judged=True),
        CallPlan("j1", ("j1",), judged=True),
    )


def test_checks_are_one_call_that_no_judge_sees() -> None:
    assert plan_calls(rubric(0, 2)) == (CallPlan(CHECKS, ("c0", "c1"), judged=False),)
    assert [call.name for call in plan_calls(rubric(2, 1))] == [CHECKS, JOINT]


def test_every_dimension_is_settled_by_exactly_one_call() -> None:
    for judged, checked, calls in product(range(4), range(3), ("joint", "split")):
        named = [name for call in plan_calls(rubric(judged, checked, calls)) for name in call.dimensions]
        assert sorted(named) == sorted(d.id for d in rubric(judged, checked).dimensions)


def test_a_row_stays_together_checks_first_and_then_repeat_by_repeat() -> None:
    plan = Plan(plan_calls(rubric(2, 1, "split")), repeats=2, judge="j")
    tasks = list(plan.tasks([row(0, id="a"), row(1, id="b")]))
    per_row = ["checks/0", "j0/0", "j1/0", "j0/1", "j1/1"]
    assert [task.id for task in tasks] == [f"{item}/{name}" for item in "ab" for name in per_row]
    assert {(task.call.name, task.judge) for task in tasks} == {("checks", BY_CODE), ("j0", "j"), ("j1", "j")}
    assert {task.order for task in tasks} == {UNORDERED}


def test_counts_are_those_of_the_tasks() -> None:
    for judged, checked, calls, repeats in product(range(3), range(2), ("joint", "split"), (1, 3)):
        plan = Plan(plan_calls(rubric(judged, checked, calls)), repeats, "j")
        tasks = list(plan.tasks([row()]))
        assert len(tasks) == len(plan.slots())


def test_rows_are_taken_one_at_a_time() -> None:
    taken: list[int] = []

    def rows() -> object:
        for index in range(1000):
            taken.append(index)
            yield row(index)

    tasks = Plan(plan_calls(rubric(1, 0)), 1, "j").tasks(rows())  # type: ignore[arg-type]
    next(tasks)
    assert taken == [0]


@given(IDS, st.integers(1, 3))
def test_task_ids_never_repeat_and_do_not_depend_on_other_rows(ids: list[str], repeats: int) -> None:
    plan = Plan(plan_calls(rubric(2, 1, "split")), repeats, "j")
    rows = [row(index, id=name) for index, name in enumerate(ids)]
    whole = [task.id for task in plan.tasks(rows)]
    assert len(set(whole)) == len(whole)
    assert [task.id for one in rows for task in plan.tasks([one])] == whole


def test_ids_are_readable_where_they_can_be_and_never_hold_a_separator() -> None:
    assert task_id("item-7", "joint", 2) == "item-7/joint/2"
    assert task_id("a/b", "joint", 0) == "a%2Fb/joint/0"
    assert task_id("a%2Fb", "joint", 0) == "a%252Fb/joint/0"
    assert task_id("../up\n", "joint", 0) == "..%2Fup%0A/joint/0"
    assert task_id("née", "joint", 0) == "n%C3%A9e/joint/0"


def test_an_outcome_names_its_task_and_adds_to_the_flags_of_its_row() -> None:
    plan = Plan(plan_calls(rubric(1, 0)), repeats=2, judge="j")
    _, task = plan.tasks([row(3, id="ü", labels={"j0": (4.0,)}, flags=("surrogates_replaced",))])
    cells, exchange = {"j0": Scored(4.0)}, Exchange(text="{}")
    assert task.outcome(cells) == Outcome(
        task_id="%C3%BC/joint/1",
        row=3,
        item_id="ü",
        call="joint",
        repeat=1,
        order=UNORDERED,
        judge="j",
        cells=cells,
        labels={"j0": (4.0,)},
        flags=("surrogates_replaced",),
    )
    noted = task.outcome(cells, (exchange,), ("contradiction",))
    assert (noted.exchanges, noted.flags) == ((exchange,), ("surrogates_replaced", "contradiction"))


def test_both_ways_of_calling_stand_side_by_side_and_the_rubric_s_own_is_the_result() -> None:
    both = plan_calls(rubric(2, 1), "both")
    assert [(call.name, call.compared) for call in both] == [
        (CHECKS, False),
        (JOINT, False),
        ("j0", True),
        ("j1", True),
    ]
    assert [(call.name, call.compared) for call in plan_calls(rubric(2, 0, "split"), "both")] == [
        ("j0", False),
        ("j1", False),
        (JOINT, True),
    ]
    assert [call.name for call in plan_calls(rubric(1, 0), "both")] == [JOINT]
    assert plan_calls(rubric(2, 0), "split") == plan_calls(rubric(2, 0, "split"))
