from __future__ import annotations

import json
from typing import Any

import pytest

from agentanvil.client import ChatRequest, Message, ReplySchema, Sampling
from agentanvil.client.adapter import Shape
from agentanvil.client.mistral import Mistral
from agentanvil.errors import RateLimitedError
from tests.fakes.asking import ask_judge
from tests.fakes.openai_family import flat
from tests.fakes.server import Answer, FakeServer, Recorded, answer_json, chat

SCHEMA = ReplySchema("verdict", {"type": "object", "properties": {"score": {"type": "integer"}}})
MESSAGES = (Message("system", "Grade."), Message("user", "one"))
REQUEST = ChatRequest(MESSAGES, SCHEMA, Sampling(seed=7, max_tokens=256), logprobs=5)


def build(*messages: Message) -> Any:
    return json.loads(Mistral().build("m", ChatRequest(messages), Shape()))


def test_calls_with_the_same_system_message_share_a_cache_key() -> None:
    system = Message("system", "Grade.")
    first, second = build(system, Message("user", "one")), build(system, Message("user", "two"))
    assert first["prompt_cache_key"] == second["prompt_cache_key"]
    assert build(Message("system", "Else."), Message("user", "one"))["prompt_cache_key"] != first["prompt_cache_key"]
    assert "prompt_cache_key" not in build(Message("user", "one"))


def test_a_seed_goes_by_its_own_name_and_is_dropped_by_it() -> None:
    def strict(request: Recorded) -> Answer:
        if "random_seed" in request.json:
            detail = [{"type": "extra_forbidden", "loc": ["body", "random_seed"], "msg": "Extra inputs", "input": 7}]
            return flat(422, {"detail": detail})
        return chat("4")

    with FakeServer(strict) as server:
        reply, shape = ask_judge(server, "mistral", REQUEST)
    assert reply.text == "4"
    assert shape.dropped == {"seed"}
    assert "seed" not in server.bodies[0]


@pytest.mark.parametrize("field", ["logprobs", "temperature"])
def test_a_422_names_the_field(field: str) -> None:
    def strict(request: Recorded) -> Answer:
        refused = answer_json({"detail": [{"loc": ["body", field], "msg": "no", "type": "x"}]}, 422)
        return refused if field in request.json else chat("4")

    with FakeServer(strict) as server:
        _, shape = ask_judge(server, "mistral", REQUEST)
    assert shape.dropped == {field}


def test_the_wait_of_a_429_is_kept() -> None:
    slow = flat(429, "Requests rate limit exceeded").but(headers={"Retry-After": "12"})
    with FakeServer(slow) as server, pytest.raises(RateLimitedError) as caught:
        ask_judge(server, "mistral", REQUEST)
    assert caught.value.retry_after == 12.0
