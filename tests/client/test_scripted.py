from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from agentanvil.client import ChatReply, ChatRequest, Message, ReplySchema, Sampling
from agentanvil.client.scripted import ScriptedClient
from agentanvil.errors import RejectedError

REQUEST = ChatRequest((Message("user", "a"),), task_id="a/joint/0")


def ask(client: ScriptedClient, request: ChatRequest = REQUEST) -> str:
    return asyncio.run(client.complete(request)).text


def test_one_line_answers_every_call() -> None:
    client = ScriptedClient("x")
    assert [ask(client), ask(client)] == ["x", "x"]
    assert client.requests == [REQUEST, REQUEST]


def test_lines_are_taken_in_order_and_the_last_stays() -> None:
    client = ScriptedClient(["x", ChatReply("y"), RejectedError("no")])
    assert [ask(client), ask(client)] == ["x", "y"]
    for _ in range(2):
        with pytest.raises(RejectedError):
            ask(client)


def test_a_function_sees_the_request() -> None:
    assert ask(ScriptedClient(lambda request: request.task_id)) == "a/joint/0"


def test_no_line_is_no_script() -> None:
    with pytest.raises(ValueError, match="at least one"):
        ScriptedClient([])


def test_the_fingerprint_covers_what_is_asked() -> None:
    client = ScriptedClient("x")
    kinds = [
        REQUEST,
        replace(REQUEST, messages=(Message("user", "b"),)),
        replace(REQUEST, schema=ReplySchema("v", {"type": "object"})),
        replace(REQUEST, sampling=Sampling(seed=1)),
    ]
    assert len({client.fingerprint(kind) for kind in kinds}) == 4
    assert client.fingerprint(REQUEST) == client.fingerprint(replace(REQUEST, task_id="b", repeat=3))
