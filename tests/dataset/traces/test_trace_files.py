"""Whole files: containers, faults that leave the others readable, whole-file errors, and memory."""

from __future__ import annotations

import json
import tracemalloc

import pytest

from agentanvil.dataset.traces import TraceError, is_trace_file, iter_traces
from agentanvil.dataset.traces.walker import MOST_WHOLE


def chat(number, words="x", steps=1):
    messages = [{"role": "user", "content": f"q{number} {words}"}]
    for step in range(steps):
        function = {"name": "t", "arguments": json.dumps({"n": step})}
        messages.append(
            {"role": "assistant", "tool_calls": [{"id": f"c{step}", "type": "function", "function": function}]}
        )
        messages.append({"role": "tool", "tool_call_id": f"c{step}", "content": words})
    return {"messages": [*messages, {"role": "assistant", "content": f"a{number}"}]}


def span(trace, number, **attributes):
    listed = [{"key": key.replace("__", "."), "value": {"stringValue": value}} for key, value in attributes.items()]
    times = {"startTimeUnixNano": f"{10**18 + number}", "endTimeUnixNano": f"{10**18 + number + 1}"}
    return {"traceId": f"{trace:032x}", "spanId": f"{number:016x}", "name": "s", **times, "attributes": listed}


def tool(trace, number, result="7"):
    return span(
        trace,
        number,
        gen_ai__operation__name="execute_tool",
        gen_ai__tool__name=f"t{number}",
        gen_ai__tool__call__result=result,
    )


def otlp(*spans):
    return {"resourceSpans": [{"resource": {"attributes": []}, "scopeSpans": [{"scope": {}, "spans": list(spans)}]}]}


@pytest.fixture
def write(tmp_path):
    def written(text, name="a.json"):
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return written


def answers(path):
    return [(record.line, record.trace and record.trace.final_answer) for record in iter_traces(path)]


def lines(*values):
    return "\n".join(json.dumps(value) for value in values)


def test_the_container_does_not_matter(write):
    two = [chat(0), chat(1)]
    texts = [
        lines(*two),
        json.dumps(two),
        json.dumps(two, indent=1),
        "\n".join(json.dumps(each, indent=1) for each in two),
    ]
    for text in [*texts, "\ufeff" + texts[0], texts[0].replace("\n", "\r\n\r\n") + "\n"]:
        path = write(text)
        assert is_trace_file(path)
        assert [answer for _, answer in answers(path)] == ["a0", "a1"]


def test_lines_are_counted_in_every_container(write):
    assert answers(write(f"\n{json.dumps(chat(0))}\n\n{json.dumps(chat(1))}\n")) == [(2, "a0"), (4, "a1")]
    assert answers(write(f"[\n{json.dumps(chat(0))},\n{json.dumps(chat(1))}\n]")) == [(2, "a0"), (3, "a1")]


@pytest.mark.parametrize(
    "broken", ["{", '{"a": 1, "a": 2}', "nonsense", '{"a": NaN}', b"\xff\xfe{}", '{"other": 1}', "[" * 9999]
)
def test_a_bad_line_is_named_and_the_others_are_kept(write, broken):
    broken = broken if isinstance(broken, bytes) else broken.encode()
    first, bad, last = iter_traces(write(b"\n".join([lines(chat(0)).encode(), broken, lines(chat(1)).encode()])))
    assert (first.trace.final_answer, last.trace.final_answer) == ("a0", "a1")
    assert (bad.line, bad.trace) == (2, None)
    assert bad.fault.code == ("unknown_format" if b"other" in broken else "not_json")


def test_a_bad_first_line_hides_nothing(write):
    path = write('{"a": 1, "a": 2}\n' + lines(chat(0)))
    assert is_trace_file(path)
    assert [answer for _, answer in answers(path)] == [None, "a0"]


def test_an_element_that_is_not_strict_json_is_stepped_over(write):
    records = list(iter_traces(write(f'[{json.dumps(chat(0))}, {{"a": 1, "a": 2}}, {json.dumps(chat(1))}]')))
    assert [record.fault is None for record in records] == [True, False, True]
    assert "stands twice" in records[1].fault.message


@pytest.mark.parametrize("kept", range(2, 40, 7))
def test_a_cut_file_keeps_what_came_before(write, kept):
    whole = lines(chat(0), chat(1))
    records = list(iter_traces(write(whole[: len(lines(chat(0))) + kept])))
    assert records[0].trace.final_answer == "a0"
    assert records[1].fault is not None
    assert (records[1].line, len(records)) == (2, 2)


def test_a_cut_file_of_spans_marks_its_traces(write):
    text = lines(otlp(tool(1, 1)), otlp(tool(1, 2)))
    first, cut = iter_traces(write(text[:-30], "a.jsonl"))
    assert "truncated_file" in first.trace.warnings
    assert cut.fault.code == "not_json"


def test_spans_of_many_traces_are_sorted_out(write):
    spans = [tool(number % 3, number) for number in range(9)]
    expected = [["t0", "t3", "t6"], ["t1", "t4", "t7"], ["t2", "t5", "t8"]]
    several = [
        lines(*map(otlp, spans)),
        json.dumps(otlp(*spans)),
        json.dumps(otlp(*spans), indent=1),
        json.dumps(spans),
    ]
    for text in several:
        found = [[call.tool for call in record.trace.calls] for record in iter_traces(write(text))]
        assert found == expected


def test_an_object_too_large_for_one_look_is_walked(write):
    words = "y" * 3000
    count = MOST_WHOLE // 3000 + 5
    samples = [{"id": number, "epoch": 1, "target": "z", **chat(number, words, steps=0)} for number in range(count)]
    text = json.dumps(
        {"version": 2, "status": "success", "eval": {"model": "m"}, "results": {"x": float("nan")}, "samples": samples}
    )
    records = list(iter_traces(write(text)))
    assert [record.trace.id for record in records] == [f"{number}#1" for number in range(count)]
    assert {record.trace.model for record in records} == {"m"}
    assert {record.hidden for record in records} == {("target",)}


def test_large_files_of_promptfoo_find_their_spans(write):
    attributes = {"gen_ai.operation.name": "execute_tool"}
    rows = [
        {"promptIdx": 0, "testIdx": number, "prompt": {"raw": "p" * 9000}, "response": {"output": "o"}}
        for number in range(150)
    ]
    traces = [
        {
            "testCaseId": f"{number}-0",
            "spans": [{"spanId": "a", "attributes": {**attributes, "gen_ai.tool.name": f"t{number}"}}],
        }
        for number in range(150)
    ]
    records = list(iter_traces(write(json.dumps({"evalId": "e", "results": {"results": rows}, "traces": traces}))))
    assert [record.trace.calls[0].tool for record in records] == [f"t{number}" for number in range(150)]
    assert records[3].trace.id == "e#3-0"


def test_large_exports_of_langfuse_and_tau2_are_walked(write):
    observations = [
        {
            "id": f"o{number}",
            "traceId": "t",
            "type": "TOOL",
            "name": f"t{number}",
            "startTime": number,
            "output": "z" * 9000,
        }
        for number in range(150)
    ]
    export = {"trace": {"id": "t", "input": "Go."}, "observations": observations}
    (record,) = iter_traces(write(json.dumps(export)))
    assert (record.trace.request, len(record.trace.calls)) == ("Go.", 150)
    runs = [
        {"task_id": number, "trial": 0, "messages": [{"role": "user", "content": "z" * 9000}]} for number in range(150)
    ]
    found = list(iter_traces(write(json.dumps({"simulations": runs, "info": {"agent_info": {"llm": "m"}}}))))
    assert (len(found), found[0].trace.model, found[149].trace.id) == (150, "m", "149#0")


def test_messages_one_a_line_are_one_conversation(write):
    path = write(lines(*chat(0)["messages"]), "a.jsonl")
    assert answers(path) == [(1, "a0")]


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("", "empty"),
        (" \n\n ", "empty"),
        ("[]", "empty"),
        ("nonsense", "not_json"),
        ('{"a": ', "not_json"),
        (b"\xff\xfe{\x00}\x00", "not_json"),
        (b"\x1f\x8b\x08", "not_json"),
        (b'{"a": "\xff"}', "not_json"),
        ('{"a": 1}', "unknown_format"),
        ('[1, 2]\n"x"', "unknown_format"),
        ('{"resourceMetrics": []}', "not_a_trace"),
        (json.dumps(otlp(span(1, 1, http__method="GET"))), "not_a_trace"),
        ('{"jsonrpc": "2.0", "id": 1, "method": "tools/list"}', "not_a_trace"),
    ],
)
def test_a_file_of_which_nothing_can_be_read_is_refused_by_kind(write, text, code):
    with pytest.raises(TraceError) as raised:
        list(iter_traces(write(text), shown="shown.json"))
    assert raised.value.code == code
    assert str(raised.value).startswith("shown.json")


@pytest.mark.parametrize(
    "text",
    [
        lines({"id": "1", "request": "q", "response": chat(0)}),
        lines({"request": "q", "response_a": "a", "response_b": "b"}),
        lines({"id": "1", "question": "q", "answer": "a"}),
        "id,request,response\n1,q,a\n",
        "",
        "nonsense",
        "[]",
    ],
)
def test_rows_and_other_data_are_no_trace_files(write, text):
    assert not is_trace_file(write(text))


def test_a_neighbour_of_a_trace_is_a_trace_file_so_that_it_is_refused_by_name(write):
    assert is_trace_file(write('{"resourceMetrics": []}'))


def test_lone_surrogates_and_huge_numbers_pass(write):
    value = chat(0)
    value["usage"] = {"prompt_tokens": 10**400}
    value["messages"][0]["content"] = "\ud800"
    (record,) = iter_traces(write(json.dumps(value)))
    assert record.trace.request == "\ufffd"


def measured(path):
    tracemalloc.start()
    try:
        assert sum(record.trace is not None for record in iter_traces(path))
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("kind", ["lines", "array", "otlp lines", "one otlp object"])
def test_memory_does_not_grow_with_the_number_of_traces(write, kind):
    def text(count):
        if kind in {"lines", "array"}:
            values = [chat(number, "w" * 300, steps=3) for number in range(count)]
            return lines(*values) if kind == "lines" else json.dumps(values)
        spans = [[tool(trace, number, "w" * 300) for number in range(3)] for trace in range(count)]
        return (
            lines(*(otlp(*each) for each in spans))
            if "lines" in kind
            else json.dumps(otlp(*(each for some in spans for each in some)))
        )

    few, many = measured(write(text(200))), measured(write(text(600)))
    # What grows is a few dozen bytes a span, and the texts of the trace ids.
    assert many < few + 400 * 700


def test_a_list_of_anything_else_is_no_trace_file(write):
    assert not is_trace_file(write(json.dumps([["request", "response"], 1])))
