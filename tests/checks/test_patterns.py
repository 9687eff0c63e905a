from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentanvil.checks.fields import plain_text
from agentanvil.checks.finding import CheckFaultError, Finding, ParameterError
from agentanvil.checks.patterns import matches
from tests.fakes.records import row

ANY = row()


def found(pattern: str, value: str, *flags: str) -> bool:
    return matches({"pattern": pattern, "flags": flags})(value, ANY).passed


def test_reasons() -> None:
    check = matches({"pattern": r"#\d{5}"})
    assert check("See #12345.", ANY) == Finding(True, r"“#12345” matches #\d{5} at character 5")
    assert check("See #1234.", ANY) == Finding(False, r"nothing matches #\d{5}")


@pytest.mark.parametrize(
    ("pattern", "value", "flags", "passed"),
    [
        ("refund", "A Refund", (), False),
        ("refund", "A Refund", ("ignorecase",), True),
        ("^b$", "a\nb", (), False),
        ("^b$", "a\nb", ("multiline",), True),
        ("a.b", "a\nb", (), False),
        ("a.b", "a\nb", ("dotall",), True),
        ("^B.C$", "a\nb\nc", ("ignorecase", "multiline", "dotall"), True),
        (r"^\w+$", "größer", (), True),
        (r"\bключ\b", "вот ключ тут", (), True),
        (r"^(?!.*sorry).*$", "fine", (), True),
        (r"^(?!.*sorry).*$", "so sorry", (), False),
        (r"(\w)\1", "committee", (), True),
        (r"(?P<q>['\"]).*?(?P=q)", "say 'x'", (), True),
        ("É", "é", ("ignorecase",), True),
    ],
)
def test_python_syntax(pattern: str, value: str, flags: tuple[str, ...], passed: bool) -> None:
    assert found(pattern, value, *flags) == passed


@pytest.mark.parametrize(
    ("pattern", "value", "passed"),
    [
        ("a{i}", "a{i}", True),
        ("a{i}", "abc", False),
        ("(?:refund){e<=2}", "refnd", False),
        ("{name}", "Dear {name},", True),
        ("{name}", "Dear name,", False),
        ("x{e}", "q", False),
        ("{{.*}}", "{{ x }}", True),
        ("{}", "a {} b", True),
        (r"\{s\}", "{s}", True),
        ("[{s}]", "s", True),
        ("[{s}]", "x", False),
        (r"\N{DIGIT ONE}{2}", "11", True),
        ("a{2}", "aa", True),
        ("^a{,2}$", "aa", True),
        ("^a{2,}$", "aaaa", True),
        (r"\\{s}", r"\{s}", True),
    ],
)
def test_a_brace_never_means_an_approximate_match(pattern: str, value: str, passed: bool) -> None:
    assert found(pattern, value) == passed == (re.search(pattern, value) is not None)


SAFE_PARTS = st.sampled_from(
    [
        "a",
        "b",
        "{",
        "}",
        "{e}",
        "{i<=1}",
        "{1}",
        "{2,}",
        "[{a}]",
        r"\{",
        r"\\",
        r"\d",
        "(a|b)",
        "?",
        ".",
        "^",
        "$",
        " ",
        ",",
    ]
)


@given(st.lists(SAFE_PARTS, max_size=5), st.text("ab{}e1i<=,\\ ", max_size=12))
def test_agrees_with_the_standard_library(parts: list[str], value: str) -> None:
    pattern = "".join(parts)
    try:
        expected = re.search(pattern, value) is not None
    except re.error:
        return
    assert found(pattern, value) == expected


@pytest.mark.parametrize(
    ("pattern", "value"),
    [
        (r"^(\w+\s?)*$", "word" * 5000 + "!"),
        (r"(x+x+)+y", "x" * 5000),
        (r"^(([a-z])+.)+[A-Z]([a-z])+$", "a" * 5000),
        (r"^(a|aa)+\1$", "a" * 60 + "b"),
        (r"^(.*?,){25}P", ",".join(map(str, range(40)))),
    ],
)
def test_a_catastrophic_pattern_ends(pattern: str, value: str) -> None:
    with pytest.raises(CheckFaultError, match="needed more than") as caught:
        found(pattern, value)
    assert caught.value.code == "check_timeout"


@pytest.mark.parametrize(
    ("params", "key"),
    [
        ({}, "pattern"),
        ({"pattern": "("}, "pattern"),
        ({"pattern": "*"}, "pattern"),
        ({"pattern": "(?<"}, "pattern"),
        ({"pattern": "(?V1)[[a]]"}, "pattern"),
        ({"pattern": "a", "flags": ("verbose",)}, "flags"),
        ({"pattern": "a", "flags": ["ascii", "dotall"]}, "flags"),
    ],
)
def test_parameters_that_cannot_be_used(params: dict[str, object], key: str) -> None:
    with pytest.raises(ParameterError) as caught:
        matches(params)
    assert caught.value.key == key


@given(st.text(max_size=12))
def test_any_pattern_is_compiled_or_refused(pattern: str) -> None:
    try:
        check = matches({"pattern": pattern})
    except ParameterError:
        return
    check("some text 123", ANY)


@given(st.text(min_size=1))
def test_escaped_text_is_found_in_itself(text: str) -> None:
    plain = plain_text(f"<\n{text}\n>")
    assert found(re.escape(plain[2:-2]), f"<\n{text}\n>")


@pytest.mark.parametrize(
    ("pattern", "value", "passed"),
    [
        ("^caf\u00e9$", "cafe\u0301", True),
        ("^caf.$", "cafe\u0301", True),
        (r"^\w+$", "ключи\u0306", True),
        ("(?m)^two$", "one\r\ntwo\r\nthree", True),
        ("one\ntwo", "one\r\ntwo", True),
        ("two$", "one\r\ntwo\r\n", True),
        ("(?m)^one$", "one\rtwo", False),
    ],
)
def test_letters_and_lines_are_the_same_however_they_are_written(pattern: str, value: str, passed: bool) -> None:
    assert found(pattern, value) == passed
