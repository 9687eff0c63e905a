"""Langfuse: values encoded again and again, plain spans that are tools, exports without content."""

from __future__ import annotations

import json

import pytest

from tests.fakes.trace_dicts import all_traces, one_trace


def observation(number, kind, parent=None, **fields):
    base = {
        "id": f"o{number}",
        "traceId": "t",
        "type": kind,
        "name": "x",
        "parentObservationId": parent and f"o{parent}",
    }
    return {
        **base,
        "startTime": f"2026-01-01T00:00:0{number}Z",
        "endTime": f"2026-01-01T00:00:0{number}.500Z",
        **fields,
    }


def export(*observations, **trace):
    return {"trace": {"id": "t", **trace}, "observations": list(observations)}


MESSAGES = {"messages": [{"role": "user", "content": "How many?"}]}


@pytest.mark.parametrize("times", [0, 1, 2, 3])
def test_values_are_decoded_as_often_as_they_were_encoded(times):
    value = MESSAGES
    for _ in range(times):
        value = json.dumps(value)
    assert one_trace(export(observation(1, "AGENT"), input=value)).request == "How many?"


def test_a_plain_span_is_a_tool_where_a_model_called_it():
    calls = [{"id": "c1", "type": "function", "function": {"name": "count", "arguments": '{"n": 1}'}}]
    model = observation(1, "GENERATION", output={"role": "assistant", "content": None, "tool_calls": calls})
    spans = [
        observation(2, "SPAN", name="count", input={"n": 1}, output="7"),
        observation(3, "SPAN", name="glue", input="x"),
    ]
    trace = one_trace(export(model, *spans))
    assert [(call.call_id, call.result) for call in trace.calls] == [("c1", "7")]


def test_a_plain_span_with_a_call_id_is_a_tool():
    span = observation(
        1, "SPAN", name="count", input={"n": 1}, output="7", metadata={"attributes": {"ai.toolCall.id": "e1"}}
    )
    assert [call.call_id for call in one_trace(export(span)).calls] == ["e1"]


def test_events_are_no_steps_and_evaluators_are_left_out():
    model = {"usageDetails": {"input": 10, "output": 2}, "costDetails": {"total": 0.1}}
    judge = [observation(3, "EVALUATOR", 1), observation(4, "GENERATION", 3, **model), observation(5, "EVENT", 1)]
    trace = one_trace(export(observation(1, "AGENT"), observation(2, "GENERATION", 1, **model), *judge))
    assert (trace.tokens_in, trace.tokens_out, trace.cost_usd) == (10, 2, 0.1)
    assert trace.steps == ()


def test_counts_of_cached_tokens_belong_to_the_input():
    usage = {"input": 10, "input_cached_tokens": 5, "output": 2, "output_reasoning_tokens": 1, "total": 18}
    trace = one_trace(export(observation(1, "GENERATION", usageDetails=usage)))
    assert (trace.tokens_in, trace.tokens_out) == (15, 3)


def test_a_failed_tool_is_marked_and_a_failed_run_has_its_message():
    failed = {"level": "ERROR", "statusMessage": "offline"}
    trace = one_trace(export(observation(1, "AGENT", **failed), observation(2, "TOOL", 1, name="t", **failed)))
    assert trace.error == "offline"
    assert (trace.calls[0].error, trace.calls[0].missing_result) == (True, False)


def test_an_export_without_content_still_shows_the_calls():
    trace = one_trace(export(observation(1, "AGENT"), observation(2, "TOOL", 1, name="t")))
    assert [(call.tool, call.args) for call in trace.calls] == [("t", None)]
    assert "no_request" in trace.warnings


def test_observations_alone_are_grouped_by_their_trace():
    first = observation(1, "AGENT", input="A?", output="A")
    second = observation(2, "AGENT", input="B?", output="B", traceId="u")
    found = all_traces({"observations": [first, second], "scores": [{"value": 1}]})
    assert [(trace.id, trace.request, trace.final_answer) for trace in found] == [("t", "A?", "A"), ("u", "B?", "B")]


def test_messages_of_the_ai_sdk_are_read():
    calls = [{"type": "tool-call", "toolCallId": "e1", "toolName": "t", "input": {"n": 1}}]
    results = [{"type": "tool-result", "toolCallId": "e1", "toolName": "t", "output": {"type": "text", "value": "7"}}]
    history = [
        {"role": "user", "content": [{"type": "text", "text": "Go."}]},
        {"role": "assistant", "content": calls},
        {"role": "tool", "content": results},
    ]
    trace = one_trace(export(observation(1, "GENERATION", input={"messages": history}, output="Seven.")))
    assert [(call.call_id, call.args, call.result) for call in trace.calls] == [("e1", {"n": 1}, "7")]
    assert (trace.request, trace.final_answer) == ("Go.", "Seven.")


def test_the_latency_is_worked_out_and_not_believed():
    assert (
        one_trace(export(observation(1, "AGENT", latency=9999), observation(3, "TOOL", 1), latency=7777)).latency_s
        == 2.5
    )
