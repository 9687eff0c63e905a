"""promptfoo: errors that are none, cached rows, and the places where calls are kept."""

from __future__ import annotations

import pytest

from tests.fakes.trace_dicts import one_trace

CALL = {"id": "u1", "type": "function", "function": {"name": "t", "arguments": '{"n": 1}'}}


def row(output="Done.", **fields):
    response = {"output": output, "tokenUsage": {"prompt": 5, "completion": 1}, **fields.pop("response", {})}
    base = {
        "promptIdx": 2,
        "testIdx": 1,
        "evalId": "e",
        "prompt": {"raw": "Do it."},
        "provider": {"id": "openai:chat:gpt-5"},
    }
    return {**base, "response": response, "latencyMs": 1500, "cost": 0.5, **fields}


def test_a_row_by_itself_is_read():
    trace = one_trace(row())
    assert (trace.id, trace.request, trace.final_answer, trace.model) == ("e#1-2", "Do it.", "Done.", "gpt-5")
    assert (trace.latency_s, trace.cost_usd, trace.tokens_in, trace.tokens_out) == (1.5, 0.5, 5, 1)


@pytest.mark.parametrize(
    ("fields", "error"),
    [
        ({"failureReason": 1, "error": "Expected x"}, None),
        ({"failureReason": 2, "error": "API error"}, "API error"),
        ({"failureReason": 0, "error": None}, None),
        ({"failureReason": 1, "error": "Expected x", "response": {"error": "429"}}, "429"),
        ({"error": "No key"}, "No key"),
        ({"error": "Expected x", "gradingResult": {"reason": "Expected x"}}, None),
    ],
)
def test_a_failed_assertion_is_no_error_of_the_run(fields, error):
    assert one_trace(row(**fields)).error == error


@pytest.mark.parametrize("usage", [{"total": 6, "cached": 6}, {"total": 6, "prompt": 0, "completion": 0}])
def test_a_cached_row_knows_only_a_total(usage):
    trace = one_trace(row(response={"cached": True, "tokenUsage": usage}))
    assert (trace.tokens_in, trace.tokens_out) == (None, None)
    assert trace.warnings == ("tokens_missing",)


@pytest.mark.parametrize("output", [[CALL], {"role": "assistant", "content": "I do.", "tool_calls": [CALL]}])
def test_calls_may_be_the_output_itself(output):
    trace = one_trace(row(output))
    assert [(call.tool, call.args, call.missing_result) for call in trace.calls] == [("t", {"n": 1}, True)]
    assert trace.final_answer is None


def test_an_object_as_output_is_shown_as_json():
    assert one_trace(row({"b": 1, "a": 2})).final_answer == '{"a":2,"b":1}'


def test_a_prompt_may_be_a_chat():
    raw = '[{"role": "system", "content": "s"}, {"role": "user", "content": "Do it."}]'
    assert one_trace(row(prompt={"raw": raw})).request == "Do it."


def test_calls_in_the_metadata_are_steps():
    calls = [
        {"id": "u1", "name": "t", "input": {"n": 1}, "output": "no", "is_error": True},
        {"name": "u", "input": "{"},
    ]
    first, second = one_trace(row(response={"metadata": {"toolCalls": calls}})).calls
    assert (first.args, first.result, first.error) == ({"n": 1}, "no", True)
    assert (second.args_raw, second.error, second.missing_result) == ("{", None, True)


def test_spans_beat_the_metadata_and_failed_ones_are_marked():
    spans = [
        {
            "spanId": "a",
            "name": "x",
            "startTime": 1000,
            "endTime": 2000,
            "statusCode": 2,
            "attributes": {"tool.name": "t", "tool.arguments": '{"n": 1}'},
        },
    ]
    whole = {
        "evalId": "e",
        "results": {"results": [row(response={"metadata": {"toolCalls": [{"name": "other"}]}})]},
        "traces": [{"testCaseId": "9-9", "spans": []}, {"testCaseId": "1-2", "spans": spans}],
    }
    (call,) = one_trace(whole).calls
    assert (call.tool, call.args, call.error, call.missing_result) == ("t", {"n": 1}, True, False)


@pytest.mark.parametrize(
    ("provider", "model"),
    [
        ("openai:gpt-5", "gpt-5"),
        ("anthropic:messages:claude", "claude"),
        ("file://agent.py", "file://agent.py"),
        ("echo", "echo"),
    ],
)
def test_the_model_is_the_end_of_the_providers_name(provider, model):
    assert one_trace(row(provider=provider)).model == model
