from __future__ import annotations

import json
import math
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentanvil.client import ChatRequest, Message, Sampling, TokenLogprob
from agentanvil.client.adapter import Shape, WireReply
from agentanvil.client.chat_completions import ChatCompletions
from agentanvil.client.token_logprobs import read_tokens
from tests.fakes.server import chat_body
from tests.fakes.tokens import token

REPLY = '{"winner":"A"}'
REQUEST = ChatRequest((Message("user", "Grüße"),))


def content(*pieces: str | bytes) -> dict[str, Any]:
    return {"content": [token(piece, 0.5) for piece in pieces]}


def places(tokens: tuple[TokenLogprob, ...]) -> list[tuple[int, str]]:
    return [(one.at, one.text) for one in tokens]


def test_tokens_stand_where_they_are_in_the_text() -> None:
    first, *_, last = read_tokens(content('{"', "winner", '":"', "A", '"}'), REPLY)
    assert first == TokenLogprob(0, '{"', math.log(0.5), (('{"', math.log(0.5)),))
    assert (last.at, last.text) == (12, '"}')


def test_the_alternatives_come_likeliest_first() -> None:
    entry = token("A", 0.2, {"B": 0.7, "C": 0.1})
    (one,) = read_tokens({"content": [entry]}, "A")
    assert [name for name, _ in one.top] == ["B", "A", "C"]
    assert [round(math.exp(value), 6) for _, value in one.top] == [0.7, 0.2, 0.1]


def test_offsets_count_characters_not_bytes() -> None:
    tokens = read_tokens(content("„", "ü", "你好", "x"), "„ü你好x")
    assert places(tokens) == [(0, "„"), (1, "ü"), (2, "你好"), (4, "x")]


def test_a_character_over_several_tokens_counts_once() -> None:
    llama = "🦙".encode()
    tokens = read_tokens(content("a", llama[:2], llama[2:3], llama[3:] + b"b", "c"), "a🦙bc")
    assert [one.at for one in tokens] == [0, 1, 1, 1, 3]


def test_a_token_without_bytes_is_spelt_by_its_text() -> None:
    entries = [{"token": "ü", "logprob": -1, "bytes": None}, {"token": "x", "logprob": -2.5}]
    assert read_tokens({"content": entries}, "üx") == (TokenLogprob(0, "ü", -1.0), TokenLogprob(1, "x", -2.5))


def test_what_stands_around_the_text_is_left_out() -> None:
    thought = ("<think>", "A", "</think>", "\n")
    assert places(read_tokens(content(*thought, "A", "!", "<|end|>"), "A!")) == [(0, "A"), (1, "!")]
    assert places(read_tokens(content("A", ""), "A")) == [(0, "A")]


def test_the_last_of_two_equal_texts_is_the_answer() -> None:
    said = {"content": [token("A", 0.9), token(" so "), token("A", 0.4)]}
    (one,) = read_tokens(said, "A")
    assert one.logprob == math.log(0.4)


@pytest.mark.parametrize(
    "logprobs",
    [
        None,
        True,
        [],
        {},
        {"content": None},
        {"content": []},
        {"content": {}},
        {"content": "A"},
        {"content": [None]},
        {"content": [{}]},
        {"content": [{"token": "A"}]},
        {"content": [{"token": "A", "logprob": None}]},
        {"content": [{"token": "A", "logprob": "-1"}]},
        {"content": [{"token": "A", "logprob": True}]},
        {"content": [{"token": "A", "logprob": math.nan}]},
        {"content": [{"token": "A", "logprob": -math.inf}]},
        {"content": [{"token": "A", "logprob": -(10**400)}]},
        {"content": [{"token": 7, "logprob": -1.0}]},
        {"content": [{"token": "\ud800", "logprob": -1.0}]},
        {"content": [{"token": "A", "logprob": -1.0, "bytes": [65.0]}]},
        {"content": [{"token": "A", "logprob": -1.0, "bytes": [256]}]},
        {"content": [{"token": "A", "logprob": -1.0, "bytes": ["A"]}]},
        {"content": [{"token": "A", "logprob": -1.0}, None]},
        {"content": [{"token": "B", "logprob": -1.0}]},
        {"tokens": ["A"], "token_logprobs": [-1.0]},
    ],
)
def test_what_is_no_log_probability_of_this_text_is_none(logprobs: object) -> None:
    assert read_tokens(logprobs, "A") == ()


def test_an_odd_alternative_is_passed_over_alone() -> None:
    odd = [None, {"token": "B"}, {"logprob": -1}, {"token": "C", "logprob": math.inf}, {"token": "D", "logprob": -3}]
    entry = {"token": "A", "logprob": -0.5, "top_logprobs": odd}
    assert read_tokens({"content": [entry]}, "A") == (TokenLogprob(0, "A", -0.5, (("D", -3.0),)),)
    assert read_tokens({"content": [{**entry, "top_logprobs": {"D": -3}}]}, "A") == (TokenLogprob(0, "A", -0.5),)


def test_no_text_has_no_tokens() -> None:
    assert read_tokens(content("A"), "") == ()
    assert read_tokens(content("A"), "\ud800") == ()


@given(st.text(min_size=1, max_size=30), st.lists(st.integers(1, 5), min_size=1, max_size=8))
def test_however_bytes_are_cut_each_token_has_the_character_it_begins_in(text: str, lengths: list[int]) -> None:
    raw = text.encode()
    pieces: list[bytes] = []
    while raw:
        size = lengths[len(pieces) % len(lengths)]
        pieces.append(raw[:size])
        raw = raw[size:]
    tokens = read_tokens(content(*pieces), text)
    assert len(tokens) == len(pieces)
    begun = 0
    for one, piece in zip(tokens, pieces, strict=True):
        before, after = len(text[: one.at].encode()), len(text[: one.at + 1].encode())
        assert before <= begun < after
        begun += len(piece)


@given(
    st.recursive(
        st.none() | st.booleans() | st.floats() | st.text(max_size=3),
        lambda inner: (
            st.lists(inner)
            | st.dictionaries(st.sampled_from(["content", "token", "logprob", "bytes", "top_logprobs"]), inner)
        ),
    )
)
def test_whatever_comes_is_no_error(logprobs: object) -> None:
    read_tokens(logprobs, "A")
    read_tokens({"content": [logprobs, {"token": "A", "logprob": -1.0, "top_logprobs": logprobs}]}, "A")


def sent(request: ChatRequest, shape: Shape = Shape()) -> dict[str, Any]:  # noqa: B008 - frozen
    body: dict[str, Any] = json.loads(ChatCompletions().build("m", request, shape))
    return body


def test_asking_adds_two_fields_and_changes_no_other() -> None:
    asking = replace(REQUEST, logprobs=5, sampling=Sampling(seed=1))
    plain = replace(asking, logprobs=None)
    assert sent(asking) == sent(plain) | {"logprobs": True, "top_logprobs": 5}
    assert sent(asking, Shape(dropped=frozenset({"logprobs"}))) == sent(plain)


def test_a_reply_carries_its_tokens() -> None:
    body = chat_body(REPLY)
    body["choices"][0]["logprobs"] = content('{"winner":"', "A", '"}')
    reply = ChatCompletions().read(WireReply(200, json.dumps(body).encode()), Shape())
    assert places(reply.tokens) == [(0, '{"winner":"'), (11, "A"), (12, '"}')]


def test_a_reply_without_them_has_none() -> None:
    for logprobs in (None, {"content": None}, "no"):
        body = chat_body(REPLY)
        body["choices"][0]["logprobs"] = logprobs
        assert ChatCompletions().read(WireReply(200, json.dumps(body).encode()), Shape()).tokens == ()


def test_the_arguments_of_a_tool_call_are_found_among_its_tokens() -> None:
    call = {"id": "c", "type": "function", "function": {"name": "verdict", "arguments": REPLY}}
    body = chat_body(None, "tool_calls", {"tool_calls": [call]})
    body["choices"][0]["logprobs"] = content("<tool>", '{"winner":"', "B", '"}', "</tool>")
    read = ChatCompletions().read
    assert read(WireReply(200, json.dumps(body).encode()), Shape(rung="tool")).tokens == ()
    body["choices"][0]["logprobs"] = content("<tool>", '{"winner":"', "A", '"}', "</tool>")
    reply = read(WireReply(200, json.dumps(body).encode()), Shape(rung="tool"))
    assert places(reply.tokens) == [(0, '{"winner":"'), (11, "A"), (12, '"}')]
