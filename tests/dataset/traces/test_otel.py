"""OpenTelemetry GenAI: versions, exporters, and traces that are not as they should be."""

from __future__ import annotations

import json

import pytest

from tests.fakes.trace_dicts import all_traces, one_trace

TRACE = "4fd0b1c2a39e4d5f8a7b6c5d4e3f2a10"


def attribute(key, value):
    kinds = {bool: "boolValue", int: "intValue", float: "doubleValue", str: "stringValue"}
    if isinstance(value, list):
        return {"key": key, "value": {"arrayValue": {"values": [{"stringValue": item} for item in value]}}}
    return {"key": key, "value": {kinds[type(value)]: f"{value}" if type(value) is int else value}}


def span(number, parent=None, *, at=0, took=1, trace=TRACE, name="", status=None, **attributes):
    found = {
        "traceId": trace,
        "spanId": f"{number:016x}",
        "name": name,
        "startTimeUnixNano": f"{10**18 + at * 10**9}",
        "endTimeUnixNano": f"{10**18 + (at + took) * 10**9}",
        "attributes": [attribute(key.replace("__", "."), value) for key, value in attributes.items()],
        "status": status or {},
    }
    return found if parent is None else {**found, "parentSpanId": f"{parent:016x}"}


def agent(number=1, parent=None, name="main", **more):
    return span(number, parent, gen_ai__operation__name="invoke_agent", gen_ai__agent__name=name, **more)


def chat(number, parent=1, **more):
    return span(number, parent, gen_ai__operation__name="chat", **more)


def tool(number, parent=1, name="t", **more):
    return span(number, parent, gen_ai__operation__name="execute_tool", gen_ai__tool__name=name, **more)


def otlp(*spans):
    return {"resourceSpans": [{"resource": {}, "scopeSpans": [{"scope": {}, "spans": list(spans)}]}]}


def said(role, text, *parts):
    return {"role": role, "parts": [*([{"type": "text", "content": text}] if text else []), *parts]}


def call(call_id="c1", name="t", **arguments):
    return {"type": "tool_call", "id": call_id, "name": name, "arguments": arguments}


def answered(call_id="c1", **fields):
    return {"role": "tool", "parts": [{"type": "tool_call_response", "id": call_id, **fields}]}


def inputs(*messages):
    return {"gen_ai__input__messages": json.dumps(messages)}


def outputs(*messages):
    return {"gen_ai__output__messages": json.dumps(messages)}


ASKED = said("user", "How many?")


def test_children_may_stand_before_their_parents():
    spans = [
        tool(3, at=2, gen_ai__tool__call__id="c1"),
        chat(2, at=1, **outputs(said("assistant", "", call()))),
        agent(took=9),
    ]
    trace = one_trace(otlp(*spans))
    assert [step.call_id for step in trace.steps] == ["c1"]
    assert trace.latency_s == 9.0


@pytest.mark.parametrize("key", ["response", "result"])
def test_a_result_that_no_tool_span_has_comes_from_the_next_chat(key):
    first = chat(2, at=1, **inputs(ASKED), **outputs(said("assistant", "I count.", call(n=1))))
    second = chat(
        4, at=3, **inputs(ASKED, said("assistant", "I count.", call(n=1)), answered(**{key: "7"})),
        **outputs(said("assistant", "Seven.")),
    )  # fmt: skip
    trace = one_trace(otlp(agent(), first, tool(3, at=2, gen_ai__tool__call__id="c1"), second))
    (step,) = trace.calls
    assert (step.result, step.error, step.args) == ("7", False, {"n": 1})
    assert (trace.request, trace.plan, trace.final_answer) == ("How many?", "I count.", "Seven.")
    assert "orphan_result" not in trace.warnings


def test_without_a_tool_span_nobody_knows_whether_a_call_failed():
    spans = [chat(2, None, **inputs(ASKED), **outputs(said("assistant", "", call())))]
    assert one_trace(otlp(*spans)).calls[0].error is None


def test_equal_texts_of_different_turns_are_all_told():
    history = [ASKED]
    spans = []
    for number in range(3):
        spans.append(chat(number + 2, at=number, **inputs(*history), **outputs(said("assistant", "Which hall?"))))
        history += [said("assistant", "Which hall?"), said("user", "Hall 1.")]
    trace = one_trace(otlp(agent(), *spans))
    assert [step.text for step in trace.steps] == ["Which hall?", "Hall 1.", "Which hall?", "Hall 1."]
    assert trace.final_answer == "Which hall?"


def test_a_cut_message_text_is_named_and_the_tool_spans_are_used():
    cut = {"gen_ai__output__messages": '[{"role":"assistant","parts":[{"type":"tool_ca'}
    spans = [agent(**inputs(ASKED)), chat(2, at=1, **cut)]
    spans.append(
        tool(
            3,
            at=2,
            gen_ai__tool__call__id="c1",
            gen_ai__tool__call__arguments='{"n": 1}',
            gen_ai__tool__call__result="7",
        )
    )
    trace = one_trace(otlp(*spans))
    assert trace.calls[0].result == "7"
    assert trace.warnings == ("tokens_missing", "truncated_value", "unfinished")


def test_cut_arguments_of_a_tool_span_are_taken_from_the_message():
    spans = [agent(**inputs(ASKED)), chat(2, at=1, **outputs(said("assistant", "", call(n=1))))]
    spans.append(tool(3, at=2, gen_ai__tool__call__id="c1", gen_ai__tool__call__arguments='{"n'))
    (step,) = one_trace(otlp(*spans)).calls
    assert (step.args, step.args_raw) == ({"n": 1}, None)


def test_only_leaf_model_calls_count_and_repeated_spans_once():
    usage = {"gen_ai__usage__input_tokens": 10, "gen_ai__usage__output_tokens": 2}
    root = agent(gen_ai__usage__input_tokens=999, gen_ai__aggregated_usage__input_tokens=999)
    trace = one_trace(otlp(root, chat(2, at=1, **usage), chat(2, at=1, **usage), chat(3, at=2, **usage)))
    assert (trace.tokens_in, trace.tokens_out) == (20, 4)
    assert "duplicate_span" in trace.warnings


def test_counts_of_old_versions_are_read():
    old = {"gen_ai__usage__prompt_tokens": 7, "gen_ai__usage__completion_tokens": 1, "gen_ai__request__model": "m"}
    trace = one_trace(otlp(agent(), chat(2, **old)))
    assert (trace.tokens_in, trace.tokens_out, trace.model) == (7, 1, "m")


def test_an_agent_that_holds_no_model_call_answers_for_its_own_tokens():
    assert one_trace(otlp(agent(gen_ai__usage__input_tokens=5))).tokens_in == 5


def test_ids_match_in_any_case_and_trace_ids_too():
    upper = span(3, 1, trace=TRACE.upper(), gen_ai__operation__name="execute_tool", gen_ai__tool__name="t")
    assert [trace.id for trace in all_traces(otlp(agent(), upper))] == [TRACE]


def test_two_roots_are_two_traces_and_strays_join_by_time():
    spans = [
        agent(1, at=0, took=5),
        tool(2, 1, "a", at=1),
        agent(3, at=10, took=5),
        tool(4, 3, "b", at=11),
        tool(5, 77, "stray", at=12),
    ]
    first, second = all_traces(otlp(*spans))
    assert (first.id, second.id) == (f"{TRACE}#1", f"{TRACE}#2")
    assert [step.tool for step in first.calls] == ["a"]
    assert [step.tool for step in second.calls] == ["b", "stray"]
    assert (
        first.warnings == second.warnings == ("missing_result", "no_request", "orphan_span", "two_roots", "unfinished")
    )


def test_a_nested_agents_calls_carry_its_name_and_its_talk_is_left_out():
    spans = [
        agent(took=20, **inputs(ASKED)),
        chat(2, at=1, **inputs(ASKED), **outputs(said("assistant", "I ask.", call("c1", "ask")))),
        tool(3, 1, "ask", at=2, took=8, gen_ai__tool__call__id="c1", gen_ai__tool__call__result="7"),
        agent(4, 3, "helper", at=3, took=5),
        chat(5, 4, at=4, **inputs(said("user", "count!")), **outputs(said("assistant", "hm", call("c2", "count")))),
        tool(6, 4, "count", at=5, gen_ai__tool__call__id="c2", gen_ai__tool__call__result="7"),
        chat(7, 4, at=6, **outputs(said("assistant", "7, says the helper"))),
        chat(8, at=12, **outputs(said("assistant", "Seven."))),
    ]
    trace = one_trace(otlp(*spans))
    assert [(step.tool, step.agent) for step in trace.steps] == [("ask", None), ("count", "helper")]
    assert (trace.plan, trace.final_answer) == ("I ask.", "Seven.")
    assert "nested_agent" in trace.warnings


def test_a_failed_root_gives_the_error_and_a_failed_tool_its_flag():
    failed = tool(2, status={"code": 2, "message": "no"}, gen_ai__tool__call__id="c1")
    trace = one_trace(otlp(agent(status={"code": "STATUS_CODE_ERROR"}, error__type="Timeout"), failed))
    assert trace.error == "Timeout"
    assert (trace.calls[0].error, trace.calls[0].missing_result) == (True, False)


def test_a_circle_of_parents_is_no_endless_loop():
    assert [call.tool for call in one_trace(otlp(tool(1, 2, "a"), tool(2, 1, "b", at=1))).calls] == ["a", "b"]


def test_a_workflow_with_several_agents_is_one_trace_with_their_names():
    flow = span(1, gen_ai__operation__name="invoke_workflow", took=20, **inputs(ASKED))
    spans = [
        flow,
        agent(2, 1, "first", at=1),
        tool(3, 2, "a", at=2),
        agent(4, 1, "second", at=5),
        tool(5, 4, "b", at=6),
    ]
    (trace,) = all_traces(otlp(*spans))
    assert [(step.tool, step.agent) for step in trace.calls] == [("a", "first"), ("b", "second")]


def test_names_of_other_frameworks_are_known():
    sdk = span(
        2,
        1,
        ai__toolCall__name="weather",
        ai__toolCall__id="e1",
        ai__toolCall__args='{"p": 3}',
        ai__toolCall__result='{"w": 4}',
    )
    (step,) = one_trace(otlp(agent(), sdk)).calls
    assert (step.tool, step.call_id, step.args, step.result) == ("weather", "e1", {"p": 3}, {"w": 4})


def test_media_and_server_tools_in_messages():
    blob = {"type": "blob", "modality": "image", "mime_type": "image/png", "content": "AAAA"}
    server = {"type": "server_tool_call", "id": "s1", "name": "code", "server_tool_call": {"code": "1"}}
    done = {"type": "server_tool_call_response", "id": "s1", "server_tool_call_response": {"out": "1"}}
    thought = {"type": "reasoning", "content": "hm"}
    spans = [
        chat(2, None, **inputs(said("user", "See", blob)), **outputs(said("assistant", "", thought, server, done)))
    ]
    trace = one_trace(otlp(*spans))
    assert trace.request == "See\n[image image/png 3 bytes]"
    assert [step.kind for step in trace.steps] == ["thought", "tool"]
    assert (trace.calls[0].hosted, trace.calls[0].result) == (True, {"out": "1"})


def test_snake_case_numbers_and_nulls_are_read():
    values = {"string_value": None, "int_value": 7, "double_value": None}
    attributes = [
        {"key": "gen_ai.operation.name", "value": {"string_value": "chat", "int_value": None}},
        {"key": "gen_ai.usage.input_tokens", "value": values},
    ]
    plain = {"trace_id": "aa", "span_id": "bb", "parent_span_id": None, "name": "chat", "attributes": attributes}
    times = {"start_time_unix_nano": 1767225600000000000, "end_time_unix_nano": 1767225601500000000, "status": None}
    trace = one_trace({"resource_spans": [{"scope_spans": [{"spans": [{**plain, **times}]}]}]})
    assert (trace.tokens_in, trace.latency_s) == (7, 1.5)


def test_bare_resource_elements_are_read():
    (trace,) = all_traces(otlp(agent())["resourceSpans"][0])
    assert trace.id == TRACE


def test_other_telemetry_tells_of_no_agent():
    assert all_traces(otlp(span(1, name="GET", http__method="GET"))) == []


def log(name, at, body=None, span_id="00aa", **attributes):
    record = {"traceId": TRACE, "spanId": span_id, "timeUnixNano": f"{10**18 + at}", "eventName": name}
    listed = [attribute(key.replace("__", "."), value) for key, value in attributes.items()]
    return {**record, "attributes": listed, "body": body and {"stringValue": json.dumps(body)}}


def logs(*records):
    return {"resourceLogs": [{"scopeLogs": [{"logRecords": list(records)}]}]}


OLD_CALL = {"id": "c1", "type": "function", "function": {"name": "t", "arguments": '{"n": 1}'}}


@pytest.mark.parametrize("choice", [{"message": {"tool_calls": [OLD_CALL]}}, {"message": {}, "tool_calls": [OLD_CALL]}])
def test_one_event_a_message_is_read(choice):
    records = [
        log("gen_ai.system.message", 1, {"content": "s"}),
        log("gen_ai.user.message", 2, {"content": "How many?"}),
        log("gen_ai.choice", 3, {"index": 0, "finish_reason": "tool_calls", **choice}),
        log("gen_ai.user.message", 4, {"content": "How many?"}, "00bb"),
        log("gen_ai.assistant.message", 5, {"tool_calls": [OLD_CALL]}, "00bb"),
        log("gen_ai.tool.message", 6, {"id": "c1", "content": "7"}, "00bb"),
        log("gen_ai.choice", 7, {"index": 0, "message": {"content": "Seven."}}, "00bb"),
        log("gen_ai.choice", 8, {"index": 1, "message": {"content": "Other."}}, "00bb"),
    ]
    trace = one_trace(logs(*reversed(records)))
    assert (trace.request, trace.final_answer, trace.latency_s) == ("How many?", "Seven.", None)
    assert trace.warnings == ()
    assert [(step.tool, step.args, step.result) for step in trace.calls] == [("t", {"n": 1}, "7")]


def test_spans_and_log_events_of_one_trace_are_joined():
    event = log("gen_ai.user.message", 1, {"content": "How many?"}, f"{2:016x}")
    answer = log("gen_ai.choice", 2, {"index": 0, "message": {"content": "Seven."}}, f"{2:016x}")
    joined = {**otlp(agent(), chat(2, gen_ai__usage__input_tokens=5)), **logs(event, answer)}
    trace = one_trace(joined)
    assert (trace.request, trace.final_answer, trace.tokens_in) == ("How many?", "Seven.", 5)


def test_events_on_a_span_are_read_like_log_events():
    events = [
        {
            "name": "gen_ai.content.prompt",
            "attributes": [attribute("gen_ai.prompt", json.dumps([{"role": "user", "content": "Hi"}]))],
        },
        {
            "name": "gen_ai.content.completion",
            "attributes": [attribute("gen_ai.completion", json.dumps([{"role": "assistant", "content": "Ho"}]))],
        },
    ]
    trace = one_trace(otlp({**chat(1, None), "events": events}))
    assert (trace.request, trace.final_answer) == ("Hi", "Ho")


def test_a_reply_that_hit_the_limit_is_unfinished():
    spans = [
        chat(2, None, gen_ai__response__finish_reasons=["length"], **inputs(ASKED), **outputs(said("assistant", "Sev")))
    ]
    assert "unfinished" in one_trace(otlp(*spans)).warnings


def test_an_sdk_dump_writes_states_as_words():
    base = {"name": "x", "context": {"trace_id": "0xAB", "span_id": "0x01"}, "parent_id": None}
    times = {"start_time": "2026-01-01T00:00:00.000000Z", "end_time": "2026-01-01T00:00:01.250000Z"}
    status = {"status": {"status_code": "ERROR", "description": "offline"}}
    trace = one_trace({**base, **times, **status, "attributes": {"gen_ai.operation.name": "invoke_agent"}})
    assert (trace.id, trace.latency_s, trace.error) == ("ab", 1.25, "offline")


def test_a_span_without_a_start_keeps_its_place():
    late = tool(4, name="late", at=9)
    timeless = {key: value for key, value in tool(3, name="timeless").items() if not key.endswith("UnixNano")}
    spans = [agent(took=20), tool(2, name="early", at=1), timeless, late]
    assert [call.tool for call in one_trace(otlp(*spans)).calls] == ["early", "timeless", "late"]
