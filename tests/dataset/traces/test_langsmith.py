"""LangSmith: records of one run, times, pauses, and other providers' bodies."""

from __future__ import annotations

import pytest

from tests.fakes.trace_dicts import all_traces, one_trace

HUMAN = {"type": "human", "content": "How many?"}


def ai(text="", *calls):
    return {
        "type": "ai",
        "content": text,
        "tool_calls": [{"name": name, "args": args, "id": call} for name, args, call in calls],
    }


def run(number, kind, parent=None, **fields):
    order = f"{parent or ''}.{number}".lstrip(".")
    base = {"id": f"r{number}", "trace_id": "t", "run_type": kind, "name": "x", "dotted_order": order, "error": None}
    return {**base, "parent_run_id": None if parent is None else f"r{parent}", **fields}


def root(*messages, **fields):
    return run(1, "chain", inputs={"messages": [HUMAN]}, outputs={"messages": [HUMAN, *messages]}, **fields)


def test_the_root_alone_tells_the_whole_run():
    answer = {"type": "tool", "content": "7", "tool_call_id": "c1", "status": "success"}
    trace = one_trace([root(ai("I count.", ("count", {"n": 1}, "c1")), answer, ai("Seven."))])
    assert (trace.request, trace.plan, trace.final_answer) == ("How many?", "I count.", "Seven.")
    assert [(call.call_id, call.result, call.error) for call in trace.calls] == [("c1", "7", False)]


@pytest.mark.parametrize(
    ("start", "end"),
    [
        ("2026-01-01 00:00:00.000000", "2026-01-01T00:00:02.500000Z"),
        (1767225600000, 1767225602500),
        ("2026-01-01T00:00:00+00:00", "2026-01-01T01:00:02.5+01:00"),
    ],
)
def test_times_come_in_many_spellings(start, end):
    assert one_trace([root(start_time=start, end_time=end)]).latency_s == 2.5


def test_two_records_of_one_run_are_one_run():
    created = root(start_time="2026-01-01T00:00:00Z", end_time=None) | {"outputs": None}
    updated = {
        "id": "r1",
        "trace_id": "t",
        "run_type": "chain",
        "outputs": {"messages": [ai("Seven.")]},
        "end_time": "2026-01-01T00:00:01Z",
    }
    trace = one_trace([created, updated])
    assert (trace.request, trace.final_answer, trace.latency_s) == ("How many?", "Seven.", 1.0)


def test_runs_are_ordered_by_dotted_order_and_not_by_place():
    tools = [
        run(number, "tool", 1, name=f"t{number}", inputs={"input": "{'n': 1}"}, outputs={"output": "7"})
        for number in (4, 2, 3)
    ]
    trace = one_trace([*tools, root(ai("Seven."))])
    assert [call.tool for call in trace.calls] == ["t2", "t3", "t4"]
    assert trace.calls[0].args == {"n": 1}


def test_a_pause_is_no_failure():
    trace = one_trace([root() | {"error": "GraphInterrupt((...))", "outputs": None}])
    assert trace.error is None
    assert "interrupted" in trace.warnings


def test_an_error_comes_without_its_traceback():
    error = "ValueError('no')Traceback (most recent call last):\n  File ..."
    assert one_trace([root(error=error)]).error == "ValueError('no')"


def test_costs_are_decimal_texts_and_the_root_is_not_counted_twice():
    llm = [run(number, "llm", 1, prompt_tokens=10, completion_tokens=1, total_cost="0.1") for number in (2, 3, 4)]
    trace = one_trace([root(prompt_tokens=30, completion_tokens=3, total_cost="0.3"), *llm])
    assert (trace.tokens_in, trace.tokens_out, trace.cost_usd) == (30, 3, 0.3)


def test_io_that_is_elsewhere_is_said():
    assert "io_elsewhere" in one_trace([run(1, "chain", inputs_s3_urls={"ROOT": "x"})]).warnings


def test_an_export_names_runs_by_run_id_and_has_no_times():
    plain = {
        "run_id": "r1",
        "run_type": "chain",
        "inputs": {"messages": [HUMAN]},
        "outputs": {"messages": [ai("Seven.")]},
    }
    trace = one_trace([plain])
    assert (trace.id, trace.final_answer, trace.latency_s) == ("r1", "Seven.", None)


def test_a_wrapped_client_keeps_the_providers_bodies():
    call = {"id": "c1", "type": "function", "function": {"name": "count", "arguments": "{}"}}
    body = {
        "choices": [{"message": {"role": "assistant", "content": None, "tool_calls": [call]}}],
        "model": "m",
        "usage": {"prompt_tokens": 9},
    }
    llm = run(1, "llm", inputs={"messages": [{"role": "user", "content": "How many?"}], "model": "m0"}, outputs=body)
    trace = one_trace([llm])
    assert (trace.request, trace.model, trace.tokens_in) == ("How many?", "m", 9)
    assert trace.calls[0].call_id == "c1"


def test_reasoning_blocks_are_thoughts():
    blocks = [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "Seven."}]
    trace = one_trace([root({"type": "ai", "content": blocks})])
    assert [(step.kind, step.text) for step in trace.steps] == [("thought", "hm")]
    assert trace.final_answer == "Seven."


def test_each_trace_of_a_list_is_one_trace():
    other = root(ai("B")) | {"trace_id": "u", "id": "q1"}
    assert [(trace.id, trace.final_answer) for trace in all_traces([root(ai("A")), other])] == [("t", "A"), ("u", "B")]


def test_children_are_found_however_deep_they_nest():
    child = run(3, "tool", 2, name="deep", inputs={"input": "{}"}, outputs={"output": "7"})
    trace = one_trace(root(ai("Seven."), child_runs=[run(2, "chain", 1, child_runs=[child])]))
    assert [call.tool for call in trace.calls] == ["deep"]


@pytest.mark.parametrize(
    ("fields", "model"),
    [
        ({"outputs": {"llm_output": {"model_name": "a"}, "generations": []}}, "a"),
        ({"extra": {"metadata": {"ls_model_name": "b"}}, "outputs": {}}, "b"),
        ({"outputs": {"generations": [[{"message": {"kwargs": {"response_metadata": {"model_name": "c"}}}}]]}}, "c"),
    ],
)
def test_the_model_has_many_places(fields, model):
    assert one_trace([run(1, "llm", inputs={}, **fields)]).model == model
