from __future__ import annotations

from typing import get_args

import pytest

from agentanvil.checks import CHECKS, CheckRunner
from agentanvil.errors import RubricError
from agentanvil.plan import Plan, Task, plan_calls
from agentanvil.rubric import CheckDimension, CheckSpec, Rubric, Scale
from agentanvil.rubric.wire_checks import CheckWire
from agentanvil.verdict import InputFault, Outcome, Scored
from tests.fakes.records import row, rubric

FIVE = Scale(1, 5)


def contract(*specs: CheckSpec, scale: Scale = FIVE) -> Rubric:
    dimensions = tuple(CheckDimension(f"c{n}", spec, line=10 + n) for n, spec in enumerate(specs))
    return rubric(dimensions=dimensions, scale=scale, file="r.yaml")


def tasks(contract: Rubric, *rows: object) -> list[Task]:
    return list(Plan(plan_calls(contract), repeats=3, judge="scripted:test").tasks(rows))  # type: ignore[arg-type]


def test_every_type_that_a_rubric_may_name_has_its_check() -> None:
    models = [get_args(tagged)[0] for tagged in get_args(get_args(CheckWire)[0])]
    named = {get_args(model.model_fields["type"].annotation)[0] for model in models}
    assert named == set(CHECKS)


def test_an_outcome_has_one_cell_per_dimension_and_no_exchange() -> None:
    checks = contract(
        CheckSpec("contains", params={"text": "Paris"}),
        CheckSpec("max_words", params={"limit": 2}),
        CheckSpec("regex", on="meta.ticket", params={"pattern": "^#"}),
    )
    (task,) = tasks(checks, row(3, labels={"c0": (5.0,)}, flags=("surrogates_replaced",)))
    outcome = CheckRunner(checks).run(task)
    assert outcome == Outcome(
        task_id="item-3/checks/0",
        row=3,
        item_id="item-3",
        call="checks",
        repeat=0,
        order="-",
        judge="code",
        cells={
            "c0": Scored(5, reason="contains “Paris”"),
            "c1": Scored(1, reason="6 words, the limit is 2"),
            "c2": InputFault("missing_field", "meta.ticket: `meta` has no `ticket`; its keys are nothing"),
        },
        labels={"c0": (5.0,)},
        flags=("surrogates_replaced",),
    )
    assert outcome == CheckRunner(checks).run(task)


@pytest.mark.parametrize("scale", [Scale(0, 1), Scale(1, 10), Scale(-2, 2)])
def test_a_pass_is_the_top_of_the_scale_and_a_failure_its_bottom(scale: Scale) -> None:
    spec = CheckSpec("contains", params={"text": "Paris"})
    checks = contract(spec, scale=scale)
    runner = CheckRunner(checks)
    cells = [runner.run(task).cells["c0"] for task in tasks(checks, row(0), row(1, response="Lyon"))]
    assert [cell.score for cell in cells if isinstance(cell, Scored)] == [scale.max, scale.min]


def test_a_timeout_is_a_fault_of_this_row_alone() -> None:
    checks = contract(CheckSpec("regex", params={"pattern": r"(x+x+)+y"}), CheckSpec("max_chars", params={"limit": 5}))
    runner = CheckRunner(checks)
    hard, easy = (runner.run(task) for task in tasks(checks, row(0, response="x" * 5000), row(1, response="ok")))
    assert isinstance(hard.cells["c0"], InputFault)
    assert hard.cells["c0"].code == "check_timeout"
    assert isinstance(hard.cells["c1"], Scored)
    assert isinstance(easy.cells["c0"], Scored)


def test_the_expected_answer_can_be_checked_by_code() -> None:
    checks = contract(
        CheckSpec("equals_field", params={"field": "gold"}), CheckSpec("equals_field", params={"field": "expected"})
    )
    (task,) = tasks(checks, row(response="42", expected="42", extra={"gold": "42"}))
    assert [cell.state for cell in CheckRunner(checks).run(task).cells.values()] == ["scored", "scored"]


@pytest.mark.parametrize(
    ("spec", "key"),
    [
        (CheckSpec("regexp", params={"pattern": "a"}), "c1.check"),
        (CheckSpec("regex", params={"pattern": "("}), "c1.check.pattern"),
        (CheckSpec("regex", on="meta..x", params={"pattern": "a"}), "c1.check.on"),
        (CheckSpec("json_schema", params={"schema": {"$ref": "http://127.0.0.1:9/x"}}), "c1.check.schema"),
        (CheckSpec("max_words", params={"limit": "5"}), "c1.check.limit"),
    ],
)
def test_a_check_that_cannot_be_prepared_names_its_place(spec: CheckSpec, key: str) -> None:
    with pytest.raises(RubricError) as caught:
        CheckRunner(contract(CheckSpec("contains", params={"text": "a"}), spec))
    assert caught.value.where is not None
    assert (caught.value.where.file, caught.value.where.line, caught.value.where.key) == ("r.yaml", 11, key)
