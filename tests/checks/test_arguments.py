from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentanvil.checks.arguments import argument_matches
from agentanvil.checks.finding import CheckFaultError, Finding, ParameterError
from agentanvil.dataset import ToolStep, Trace, TurnStep
from tests.fakes.agent_runs import ran
from tests.fakes.json_values import JSON_VALUES

SMALL = {"properties": {"amount": {"type": "number", "maximum": 100}}, "required": ["amount"]}


def refund(amount: object) -> ToolStep:
    return ToolStep("refund", args={"amount": amount})  # type: ignore[dict-item]


BROKEN = ToolStep("refund", args_raw='{"amount": 5')
UNKNOWN = ToolStep("refund")
OTHER = ToolStep("search", args={"amount": 1000})


def checked(trace: Trace, calls: str = "all") -> Finding:
    return argument_matches({"tool": "refund", "schema": SMALL, "calls": calls})(trace)


@pytest.mark.parametrize(
    ("steps", "of_all", "of_any"),
    [
        ((refund(5),), True, True),
        ((refund(5), OTHER, refund(100)), True, True),
        ((refund(5), refund(101)), False, True),
        ((refund(101), refund("5")), False, False),
        ((BROKEN,), False, False),
        ((BROKEN, refund(5)), False, True),
        ((UNKNOWN, refund(101)), False, "not_recorded"),
        ((UNKNOWN, refund(5)), "not_recorded", True),
        ((UNKNOWN,), "not_recorded", "not_recorded"),
        ((OTHER,), None, False),
        ((), None, False),
        ((ToolStep("refund", args=[1]),), True, True),
        ((ToolStep("refund", args="__REDACTED__", redacted=True),), "not_recorded", "not_recorded"),
        ((ToolStep("refund", args={"amount": 500}, redacted=True),), False, False),
    ],
)
def test_what_decides(steps: tuple[ToolStep, ...], of_all: object, of_any: object) -> None:
    for calls, expected in (("all", of_all), ("any", of_any)):
        if isinstance(expected, str):
            with pytest.raises(CheckFaultError) as caught:
                checked(ran(*steps), calls)
            assert caught.value.code == expected
        else:
            assert checked(ran(*steps), calls).passed is expected


def test_reasons_name_the_step_and_the_place() -> None:
    trace = Trace(steps=(TurnStep("assistant", "I refund."), refund(5), refund("5")))
    assert checked(trace) == Finding(False, 'step 3: $.amount: "5" is not of type "number"')
    assert checked(trace, "any") == Finding(True, "step 2: meets the schema")
    assert checked(ran(refund(1), refund(2))) == Finding(
        True, "the arguments of all 2 calls of “refund” meet the schema"
    )
    assert checked(ran(BROKEN)) == Finding(False, 'step 1: the arguments are broken: “{"amount": 5”')
    assert checked(ran(refund("a"), BROKEN), "any").reason == (
        'step 1: $.amount: "a" is not of type "number" (and 1 more)'
    )
    assert checked(ran(), "any") == Finding(False, "“refund” was not called")
    with pytest.raises(CheckFaultError, match="step 2: the arguments of “refund” are not recorded"):
        checked(ran(OTHER, UNKNOWN))


def test_all_is_what_is_asked_unless_told_otherwise() -> None:
    check = argument_matches({"tool": "refund", "schema": SMALL})
    assert not check(ran(refund(5), refund(500))).passed


@given(st.lists(st.integers(90, 110) | st.none(), max_size=6))
def test_all_and_any_mean_what_they_say(amounts: list[int | None]) -> None:
    """None stands for broken arguments."""
    trace = ran(*(BROKEN if amount is None else refund(amount) for amount in amounts))
    kept = [amount is not None and amount <= 100 for amount in amounts]
    assert checked(trace, "any").passed == any(kept)
    assert checked(trace, "all").passed == (all(kept) if kept else None)


@given(JSON_VALUES.filter(lambda value: value is not None))
def test_any_arguments_have_an_answer(value: object) -> None:
    step = ToolStep("refund", args=value)  # type: ignore[arg-type]
    assert argument_matches({"tool": "refund", "schema": {"const": value}})(ran(step)).passed
    assert not argument_matches({"tool": "refund", "schema": {"not": {}}})(ran(step)).passed


def test_a_pattern_that_needs_too_long_is_no_answer() -> None:
    check = argument_matches({"tool": "refund", "schema": {"properties": {"text": {"pattern": r"^(a|aa)+\1$"}}}})
    hard = ToolStep("refund", args={"text": "a" * 60 + "b"})
    with pytest.raises(CheckFaultError, match="step 1: a pattern of the schema needed too many steps") as caught:
        check(ran(hard))
    assert caught.value.code == "check_timeout"
    assert not check(ran(hard, ToolStep("refund", args={"text": "b"}))).passed


@pytest.mark.parametrize(
    ("params", "key"),
    [
        ({"schema": {}}, "tool"),
        ({"tool": "", "schema": {}}, "tool"),
        ({"tool": "a"}, "schema"),
        ({"tool": "a", "schema": {"type": "x"}}, "schema"),
        ({"tool": "a", "schema": {}, "calls": "some"}, "calls"),
    ],
)
def test_parameters_that_cannot_be_used(params: dict[str, object], key: str) -> None:
    with pytest.raises(ParameterError) as caught:
        argument_matches(params)
    assert caught.value.key == key
