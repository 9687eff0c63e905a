from __future__ import annotations

import pytest

from agentanvil.cli.output import say, visible


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain – ✓ ü", "plain – ✓ ü"),
        ("two\nlines", "two\nlines"),
        pytest.param("\x1b[31mred\x1b[0m", "\ufffd[31mred\ufffd[0m", id="O-F10-colour"),
        pytest.param("a\rb\x07\x08c", "a\ufffdb\ufffd\ufffdc", id="overwriting"),
        pytest.param("\x9b2J", "\ufffd2J", id="one-byte-escape"),
        pytest.param("abc\u202egpj.exe", "abc\ufffdgpj.exe", id="turned-round"),
        pytest.param("\ud83d", "\ufffd", id="half-a-pair"),
    ],
)
def test_no_text_steers_a_terminal(text: str, shown: str) -> None:
    assert visible(text) == shown


def test_what_is_said_goes_to_standard_error(capsys: pytest.CaptureFixture[str]) -> None:
    say("error: \x1b]0;title\x07")
    caught = capsys.readouterr()
    assert (caught.out, caught.err) == ("", "error: \ufffd]0;title\ufffd\n")
