from __future__ import annotations

from dataclasses import replace
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentanvil.checks import CHECKS, CheckRunner
from agentanvil.dataset import Contender
from agentanvil.errors import RubricError
from agentanvil.plan import Plan, Task, plan_calls
from agentanvil.rubric import CheckDimension, CheckSpec, Rubric, Scale
from agentanvil.rubric.wire_checks import CheckWire
from agentanvil.verdict import InputFault, NotApplicable, Outcome, Scored
from tests.fakes.agent_runs import called
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


def test_a_check_of_a_trace_needs_one() -> None:
    checks = contract(CheckSpec("must_call", "trace", {"tool": ("a",)}), CheckSpec("max_words", params={"limit": 9}))
    runner = CheckRunner(checks)
    text, trace = (
        runner.run(task).cells for task in tasks(checks, row(0), row(1, response="Ok.", trace=called("a", "b")))
    )
    assert text["c0"] == InputFault("not_a_trace", "the response is no agent's trace")
    assert isinstance(text["c1"], Scored)
    assert trace == {"c0": Scored(5, reason="called: “a”"), "c1": Scored(5, reason="1 words, the limit is 9")}


def test_a_check_with_nothing_to_decide_is_not_applicable() -> None:
    checks = contract(CheckSpec("argument_matches", "trace", {"tool": "a", "schema": {}, "calls": "all"}))
    (task,) = tasks(checks, row(trace=called("b")))
    assert CheckRunner(checks).run(task).cells == {"c0": NotApplicable(reason="“a” was not called")}


def test_what_the_json_of_a_response_lacks_fails() -> None:
    checks = contract(
        CheckSpec("numeric_range", "response.total", {"min": 1}),
        CheckSpec("equals_field", "meta.total", {"field": "response.total"}),
    )
    runner = CheckRunner(checks)
    rows = [row(n, response=text, meta={"total": 5}) for n, text in enumerate(('{"total": 5}', '{"sum": 5}', "five"))]
    cells = [runner.run(task).cells for task in tasks(checks, *rows)]
    assert [[cell.score for cell in each.values() if isinstance(cell, Scored)] for each in cells] == [
        [5, 5],
        [1, 1],
        [1, 1],
    ]


def test_in_gate_mode_a_pass_is_one_and_a_failure_nought() -> None:
    checks = replace(contract(CheckSpec("contains", params={"text": "Paris"})), mode="gate")
    runner = CheckRunner(checks)
    cells = [runner.run(task).cells["c0"] for task in tasks(checks, row(0), row(1, response="Lyon"))]
    assert [cell.score for cell in cells if isinstance(cell, Scored)] == [1, 0]


PARIS, LYON = "Paris.", "Lyon."


@pytest.mark.parametrize(("a", "b", "delta"), [(PARIS, PARIS, 0), (PARIS, LYON, 4), (LYON, PARIS, -4), (LYON, LYON, 0)])
def test_in_a_pair_the_delta_is_that_of_the_two_scores(a: str, b: str, delta: int) -> None:
    checks = replace(contract(CheckSpec("contains", params={"text": "Paris"})), mode="pairwise")
    (task,) = tasks(checks, row(response=a, rival=Contender(b)))
    says = {PARIS: "contains “Paris”", LYON: "does not contain “Paris”"}
    expected = Scored(delta, reason=f"response_a: {says[a]}; response_b: {says[b]}")
    assert CheckRunner(checks).run(task).cells == {"c0": expected}


def test_in_a_pair_each_side_is_checked_with_its_own_trace_model_and_text() -> None:
    checks = replace(
        contract(
            CheckSpec("must_call", "trace", {"tool": ("a",)}),
            CheckSpec("equals_field", "model", {"field": "meta.best"}),
            CheckSpec("contains", "request", {"text": "capital"}),
        ),
        mode="pairwise",
    )
    here = row(response="", model="m", meta={"best": "n"}, trace=called("b"), rival=Contender("", "n", called("a")))
    (task,) = tasks(checks, here)
    cells = CheckRunner(checks).run(task).cells
    assert [cell.score for cell in cells.values() if isinstance(cell, Scored)] == [-4, -4, 0]


@pytest.mark.parametrize(("a", "b", "side"), [("not JSON", "x" * 5000, "response_b"), ("x" * 5000, "", "response_a")])
def test_in_a_pair_a_fault_names_its_side(a: str, b: str, side: str) -> None:
    checks = replace(contract(CheckSpec("regex", params={"pattern": r"(x+x+)+y"})), mode="pairwise")
    (task,) = tasks(checks, row(response=a, rival=Contender(b)))
    cell = CheckRunner(checks).run(task).cells["c0"]
    assert isinstance(cell, InputFault)
    assert cell.code == "check_timeout"
    assert cell.message.startswith(f"{side}: ")


def test_in_a_pair_nothing_to_decide_on_one_side_leaves_nothing_to_compare() -> None:
    spec = CheckSpec("argument_matches", "trace", {"tool": "a", "schema": {}, "calls": "all"})
    checks = replace(contract(spec), mode="pairwise")
    (task,) = tasks(checks, row(response="", trace=called("a"), rival=Contender("", trace=called())))
    (cell,) = CheckRunner(checks).run(task).cells.values()
    assert isinstance(cell, NotApplicable)
    assert cell.reason.endswith("response_b: “a” was not called")


def test_a_pair_without_its_second_response_is_a_fault() -> None:
    checks = replace(contract(CheckSpec("max_words", params={"limit": 3})), mode="pairwise")
    (task,) = tasks(checks, row())
    assert isinstance(CheckRunner(checks).run(task).cells["c0"], InputFault)


@given(st.text(), st.text(), st.integers(0, 5))
def test_exchanging_the_responses_mirrors_every_delta(a: str, b: str, limit: int) -> None:
    checks = replace(
        contract(CheckSpec("max_words", params={"limit": limit}), CheckSpec("contains", params={"text": "a"})),
        mode="pairwise",
    )
    runner = CheckRunner(checks)
    one, other = tasks(checks, row(0, response=a, rival=Contender(b)), row(1, response=b, rival=Contender(a)))
    for cell, mirrored in zip(runner.run(one).cells.values(), runner.run(other).cells.values(), strict=True):
        if isinstance(cell, Scored):
            assert isinstance(mirrored, Scored)
            assert cell.score == -mirrored.score
        else:
            assert cell.state == mirrored.state
