"""The rubrics that come with the project keep what the README promises of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from agentanvil.rubric import lint_rubric, load_rubric

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("name", ["calibrated", "grounded"])
def test_the_shipped_rubrics_are_clean(name: str) -> None:
    rubric = load_rubric(ROOT / "rubrics" / f"{name}.yaml")
    assert lint_rubric(rubric) == ()
    assert [d.id for d in rubric.judged] == ["faithfulness", "completeness", "instruction_following", "safety"]
    assert [list(d.anchors) for d in rubric.judged] == [[5, 3, 1]] * 4
    assert (rubric.overall.rule, dict(rubric.gate), rubric.evidence) == ("min", {}, "quoted")
    assert rubric.needs_source == (name == "grounded")
