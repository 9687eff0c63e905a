"""Both contracts for typed questions: what is sent, and what becomes of every kind of answer."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given

from agentanvil.client import ChatReply, ChatRequest, Message, Question, Sampling, Usage
from agentanvil.client.adapter import Adapter, Endpoint, Shape, WireReply
from agentanvil.client.decisions import Answer, read_answers
from agentanvil.client.openai_decisions import OpenAIDecisions
from agentanvil.client.provider import ProviderClient
from agentanvil.client.systemone import SystemOne
from agentanvil.client.transport import HttpTransport
from agentanvil.errors import (
    CallError,
    EndpointError,
    MalformedBodyError,
    OtherContractError,
    RateLimitedError,
    RejectedError,
    RequestTooLargeError,
    ServerFaultError,
)
from tests.fakes.decision_servers import Told, openai_decisions, systemone
from tests.fakes.json_values import JSON_VALUES
from tests.fakes.server import FakeServer, answer_json

OPENAI, SYSTEM_ONE = OpenAIDecisions(clock=lambda: 0.0), SystemOne(clock=lambda: 0.0)
BOTH: tuple[Adapter, ...] = (OPENAI, SYSTEM_ONE)
QUESTIONS = (
    Question("clear", "score", "How clear?", (("1", "muddled"), ("3", "in part"), ("5", "all of it"))),
    Question("kind", "choice", "Which?", (("A", "the first"), ("B", "the second"))),
    Question("cited", "predicate", "It cites a source."),
)
REQUEST = ChatRequest((Message("user", "Zwölf €"),), sampling=Sampling(temperature=None), questions=QUESTIONS)
TOLD: dict[str, Told] = {"clear": (0.1, 0.2, 0.7), "kind": (0.4, 0.6), "cited": 0.9}


def read(adapter: Adapter, body: object, status: int = 200, headers: Mapping[str, str] | None = None) -> ChatReply:
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    return adapter.read(WireReply(status, raw, headers or {}), Shape())


def answers(adapter: Adapter, body: object) -> tuple[Answer, ...]:
    found = read_answers(read(adapter, body).text)
    assert found is not None
    return found


def in_list(*told: dict[str, Any]) -> dict[str, Any]:
    return {"model": "m", "answers": list(told)}


def in_map(**told: object) -> dict[str, Any]:
    return {"model": "m", "answers": told}


def test_openai_is_asked_in_a_list() -> None:
    assert json.loads(OPENAI.build("gpt-6-luna", REQUEST, Shape())) == {
        "model": "gpt-6-luna",
        "input": "Zwölf €",
        "questions": [
            {
                "type": "score",
                "name": "clear",
                "instructions": "How clear?",
                "levels": [
                    {"label": "1", "description": "muddled"},
                    {"label": "3", "description": "in part"},
                    {"label": "5", "description": "all of it"},
                ],
            },
            {
                "type": "choice",
                "name": "kind",
                "instructions": "Which?",
                "choices": [
                    {"value": "A", "description": "the first"},
                    {"value": "B", "description": "the second"},
                ],
            },
            {"type": "predicate", "name": "cited", "instructions": "It cites a source."},
        ],
    }


def test_system_one_is_asked_in_a_map() -> None:
    assert json.loads(SYSTEM_ONE.build("jev-1.13.0", REQUEST, Shape())) == {
        "model": "jev-1.13.0",
        "state": "Zwölf €",
        "questions": {
            "clear": {
                "type": "score",
                "instructions": "How clear?",
                "criteria": ["muddled", "in part", "all of it"],
            },
            "kind": {
                "type": "choice",
                "instructions": "Which?",
                "criteria": {"A": "the first", "B": "the second"},
            },
            "cited": {"type": "noul", "instructions": "It cites a source."},
        },
    }


@pytest.mark.parametrize("adapter", BOTH)
def test_nothing_is_sent_that_the_contract_has_no_place_for(adapter: Adapter) -> None:
    plain = adapter.build("m", REQUEST, Shape())
    wishes = Sampling(temperature=0.5, seed=7, max_tokens=100, effort="high")
    asked = ChatRequest(REQUEST.messages, sampling=wishes, questions=QUESTIONS, logprobs=5, repeat=3)
    assert adapter.build("m", asked, Shape("plain")) == plain
    assert adapter.rungs == ("questions",)


@pytest.mark.parametrize("adapter", BOTH)
def test_a_lone_surrogate_in_a_row_is_sent_as_the_replacement_character(adapter: Adapter) -> None:
    broken = ChatRequest((Message("user", "a\ud800b"),), questions=QUESTIONS)
    assert "a\N{REPLACEMENT CHARACTER}b" in adapter.build("m", broken, Shape()).decode()


@pytest.mark.parametrize("adapter", BOTH)
def test_the_key_is_a_bearer_token_and_may_be_absent(adapter: Adapter) -> None:
    assert adapter.headers("k")["Authorization"] == "Bearer k"
    assert "Authorization" not in adapter.headers(None)


def test_both_contracts_come_to_the_same_answers_by_key() -> None:
    def asked(adapter: Adapter, script: Any) -> ChatReply:
        with FakeServer(script) as server:

            async def run() -> ChatReply:
                transport = HttpTransport(server.url + adapter.path("m"), adapter.headers(None), timeout_s=5)
                client = ProviderClient(adapter, transport, Endpoint(server.url, "m", Shape(adapter.rungs[0])))
                try:
                    return await client.complete(REQUEST)
                finally:
                    await client.close()

            return asyncio.run(run())

    listed = asked(OPENAI, openai_decisions(lambda _: TOLD))
    mapped = asked(SYSTEM_ONE, systemone(lambda _: TOLD))
    assert read_answers(listed.text) == (
        Answer("clear", "score", (("1", 0.1), ("3", 0.2), ("5", 0.7))),
        Answer("kind", "choice", (("A", 0.4), ("B", 0.6))),
        Answer("cited", "predicate", (("true", 0.9),)),
    )
    found = read_answers(mapped.text)
    assert found is not None
    assert {answer.name: (answer.kind, dict(answer.probabilities)) for answer in found} == {
        "clear": ("score", {"0": 0.1, "1": 0.2, "2": 0.7}),
        "kind": ("choice", {"A": 0.4, "B": 0.6}),
        "cited": ("predicate", {"true": 0.9}),
    }
    assert (listed.model, mapped.model) == ("luna-2026-10-22", "jev-1.13.0")
    assert listed.usage == mapped.usage == Usage(100, 0)


def test_a_refusal_is_of_one_question() -> None:
    body = in_list({"type": "refusal", "name": "clear"}, {"type": "predicate", "name": "cited", "probability": 0.5})
    assert answers(OPENAI, body) == (Answer("clear", "refusal"), Answer("cited", "predicate", (("true", 0.5),)))


def test_a_name_may_be_null_and_a_level_may_have_its_place_alone() -> None:
    levels = [{"value": 0, "label": None, "probability": 0.25}, {"value": 1, "probability": 0.75}]
    body = in_list({"type": "score", "name": None, "score": 0.75, "probabilities": levels})
    assert answers(OPENAI, body) == (Answer(None, "score", (("0", 0.25), ("1", 0.75))),)


def test_the_kind_is_told_by_the_fields_where_no_type_is_named() -> None:
    body = in_map(
        a={"noul": 0.5}, b={"choice": "x", "probabilities": {"x": 1}}, c={"score": 0, "probabilities": {}}, d={}
    )
    assert [answer.kind for answer in answers(SYSTEM_ONE, body)] == ["predicate", "choice", "score", "unknown"]


def test_what_is_no_number_is_null_and_what_is_no_answer_is_unknown() -> None:
    body = in_map(a={"noul": "0.9"}, b=[0.9], c={"type": "score", "probabilities": {"0": None, "1": True}})
    assert answers(SYSTEM_ONE, body) == (
        Answer("a", "predicate", (("true", None),)),
        Answer("b", "unknown"),
        Answer("c", "score", (("0", None), ("1", None))),
    )
    body = in_list({"type": "choice", "name": "a", "probabilities": [0.5, {"value": ["x"], "probability": 1}]})
    assert answers(OPENAI, body) == (Answer("a", "choice", (("", None), ("", 1.0))),)
    not_finite = b'{"answers": {"a": {"noul": NaN}, "b": {"noul": 1e999}, "c": {"noul": -0.5}}}'
    assert [a.probabilities for a in answers(SYSTEM_ONE, not_finite)] == [
        (("true", None),),
        (("true", None),),
        (("true", -0.5),),
    ]


def test_a_repeated_key_is_not_lost() -> None:
    twice = (
        b'{"answers": {"a": {"noul": 0.1}, "a": {"noul": 0.9}, "b": {"score": 1, "probabilities": {"0": 1, "0": 0}}}}'
    )
    assert answers(SYSTEM_ONE, twice) == (
        Answer("a", "predicate", (("true", 0.1),)),
        Answer("a", "predicate", (("true", 0.9),)),
        Answer("b", "score", (("0", 1.0), ("0", 0.0))),
    )


def test_answers_in_the_other_contract_name_the_other_provider() -> None:
    with pytest.raises(OtherContractError) as caught:
        read(OPENAI, in_map(a={"noul": 1}))
    assert "systemone:MODEL@URL" in (caught.value.hint or "")
    with pytest.raises(OtherContractError) as caught:
        read(SYSTEM_ONE, in_list({"type": "refusal"}))
    assert "openai-decisions:MODEL@URL" in (caught.value.hint or "")


@pytest.mark.parametrize("adapter", BOTH)
@pytest.mark.parametrize("body", [b"", b"<html>", b"[]", b"1", b"{}", b'{"answers": null}', b'{"choices": []}'])
def test_a_body_without_answers_is_malformed(adapter: Adapter, body: bytes) -> None:
    with pytest.raises(MalformedBodyError):
        read(adapter, body)


@pytest.mark.parametrize("adapter", BOTH)
@given(body=JSON_VALUES)
def test_any_body_is_read_or_refused(adapter: Adapter, body: object) -> None:
    for value in (body, {"answers": body}, {"answers": [body]}, {"answers": {"a": body}}):
        try:
            reply = read(adapter, value)
        except CallError:
            continue
        assert read_answers(reply.text) is not None


@pytest.mark.parametrize("adapter", BOTH)
def test_output_that_is_not_counted_is_none_and_a_gateways_bill_is_the_cost(adapter: Adapter) -> None:
    empty: object = [] if adapter is OPENAI else {}
    usage: dict[str, Any] = {"input_tokens": 50, "input_tokens_details": {"cached_tokens": 20}, "cost": 0.000021}
    reply = read(adapter, {"answers": empty, "usage": usage})
    assert reply.usage == Usage(50, 0, 20)
    assert reply.cost == 0.000021
    assert read(adapter, {"answers": empty, "usage": {"prompt_tokens": 50}}).usage == Usage(50, 0)
    nothings: tuple[object, ...] = (None, {}, {"input_tokens": -1}, {"input_tokens": "9"}, [], {"cost": -1.0})
    for nothing in nothings:
        reply = read(adapter, {"answers": empty, "usage": nothing})
        assert (reply.usage, reply.cost) == (Usage(), None)


@pytest.mark.parametrize("adapter", BOTH)
@pytest.mark.parametrize(
    ("status", "body", "kind"),
    [
        (401, {"error": {"message": "no"}}, EndpointError),
        (403, {"detail": "no"}, EndpointError),
        (404, {"detail": "model not found"}, EndpointError),
        (402, {"error": {"message": "credits"}}, EndpointError),
        (429, {"error": {"message": "slow down"}}, RateLimitedError),
        (500, {"error": {"message": "oops"}}, ServerFaultError),
        (529, {"detail": "overloaded"}, ServerFaultError),
        (413, {"detail": "too large"}, RequestTooLargeError),
        (400, {"detail": {"state": "exceeds the maximum context length of 32768 tokens"}}, RequestTooLargeError),
        (400, {"error": {"message": "bad", "param": "questions[0].levels"}}, RejectedError),
        (422, {"detail": [{"loc": ["body", "state"], "msg": "bad", "type": "value_error"}]}, RejectedError),
        (422, {"detail": [{"loc": ["body", "questions", "clear"], "msg": "bad", "type": "x"}]}, RejectedError),
        (400, {"detail": {"seed": "temperature is not supported"}}, RejectedError),
    ],
)
def test_errors_are_told_apart(adapter: Adapter, status: int, body: object, kind: type[CallError]) -> None:
    with pytest.raises(kind):
        read(adapter, body, status)


@pytest.mark.parametrize("adapter", BOTH)
def test_a_server_whose_model_decides_nothing_says_what_to_do(adapter: Adapter) -> None:
    with pytest.raises(EndpointError, match="501") as caught:
        read(adapter, {"error": {"message": "this model does not support seed", "code": 501}}, 501)
    assert "Load a decision model there" in (caught.value.hint or "")


@pytest.mark.parametrize("adapter", BOTH)
def test_the_request_id_is_kept(adapter: Adapter) -> None:
    header = "x-typesafe-request-id" if adapter is SYSTEM_ONE else "x-request-id"
    body: dict[str, object] = {"answers": [] if adapter is OPENAI else {}}
    assert read(adapter, body, headers={header: "req-1"}).request_id == "req-1"


def test_a_refused_request_is_settled_by_whether_any_has_passed() -> None:
    """No parameter can be left out, so the ladder has no step to take."""
    refusal = answer_json({"error": {"message": "invalid levels", "param": "questions"}}, 400)
    with FakeServer(refusal) as server:

        async def run() -> None:
            transport = HttpTransport(server.url + "/decisions", {}, timeout_s=5)
            client = ProviderClient(OPENAI, transport, Endpoint(server.url, "m"))
            try:
                with pytest.raises(EndpointError, match=r"no request has passed yet, and the judge refuses: .*levels"):
                    await client.complete(REQUEST)
            finally:
                await client.close()

        asyncio.run(run())
        assert len(server.requests) == 1
