from __future__ import annotations

import time
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentanvil.dataset import canonical_text, is_blank, normal_form
from agentanvil.dataset.texts import heading_marks


@pytest.mark.parametrize("text", ["", " ", "\n\t ", "\u3000\u00a0", "\u200b", "\ufeff", " \u200b \u2060\u00ad"])
def test_blank(text: str) -> None:
    assert is_blank(text)


@pytest.mark.parametrize("text", ["a", " a", "\u200ba", "\u3000ü", "0", "\U0001f600", "."])
def test_not_blank(text: str) -> None:
    assert not is_blank(text)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ({"b": 1, "a": [True, None]}, '{"a":[true,null],"b":1}'),
        ({"ü": "“✓”"}, '{"ü":"“✓”"}'),
        (10**60, "1" + "0" * 60),
        (0.1, "0.1"),
    ],
)
def test_canonical_text(value: object, text: str) -> None:
    assert canonical_text(value) == text  # type: ignore[arg-type]


@given(st.text())
def test_ordinary_text_has_the_normal_form_of_the_standard_library(text: str) -> None:
    assert normal_form(text, "NFC") == unicodedata.normalize("NFC", text)
    assert normal_form(text, "NFKC") == unicodedata.normalize("NFKC", text)


def test_a_letter_under_a_hundred_thousand_marks_does_not_hang_the_run() -> None:
    hung = "a" + "\u0301\u0316" * 50_000
    started = time.process_time()
    assert normal_form(hung, "NFC").startswith("á\u0316")
    assert time.process_time() - started < 1


def test_headings_stand_out_from_what_imitates_them() -> None:
    assert heading_marks(0, ["a"]) == ("[", "]")
    assert heading_marks(3, ["[[[user]]]"]) == ("[[[[", "]]]]")
    opening, closing = heading_marks(100_000, ["[" * 100_000 + "user]"])
    assert (opening, len(closing)) == ("[", 10)
    assert heading_marks(99, ["x", closing]) != ("[", closing)
    assert heading_marks(99, ["x"]) == heading_marks(99, ["X"])
