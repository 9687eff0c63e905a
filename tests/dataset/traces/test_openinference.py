"""OpenInference: flat lists, and the many ways in which tools write their arguments."""

from __future__ import annotations

import json

import pytest

from tests.fakes.trace_dicts import one_trace, plain_step

TRACE = "0af7651916cd43dd8448eb211c80319c"


def span(number, kind, parent=None, status="OK", **attributes):
    return {
        "name": "x",
        "context": {"trace_id": TRACE, "span_id": f"{number:016x}"},
        "span_kind": kind,
        "parent_id": None if parent is None else f"{parent:016x}",
        "start_time": f"2026-01-01T00:00:0{number}+00:00",
        "end_time": f"2026-01-01T00:00:0{number}.500000+00:00",
        "status_code": status,
        "attributes": {key.replace("__", "."): value for key, value in attributes.items()},
    }


def tool(value, **more):
    return span(2, "TOOL", 1, tool__name="t", input__value=value, output__value="7", **more)


def first_call(*spans):
    return plain_step(one_trace([span(1, "AGENT"), *spans]).calls[0])


@pytest.mark.parametrize(
    ("value", "args"),
    [
        ('{"n": 1}', {"n": 1}),
        ("{'n': 1, 'deep': (True, None)}", {"n": 1, "deep": [True, None]}),
        ('{"kwargs": {"n": 1}}', {"n": 1}),
        ('{"input": "{\\"n\\": 1}"}', {"n": 1}),
        ("hall 1", {"input": "hall 1"}),
    ],
)
def test_arguments_are_found_in_every_dress(value, args):
    assert first_call(tool(value))["args"] == args


@pytest.mark.parametrize("value", ["{'n': open('x')}", "{'n': ", '{"n": 1', "{'n': 1}; import os"])
def test_what_is_no_literal_is_never_evaluated(value):
    step = first_call(tool(value))
    assert (step["args"], step["args_raw"]) == (None, value)


def test_the_schema_of_the_parameters_is_no_argument():
    schema = json.dumps({"n": {"type": "integer"}})
    assert first_call(span(2, "TOOL", 1, tool__name="t", tool__parameters=schema))["args"] is None
    assert first_call(span(2, "TOOL", 1, tool__name="t", tool__parameters='{"n": 1}'))["args"] == {"n": 1}


def test_redacted_values_are_no_values():
    step = first_call(span(2, "TOOL", 1, tool__name="t", input__value="__REDACTED__", output__value="__REDACTED__"))
    assert step == {
        "kind": "tool",
        "tool": "t",
        "call_id": None,
        "args": None,
        "result": None,
        "error": False,
        "redacted": True,
    }


def test_json_results_are_read_where_the_type_says_so():
    spans = [span(1, "AGENT"), tool('{"n": 1}')]
    assert one_trace(spans).calls[0].result == "7"
    told = span(2, "TOOL", 1, tool__name="t", output__value='{"a": 1}', output__mime_type="application/json")
    assert first_call(told)["result"] == {"a": 1}


def test_a_call_in_both_places_is_one_call():
    prefix = "llm.output_messages.0.message"
    attributes = {
        f"{prefix}.role": "assistant",
        f"{prefix}.contents.0.message_content.type": "text",
        f"{prefix}.contents.0.message_content.text": "I look.",
        f"{prefix}.contents.1.message_content.type": "tool_use",
        f"{prefix}.contents.1.tool_call.id": "c1",
        f"{prefix}.contents.1.tool_call.function.name": "t",
        f"{prefix}.contents.1.tool_call.function.arguments": "{}",
        f"{prefix}.tool_calls.0.tool_call.id": "c1",
        f"{prefix}.tool_calls.0.tool_call.function.name": "t",
        f"{prefix}.tool_calls.0.tool_call.function.arguments": "{}",
    }
    trace = one_trace([span(1, "LLM") | {"attributes": attributes}])
    assert [call.call_id for call in trace.calls] == ["c1"]
    assert trace.plan == "I look."


def test_images_are_named():
    prefix = "llm.input_messages.0.message"
    attributes = {
        f"{prefix}.role": "user",
        f"{prefix}.contents.0.message_content.type": "text",
        f"{prefix}.contents.0.message_content.text": "See",
        f"{prefix}.contents.1.message_content.type": "image",
        f"{prefix}.contents.1.message_content.image.image.url": "data:image/png;base64,AAAA",
    }
    assert one_trace([span(1, "LLM") | {"attributes": attributes}]).request == "See\n[image image/png 3 bytes]"


@pytest.mark.parametrize(
    "value",
    ['{"input": "How many?"}', "{'question': 'How many?'}", '{"messages": [{"role": "user", "content": "How many?"}]}'],
)
def test_the_request_is_found_inside_its_wrapper(value):
    trace = one_trace([span(1, "AGENT", input__value=value, output__value='{"output": "7"}')])
    assert (trace.request, trace.final_answer) == ("How many?", "7")


def test_a_chain_at_the_top_stands_for_the_agent():
    trace = one_trace([span(1, "CHAIN", input__value="How many?", output__value="7"), tool("{}")])
    assert (trace.request, trace.final_answer, len(trace.calls)) == ("How many?", "7", 1)


def test_another_judges_spans_are_left_out():
    tokens = {"llm__token_count__prompt": 10}
    judge = [span(3, "EVALUATOR", 1), span(4, "LLM", 3, **tokens), span(5, "TOOL", 3, tool__name="grade")]
    trace = one_trace([span(1, "AGENT"), span(2, "LLM", 1, **tokens), *judge])
    assert trace.tokens_in == 10
    assert trace.calls == ()


def test_a_template_around_the_question_is_no_second_turn():
    wrapped = {"llm.input_messages.0.message.role": "user", "llm.input_messages.0.message.content": "Answer: How many?"}
    spans = [span(1, "AGENT", input__value="How many?", output__value="7"), span(2, "LLM", 1) | {"attributes": wrapped}]
    trace = one_trace(spans)
    assert (trace.request, trace.steps) == ("How many?", ())


def test_an_error_is_the_spans_status():
    failed = tool('{"n": 1}') | {"status_code": "ERROR"}
    failed["attributes"].pop("output.value")
    assert first_call(failed)["error"] is True


def test_agents_side_by_side_below_a_chain_are_one_run():
    agents = [span(2, "AGENT", 1, agent__name="first"), span(4, "AGENT", 1, agent__name="second")]
    tools = [span(3, "TOOL", 2, tool__name="a"), span(5, "TOOL", 4, tool__name="b")]
    trace = one_trace([span(1, "CHAIN", input__value="How many?", output__value="7"), *agents, *tools])
    assert [(call.tool, call.agent) for call in trace.calls] == [("a", "first"), ("b", "second")]
    assert (trace.request, trace.final_answer, trace.latency_s) == ("How many?", "7", 0.5)


def test_one_agent_below_a_chain_needs_no_name():
    spans = [
        span(1, "CHAIN", input__value="How many?"),
        span(2, "AGENT", 1, agent__name="a"),
        span(3, "TOOL", 2, tool__name="t"),
    ]
    assert [call.agent for call in one_trace(spans).calls] == [None]


NESTED = {
    "openinference": {"span": {"kind": "LLM"}},
    "llm": {
        "model_name": "m",
        "token_count": {"prompt": 5},
        "input_messages": [{"message": {"role": "user", "content": "How many?"}}],
        "output_messages": [{"message": {"role": "assistant", "content": "7"}}],
    },
}


def test_nested_attributes_are_the_same_as_dotted_ones():
    trace = one_trace([span(1, "SPAN_KIND_CLIENT") | {"attributes": NESTED}])
    assert (trace.request, trace.final_answer, trace.model, trace.tokens_in) == ("How many?", "7", "m", 5)


def test_a_table_of_spans_has_dotted_columns():
    tool_row = {
        "context.trace_id": TRACE,
        "context.span_id": "02",
        "parent_id": "01",
        "span_kind": "TOOL",
        "name": "t",
        "start_time": 1767225602000,
        "attributes.tool.name": "t",
        "attributes.input.value": '{"n": 1}',
        "attributes.llm.model_name": None,
    }
    agent_row = {
        "context.trace_id": TRACE,
        "context.span_id": "01",
        "span_kind": "AGENT",
        "name": "a",
        "attributes.input.value": "Go.",
    }
    trace = one_trace([agent_row, tool_row])
    assert (trace.id, trace.request) == (TRACE, "Go.")
    assert [(call.tool, call.args) for call in trace.calls] == [("t", {"n": 1})]
