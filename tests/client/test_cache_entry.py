"""What a kept reply says of its tokens. The rest of an entry is tested through the client that keeps it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from agentanvil.client import ChatReply, TokenLogprob
from agentanvil.client.cache_entry import decode_reply, encode_reply

TOKENS = (
    TokenLogprob(0, '{"winner":"', -0.25),
    TokenLogprob(11, "A", -0.5, (("A", -0.5), ("„B“", -9999.0))),
    TokenLogprob(12, '"}', 0.0),
)
TEXT = '{"winner":"A"}'


def entry(**changed: object) -> bytes:
    value = encode_reply(ChatReply(TEXT, tokens=TOKENS))
    assert value is not None
    kept: dict[str, Any] = json.loads(value)
    return json.dumps(kept | changed).encode()


def test_tokens_come_back_as_they_were() -> None:
    reply = decode_reply(entry())
    assert reply is not None
    assert (reply.text, reply.tokens, reply.cached) == (TEXT, TOKENS, True)


def test_whole_numbers_come_back_as_well() -> None:
    value = encode_reply(ChatReply("A", tokens=(TokenLogprob(0, "A", 0, (("A", 0),)),)))
    assert value is not None
    reply = decode_reply(value)
    assert reply is not None
    assert reply.tokens == (TokenLogprob(0, "A", 0.0, (("A", 0.0),)),)


def test_an_entry_without_tokens_is_one_of_old() -> None:
    value = encode_reply(ChatReply(TEXT))
    assert value is not None
    assert "tokens" not in json.loads(value)
    reply = decode_reply(value)
    assert reply is not None
    assert reply.tokens == ()


@pytest.mark.parametrize(
    "tokens",
    [
        None,
        {},
        "A",
        [None],
        [[0, "A", -1.0]],
        [[0, "A", -1.0, None]],
        [[0, "A", -1, []]],
        [[0, "A", "-1.0", []]],
        [[True, "A", -1.0, []]],
        [["0", "A", -1.0, []]],
        [[0, 7, -1.0, []]],
        [[0, "A", -1.0, [], 1]],
        [[0, "A", -1.0, ["A"]]],
        [[0, "A", -1.0, [["A", -1]]]],
        [[0, "A", -1.0, [["A", -1.0, 0]]]],
        [[0, "A", -1.0, []], 1],
    ],
)
def test_what_is_written_otherwise_is_no_entry(tokens: object) -> None:
    assert decode_reply(entry(tokens=tokens)) is None


def test_no_other_key_is_let_in() -> None:
    assert decode_reply(entry(extra=1)) is None
