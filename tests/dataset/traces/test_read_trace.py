"""A value inside a row: a trace, or something that stays what it was."""

from __future__ import annotations

import json

import pytest

from agentanvil.dataset.traces import TraceError, read_trace

ASKED = {"role": "user", "content": "Hi"}
ANSWER = {"role": "assistant", "content": "Ho"}
CALL = {
    "role": "assistant",
    "tool_calls": [{"id": "c", "type": "function", "function": {"name": "t", "arguments": "{}"}}],
}


@pytest.mark.parametrize(
    "value",
    [
        None,
        True,
        7,
        "text",
        "",
        [],
        {},
        [1],
        ["a"],
        [[]],
        {"a": 1},
        [ASKED, ANSWER],
        {"messages": [ASKED, ANSWER]},
        ANSWER,
        [ASKED, ANSWER, ASKED, ANSWER],
        {"observations": ["the pulse was high"]},
        {"id": 1, "status": {"state": "open"}},
        {"simulations": [1, 2]},
        {"object": "list", "data": [{"id": 1}]},
        {"version": 1, "eval": "x", "status": "y"},
        {"results": [], "evaluation": 1},
        {"type": "message", "content": []},
        {"resourceSpans": []},
        {"traj": []},
        {"choices": ["a", "b"]},
    ],
)
def test_data_and_plain_chats_are_no_traces(value):
    assert read_trace(value) is None


@pytest.mark.parametrize(
    "value",
    [
        [ASKED, CALL],
        {"messages": [ASKED, CALL]},
        CALL,
        [ASKED, {"role": "tool", "tool_call_id": "c", "content": "7"}],
        [ASKED, {"role": "assistant", "content": [{"type": "tool_use", "id": "t", "name": "t", "input": {}}]}],
        [ASKED, {"type": "function_call", "call_id": "c", "name": "t", "arguments": "{}"}],
        [
            ASKED,
            {"role": "assistant", "content": [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "Ho"}]},
        ],
        {"object": "chat.completion", "choices": [{"message": ANSWER}]},
        {"object": "response", "output": []},
    ],
)
def test_calls_and_marks_of_a_format_make_a_trace(value):
    assert read_trace(value) is not None


def test_several_traces_in_one_value_are_refused():
    with pytest.raises(TraceError) as raised:
        read_trace([{"task_id": 1, "traj": [ASKED]}, {"task_id": 2, "traj": [ASKED]}])
    assert raised.value.code == "several_traces"


def test_the_value_is_left_as_it_was():
    value = [ASKED, CALL, {"role": "tool", "tool_call_id": "c", "content": "7"}]
    before = json.dumps(value)
    read_trace(value)
    assert json.dumps(value) == before
