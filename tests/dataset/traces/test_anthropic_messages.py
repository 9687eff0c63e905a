"""Messages: blocks, tools that the provider runs, and reasons to stop."""

from __future__ import annotations

import pytest

from tests.fakes.trace_dicts import all_traces, one_trace

ASKED = {"role": "user", "content": "Which permit?"}
USE = {"type": "tool_use", "id": "t1", "name": "get", "input": {"id": 1}}


def message(*blocks, **fields):
    return {"type": "message", "id": "m1", "role": "assistant", "model": "m", "content": list(blocks), **fields}


def body(*messages):
    return {"system": "s", "messages": list(messages)}


def test_a_result_without_content_is_empty_and_no_failure():
    trace = one_trace(
        body(
            ASKED,
            {"role": "assistant", "content": [USE]},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1"}]},
        )
    )
    assert (trace.calls[0].result, trace.calls[0].error, trace.calls[0].missing_result) == ("", False, False)


def test_user_text_after_results_in_one_message_is_a_turn():
    results = [
        {"type": "tool_result", "tool_use_id": "t1", "content": "no", "is_error": True},
        {"type": "text", "text": "Go on."},
    ]
    trace = one_trace(body(ASKED, {"role": "assistant", "content": [USE]}, {"role": "user", "content": results}))
    assert [step.kind for step in trace.steps] == ["tool", "user"]
    assert trace.calls[0].error is True


@pytest.mark.parametrize("reason", ["max_tokens", "pause_turn"])
def test_a_message_that_stops_early_is_unfinished(reason):
    trace = one_trace(message({"type": "text", "text": "So far"}, stop_reason=reason, usage={"input_tokens": 1}))
    assert trace.final_answer == "So far"
    assert trace.warnings == ("no_request", "unfinished")


def test_a_refusal_is_named():
    assert "refusal" in one_trace(message({"type": "text", "text": "No."}, stop_reason="refusal")).warnings


def test_a_hosted_call_takes_its_result_from_the_same_message():
    blocks = [
        {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {"query": "q"}},
        {"type": "web_search_tool_result", "tool_use_id": "s1", "content": [{"type": "web_search_result", "url": "u"}]},
        {"type": "text", "text": "Found."},
    ]
    trace = one_trace(message(*blocks, stop_reason="end_turn"))
    (call,) = trace.calls
    assert (call.hosted, call.error, call.result) == (True, False, [{"type": "web_search_result", "url": "u"}])
    assert (trace.plan, trace.final_answer) == (None, "Found.")


@pytest.mark.parametrize(
    ("source", "shown"),
    [
        ({"type": "base64", "media_type": "image/png", "data": "AAAA"}, "[image image/png 3 bytes]"),
        ({"type": "url", "url": "https://example.org/a"}, "[image https://example.org/a]"),
        ({"type": "file", "file_id": "f1"}, "[image f1]"),
    ],
)
def test_images_are_named(source, shown):
    trace = one_trace(body({"role": "user", "content": [{"type": "image", "source": source}]}))
    assert trace.request == shown


def test_lines_of_a_message_batch_are_read():
    good = {"custom_id": "a", "result": {"type": "succeeded", "message": message({"type": "text", "text": "Yes."})}}
    bad = {
        "custom_id": "b",
        "result": {"type": "errored", "error": {"type": "error", "error": {"type": "overloaded_error"}}},
    }
    late = {"custom_id": "c", "result": {"type": "expired"}}
    found = [(trace.id, trace.final_answer, trace.error) for trace in all_traces([good, bad, late])]
    assert found == [("a", "Yes.", None), ("b", None, "overloaded_error"), ("c", None, "expired")]


@pytest.mark.parametrize(
    "fields", [{"system": "s", "messages": [ASKED]}, {"messages": [ASKED, {"role": "assistant", "content": [USE]}]}]
)
def test_a_body_is_told_by_its_system_prompt_or_by_its_blocks(fields):
    trace = one_trace(fields)
    assert trace.request == "Which permit?"
    assert [call.call_id for call in trace.calls] == ["t1"] * (len(fields["messages"]) - 1)
