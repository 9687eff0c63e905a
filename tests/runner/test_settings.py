from __future__ import annotations

import math
from typing import Any

import pytest

from agentanvil.errors import UsageError
from agentanvil.runner.settings import DEFAULT_SEED, GradeSettings, JudgeSettings


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("concurrency", 0),
        ("max_attempts", 0),
        ("max_calls", -1),
        ("max_tokens", 0),
        ("timeout", 0.0),
        ("timeout", math.nan),
        ("timeout", math.inf),
        ("rpm", 0.0),
        ("rpm", -600.0),
        ("tpm", math.nan),
        ("max_cost", -0.01),
        ("max_cost", math.nan),
        ("max_cost", math.inf),
        ("temperature", -0.1),
        ("temperature", math.nan),
    ],
)
def test_a_number_that_cannot_be_meant_is_refused_by_its_flag(field: str, value: float) -> None:
    with pytest.raises(UsageError, match=f"--{field.replace('_', '-')} must be"):
        JudgeSettings(**{field: value})


@pytest.mark.parametrize(
    ("field", "value"),
    [
        pytest.param("repeats", 0, id="O-F05-zero-runs"),
        ("repeats", -1),
        ("limit", 0),
        ("min_coverage", -0.1),
        ("min_coverage", 1.1),
        ("min_coverage", 95.0),
        ("min_coverage", math.nan),
    ],
)
def test_a_run_of_nothing_or_of_more_than_all_is_refused(field: str, value: Any) -> None:
    with pytest.raises(UsageError, match=f"--{field.replace('_', '-')}"):
        GradeSettings("rows.jsonl", "rubric.yaml", JudgeSettings(), **{field: value})


@pytest.mark.parametrize(
    "values", [{"max_calls": 0}, {"max_cost": 0.0}, {"temperature": 0.0}, {"concurrency": 1}, {"rpm": 0.5}]
)
def test_zero_is_a_number_where_it_can_be_meant(values: dict[str, Any]) -> None:
    settings = JudgeSettings(**values)
    assert {name: getattr(settings, name) for name in values} == values


@pytest.mark.parametrize(("given", "sent"), [(None, DEFAULT_SEED), (0, 0), (7, 7)])
def test_a_seed_is_sent_whether_or_not_it_was_asked_for(given: int | None, sent: int) -> None:
    assert JudgeSettings(seed=given).seed_sent == sent


def test_an_attempt_has_a_deadline_unless_told_otherwise() -> None:
    assert 0 < JudgeSettings().timeout <= 600
