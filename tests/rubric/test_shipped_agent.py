"""rubrics/agent.yaml parts the ground among its seven dimensions, and its anchors leave no count between them."""

from __future__ import annotations

from pathlib import Path

import pytest

from agentanvil.rubric import Dimension, Rubric, lint_rubric, load_rubric

ROOT = Path(__file__).resolve().parents[2]
SEVEN = [
    "tool_selection",
    "tool_calling",
    "tool_quality",
    "execution_efficiency",
    "plan_quality",
    "plan_adherence",
    "logical_consistency",
]


@pytest.fixture(scope="module")
def rubric() -> Rubric:
    return load_rubric(ROOT / "rubrics" / "agent.yaml")


def owners(dimension: Dimension) -> set[str]:
    """Return the siblings to which a dimension leaves something."""
    return {exclusion.judged_by for exclusion in dimension.scope.outside if exclusion.judged_by is not None}


def test_it_is_clean_and_says_what_it_is_for(rubric: Rubric) -> None:
    assert lint_rubric(rubric) == ()
    assert rubric.purpose
    assert rubric.not_for


def test_seven_dimensions_are_asked_one_by_one_on_a_scale_from_0_to_3(rubric: Rubric) -> None:
    assert [d.id for d in rubric.judged] == SEVEN
    assert rubric.checked == ()
    assert (rubric.scale.min, rubric.scale.max) == (0, 3)
    assert (rubric.calls, rubric.evidence, rubric.overall.rule) == ("split", "pinpoint", "min")


def test_each_dimension_anchors_no_fault_one_fault_and_more(rubric: Rubric) -> None:
    for dimension in rubric.judged:
        assert list(dimension.anchors) == [3, 2, 0], dimension.id
        assert dimension.anchors[2].startswith("exactly one "), dimension.id
        assert dimension.anchors[0].startswith("two or more"), dimension.id


def test_each_dimension_names_what_is_its_own_and_leaves_the_rest_to_a_sibling(rubric: Rubric) -> None:
    for dimension in rubric.judged:
        assert dimension.scope.inside, dimension.id
        assert owners(dimension) <= set(SEVEN) - {dimension.id}


def test_between_any_two_dimensions_at_least_one_says_where_the_border_is(rubric: Rubric) -> None:
    left_to = {d.id: owners(d) for d in rubric.judged}

    for first in SEVEN:
        for second in SEVEN:
            assert first == second or second in left_to[first] or first in left_to[second], (first, second)


def test_no_matter_is_claimed_by_two_dimensions(rubric: Rubric) -> None:
    claimed = [matter for dimension in rubric.judged for matter in dimension.scope.inside]

    assert len(claimed) == len(set(claimed))


def test_only_the_two_plan_dimensions_may_say_that_they_do_not_apply(rubric: Rubric) -> None:
    assert [d.id for d in rubric.judged if d.allow_na] == ["plan_quality", "plan_adherence"]


def test_plan_quality_leaves_the_outcome_alone(rubric: Rubric) -> None:
    plan = next(d for d in rubric.judged if d.id == "plan_quality")

    assert "the outcome" in [exclusion.what for exclusion in plan.scope.outside]
    assert "never the outcome" in plan.question
