"""What the adapters of OpenAI's family send on each rung, field by field; see golden/."""

from __future__ import annotations

import json

import pytest

from agentanvil.client import ChatRequest, Message, ReplySchema, Sampling
from agentanvil.client.adapter import Adapter, Rung, Shape
from agentanvil.client.spec import parse_judge
from tests.fakes.golden import assert_golden

JUDGES = {
    "openai": "openai:gpt-6-luna",
    "openai-responses": "openai-responses:gpt-6.2-sol",
    "azure": "azure:grader@https://res.openai.azure.com/openai/v1",
    "azure-legacy": "azure:grader@https://res.openai.azure.com?api-version=2025-04-01-preview",
    "azure-responses": "azure-responses:grader@https://res.openai.azure.com/openai/v1",
    "openrouter": "openrouter:vendor/model-1",
    "mistral": "mistral:magistral-medium-latest",
    "compat": "compat:qwen2.5:7b@http://localhost:11434/v1",
}
SCHEMA = ReplySchema(
    "verdict",
    {
        "type": "object",
        "properties": {"why": {"type": "string"}, "score": {"type": "integer", "enum": [1, 2, 3]}},
        "required": ["why", "score"],
        "additionalProperties": False,
    },
)
MESSAGES = (Message("system", "Grade. Reply in JSON."), Message("user", "Zwölf €"))
SAMPLING = Sampling(temperature=0.0, seed=7, max_tokens=2000, effort="low")
REQUEST = ChatRequest(MESSAGES, SCHEMA, SAMPLING, logprobs=5)
AGAIN = (Message("assistant", "three"), Message("user", "Reply with the object alone."))
RUNGS: tuple[Rung, ...] = ("json_schema", "tool", "json_object", "plain")


def adapter_of(judge: str) -> tuple[Adapter, str, str]:
    spec = parse_judge(judge)
    adapter = spec.make_adapter()
    assert adapter is not None
    return adapter, spec.model, spec.rules.cap_field


@pytest.mark.parametrize("name", JUDGES)
@pytest.mark.parametrize("rung", RUNGS)
def test_the_request_of_each_rung(name: str, rung: Rung) -> None:
    adapter, model, cap = adapter_of(JUDGES[name])
    assert rung in adapter.rungs
    assert_golden(f"{name}_{rung}", adapter.build(model, REQUEST, Shape(rung, cap_field=cap)))


@pytest.mark.parametrize("name", ["openai", "openai-responses", "mistral"])
def test_the_request_of_a_re_ask(name: str) -> None:
    adapter, model, cap = adapter_of(JUDGES[name])
    request = ChatRequest(MESSAGES + AGAIN, SCHEMA, SAMPLING)
    assert_golden(f"{name}_reask", adapter.build(model, request, Shape(cap_field=cap)))


@pytest.mark.parametrize("name", JUDGES)
def test_what_is_dropped_or_not_asked_for_is_not_sent(name: str) -> None:
    adapter, model, cap = adapter_of(JUDGES[name])
    dropped = frozenset({"temperature", "seed", cap, "reasoning_effort", "logprobs"})
    bare = json.loads(adapter.build(model, REQUEST, Shape("plain", dropped, cap)))
    unasked = ChatRequest(MESSAGES, sampling=Sampling(temperature=None))
    assert bare == json.loads(adapter.build(model, unasked, Shape("plain", cap_field=cap)))
    constant = {"model", "messages", "instructions", "input", "store", "provider", "prompt_cache_key"}
    assert bare.keys() <= constant


@pytest.mark.parametrize("name", JUDGES)
def test_the_key_goes_into_a_header_alone(name: str) -> None:
    adapter, model, cap = adapter_of(JUDGES[name])
    headers = adapter.headers("CANARY-9")
    assert [value.removeprefix("Bearer ") for value in headers.values()].count("CANARY-9") == 1
    assert not any("CANARY" in value for value in adapter.headers(None).values())
    assert "CANARY" not in adapter.path(model)
    assert b"CANARY" not in adapter.build(model, REQUEST, Shape(cap_field=cap))


@pytest.mark.parametrize("name", JUDGES)
def test_lone_surrogates_do_not_stop_a_call(name: str) -> None:
    adapter, model, cap = adapter_of(JUDGES[name])
    request = ChatRequest((Message("system", "s\udc00"), Message("user", "a\ud800b")), SCHEMA)
    body = adapter.build(model, request, Shape(cap_field=cap)).decode()
    assert "a�b" in body
    assert "s�" in body
