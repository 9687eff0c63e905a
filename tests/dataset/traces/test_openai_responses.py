"""Responses: pages, hosted tools, and what a Response does not hold."""

from __future__ import annotations

import pytest

from tests.fakes.trace_dicts import one_trace, plain_step

ASKED = {"role": "user", "content": [{"type": "input_text", "text": "Read T1."}]}
CALL = {"type": "function_call", "id": "f1", "call_id": "c1", "name": "read", "arguments": "{}"}
OUTPUT = {"type": "function_call_output", "call_id": "c1", "output": "6.9"}
ANSWER = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "6.9"}]}


def response(**fields):
    return {"object": "response", "id": "r1", "status": "completed", "output": [], **fields}


@pytest.mark.parametrize("items", [[ASKED, CALL, OUTPUT, ANSWER], [ANSWER, OUTPUT, CALL, ASKED]])
def test_a_page_is_read_oldest_first_whatever_its_order(items):
    trace = one_trace({"object": "list", "data": items, "has_more": False})
    assert (trace.request, trace.final_answer, trace.calls[0].result) == ("Read T1.", "6.9", "6.9")
    assert trace.warnings == ()


def test_a_page_without_calls_is_newest_first():
    first = {"type": "message", "role": "user", "content": "A"}
    trace = one_trace({"object": "list", "data": [ANSWER, first]})
    assert (trace.request, trace.final_answer) == ("A", "6.9")


def test_unknown_items_are_skipped_with_a_note():
    trace = one_trace([ASKED, {"type": "item_reference", "id": "x"}, CALL, OUTPUT, ANSWER])
    assert trace.warnings == ("unknown_item",)
    assert len(trace.steps) == 1


def test_empty_reasoning_is_no_step_and_reasoning_text_is_one():
    silent = {"type": "reasoning", "summary": []}
    open_text = {"type": "reasoning", "summary": [], "content": [{"type": "reasoning_text", "text": "Think."}]}
    trace = one_trace([ASKED, silent, open_text, CALL, OUTPUT, ANSWER])
    assert [step.kind for step in trace.steps] == ["thought", "tool"]


def test_history_elsewhere_is_said():
    trace = one_trace(response(previous_response_id="r0", instructions="Be brief.", output=[ANSWER]))
    assert trace.request is None
    assert trace.warnings == ("history_elsewhere", "no_request", "tokens_missing")


def test_an_incomplete_response_names_its_reason():
    trace = one_trace(
        response(status="incomplete", incomplete_details={"reason": "max_output_tokens"}, output=[ANSWER])
    )
    assert trace.error == "max_output_tokens"
    assert "unfinished" in trace.warnings


def test_a_failed_response_names_its_code():
    assert one_trace(response(status="failed", error={"code": "server_error", "message": "x"})).error == "server_error"


@pytest.mark.parametrize(
    ("item", "expected"),
    [
        (
            {
                "type": "mcp_call",
                "id": "m1",
                "name": "rate",
                "arguments": "{}",
                "output": None,
                "error": {"message": "no"},
            },
            {"tool": "rate", "args": {}, "result": {"message": "no"}, "error": True},
        ),
        (
            {
                "type": "file_search_call",
                "id": "s1",
                "status": "completed",
                "queries": ["q"],
                "results": [{"text": "t"}],
            },
            {"tool": "file_search", "args": {"queries": ["q"]}, "result": [{"text": "t"}], "error": False},
        ),
        (
            {"type": "code_interpreter_call", "id": "k1", "status": "failed", "code": "1/0", "outputs": None},
            {"tool": "code_interpreter", "args": {"code": "1/0"}, "result": None, "error": True},
        ),
        (
            {"type": "image_generation_call", "id": "i1", "status": "completed", "result": "AAAA"},
            {"tool": "image_generation", "args": None, "result": "[image image/png 3 bytes]", "error": False},
        ),
    ],
)
def test_hosted_calls_carry_their_results(item, expected):
    (step,) = one_trace(response(output=[item])).steps
    found = plain_step(step)
    assert found == {**found, **expected, "hosted": True}
    assert "missing_result" not in found


def test_custom_tools_take_free_text_and_outputs_may_hold_images():
    call = {"type": "custom_tool_call", "call_id": "c1", "name": "sql", "input": "select 1"}
    parts = [{"type": "input_text", "text": "1"}, {"type": "input_image", "image_url": "data:image/png;base64,AAAA"}]
    trace = one_trace([ASKED, call, {"type": "custom_tool_call_output", "call_id": "c1", "output": parts}])
    assert trace.calls[0].args == {"input": "select 1"}
    assert trace.calls[0].result == "1\n[image image/png 3 bytes]"


def test_a_call_pairs_by_call_id_and_not_by_id():
    wrong = {"type": "function_call_output", "call_id": "f1", "output": "x"}
    trace = one_trace([ASKED, CALL, wrong])
    assert trace.calls[0].missing_result
    assert "orphan_result" in trace.warnings


def test_a_refusal_is_an_answer():
    refusal = {"type": "message", "role": "assistant", "content": [{"type": "refusal", "refusal": "No."}]}
    trace = one_trace(response(output=[refusal], usage={"input_tokens": 1, "output_tokens": 1}))
    assert (trace.final_answer, trace.warnings) == ("No.", ("no_request", "refusal"))
