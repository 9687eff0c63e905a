from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentanvil.strict_json import (
    MAX_DEPTH,
    JsonError,
    non_finite_path,
    parse_json,
    parse_json_at,
    replace_surrogates,
)
from tests.fakes.json_values import JSON_VALUES


@given(JSON_VALUES, st.booleans())
def test_reads_what_json_writes(value: object, ascii_only: bool) -> None:
    assert parse_json(json.dumps(value, ensure_ascii=ascii_only)) == value


@given(st.text())
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        value = parse_json(text)
    except JsonError:
        return
    assert value == json.loads(text)


@pytest.mark.parametrize(
    ("text", "fault", "message"),
    [
        ('{"a": 1, "a": 1}', "duplicate_key", "`a` stands twice"),
        ('{"x": [{"b": 1, "c": 2, "b": 3}]}', "duplicate_key", "`b` stands twice"),
        (r'{"a": 1, "\u0061": 2}', "duplicate_key", "`a` stands twice"),
        ("NaN", "non_finite", "NaN is not JSON"),
        ('{"a": [Infinity]}', "non_finite", "Infinity is not JSON"),
        ('{"a": -Infinity}', "non_finite", "-Infinity is not JSON"),
        ("[1e999]", "non_finite", "too large"),
        ("[-1e999]", "non_finite", "too large"),
        ("9" * 5000, "limit", "4300 digits"),
        ("{'a': 1}", "syntax", "not JSON"),
        ('{"a": 1,}', "syntax", "not JSON"),
        ('{"a": "tab\there"}', "syntax", "not JSON"),
        ('{"a": ', "syntax", "not JSON"),
        ('{"a": "cut', "open_string", "not JSON"),
        ('{"a', "open_string", "not JSON"),
        ("", "syntax", "not JSON"),
        ("\ufeff{}", "syntax", "not JSON"),
        ("[" * 100_000, "limit", "nested deeper"),
        ('{"a":' * 100_000, "limit", "nested deeper"),
        ("[" * (MAX_DEPTH + 1) + "]" * (MAX_DEPTH + 1), "limit", "nested deeper"),
        ('{"a":' * (MAX_DEPTH + 1) + "1" + "}" * (MAX_DEPTH + 1), "limit", "nested deeper"),
    ],
)
@pytest.mark.parametrize("read", [parse_json, lambda text: parse_json_at(text, 0)], ids=["whole", "at"])
def test_refuses(read: Callable[[str], object], text: str, fault: str, message: str) -> None:
    with pytest.raises(JsonError, match=message) as caught:
        read(text)
    assert caught.value.fault == fault


def test_text_after_the_value_is_refused_or_left() -> None:
    with pytest.raises(JsonError, match="more text follows") as caught:
        parse_json("{} {}")
    assert (caught.value.fault, caught.value.offset) == ("trailing_text", 3)
    assert parse_json_at("{} {}", 0) == ({}, 2)
    assert parse_json_at('see [1, {"a": "["}]]', 4) == ([1, {"a": "["}], 19)


@pytest.mark.parametrize(
    "text",
    [
        "[" * MAX_DEPTH + "]" * MAX_DEPTH,
        json.dumps([[[]] for _ in range(500)]),
        json.dumps({"code": "[" * 500}),
    ],
    ids=["as deep as allowed", "wide", "brackets inside a text"],
)
def test_depth_counts_levels_not_brackets(text: str) -> None:
    assert parse_json(text) == json.loads(text)


def test_keeps_every_digit_of_a_huge_integer() -> None:
    assert parse_json("1" + "0" * 40 + "7") == 10**41 + 7


def test_names_the_place() -> None:
    with pytest.raises(JsonError) as caught:
        parse_json('{\n "a": x}')
    assert (caught.value.offset, caught.value.line, caught.value.column) == (8, 2, 7)


@pytest.mark.parametrize(
    ("text", "value", "replaced"),
    [
        (r'"cut \ud83d"', "cut \ufffd", True),
        (r'"\udc00 low first"', "\ufffd low first", True),
        (r'["\ud83d\ude00", "\uD83D"]', ["\U0001f600", "\ufffd"], True),
        (r'{"\ud83d": 1}', {"\ufffd": 1}, True),
        (r'"\ud83d\ude00"', "\U0001f600", False),
        (r'"\ud55c\uad6d"', "한국", False),
        (r'"C:\\udc00"', r"C:\udc00", False),
    ],
)
def test_lone_surrogates_are_replaced_and_reported(text: str, value: object, replaced: bool) -> None:
    assert replace_surrogates(text, parse_json(text)) == (value, replaced)


def test_keys_that_become_equal_are_refused() -> None:
    text = r'{"\ud83d": 1, "\ud83e": 2}'
    with pytest.raises(JsonError, match="twice"):
        replace_surrogates(text, parse_json(text))


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ('{"x": NaN}', "x"),
        ('{"a": [0, {"b": -Infinity}], "c": NaN}', "a.1.b"),
        ('{"a": 1, "a": 1e999}', "a"),
        ("NaN", ""),
        ('{"x": 1}', None),
        ('{"x": NaN', None),
    ],
)
def test_the_place_of_a_number_that_is_not_finite_is_found(text: str, path: str | None) -> None:
    assert non_finite_path(text) == path
