from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentanvil.checks.finding import CheckFaultError, Finding, ParameterError
from agentanvil.checks.texts import contains, equals_field, max_chars, max_words, not_contains
from tests.fakes.records import row

ANY = row()


@pytest.mark.parametrize(
    ("text", "ignore_case", "value", "passed", "reason"),
    [
        ("refund", False, "A refund is due.", True, "contains “refund”"),
        ("refund", False, "A Refund is due.", False, "does not contain “refund”"),
        ("refund", True, "A REFUND is due.", True, "contains “refund”"),
        ("STRASSE", True, "in der Straße", True, "contains “STRASSE”"),
        (("a", "b"), False, "a", False, "does not contain “b”"),
        (("a", "b"), False, "ab", True, "contains “a”, “b”"),
        (["a", "z", "y"], False, "a", False, "does not contain “z”, “y”"),
        (".*", False, "text", False, "does not contain “.*”"),
        ("two  spaces", False, "two spaces", False, "does not contain “two spaces”"),
    ],
)
def test_contains(text: object, ignore_case: bool, value: str, passed: bool, reason: str) -> None:
    params = {"text": text, "ignore_case": ignore_case}
    assert contains(params)(value, ANY) == Finding(passed, reason)
    assert contains({"text": text})(value, ANY).passed == (passed and not ignore_case)


@pytest.mark.parametrize(
    ("text", "ignore_case", "value", "passed", "reason"),
    [
        ("refund", False, "No money.", True, "does not contain “refund”"),
        ("refund", False, "A refund.", False, "contains “refund”"),
        ("refund", False, "A Refund.", True, "does not contain “refund”"),
        ("refund", True, "A Refund.", False, "contains “refund”"),
        (("a", "b"), False, "b", False, "contains “b”"),
        (("a", "b"), False, "c", True, "does not contain “a”, “b”"),
    ],
)
def test_not_contains(text: object, ignore_case: bool, value: str, passed: bool, reason: str) -> None:
    assert not_contains({"text": text, "ignore_case": ignore_case})(value, ANY) == Finding(passed, reason)


@given(st.text(), st.lists(st.text(min_size=1), min_size=1, max_size=3), st.booleans())
def test_one_text_is_contained_or_not(value: str, texts: list[str], ignore_case: bool) -> None:
    for text in texts:
        params = {"text": text, "ignore_case": ignore_case}
        assert contains(params)(value, ANY).passed != not_contains(params)(value, ANY).passed
    everything = contains({"text": texts, "ignore_case": ignore_case})
    # Without the space a mark at the beginning of one text would join the letter at the end of another.
    assert everything(" ".join([*texts, value]), ANY).passed
    assert not not_contains({"text": texts, "ignore_case": ignore_case})(f"{value} {texts[0]}", ANY).passed


COMPOSED, DECOMPOSED = "caf\u00e9", "cafe\u0301"


@pytest.mark.parametrize("ignore_case", [False, True])
@pytest.mark.parametrize(
    ("text", "value"),
    [
        (COMPOSED, f"a {DECOMPOSED} there"),
        (DECOMPOSED, f"a {COMPOSED} there"),
        ("one\ntwo", "one\r\ntwo"),
        ("one\r\ntwo", "one\ntwo"),
        ("\u1100\u1161", "\uac00"),
    ],
)
def test_letters_and_lines_are_the_same_however_they_are_written(text: str, value: str, ignore_case: bool) -> None:
    assert contains({"text": text, "ignore_case": ignore_case})(value, ANY).passed
    assert not not_contains({"text": text, "ignore_case": ignore_case})(value, ANY).passed
    assert equals_field({"field": "meta.text"})(text, row(meta={"text": text})).passed


def test_a_letter_without_its_accent_is_another_letter() -> None:
    assert not contains({"text": "cafe"})(DECOMPOSED, ANY).passed
    assert not contains({"text": "CAFE", "ignore_case": True})(DECOMPOSED, ANY).passed
    assert contains({"text": "CAF\u00c9", "ignore_case": True})(DECOMPOSED, ANY).passed
    assert equals_field({"field": "meta.city"})("Zu\u0308rich\r\n", row(meta={"city": "Z\u00fcrich"})).passed


@pytest.mark.parametrize("ignore_case", [False, True])
def test_a_letter_under_a_hundred_thousand_marks_does_not_hang_the_run(ignore_case: bool) -> None:
    started = time.process_time()
    contains({"text": "x", "ignore_case": ignore_case})("a" + "\u0301\u0316" * 50_000, ANY)
    assert time.process_time() - started < 1


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ("one", 1),
        ("one two", 2),
        ("  one\n\ttwo \u00a0 three\u3000four\u2028five ", 5),
        ("don't re-read e.g. 3.5 €", 5),
        ("- a\n- b", 4),
        ("漢字は空白がない", 1),
        ("a\u200bb", 1),
    ],
)
def test_words_are_runs_between_white_space(value: str, words: int) -> None:
    assert max_words({"limit": words})(value, ANY) == Finding(True, f"{words} words, the limit is {words}")
    assert max_words({"limit": words - 1})(value, ANY) == Finding(False, f"{words} words, the limit is {words - 1}")


@pytest.mark.parametrize(
    ("value", "characters"), [("abc", 3), ("a\nb ", 4), ("é", 1), ("e\u0301", 2), ("😀", 1), ("漢字", 2)]
)
def test_characters_are_code_points(value: str, characters: int) -> None:
    assert max_chars({"limit": characters})(value, ANY).passed
    assert not max_chars({"limit": characters - 1})(value, ANY).passed
    assert max_chars({"limit": 0})(value, ANY).reason == f"{characters} characters, the limit is 0"


@given(st.lists(st.text("abc", min_size=1), max_size=20), st.integers(0, 25))
def test_limits_are_inclusive(words: list[str], limit: int) -> None:
    text = " ".join(words)
    assert max_words({"limit": limit})(text, ANY).passed == (len(words) <= limit)
    assert max_chars({"limit": limit})(text, ANY).passed == (len(text) <= limit)


@pytest.mark.parametrize(
    ("field", "ignore_case", "value", "passed"),
    [
        ("extra_text", False, " Paris\n", True),
        ("extra_text", False, "paris", False),
        ("extra_text", True, "PARIS", True),
        ("extra_text", False, "Paris.", False),
        ("number", False, "5", True),
        ("number", False, "5.0", False),
        ("truth", False, "true", True),
        ("truth", False, "True", False),
        ("object", False, '{"a":[1,null],"b":2}', True),
        ("meta.city", False, "Paris", True),
        ("expected", False, "Lyon", True),
        ("expected", False, "Paris", False),
        ("request", False, "What is the capital of France?", True),
    ],
)
def test_equals_field(field: str, ignore_case: bool, value: str, passed: bool) -> None:
    extra = {"extra_text": "Paris ", "number": 5, "truth": True, "object": {"b": 2, "a": [1, None]}}
    here = row(extra=extra, meta={"city": "Paris"}, expected="Lyon")
    finding = equals_field({"field": field, "ignore_case": ignore_case})(value, here)
    assert finding.passed == passed
    assert field in finding.reason


def test_a_difference_is_shown() -> None:
    finding = equals_field({"field": "meta.city"})("Lyon", row(meta={"city": "x" * 100}))
    assert finding.reason == f"“Lyon” is not meta.city, which is “{'x' * 59}…”"


@pytest.mark.parametrize("meta", [{}, {"city": None}, {"city": ""}, {"city": " \n"}])
def test_a_field_that_is_absent_decides_nothing(meta: dict[str, object]) -> None:
    with pytest.raises(CheckFaultError) as caught:
        equals_field({"field": "meta.city"})("Paris", row(meta=meta))
    assert caught.value.code == "missing_field"


@pytest.mark.parametrize(
    ("compile_check", "params", "key"),
    [
        (contains, {}, "text"),
        (contains, {"text": ""}, "text"),
        (contains, {"text": []}, "text"),
        (contains, {"text": ["a", ""]}, "text"),
        (contains, {"text": [1]}, "text"),
        (not_contains, {"text": ""}, "text"),
        (max_words, {}, "limit"),
        (max_words, {"limit": -1}, "limit"),
        (max_words, {"limit": True}, "limit"),
        (max_chars, {"limit": "5"}, "limit"),
        (equals_field, {}, "field"),
        (equals_field, {"field": "a..b"}, "field"),
    ],
)
def test_parameters_that_cannot_be_used(compile_check: object, params: dict[str, object], key: str) -> None:
    with pytest.raises(ParameterError) as caught:
        compile_check(params)  # type: ignore[operator]
    assert caught.value.key == key
