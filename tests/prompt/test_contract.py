"""The schema: legal under every provider's strict mode, and in the order in which a judge must think."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from jsonschema_rs import Draft202012Validator

from agentanvil.errors import RubricError
from agentanvil.plan import plan_calls
from agentanvil.prompt import PromptRenderer
from agentanvil.rubric import ReplyFormat
from tests.fakes.prompts import contract_of, labels, scale_rubric

STRICT = {"type", "properties", "required", "additionalProperties", "items", "enum", "maxItems"}


def nodes(schema: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    yield schema
    for child in schema.get("properties", {}).values():
        yield from nodes(child)
    if "items" in schema:
        yield from nodes(schema["items"])


@pytest.mark.parametrize("evidence", ["quoted", "pinpoint", "none"])
@pytest.mark.parametrize("names", [("one",), ("one", "two", "three")])
@pytest.mark.parametrize("allow_na", [True, False])
@pytest.mark.parametrize("mode", ["absolute", "gate", "pairwise"])
def test_the_schema_is_legal_in_strict_mode(evidence: Any, names: tuple[str, ...], allow_na: bool, mode: str) -> None:
    schema: Any = contract_of(scale_rubric(1, 5, *names, evidence=evidence, allow_na=allow_na, mode=mode)).schema
    Draft202012Validator(schema)
    assert schema["type"] == "object"
    for node in nodes(schema):
        assert set(node) <= STRICT
        if node["type"] == "object":
            assert node["required"] == list(node["properties"])
            assert node["additionalProperties"] is False


def test_a_joint_schema_asks_evidence_then_reason_then_score_of_each_dimension() -> None:
    contract = contract_of(scale_rubric(1, 5, "one", "two", evidence="quoted"))
    assert contract.nested
    properties: Any = contract.schema["properties"]
    assert list(properties) == ["one", "two"]
    assert list(properties["one"]["properties"]) == ["evidence", "reason", "score"]
    assert properties["one"]["properties"]["score"] == {"type": "integer", "enum": [1, 2, 3, 4, 5]}


def test_a_single_dimension_is_flat_and_null_is_offered_only_where_allowed() -> None:
    contract = contract_of(scale_rubric(0, 2, evidence="none", allow_na=True))
    assert not contract.nested
    assert contract.schema["properties"] == {
        "reason": {"type": "string"},
        "score": {"type": ["integer", "null"], "enum": [0, 1, 2, None]},
    }


def test_split_calls_are_flat() -> None:
    rubric = scale_rubric(1, 5, "one", "two", calls="split")
    templates = PromptRenderer(rubric, plan_calls(rubric)).templates
    assert [(name, t.contract.nested) for name, t in templates.items()] == [("one", False), ("two", False)]


@pytest.mark.parametrize("reply", [labels("Score:"), ReplyFormat("brackets")])
def test_a_marked_reply_has_no_place_for_evidence(reply: ReplyFormat) -> None:
    assert contract_of(scale_rubric(1, 5, evidence="quoted", reply=reply)).evidence == "none"


def test_the_contract_knows_the_gate_of_an_absolute_grade() -> None:
    contract = contract_of(scale_rubric(2, 5, gate={"quality": 4.0, "overall": 3.0}))
    assert contract.dimensions[0].threshold == 4.0
    assert contract.unsupported == 2


def test_a_gate_asks_evidence_then_reason_then_a_boolean() -> None:
    contract = contract_of(scale_rubric(1, 5, "one", "two", evidence="quoted", mode="gate", gate={"overall": 4.0}))
    properties: Any = contract.schema["properties"]
    assert list(properties) == ["one", "two"]
    assert list(properties["one"]["properties"]) == ["evidence", "reason", "pass"]
    assert properties["one"]["properties"]["pass"] == {"type": "boolean"}
    assert [(d.scores, d.threshold) for d in contract.dimensions] == [((0, 1), 4.0), ((0, 1), 4.0)]
    assert contract.unsupported == 0


def test_a_comparison_asks_both_sides_evidence_first_and_the_winner_last() -> None:
    contract = contract_of(scale_rubric(1, 5, "one", "two", evidence="quoted", mode="pairwise"))
    properties: Any = contract.schema["properties"]
    assert list(properties) == ["one", "two", "winner"]
    asked = properties["one"]["properties"]
    assert list(asked) == ["evidence_a", "evidence_b", "reason", "winner", "margin"]
    assert asked["winner"] == {"type": "string", "enum": ["A", "B", "tie"]} == properties["winner"]
    assert asked["margin"] == {"type": "integer", "enum": [1, 2, 3, 4]}
    assert (contract.dimensions[0].scores, contract.unsupported) == (tuple(range(-4, 5)), 0)


def test_a_comparison_without_evidence_is_not_argued_for() -> None:
    contract = contract_of(scale_rubric(0, 1, mode="pairwise", allow_na=True))
    assert contract.schema["properties"] == {"winner": {"type": ["string", "null"], "enum": ["A", "B", "tie", None]}}
    wider: Any = contract_of(scale_rubric(0, 2, mode="pairwise")).schema["properties"]
    assert list(wider) == ["winner", "margin"]


@pytest.mark.parametrize(
    ("mode", "choices"), [("pairwise", {"A": 5, "B": -4}), ("gate", {"yes": 5}), ("absolute", {"bad": -1})]
)
def test_labels_of_another_mode_are_refused(mode: str, choices: dict[str, int]) -> None:
    with pytest.raises(RubricError, match=f"mode {mode} offers"):
        contract_of(scale_rubric(1, 5, mode=mode, reply=labels("Verdict", choices)))
