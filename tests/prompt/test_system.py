"""The system message: what it says, in which order, and that rows do not change it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentanvil.errors import RubricError
from agentanvil.plan import plan_calls
from agentanvil.prompt import PromptRenderer, built_in_rules, estimate_tokens
from agentanvil.rubric import Dimension, Exclusion, ReplyFormat, Rubric, Scale, Scope, load_rubric
from tests.fakes.prompts import prompted, scale_rubric, tasks_of
from tests.fakes.records import row

RUBRICS = Path(__file__).parents[2] / "rubrics"
FIRST = Dimension(
    "first",
    "FIRST-QUESTION",
    {1: "FIRST-ONE", 5: "FIRST-FIVE", 3: "FIRST-THREE"},
    Scope(("FIRST-IN",), (Exclusion("FIRST-OUT", "second"), Exclusion("NOBODYS-OUT"))),
)
SECOND = Dimension("second", "SECOND-QUESTION", {5: "SECOND-FIVE", 1: "SECOND-ONE"})


def two(**changes: object) -> Rubric:
    values: dict[str, object] = {
        "id": "r",
        "version": 1,
        "scale": Scale(1, 5),
        "dimensions": (FIRST, SECOND),
        "rules": ("OWN-RULE",),
    }
    return Rubric(**{**values, **changes})  # type: ignore[arg-type]


def in_order(text: str, *parts: str) -> bool:
    places = [text.index(part) for part in parts]
    return places == sorted(places)


def test_rules_dimensions_procedure_and_contract_stand_in_this_order() -> None:
    system = prompted(two())[1].system
    assert in_order(system, "round down", "OWN-RULE", "FIRST-QUESTION", "SECOND-QUESTION", "# Procedure", '{"first": ')


def test_scope_stands_after_the_question_and_before_the_anchors_highest_first() -> None:
    system = prompted(two())[1].system
    assert in_order(
        system, "FIRST-QUESTION", "Scope", "FIRST-IN", "FIRST-OUT", "FIRST-FIVE", "FIRST-THREE", "FIRST-ONE"
    )


def test_a_scope_is_repeated_in_the_procedure_as_one_line_that_names_the_owners() -> None:
    procedure = prompted(two())[1].system.split("# Procedure")[1]
    assert "\nOut of scope for first: FIRST-OUT (second judges that); NOBODYS-OUT\n" in procedure
    assert procedure.count("FIRST-OUT") == 1
    assert "Out of scope for second" not in procedure
    assert procedure.index("evidence:") < procedure.index("reason:") < procedure.index("score:")


def test_a_dimension_without_scope_has_no_scope_block() -> None:
    system = prompted(two(dimensions=(SECOND,)))[1].system
    assert "cope" not in system


def test_a_split_call_knows_its_siblings_through_its_scope_alone() -> None:
    tasks = tasks_of(two(calls="split"))
    renderer = PromptRenderer(two(calls="split"), [task.call for task in tasks])
    first, second = (renderer.render(task).system for task in tasks)
    assert "SECOND-" not in first
    assert "FIRST-" not in second
    assert "first" not in second
    assert first.count("second") == 2


@pytest.mark.parametrize(
    ("evidence", "said", "unsaid"),
    [
        ("quoted", ["Quote before you score", '"evidence"', "word for word"], ["place"]),
        ("pinpoint", ["Name the place", '"evidence"'], ["uote"]),
        ("none", ['"reason"'], ["vidence", "uote", "place"]),
    ],
)
def test_evidence_mode_changes_rule_procedure_and_contract(evidence: str, said: list[str], unsaid: list[str]) -> None:
    system = prompted(two(evidence=evidence))[1].system
    assert all(part in system for part in said)
    assert not any(part in system for part in unsaid)


def test_the_lowest_score_is_named_as_it_is_on_the_scale() -> None:
    system = prompted(scale_rubric(0, 3, evidence="quoted"))[1].system
    assert "the score is 0." in system
    assert "from 0 to 3" in system


def test_no_score_is_shown_in_the_reply_form() -> None:
    """A number in the form would be an example score, and an echo of the form would count as a verdict."""
    for rubric in (two(), two(dimensions=(FIRST,)), two(evidence="none")):
        assert '"score": N}' in prompted(rubric)[1].system


def test_json_is_named_since_json_mode_demands_it() -> None:
    assert "JSON" in prompted(two())[1].system


@given(st.text(min_size=1), st.text(min_size=1))
def test_the_system_message_is_the_same_object_for_every_row(request: str, response: str) -> None:
    renderer = PromptRenderer(two(), plan_calls(two()))
    one = renderer.render(tasks_of(two(), row())[0])
    other = renderer.render(tasks_of(two(), row(1, request=request, response=response, source=("s",)))[0])
    assert one.system is other.system
    assert one.contract is other.contract


def test_rubric_texts_are_inserted_as_they_are() -> None:
    odd = Dimension("odd", "Does {it} hold %s, {{x}} and \\d?", {5: "{5}", 1: "%(no)s"})
    system = prompted(two(dimensions=(odd,)))[1].system
    assert "Does {it} hold %s, {{x}} and \\d?" in system
    assert "5: {5}\n1: %(no)s" in system


def test_checked_dimensions_reach_no_judge() -> None:
    renderer = PromptRenderer(two(), plan_calls(two()))
    assert set(renderer.templates) == {"joint"}


def test_a_marked_reply_has_room_for_one_dimension_only() -> None:
    rubric = two(reply=ReplyFormat("label", "Score:"))
    with pytest.raises(RubricError, match="holds one verdict"):
        PromptRenderer(rubric, plan_calls(rubric))
    split = two(reply=ReplyFormat("label", "Score:"), calls="split")
    assert "Score: X" in prompted(split)[1].system


@pytest.mark.parametrize(
    ("reply", "line"),
    [
        pytest.param(ReplyFormat("label", "Score:"), "\nScore: X", id="marker with a colon"),
        pytest.param(ReplyFormat("label", "GRADE"), "\nGRADE: X", id="marker without one"),
        pytest.param(ReplyFormat("label"), "Reply with X alone, where X is one of: 1, 2, 3, 4, 5", id="no marker"),
        pytest.param(ReplyFormat("brackets"), "\n[[X]]", id="brackets"),
        pytest.param(ReplyFormat("brackets", "Rating:"), "\nRating: [[X]]", id="brackets after a marker"),
    ],
)
def test_a_marked_reply_is_asked_for_in_the_form_that_is_read(reply: ReplyFormat, line: str) -> None:
    assert prompted(two(dimensions=(SECOND,), reply=reply))[1].system.endswith(line)


@pytest.mark.parametrize("name", ["calibrated", "grounded"])
def test_shipped_rubrics_stay_affordable_on_a_local_model(name: str) -> None:
    rubric = load_rubric(RUBRICS / f"{name}.yaml")
    assert estimate_tokens(prompted(rubric)[1].system) <= 1000


@pytest.mark.parametrize("mode", ["absolute", "pairwise", "gate"])
def test_an_omitted_built_in_rule_takes_its_line_away_and_nothing_else(mode: str) -> None:
    full = two(mode=mode, needs_source=True)
    (call,) = plan_calls(full)
    lines = PromptRenderer(full, [call]).templates["joint"].system.split("\n")
    for name, text in built_in_rules(full).items():
        without = PromptRenderer(replace(full, omit_built_in=(name,)), [call]).templates["joint"].system.split("\n")
        assert [line for line in lines if line != f"- {text}"] == without
        assert len(without) == len(lines) - 1
