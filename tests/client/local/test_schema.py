from __future__ import annotations

import json
from functools import cache
from typing import Any

import jsonschema_rs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentanvil.client.local.schema import EVIDENCE_CHARS, REASON_CHARS, tighten
from agentanvil.plan import plan_calls
from agentanvil.prompt.contract import build_contract
from agentanvil.rubric import parse_rubric

EVIDENCE_MODES = ("quoted", "pinpoint", "none")
IDS = ("accuracy", "type", "items", "enum", "properties")
"""Dimensions may be called what a schema calls its own parts."""


@cache
def contract_schema(ids: tuple[str, ...], evidence: str = "quoted", *, allow_na: bool = False) -> dict[str, Any]:
    """The schema that a run sends for a rubric of these dimensions."""
    head = f"version: 1\nid: r\nscale: {{min: 1, max: 5}}\nevidence: {evidence}\ndimensions:\n"
    anchors = "{5: no error, 3: exactly one error, 1: two or more errors}"
    ask = f"question: 'Is it right?', anchors: {anchors}, allow_na: {json.dumps(allow_na)}"
    rubric = parse_rubric(head + "".join(f"  - {{id: {name}, {ask}}}\n" for name in ids))
    (call,) = plan_calls(rubric)
    return dict(build_contract(rubric, call).schema)


def fits(schema: dict[str, Any], reply: object) -> bool:
    return jsonschema_rs.validator_for(schema).is_valid(reply)


def verdict(quotes: int = 1, quote: int = 10, reason: int = 10, score: object = 4) -> dict[str, Any]:
    return {"evidence": ["q" * quote] * quotes, "reason": "r" * reason, "score": score}


def test_a_quote_and_a_reason_are_bounded_and_the_rest_stays() -> None:
    tight = tighten(contract_schema(("accuracy",)))
    assert fits(tight, verdict(1, EVIDENCE_CHARS, REASON_CHARS))
    for reply in (verdict(0), verdict(2), verdict(score=6), verdict(score=None)):
        assert not fits(tight, reply)
    assert not fits(tight, verdict(quote=EVIDENCE_CHARS + 1))
    assert not fits(tight, verdict(reason=REASON_CHARS + 1))


@pytest.mark.parametrize("evidence", EVIDENCE_MODES)
@pytest.mark.parametrize("ids", [IDS[:1], IDS])
@pytest.mark.parametrize("allow_na", [False, True])
def test_names_order_and_scores_are_kept(ids: tuple[str, ...], evidence: str, allow_na: bool) -> None:
    schema = contract_schema(ids, evidence, allow_na=allow_na)
    before = json.dumps(schema)
    tight = tighten(schema)
    assert json.dumps(schema) == before, "the contract itself was changed"
    assert json.dumps(tighten(tight)) == json.dumps(tight), "twice is not once"
    pairs = (
        [(schema, tight)]
        if len(ids) == 1
        else [(schema["properties"][name], tight["properties"][name]) for name in ids]
    )
    assert list(tight["properties"]) == list(schema["properties"])
    for loose, bounded in pairs:
        assert list(bounded["properties"]) == list(loose["properties"])
        assert bounded["properties"]["score"] == loose["properties"]["score"]
        assert bounded["required"] == loose["required"]
        assert bounded["additionalProperties"] is False


verdicts = st.fixed_dictionaries(
    {
        "evidence": st.lists(st.text(max_size=100), max_size=4),
        "reason": st.text(max_size=80),
        "score": st.one_of(st.integers(0, 6), st.none()),
    }
)


@given(
    evidence=st.sampled_from(EVIDENCE_MODES),
    allow_na=st.booleans(),
    joint=st.fixed_dictionaries(dict.fromkeys(IDS, verdicts)),
)
def test_what_fits_the_tight_schema_fits_the_contract(evidence: str, allow_na: bool, joint: dict[str, Any]) -> None:
    if evidence == "none":
        joint = {name: {k: v for k, v in one.items() if k != "evidence"} for name, one in joint.items()}
    for ids, reply in (*(((name,), joint[name]) for name in IDS), (IDS, joint)):
        schema = contract_schema(ids, evidence, allow_na=allow_na)
        assert fits(schema, reply) or not fits(tighten(schema), reply)
