from __future__ import annotations

import base64
import json
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentanvil.client.secret import MASK, Redactor, Secret

KEY = 'CANARY-1/ä+b"c'


def test_a_secret_does_not_show_itself() -> None:
    secret = Secret("CANARY-1")
    for shown in (repr(secret), str(secret), f"{secret}", f"{secret!r}", repr([secret])):
        assert "CANARY" not in shown
    assert secret.reveal() == "CANARY-1"


@pytest.mark.parametrize(
    "text",
    [
        KEY,
        f"Authorization: Bearer {KEY}",
        quote(KEY, safe=""),
        quote_plus(KEY),
        quote(KEY, safe="")
        .replace("%2F", "%2f")
        .replace("%2B", "%2b")
        .replace("%C3%A4", "%c3%a4")
        .replace("%22", "%22"),
        json.dumps({"key": KEY}),
    ],
)
def test_every_spelling_goes(text: str) -> None:
    cleaned = Redactor([Secret(KEY)])(text)
    assert MASK in cleaned
    assert "CANARY" not in cleaned


@given(st.text(st.characters(min_codepoint=33, max_codepoint=126), max_size=9))
def test_a_basic_header_goes_whatever_the_user_is(user: str) -> None:
    token = base64.b64encode(f"{user}:CANARY-0042".encode()).decode()
    cleaned = Redactor([Secret("CANARY-0042")])(f"Basic {token}")
    assert MASK in cleaned
    kept = cleaned.replace(MASK, "").removeprefix("Basic ").rstrip("=")
    assert len(kept) <= len(user) * 4 / 3 + 6


def test_short_placeholders_are_left_alone() -> None:
    assert Redactor([Secret("x")])("model x is not there") == "model x is not there"
    assert Redactor([Secret("EMPTY-1")], shortest=8)("EMPTY-1") == "EMPTY-1"
    assert Redactor([])("anything") == "anything"


@given(st.text(min_size=4, max_size=30), st.text(max_size=20), st.text(max_size=20))
def test_no_value_survives(value: str, before: str, after: str) -> None:
    cleaned = Redactor([Secret(value)])(before + value + after)
    assert value in MASK or value not in cleaned.replace(MASK, "")
