"""Inspect logs: texts kept apart, older layouts, graders, nested agents, and archives."""

from __future__ import annotations

import io
import json
import sys
import zipfile
from pathlib import Path

import pytest

from agentanvil.dataset.traces import TraceError, is_trace_file, iter_traces, read_trace
from tests.fakes.trace_dicts import one_trace

USER = {"role": "user", "content": "How many?"}


def assistant(text="", *calls):
    made = [{"id": call, "function": name, "arguments": {"n": 1}} for call, name in calls]
    return {"role": "assistant", "content": text, "tool_calls": made}


def answered(call="c1", content="7", **more):
    return {"role": "tool", "tool_call_id": call, "content": content, **more}


def sample(*messages, **fields):
    return {"id": "s", "epoch": 1, "messages": list(messages), "output": {"model": "m"}, "model_usage": {}, **fields}


def log(*samples):
    return {
        "version": 2,
        "status": "success",
        "eval": {"model": "m0"},
        "plan": {"steps": [1]},
        "samples": list(samples),
    }


def read(*messages, **fields):
    return one_trace(log(sample(*messages, **fields)))


@pytest.mark.parametrize("scheme", ["attachment", "tc"])
def test_texts_kept_apart_are_put_back(scheme):
    trace = read({**USER, "content": f"{scheme}://h1"}, attachments={"h1": "How many?"})
    assert trace.request == "How many?"


def test_a_failed_tool_is_marked_by_its_message_or_its_event():
    messages = [
        USER,
        assistant("", ("c1", "a"), ("c2", "b")),
        answered("c1", error={"type": "timeout"}),
        answered("c2"),
    ]
    events = [{"event": "tool", "id": "c2", "function": "b", "error": {"type": "timeout"}}]
    assert [call.error for call in read(*messages, events=events).calls] == [True, True]


def test_cached_tokens_are_added_and_the_graders_are_taken_off():
    usage = {
        "input_tokens": 100,
        "output_tokens": 20,
        "input_tokens_cache_read": 30,
        "input_tokens_cache_write": 5,
        "total_cost": 0.3,
    }
    grader = {"input_tokens": 40, "output_tokens": 5, "total_cost": 0.1}
    trace = read(USER, model_usage={"m": usage}, role_usage={"grader": grader})
    assert (trace.tokens_in, trace.tokens_out, trace.cost_usd) == (95, 15, 0.2)


def test_without_usage_by_role_the_scorers_events_tell():
    begin = {"event": "span_begin", "id": "s2", "type": "scorer", "name": "g"}
    graded = {"event": "model", "span_id": "s2", "output": {"usage": {"input_tokens": 40, "output_tokens": 5}}}
    trace = read(USER, events=[begin, graded], model_usage={"m": {"input_tokens": 100, "output_tokens": 20}})
    assert (trace.tokens_in, trace.tokens_out) == (60, 15)


@pytest.mark.parametrize("place", ["events", "transcript"])
@pytest.mark.parametrize("pool", ["events_data", "message_pool"])
def test_a_log_without_messages_is_told_by_its_events(place, pool):
    pooled = [
        {"role": "system", "content": "s"},
        USER,
        assistant("I count.", ("c1", "count")),
        answered(),
        {"role": "user", "content": "no"},
    ]
    model = {
        "event": "model",
        "input_refs": [[0, 2], [2, 4]],
        "output": {"choices": [{"message": assistant("Seven.")}]},
    }
    grader = {**model, "role": "grader", "output": {"choices": [{"message": assistant("GRADE: C")}]}}
    events = [model, grader]
    fields = {"events": events} if place == "events" else {"transcript": {"events": events}}
    kept = {"events_data": {"messages": pooled}} if pool == "events_data" else {"message_pool": pooled}
    trace = read(**fields, **kept)
    assert (trace.request, trace.plan, trace.final_answer, len(trace.calls)) == ("How many?", "I count.", "Seven.", 1)


def test_a_nested_agents_calls_follow_the_call_it_works_for():
    events = [
        {"event": "span_begin", "id": "s1", "parent_id": None, "type": "agent", "name": "main"},
        {"event": "tool", "span_id": "s1", "id": "c1", "function": "ask", "result": "7"},
        {"event": "span_begin", "id": "s2", "parent_id": "s1", "type": "tool", "name": "ask"},
        {"event": "span_begin", "id": "s3", "parent_id": "s2", "type": "agent", "name": "helper"},
        {"event": "tool", "span_id": "s3", "id": "n1", "function": "count", "arguments": {"n": 2}, "result": "7"},
    ]
    trace = read(
        USER, assistant("", ("c1", "ask")), answered(), assistant("", ("c2", "put")), answered("c2"), events=events
    )
    assert [(call.call_id, call.agent) for call in trace.calls] == [("c1", None), ("n1", "helper"), ("c2", None)]
    assert "nested_agent" in trace.warnings


def test_reasoning_is_a_thought_and_hosted_tools_are_calls():
    parts = [
        {"type": "reasoning", "reasoning": "hm"},
        {
            "type": "tool_use",
            "tool_type": "web_search",
            "id": "w1",
            "name": "web_search",
            "arguments": '{"q": 1}',
            "result": "r",
        },
        {"type": "text", "text": "Seven."},
    ]
    trace = read(USER, {"role": "assistant", "content": parts})
    assert [step.kind for step in trace.steps] == ["thought", "tool"]
    assert (trace.calls[0].hosted, trace.final_answer) == (True, "Seven.")


@pytest.mark.parametrize(
    ("fields", "error"),
    [
        ({"limit": {"type": "token"}}, "limit:token"),
        ({"error": {"message": "lost"}, "limit": {"type": "token"}}, "lost"),
    ],
)
def test_what_ended_a_sample_is_its_error(fields, error):
    assert read(USER, **fields).error == error


def archive(path, members, method=zipfile.ZIP_DEFLATED):
    with zipfile.ZipFile(path, "w", method) as made:
        for name, value in members.items():
            made.writestr(name, value if isinstance(value, str | bytes) else json.dumps(value))
    return path


ONE = {"samples/s_epoch_1.json": sample(USER, assistant("Seven."))}
HEADER = {"header.json": {"version": 2, "eval": {"model": "m0"}}}


def test_an_interrupted_archive_has_no_header_but_its_samples(tmp_path):
    path = archive(tmp_path / "a.eval", {"_journal/start.json": {"eval": {"model": "m0"}}, **ONE})
    assert is_trace_file(path)
    (record,) = iter_traces(path)
    assert record.trace.final_answer == "Seven."


def test_a_broken_member_is_named_and_the_others_are_read(tmp_path):
    path = archive(
        tmp_path / "a.eval", {**HEADER, "samples/b_epoch_1.json": "{", "samples/nan_epoch_1.json": '{"id": NaN}', **ONE}
    )
    broken, nan, good = iter_traces(path)
    assert broken.fault.code == "not_json"
    assert "samples/b_epoch_1.json" in broken.fault.message
    assert nan.trace.id == "NaN"
    assert good.trace.final_answer == "Seven."


@pytest.mark.parametrize(
    ("members", "code"), [({"x.txt": "x"}, "unknown_format"), (HEADER, "empty")], ids=["foreign", "without samples"]
)
def test_an_archive_without_traces_is_refused_by_kind(tmp_path, members, code):
    with pytest.raises(TraceError) as raised:
        list(iter_traces(archive(tmp_path / "a.eval", members)))
    assert raised.value.code == code


def test_a_damaged_archive_is_no_traceback(tmp_path):
    path = archive(tmp_path / "a.eval", {**HEADER, **ONE})
    path.write_bytes(path.read_bytes()[:-30])
    with pytest.raises(TraceError) as raised:
        list(iter_traces(path))
    assert raised.value.code == "not_json"


def test_damage_inside_a_member_is_that_records_fault(tmp_path):
    path = archive(tmp_path / "a.eval", {**HEADER, **ONE})
    data = bytearray(path.read_bytes())
    at = data.index(b"samples/s_epoch_1.json") + len("samples/s_epoch_1.json") + 5
    data[at : at + 8] = b"\xff" * 8
    path.write_bytes(bytes(data))
    (record,) = iter_traces(path)
    assert record.fault is not None


def test_another_compression_is_named(tmp_path):
    path = archive(tmp_path / "a.eval", {**HEADER, **ONE})
    data = path.read_bytes().replace(
        b"PK\x01\x02\x14\x03\x14\x00\x00\x00\x08\x00", b"PK\x01\x02\x14\x03\x14\x00\x00\x00\x62\x00"
    )
    path.write_bytes(data)
    with pytest.raises(TraceError) as raised:
        list(iter_traces(path))
    assert (raised.value.code, "98" in raised.value.message) == ("unsupported_compression", True)


def test_without_a_zstd_decoder_the_error_names_zstd(monkeypatch):
    for package in ("backports", "compression"):
        monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(TraceError, match="zstd") as raised:
        list(iter_traces(Path(__file__).parent / "samples" / "inspect_eval" / "awkward.eval"))
    assert raised.value.code == "unsupported_compression"


def test_only_inspect_may_write_nan(tmp_path):
    inspected = tmp_path / "a.json"
    inspected.write_text(json.dumps(log(sample(USER, scores={"x": float("nan")}))), encoding="utf-8")
    chat = tmp_path / "b.json"
    chat.write_text('{"messages": [{"role": "user", "content": "x", "n": NaN}]}', encoding="utf-8")
    assert [record.trace.request for record in iter_traces(inspected)] == ["How many?"]
    (record,) = iter_traces(chat)
    assert record.fault is not None


def test_a_zip_bomb_is_refused(tmp_path):
    path = archive(tmp_path / "a.eval", {**HEADER, **ONE})
    data = bytearray(path.read_bytes())
    at = data.index(b"PK\x01\x02", data.index(b"PK\x01\x02") + 4)
    data[at + 24 : at + 28] = (1 << 30).to_bytes(4, "little")
    path.write_bytes(bytes(data))
    (record,) = iter_traces(path)
    assert "unpacks to more" in record.fault.message


def test_a_zip_in_memory_is_written_as_the_tests_think():
    assert archive(io.BytesIO(), ONE).getvalue().startswith(b"PK\x03\x04")


@pytest.mark.parametrize(
    ("told", "raw"),
    [
        ('Found JSON in the tool call arguments:\n\n{"a": \n\nError details: Expecting value', '{"a": '),
        ("tool call arguments:\n\n" * 50_000, "tool call arguments:\n\n" * 50_000),
        ("no such call", "no such call"),
    ],
    ids=["broken", "endless", "other"],
)
def test_broken_arguments_are_found_in_what_the_error_tells_however_long_it_is(told: str, raw: str) -> None:
    call = {"id": "c", "function": "look", "arguments": {}, "parse_error": told}
    said = [{"role": "user", "content": "q"}, {"role": "assistant", "content": "", "tool_calls": [call]}]
    log = {"version": 2, "status": "success", "eval": {}, "samples": [{"id": 1, "epoch": 1, "messages": said}]}
    trace = read_trace(log)
    assert trace is not None
    assert [step.args_raw for step in trace.calls] == [raw]
