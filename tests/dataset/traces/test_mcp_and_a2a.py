"""MCP logs and A2A tasks."""

from __future__ import annotations

import pytest

from agentanvil.dataset.traces import read_trace
from tests.fakes.trace_dicts import one_trace


def call(number, name="t", **params):
    return {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": {"name": name, **params}}


def result(number, **fields):
    return {"jsonrpc": "2.0", "id": number, "result": fields}


def text(words):
    return {"content": [{"type": "text", "text": words}]}


def test_batches_inside_a_log_are_opened():
    trace = one_trace([[call(1), call(2)], [result(2, **text("b")), result(1, **text("a"))]])
    assert [(step.call_id, step.result) for step in trace.calls] == [("1", "a"), ("2", "b")]


def test_an_id_used_again_is_another_call():
    trace = one_trace([call(1), result(1, **text("a")), call(1), result(1, **text("b"))])
    assert [step.result for step in trace.calls] == ["a", "b"]


def test_an_answer_to_the_servers_own_question_is_no_result():
    asked = {"jsonrpc": "2.0", "id": 1, "method": "sampling/createMessage", "params": {}}
    trace = one_trace(
        [call(1), asked, result(1, role="assistant", content={"type": "text", "text": "x"}), result(1, **text("a"))]
    )
    assert [step.result for step in trace.calls] == ["a"]


@pytest.mark.parametrize(
    ("part", "shown"),
    [
        ({"type": "resource", "resource": {"uri": "u", "text": "inside"}}, "inside"),
        ({"type": "resource", "resource": {"uri": "u", "mimeType": "a/b", "blob": "AAAA"}}, "[resource a/b 3 bytes]"),
        ({"type": "audio", "data": "AAAA", "mimeType": "audio/wav"}, "[audio audio/wav 3 bytes]"),
    ],
)
def test_parts_of_a_result_are_shown(part, shown):
    assert one_trace([call(1), result(1, content=[part])]).calls[0].result == shown


def test_a_call_without_arguments_has_none_and_a_stray_result_is_named():
    trace = one_trace([call(1), result(1, content=[]), result(9, **text("late"))])
    assert (trace.calls[0].args, trace.calls[0].result) == ({}, "")
    assert trace.warnings == ("no_request", "orphan_result")


def message(number, role, *parts):
    return {"messageId": f"m{number}", "role": role, "parts": list(parts)}


ASKED = message(1, "user", {"kind": "text", "text": "Draft it."})
OLD = {"kind": "task", "id": "t", "contextId": "c", "status": {"state": "completed"}, "history": [ASKED]}


def test_the_old_version_is_read_alone_and_as_an_answer():
    file = {"kind": "file", "file": {"bytes": "AAAA", "mimeType": "image/png", "name": "a.png"}}
    task = {**OLD, "artifacts": [{"artifactId": "a", "parts": [{"kind": "text", "text": "Here."}, file]}]}
    alone, carried = one_trace(task), one_trace({"jsonrpc": "2.0", "id": 1, "result": task})
    assert alone == carried
    assert (alone.request, alone.final_answer) == ("Draft it.", "Here.\n[image image/png 3 bytes]")


def test_a_task_without_artifacts_answers_by_its_last_message():
    status = {"state": "TASK_STATE_COMPLETED", "message": message(2, "ROLE_AGENT", {"text": "Done."})}
    trace = one_trace({"id": "t", "contextId": "c", "status": status, "history": [ASKED]})
    assert (trace.final_answer, trace.error) == ("Done.", None)


@pytest.mark.parametrize(
    ("state", "error", "warning"),
    [
        ("TASK_STATE_FAILED", "failed", "unfinished"),
        ("input-required", None, "input_required"),
        ("TASK_STATE_WORKING", None, "unfinished"),
    ],
)
def test_other_states_are_told(state, error, warning):
    trace = one_trace({**OLD, "status": {"state": state}})
    assert trace.error == error
    assert warning in trace.warnings


def test_the_updates_of_a_stream_make_one_task():
    def update(kind, **fields):
        return {"jsonrpc": "2.0", "id": 1, "result": {"kind": kind, "taskId": "t", "contextId": "c", **fields}}

    artifact = {"artifactId": "a", "parts": [{"kind": "text", "text": "one"}]}
    more = {"artifactId": "a", "parts": [{"kind": "text", "text": "two"}]}
    stream = [
        {"jsonrpc": "2.0", "id": 1, "result": {**OLD, "status": {"state": "submitted"}}},
        update("artifact-update", artifact=artifact),
        update("artifact-update", artifact=more, append=True),
        update("status-update", status={"state": "completed"}),
    ]
    trace = one_trace(stream)
    assert (trace.id, trace.request, trace.final_answer, trace.warnings) == ("t", "Draft it.", "one\ntwo", ())


def test_data_that_only_looks_like_a_task_is_none():
    assert read_trace({"id": 1, "status": {"state": "Texas"}}) is None
