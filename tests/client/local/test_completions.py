from __future__ import annotations

import json
from typing import Any

from agentanvil.client import ChatRequest, Message, ReplySchema, Sampling
from agentanvil.client.adapter import Rung, Shape
from agentanvil.client.local import LocalCompletions
from agentanvil.client.local.schema import tighten

MESSAGES = (Message("system", "You grade."), Message("user", "a row"))
SCORE = {"type": "integer", "enum": [1, 2]}
VERDICT: dict[str, Any] = {
    "type": "object",
    "properties": {
        "evidence": {"type": "array", "items": {"type": "string"}, "maxItems": 3},
        "reason": {"type": "string"},
        "score": SCORE,
    },
    "required": ["evidence", "reason", "score"],
    "additionalProperties": False,
}


def built(schema: dict[str, Any] | None, rung: Rung = "json_schema") -> dict[str, Any]:
    sent = None if schema is None else ReplySchema("verdict", schema)
    request = ChatRequest(MESSAGES, sent, Sampling(temperature=0.0, seed=3, max_tokens=9))
    body: dict[str, Any] = json.loads(LocalCompletions().build("m", request, Shape(rung)))
    return body


def test_a_contract_is_sent_as_a_grammar_and_nothing_else_changes() -> None:
    body = built(VERDICT)
    grammar = body.pop("grammar")
    assert grammar.startswith('root ::= "{\\"evidence\\":" "["')
    assert body == built(None)
    assert (body["temperature"], body["seed"], body["max_tokens"]) == (0.0, 3, 9)


def test_what_is_no_grammar_of_ours_is_sent_as_a_tight_schema() -> None:
    loose = {**VERDICT, "required": ["score"]}
    body = built(loose)
    assert "grammar" not in body
    assert body["response_format"]["json_schema"]["schema"] == tighten(loose)


def test_a_server_that_refused_the_grammar_is_not_sent_it_again() -> None:
    assert built(VERDICT, "json_object") == {**built(None), "response_format": {"type": "json_object"}}


def test_a_schema_is_tightened_where_text_is_written_and_nowhere_else() -> None:
    tight: Any = tighten(
        {**VERDICT, "properties": {**VERDICT["properties"], "label": {"type": "string", "enum": ["a"]}}}
    )
    assert tight["properties"]["score"] == SCORE
    assert tight["properties"]["label"] == {"type": "string", "enum": ["a"]}
    quotes, reason = tight["properties"]["evidence"], tight["properties"]["reason"]
    assert (quotes["minItems"], quotes["maxItems"]) == (1, 1)
    assert 0 < reason["maxLength"] <= quotes["items"]["maxLength"] <= 100
    assert VERDICT["properties"]["reason"] == {"type": "string"}
