from __future__ import annotations

import json
from typing import Any

import pytest

from agentanvil.client import ChatRequest, Message
from agentanvil.client.adapter import Shape, WireReply
from agentanvil.client.chat_completions import ChatCompletions
from agentanvil.client.probe import LogprobsProbe
from tests.fakes.server import chat_body

REQUEST = ChatRequest((Message("user", "Grüße"),))


def reply(logprobs: object) -> WireReply:
    body = chat_body("{}")
    body["choices"][0]["logprobs"] = logprobs
    return WireReply(200, json.dumps(body).encode())


def probed(logprobs: object) -> LogprobsProbe:
    probe = LogprobsProbe(ChatCompletions())
    probe.asking = True
    assert probe.read(reply(logprobs), Shape()).text == "{}"
    return probe


def entry(logprob: object, alternatives: object = ()) -> dict[str, Any]:
    return {"token": "4", "logprob": logprob, "top_logprobs": alternatives}


def test_unless_it_asks_it_is_the_plain_adapter() -> None:
    probe, plain = LogprobsProbe(ChatCompletions()), ChatCompletions()
    assert probe.build("m", REQUEST, Shape()) == plain.build("m", REQUEST, Shape())
    assert (probe.api, probe.path, probe.headers("k")) == (plain.api, plain.path, plain.headers("k"))
    probe.read(reply({"content": [entry(-0.1)]}), Shape())
    assert probe.tokens == 0


def test_asking_adds_the_two_fields_and_changes_no_other() -> None:
    probe = LogprobsProbe(ChatCompletions())
    before = json.loads(probe.build("m", REQUEST, Shape()))
    probe.asking = True
    assert json.loads(probe.build("m", REQUEST, Shape())) == before | {"logprobs": True, "top_logprobs": 5}


def test_tokens_and_alternatives_are_counted() -> None:
    probe = probed({"content": [entry(-0.1, [{}, {}]), entry(0, [{}, {}, {}]), entry(-9999.0)]})
    assert (probe.tokens, probe.alternatives) == (3, 3)


@pytest.mark.parametrize(
    "logprobs",
    [
        None,
        {},
        [],
        "yes",
        {"content": None},
        {"content": {}},
        {"content": [None, "x", {}]},
        {"content": [entry(None)]},
        {"content": [entry("-0.1")]},
        {"content": [entry(True)]},
        {"content": [entry(float("nan"))]},
    ],
)
def test_what_is_no_log_probability_counts_for_nothing(logprobs: object) -> None:
    probe = probed(logprobs)
    assert (probe.tokens, probe.alternatives) == (0, 0)


def test_alternatives_in_an_odd_shape_are_none() -> None:
    assert probed({"content": [entry(-0.5, {"4": -0.5})]}).alternatives == 0
