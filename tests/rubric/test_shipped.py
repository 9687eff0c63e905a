"""The rubrics that come with the project keep what the README promises of them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

from agentanvil.rubric import lint_rubric, load_rubric

RUBRICS = Path(__file__).resolve().parents[2] / "rubrics"


@dataclass(frozen=True, slots=True)
class Shipped:
    """What one rubric promises. `anchored` are the scores that each dimension has an anchor for."""

    id: str
    judged: tuple[str, ...]
    mode: str = "absolute"
    needs_source: bool = False
    anchored: tuple[int, ...] = (5, 3, 1)
    checked: tuple[str, ...] = ()


GENERAL = ("faithfulness", "completeness", "instruction_following")
RELEASE = ("answers_the_request", "no_unsafe_advice", "no_secret_leaked", "format_kept")

SHIPPED = (
    Shipped("calibrated", (*GENERAL, "safety")),
    Shipped("grounded", (*GENERAL, "safety"), needs_source=True),
    Shipped("pairwise", GENERAL, mode="pairwise", anchored=(2, 1, 0)),
    Shipped("gate", RELEASE, mode="gate", anchored=(1, 0), checked=("no_placeholder",)),
    Shipped("rag", ("context_relevance", "groundedness", "answer_relevance"), needs_source=True),
    Shipped("summary", ("coverage", "faithfulness", "concision", "instruction_following"), needs_source=True),
    Shipped("support_reply", ("resolution", "policy_fidelity", "courtesy", "data_protection"), needs_source=True),
    Shipped("code_review", ("accuracy", "defects_found", "actionability", "respect")),
    Shipped("translation", ("accuracy", "completeness", "terminology", "fluency")),
)

each_rubric = pytest.mark.parametrize("shipped", SHIPPED, ids=lambda s: s.id)


def test_all_shipped_rubrics_but_the_agents_are_held_to_their_promise_here() -> None:
    assert {path.stem for path in RUBRICS.glob("*.yaml")} == {shipped.id for shipped in SHIPPED} | {"agent"}


@each_rubric
def test_the_shipped_rubrics_are_clean(shipped: Shipped) -> None:
    assert lint_rubric(load_rubric(RUBRICS / f"{shipped.id}.yaml")) == ()


@each_rubric
def test_the_shipped_rubrics_ask_what_they_promise(shipped: Shipped) -> None:
    rubric = load_rubric(RUBRICS / f"{shipped.id}.yaml")

    assert (rubric.id, rubric.mode, rubric.needs_source) == (shipped.id, shipped.mode, shipped.needs_source)
    assert tuple(dimension.id for dimension in rubric.judged) == shipped.judged
    assert tuple(dimension.id for dimension in rubric.checked) == shipped.checked
    assert all(tuple(dimension.anchors) == shipped.anchored for dimension in rubric.judged)
    assert (rubric.overall.rule, rubric.calls, rubric.evidence) == ("min", "joint", "quoted")
    assert rubric.purpose
    assert rubric.not_for


@each_rubric
def test_only_the_gate_has_thresholds_and_has_one_for_each_dimension(shipped: Shipped) -> None:
    rubric = load_rubric(RUBRICS / f"{shipped.id}.yaml")
    gated = (*shipped.judged, *shipped.checked) if shipped.mode == "gate" else ()

    assert dict(rubric.gate) == dict.fromkeys(gated, 1.0)


@each_rubric
def test_each_dimension_says_what_is_its_own_and_which_sibling_owns_the_rest(shipped: Shipped) -> None:
    for dimension in load_rubric(RUBRICS / f"{shipped.id}.yaml").judged:
        assert dimension.scope.inside, dimension.id
        assert dimension.scope.outside, dimension.id
        assert all(excluded.judged_by in shipped.judged for excluded in dimension.scope.outside), dimension.id
