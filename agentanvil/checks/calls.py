"""Checks of which tools an agent called, how often and in which order."""

from __future__ import annotations

from collections.abc import Iterator

from agentanvil.checks.finding import Finding, Parameters, TraceCheck, listed, text_list, whole_limit
from agentanvil.dataset import ToolStep, Trace


def must_call(params: Parameters) -> TraceCheck:
    """Passes where every tool of `tool` was called at least once. Names are compared letter for letter."""
    wanted = text_list(params, "tool")

    def check(trace: Trace) -> Finding:
        called = {call.tool for call in trace.calls}
        absent = [tool for tool in wanted if tool not in called]
        if absent:
            return Finding(False, f"not called: {listed(absent)}; {_called(trace)}")
        return Finding(True, f"called: {listed(wanted)}")

    return check


def must_not_call(params: Parameters) -> TraceCheck:
    """Passes where no tool of `tool` was called."""
    unwanted = text_list(params, "tool")

    def check(trace: Trace) -> Finding:
        steps = {tool: _steps_of(trace, tool) for tool in unwanted}
        found = [f"{listed([tool])} was called in {_steps(places)}" for tool, places in steps.items() if places]
        return Finding(not found, "; ".join(found) or f"not called: {listed(unwanted)}")

    return check


def call_order(params: Parameters) -> TraceCheck:
    """Passes where the calls hold `tools` in this order; others may come before, between and after.

    A tool that is named twice has to be called twice. With `strict` the calls are these and no others.
    """
    wanted, strict = text_list(params, "tools"), bool(params.get("strict"))

    def check(trace: Trace) -> Finding:
        called = tuple(call.tool for call in trace.calls)
        if strict:
            if called == wanted:
                return Finding(True, f"the calls are {listed(wanted)}")
            return Finding(False, f"the calls are not exactly {listed(wanted)}; {_called(trace)}")
        met = 0
        for tool in called:
            met += met < len(wanted) and tool == wanted[met]
        if met == len(wanted):
            return Finding(True, f"called in this order: {listed(wanted)}")
        after = f" after {listed(wanted[:met])}" if met else ""
        return Finding(False, f"{listed([wanted[met]])} was not called{after}; {_called(trace)}")

    return check


def max_calls(params: Parameters) -> TraceCheck:
    """Passes up to `limit` calls: of the tools of `tool` together, or of all tools."""
    limit = whole_limit(params)
    tools = None if params.get("tool") is None else text_list(params, "tool")
    what = "calls" if tools is None else f"calls of {listed(tools)}"

    def check(trace: Trace) -> Finding:
        count = sum(1 for call in trace.calls if tools is None or call.tool in tools)
        return Finding(count <= limit, f"{count} {what}, the limit is {limit}")

    return check


def numbered_calls(trace: Trace) -> Iterator[tuple[int, ToolStep]]:
    """Yield the calls with the numbers of their steps, counted from 1 over all steps as the prompt shows them."""
    for number, step in enumerate(trace.steps, 1):
        if isinstance(step, ToolStep):
            yield number, step


def _steps_of(trace: Trace, tool: str) -> list[int]:
    return [number for number, call in numbered_calls(trace) if call.tool == tool]


def _steps(numbers: list[int]) -> str:
    more = f" and {len(numbers) - 1} more" if len(numbers) > 1 else ""
    return f"step {numbers[0]}{more}"


def _called(trace: Trace) -> str:
    names = [call.tool for call in trace.calls]
    return f"the calls are {listed(names)}" if names else "no tool was called"
