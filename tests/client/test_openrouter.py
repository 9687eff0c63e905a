from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given

from agentanvil.client import ChatReply, ChatRequest, Message, ReplySchema, Sampling
from agentanvil.client.adapter import Shape, WireReply
from agentanvil.client.openrouter import OpenRouter
from agentanvil.client.refusals import EFFORT
from agentanvil.errors import CallError, ConfigError, EndpointError
from tests.fakes.asking import ask_judge
from tests.fakes.json_values import JSON_VALUES, bent
from tests.fakes.openai_family import routed
from tests.fakes.server import Answer, FakeServer, Recorded, chat, chat_body

ADAPTER = OpenRouter(clock=lambda: 0.0)
SCHEMA = ReplySchema("verdict", {"type": "object", "properties": {"score": {"type": "integer"}}})
SAMPLING = Sampling(seed=7, max_tokens=256)
REQUEST = ChatRequest((Message("user", "Grade."),), SCHEMA, SAMPLING, logprobs=5)
NO_ENDPOINT = routed(404, "No endpoints found that can handle the requested parameters.")


def read(body: object) -> ChatReply:
    return ADAPTER.read(WireReply(200, json.dumps(body).encode()), Shape())


@pytest.mark.parametrize(
    ("usage", "cost"),
    [
        ({"cost": 0.0125}, 0.0125),
        ({"cost": 0}, 0.0),
        ({}, None),
        ({"cost": None}, None),
        ({"cost": "0.1"}, None),
        ({"cost": True}, None),
        ({"cost": -1}, None),
        ({"cost": 10**400}, None),
        ({"cost": 0.01, "is_byok": True, "cost_details": {"upstream_inference_cost": 0.2}}, 0.21),
        ({"cost": 0.01, "is_byok": False, "cost_details": {"upstream_inference_cost": 0.2}}, 0.01),
        ({"cost": 0.01, "is_byok": True}, None),
        ({"cost": 0.01, "is_byok": True, "cost_details": {"upstream_inference_cost": None}}, None),
        (None, None),
        ([], None),
    ],
)
def test_the_cost_is_what_was_billed(usage: object, cost: float | None) -> None:
    assert read(chat_body("4") | {"usage": usage}).cost == (None if cost is None else pytest.approx(cost))


def test_no_other_server_is_believed_about_a_cost() -> None:
    with FakeServer(
        chat("4", message=None).but(body=json.dumps(chat_body("4") | {"usage": {"cost": 0}}).encode())
    ) as server:
        reply, _ = ask_judge(server, "compat", REQUEST)
    assert reply.cost is None


def takes(*taken: str) -> Any:
    """A router with providers that take these parameters alone; it does not say what is in the way."""

    def answer(request: Recorded) -> Answer:
        fields = request.json.keys() - {"model", "messages", "provider", "max_tokens", "top_logprobs"}
        return chat("4") if fields <= set(taken) else NO_ENDPOINT

    return answer


def test_a_refusal_without_a_name_costs_no_more_than_it_must() -> None:
    with FakeServer(takes("response_format", "temperature")) as server:
        reply, shape = ask_judge(server, "openrouter", REQUEST)
    assert (reply.rung, reply.attempts) == ("json_schema", 3)
    assert shape.dropped == {"logprobs", "seed"}
    assert all(body["provider"] == {"require_parameters": True} for body in server.bodies)


def test_the_structure_goes_last_and_rung_by_rung() -> None:
    with FakeServer(takes("tools", "tool_choice")) as server:
        reply, shape = ask_judge(server, "openrouter", REQUEST)
    assert reply.rung == "tool"
    assert shape.dropped == {"logprobs", "seed", "temperature"}


def test_where_nothing_is_taken_the_run_ends() -> None:
    with (
        FakeServer(NO_ENDPOINT) as server,
        pytest.raises(EndpointError, match="one of the parameters, which cannot"),
    ):
        ask_judge(server, "openrouter", REQUEST)
    assert len(server.requests) == 7


def test_what_was_set_on_purpose_is_never_dropped_on_a_guess() -> None:
    sampling = Sampling(effort="low", explicit=frozenset({"temperature", EFFORT}))
    request = ChatRequest((Message("user", "Grade."),), sampling=sampling)
    with FakeServer(NO_ENDPOINT) as server, pytest.raises(ConfigError, match="No endpoints found"):
        ask_judge(server, "openrouter", request)
    assert [body["temperature"] for body in server.bodies] == [0.0]


def test_the_search_goes_on_past_what_was_set_on_purpose() -> None:
    sampling = Sampling(seed=7, max_tokens=256, explicit=frozenset({"temperature"}))
    request = ChatRequest((Message("user", "Grade."),), SCHEMA, sampling, logprobs=5)
    with FakeServer(takes("temperature", "tools", "tool_choice")) as server:
        reply, shape = ask_judge(server, "openrouter", request)
    assert reply.rung == "tool"
    assert shape.dropped == {"logprobs", "seed"}


def test_a_refusal_with_a_name_is_followed() -> None:
    def answer(request: Recorded) -> Answer:
        said = "No endpoints found that support the provided 'tool_choice' value."
        if "response_format" in request.json and request.json["response_format"]["type"] == "json_schema":
            return routed(404, "No endpoints found that support structured outputs")
        return routed(404, said) if "tool_choice" in request.json else chat("4")

    with FakeServer(answer) as server:
        reply, shape = ask_judge(server, "openrouter", REQUEST)
    assert (reply.rung, shape.dropped) == ("json_object", frozenset())


@given(JSON_VALUES | bent(chat_body("4") | {"usage": {"cost": 1, "is_byok": True, "cost_details": {}}}))
def test_any_json_is_a_reply_or_a_call_error(body: object) -> None:
    try:
        reply = read(body)
    except CallError:
        return
    assert reply.cost is None or reply.cost >= 0
