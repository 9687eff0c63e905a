from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentanvil.checks.calls import call_order, max_calls, must_call, must_not_call
from agentanvil.checks.finding import Finding, ParameterError
from tests.fakes.agent_runs import called

TOOLS = st.lists(st.sampled_from("abc"), max_size=8)


@pytest.mark.parametrize(
    ("tool", "tools", "passed", "reason"),
    [
        ("a", ("a", "b"), True, "called: “a”"),
        (("a", "b"), ("b", "a"), True, "called: “a”, “b”"),
        (("a", "c"), ("a", "b"), False, "not called: “c”; the calls are “a”, “b”"),
        ("a", (), False, "not called: “a”; no tool was called"),
        ("a", ("A", "a "), False, "not called: “a”; the calls are “A”, “a”"),
    ],
)
def test_must_call(tool: object, tools: tuple[str, ...], passed: bool, reason: str) -> None:
    assert must_call({"tool": tool})(called(*tools)) == Finding(passed, reason)


@pytest.mark.parametrize(
    ("tool", "tools", "passed", "reason"),
    [
        ("a", ("b",), True, "not called: “a”"),
        (("a", "b"), (), True, "not called: “a”, “b”"),
        ("a", ("b", "a"), False, "“a” was called in step 3"),
        (("a", "b"), ("b", "a", "a"), False, "“a” was called in step 3 and 1 more; “b” was called in step 2"),
    ],
)
def test_must_not_call(tool: object, tools: tuple[str, ...], passed: bool, reason: str) -> None:
    assert must_not_call({"tool": tool})(called(*tools)) == Finding(passed, reason)


@pytest.mark.parametrize(
    ("wanted", "strict", "tools", "passed", "reason"),
    [
        (("a", "b"), False, ("a", "x", "b"), True, "called in this order: “a”, “b”"),
        (("a", "b"), False, ("b", "a"), False, "“b” was not called after “a”; the calls are “b”, “a”"),
        (("a", "a"), False, ("a",), False, "“a” was not called after “a”; the calls are “a”"),
        (("a",), False, (), False, "“a” was not called; no tool was called"),
        (("a", "b"), True, ("a", "b"), True, "the calls are “a”, “b”"),
        (("a", "b"), True, ("a", "x", "b"), False, "the calls are not exactly “a”, “b”; the calls are “a”, “x”, “b”"),
        (("a", "b"), True, ("a",), False, "the calls are not exactly “a”, “b”; the calls are “a”"),
    ],
)
def test_call_order(wanted: tuple[str, ...], strict: bool, tools: tuple[str, ...], passed: bool, reason: str) -> None:
    assert call_order({"tools": wanted, "strict": strict})(called(*tools)) == Finding(passed, reason)


@given(TOOLS.filter(bool), TOOLS)
def test_an_order_is_a_subsequence_of_the_calls(wanted: list[str], tools: list[str]) -> None:
    found = re.search(".*".join(wanted), "".join(tools)) is not None
    assert call_order({"tools": wanted})(called(*tools)).passed == found
    assert call_order({"tools": wanted, "strict": True})(called(*tools)).passed == (wanted == tools)


@given(TOOLS.filter(bool), st.data())
def test_calls_in_between_leave_an_order_kept_and_the_strict_one_broken(tools: list[str], data: st.DataObject) -> None:
    more = list(tools)
    more.insert(data.draw(st.integers(0, len(tools))), "x")
    assert call_order({"tools": tools})(called(*more)).passed
    assert not call_order({"tools": tools, "strict": True})(called(*more)).passed
    assert not call_order({"tools": more})(called(*tools)).passed


@given(st.sets(st.sampled_from("abcd"), min_size=1), TOOLS)
def test_must_and_must_not_are_opposite_for_one_tool(wanted: set[str], tools: list[str]) -> None:
    trace = called(*tools)
    for tool in wanted:
        assert must_call({"tool": tool})(trace).passed != must_not_call({"tool": tool})(trace).passed
    assert must_call({"tool": sorted(wanted)})(trace).passed == wanted.issubset(tools)
    assert must_not_call({"tool": sorted(wanted)})(trace).passed == wanted.isdisjoint(tools)


@given(TOOLS, st.integers(0, 9), st.none() | st.sets(st.sampled_from("abcd"), min_size=1))
def test_max_calls_counts_the_calls_of_the_tools(tools: list[str], limit: int, tool: set[str] | None) -> None:
    count = sum(1 for each in tools if tool is None or each in tool)
    params = {"limit": limit, "tool": None if tool is None else sorted(tool)}
    assert max_calls(params)(called(*tools)).passed == (count <= limit)


def test_reasons_of_max_calls() -> None:
    assert max_calls({"limit": 1})(called("a", "b")) == Finding(False, "2 calls, the limit is 1")
    assert max_calls({"limit": 1, "tool": "a"})(called("a", "b")) == Finding(True, "1 calls of “a”, the limit is 1")


def test_a_long_run_is_told_in_few_words() -> None:
    assert len(must_call({"tool": "z"})(called(*["search the whole web"] * 1000)).reason) < 500


@pytest.mark.parametrize(
    ("compile_check", "params", "key"),
    [
        (must_call, {}, "tool"),
        (must_call, {"tool": []}, "tool"),
        (must_not_call, {"tool": ""}, "tool"),
        (call_order, {}, "tools"),
        (max_calls, {}, "limit"),
        (max_calls, {"limit": -1}, "limit"),
        (max_calls, {"limit": 1, "tool": []}, "tool"),
    ],
)
def test_parameters_that_cannot_be_used(compile_check: object, params: dict[str, object], key: str) -> None:
    with pytest.raises(ParameterError) as caught:
        compile_check(params)  # type: ignore[operator]
    assert caught.value.key == key
