"""What a gate and a comparison tell their judge, and how short a gate is."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentanvil.dataset import Contender
from agentanvil.plan import plan_calls
from agentanvil.prompt import PromptRenderer, estimate_tokens
from agentanvil.rubric import Dimension, EvidenceMode, Exclusion, Mode, Rubric, Scope, load_rubric
from tests.fakes.prompts import pair, prompted, scale_rubric, tasks_of
from tests.fakes.records import rubric as make_rubric

RUBRICS = sorted((Path(__file__).parents[2] / "rubrics").glob("*.yaml"))
ANCHORED = Dimension("one", "QUESTION", {5: "FIVE", 3: "THREE", 1: "ONE"})


def gate(dimension: Dimension = ANCHORED, **changes: object) -> str:
    return prompted(make_rubric(**{"dimensions": (dimension,), "mode": "gate", **changes}))[1].system  # type: ignore[arg-type]


def conditions(system: str) -> list[str]:
    return [line for line in system.splitlines() if line.startswith(("Threshold", "true:", "false:"))]


@pytest.mark.parametrize(
    ("gates", "told"),
    [
        ({"one": 5.0}, ["Threshold 5 (1 to 5)", "true: FIVE", "false: THREE", "false: ONE"]),
        ({"one": 4.0}, ["Threshold 4 (1 to 5)", "true: FIVE", "false: THREE", "false: ONE"]),
        ({"one": 3.0}, ["Threshold 3 (1 to 5)", "true: FIVE", "true: THREE", "false: ONE"]),
        ({"one": 2.5}, ["Threshold 2.5 (1 to 5)", "true: FIVE", "true: THREE", "false: ONE"]),
        ({"one": 1.0}, ["Threshold 1 (1 to 5)", "true: FIVE", "true: THREE", "true: ONE", "false: anything less"]),
        ({"overall": 3.0}, ["Threshold 3 (1 to 5)", "true: FIVE", "true: THREE", "false: ONE"]),
        ({"one": 1.0, "overall": 4.0}, ["Threshold 4 (1 to 5)", "true: FIVE", "false: THREE", "false: ONE"]),
        ({}, ["Threshold 5 (1 to 5)", "true: FIVE", "false: THREE", "false: ONE"]),
    ],
)
def test_anchors_are_parted_by_the_threshold(gates: dict[str, float], told: list[str]) -> None:
    assert conditions(gate(gate=gates)) == told


def test_a_threshold_above_every_anchor_is_not_reached_by_one() -> None:
    low = Dimension("one", "q", {3: "THREE", 1: "ONE"})
    assert conditions(gate(low)) == [
        "Threshold 5 (1 to 5)",
        "true: more than any line below",
        "false: THREE",
        "false: ONE",
    ]
    bare = Dimension("one", "q", {})
    assert conditions(gate(bare)) == ["Threshold 5 (1 to 5)", "true: worth 5 or more", "false: anything less"]


@pytest.mark.parametrize(
    ("evidence", "rule"),
    [
        ("quoted", "Without a quote pass is false."),
        ("pinpoint", "Without a place pass is false."),
        ("none", None),
    ],
)
def test_a_gate_says_what_missing_evidence_means(evidence: EvidenceMode, rule: str | None) -> None:
    system = gate(evidence=evidence)
    assert ("Without" in system) is (rule is not None)
    assert rule is None or rule in system
    assert '"reason": "…", "pass": P}' in system


@pytest.mark.parametrize("path", RUBRICS, ids=lambda path: path.stem)
@pytest.mark.parametrize("calls", ["joint", "split"])
def test_a_gate_is_clearly_shorter_than_a_grade(path: Path, calls: str) -> None:
    rubric = replace(load_rubric(path), calls=calls)
    assert tokens(rubric, "gate") <= 0.88 * tokens(rubric, "absolute")


def tokens(rubric: Rubric, mode: Mode) -> int:
    asked = replace(rubric, mode=mode)
    templates = PromptRenderer(asked, plan_calls(asked)).templates
    return sum(estimate_tokens(template.system) for template in templates.values())


def compared(**changes: object) -> str:
    return prompted(scale_rubric(1, 5, **{"mode": "pairwise", **changes}))[1].system  # type: ignore[arg-type]


def test_a_comparison_is_told_that_order_and_length_mean_nothing() -> None:
    system = compared(evidence="quoted")
    assert "- Which response stands first says nothing about it." in system
    assert "- Ignore tone, length and formatting" in system
    assert "Without a quote from either response it is a tie." in system
    assert "RESPONSE A and RESPONSE B" in system


def test_without_evidence_a_comparison_is_not_argued_for() -> None:
    system = compared(evidence="none")
    assert system.endswith('{"winner":"X","margin":N}')
    assert not any(word in system for word in ("uote", "reason", "evidence"))


def test_a_scale_of_two_scores_has_no_margin() -> None:
    narrow = prompted(scale_rubric(0, 1, mode="pairwise"))[1].system
    assert narrow.endswith('\n{"winner":"X"}')
    assert "margin" not in narrow


def test_a_joint_comparison_ends_with_its_winner_and_a_split_one_has_none() -> None:
    joint = prompted(scale_rubric(1, 5, "one", "two", mode="pairwise"))[1].system
    assert joint.endswith('"winner":"X"}')
    split = prompted(scale_rubric(1, 5, "one", "two", mode="pairwise", calls="split"))[1].system
    assert "over all dimensions" in joint
    assert "over all dimensions" not in split
    assert split.count('"winner"') == 1


@pytest.mark.parametrize("mode", ["absolute", "gate", "pairwise"])
def test_with_a_source_support_means_support_by_it(mode: Mode) -> None:
    rule = "Support means support by the SOURCE; what you know yourself does not count."
    row = pair(source=("s",))
    assert rule in prompted(scale_rubric(1, 5, mode=mode, needs_source=True), row)[1].system
    assert rule not in prompted(scale_rubric(1, 5, mode=mode), row)[1].system


@pytest.mark.parametrize("mode", ["absolute", "gate", "pairwise"])
def test_a_split_call_knows_its_siblings_through_its_scope_alone(mode: Mode) -> None:
    scoped = Dimension("alpha", "q1", {5: "a", 1: "b"}, Scope((), (Exclusion("OUT", "beta"),)))
    other = Dimension("beta", "q2", {5: "c", 1: "d"})
    rubric = make_rubric(dimensions=(scoped, other), calls="split", mode=mode)
    tasks = tasks_of(rubric, pair())
    renderer = PromptRenderer(rubric, plan_calls(rubric))
    systems = {task.call.name: renderer.render(task).system for task in tasks}
    assert "OUT (for beta)" in systems["alpha"]
    assert "q2" not in systems["alpha"]
    assert "alpha" not in systems["beta"]


TEXT = st.text(st.characters(exclude_categories=["Cs"]))


@given(TEXT, TEXT, TEXT)
def test_exchanging_responses_and_order_leaves_the_message(request: str, first: str, second: str) -> None:
    rubric = scale_rubric(mode="pairwise")
    one = prompted(rubric, pair(request=request, response=first, rival=Contender(second)), order="ab")[1]
    other = prompted(rubric, pair(request=request, response=second, rival=Contender(first)), order="ba")[1]
    assert one.user == other.user
    assert one.user.index("<<RESPONSE A ") < one.user.index("<<RESPONSE B ")
