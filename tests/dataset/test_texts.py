from __future__ import annotations

import pytest

from agentanvil.dataset import canonical_text, is_blank


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
