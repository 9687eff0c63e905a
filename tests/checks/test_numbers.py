from __future__ import annotations

import time
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentanvil.checks.finding import CheckFaultError, Finding, ParameterError
from agentanvil.checks.numbers import numeric_range, read_number
from tests.fakes.records import row

ANY = row()


def checked(value: object, **params: object) -> Finding:
    return numeric_range(params)(value, ANY)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("value", "passed", "reason"),
    [
        ("5", True, "“5” is in 1 to 9.5"),
        (" 9.5\n", True, "“9.5” is in 1 to 9.5"),
        ("1", True, "“1” is in 1 to 9.5"),
        ("+1.00e0", True, "“+1.00e0” is in 1 to 9.5"),
        ("0.999999999999999999999", False, "“0.999999999999999999999” is less than 1"),
        ("9.500000000000000000001", False, "“9.500000000000000000001” is more than 9.5"),
        ("-5", False, "“-5” is less than 1"),
        (5, True, "“5” is in 1 to 9.5"),
        (9.5, True, "“9.5” is in 1 to 9.5"),
        (10**400, False, None),
        ("1e400", False, "“1e400” is more than 9.5"),
        ("1" + "0" * 100_000, False, None),
    ],
)
def test_a_number_in_a_range(value: object, passed: bool, reason: str | None) -> None:
    finding = checked(value, min=1, max=9.5)
    assert finding.passed == passed
    assert reason is None or finding.reason == reason


@pytest.mark.parametrize(
    "value",
    [
        "about 5",
        "5 apples",
        "The total is 5.",
        "5%",
        "$5",
        "1,5",
        "1,000",
        "1 000",
        "1_000",
        "٥",
        "５",
        "0x5",
        "NaN",
        "Infinity",
        "1e99999999999999999999999",
        "--5",
        ".",
        "e5",
        "5-6",
        "5\n6",
        True,
        [5],
        {"total": 5},
        "[5]",
        '"5"',
    ],
)
def test_what_is_not_wholly_a_number_fails(value: object) -> None:
    finding = checked(value, min=-(10**9))
    assert not finding.passed
    assert finding.reason.endswith("is not a number")


def test_one_end_is_enough() -> None:
    assert checked("5", min=5) == Finding(True, "“5” is at least 5")
    assert checked("5", max=5.0) == Finding(True, "“5” is at most 5")
    assert checked("5", min=6) == Finding(False, "“5” is less than 6")
    assert checked("5", max=4) == Finding(False, "“5” is more than 4")


def test_a_decimal_is_what_its_digits_say() -> None:
    assert checked("0.3", min=0.3, max=0.3).passed
    assert checked(0.1, min=0.1, max=0.1).passed
    assert not checked("0.30000000000000001", max=0.3).passed


@pytest.mark.parametrize(
    ("value", "passed", "reason"),
    [
        ("Order 7. Total: 42 EUR", True, "“42” is in 1 to 50"),
        ("Total: 42. Total: 99", True, "“42” is in 1 to 50"),
        ("Total: 99", False, "“99” is more than 50"),
        ("Order 7.", False, r"nothing matches Total: (\d*)"),
        ("Total: about 5", False, "“” is not a number"),
    ],
)
def test_a_pattern_says_where_the_number_stands(value: str, passed: bool, reason: str) -> None:
    assert checked(value, min=1, max=50, pattern=r"Total: (\d*)") == Finding(passed, reason)


def test_a_group_that_took_no_part_is_no_number() -> None:
    assert not checked("none", min=0, pattern=r"none|(\d+)").passed


def test_a_pattern_reads_lines_whatever_system_wrote_them() -> None:
    assert checked("sum\r\n42\r\nend", min=42, pattern=r"(?m)^(\d+)$").passed


def test_a_catastrophic_pattern_ends() -> None:
    with pytest.raises(CheckFaultError) as caught:
        checked("x" * 5000, min=1, pattern=r"(x+x+)+y")
    assert caught.value.code == "check_timeout"


def test_a_text_of_a_million_digits_takes_no_time() -> None:
    started = time.process_time()
    checked("9" * 1_000_000, max=5)
    checked("9" * 1_000_000 + "x", max=5)
    assert time.process_time() - started < 0.5


@given(
    st.decimals(-(10**6), 10**6, places=3),
    st.integers(-(10**6), 10**6) | st.floats(-1e6, 1e6),
    st.integers(-(10**6), 10**6) | st.floats(-1e6, 1e6),
)
def test_both_ends_are_included_and_compared_exactly(number: Decimal, one: float, other: float) -> None:
    low, high = sorted((one, other))
    expected = Decimal(repr(low)) <= number <= Decimal(repr(high))
    assert checked(str(number), min=low, max=high).passed == expected
    assert checked(f" {number:f} ", min=low, max=high).passed == expected
    assert checked(f"It is {number}", min=low, max=high, pattern="is (.*)").passed == expected


@given(st.integers() | st.floats(allow_nan=False, allow_infinity=False))
def test_a_number_lies_in_the_range_that_it_makes_alone(number: float) -> None:
    assert checked(number, min=number, max=number).passed


@given(st.text(max_size=8) | st.text("0123456789.+-eE ", max_size=8))
def test_a_text_is_a_number_for_the_standard_library_too_or_is_none(text: str) -> None:
    number = read_number(text)
    if number is not None:
        assert number == Decimal(text.strip())
        float(text)


@pytest.mark.parametrize(
    ("params", "key"),
    [
        ({}, "min"),
        ({"min": 2, "max": 1}, "min"),
        ({"min": "5"}, "min"),
        ({"max": True}, "max"),
        ({"max": float("nan")}, "max"),
        ({"min": float("inf")}, "min"),
        ({"min": 1, "pattern": "("}, "pattern"),
        ({"min": 1, "pattern": r"\d"}, "pattern"),
        ({"min": 1, "pattern": r"(\d)(\d)"}, "pattern"),
        ({"min": 1, "pattern": 5}, "pattern"),
    ],
)
def test_parameters_that_cannot_be_used(params: dict[str, object], key: str) -> None:
    with pytest.raises(ParameterError) as caught:
        numeric_range(params)
    assert caught.value.key == key
