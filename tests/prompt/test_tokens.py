"""The rule of thumb, by hand."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentanvil.prompt import estimate_tokens


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        pytest.param("", 0, id="nothing"),
        pytest.param("abcd", 1, id="4 bytes"),
        pytest.param("abcde", 2, id="5 bytes are begun twice"),
        pytest.param("日本語", 3, id="one a wide character"),
        pytest.param("日本語 abc", 4, id="3 wide + 4 narrow bytes"),
        pytest.param("안녕하세요", 5, id="hangul"),
        pytest.param("Привет", 3, id="6 letters are 12 bytes"),
        pytest.param("😀", 1, id="one emoji is 4 bytes"),
        pytest.param("<|endoftext|>", 4, id="O-B19: 13 bytes of plain text"),
        pytest.param("\ud83d", 1, id="a lone surrogate"),
    ],
)
def test_by_hand(text: str, tokens: int) -> None:
    assert estimate_tokens(text) == tokens


@given(st.text())
def test_never_raises_and_grows_with_the_text(text: str) -> None:
    assert estimate_tokens(text) <= estimate_tokens(text + "x")
