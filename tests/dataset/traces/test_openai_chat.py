"""Chat completions: what providers and proxies write beside the well-behaved case."""

from __future__ import annotations

import json

import pytest

from agentanvil.dataset.traces import ToolStep
from tests.fakes.trace_dicts import one_trace, plain_trace

ASKED = {"role": "user", "content": "How many?"}


def called(call_id="c1", name="count", arguments='{"n": 1}', **more):
    call = {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}
    return {"role": "assistant", "content": None, "tool_calls": [call], **more}


def result(call_id="c1", content="7"):
    return {"role": "tool", "tool_call_id": call_id, "content": content}


@pytest.mark.parametrize("content", [None, ""])
def test_an_empty_content_beside_a_call_is_no_text(content):
    trace = one_trace([ASKED, called(content=content), result(), {"role": "assistant", "content": "Seven."}])
    assert trace.plan is None
    assert [step.kind for step in trace.steps] == ["tool"]
    assert trace.final_answer == "Seven."


def test_developer_and_system_messages_are_no_steps():
    trace = one_trace(
        [{"role": "developer", "content": "d"}, {"role": "system", "content": "s"}, ASKED, called(), result()]
    )
    assert trace.request == "How many?"
    assert len(trace.steps) == 1


def test_a_function_result_without_id_finds_its_call_by_name():
    old = {"role": "assistant", "content": None, "function_call": {"name": "count", "arguments": "{}"}}
    trace = one_trace([ASKED, old, {"role": "function", "name": "count", "content": "7"}])
    assert trace.calls == (ToolStep("count", None, {}, "7"),)
    assert trace.warnings == ("unfinished",)


def test_of_several_choices_the_first_is_the_answer():
    choices = [
        {"index": 1, "message": {"role": "assistant", "content": "B"}, "finish_reason": "stop"},
        {"index": 0, "message": {"role": "assistant", "content": "A"}, "finish_reason": "stop"},
    ]
    trace = one_trace({"object": "chat.completion", "id": "x", "choices": choices, "usage": {"prompt_tokens": 3}})
    assert (trace.id, trace.final_answer, trace.tokens_in) == ("x", "A", 3)
    assert trace.warnings == ("more_choices", "no_request")


def test_arguments_cut_by_the_length_limit_stay_as_they_are():
    choice = {"index": 0, "message": called(arguments='{"n": '), "finish_reason": "length"}
    trace = one_trace({"messages": [ASKED], "choices": [choice], "model": "m"})
    (call,) = trace.calls
    assert (call.args, call.args_raw, call.missing_result) == (None, '{"n": ', True)
    assert trace.warnings == ("args_not_json", "missing_result", "tokens_missing", "unfinished")


def test_empty_arguments_are_broken_and_not_repaired():
    (call,) = one_trace([ASKED, called(arguments=""), result()]).calls
    assert (call.args, call.args_raw) == (None, "")


@pytest.mark.parametrize("arguments", ['{"n": 1, "n": 2}', "{'n': 1}", '{"n": NaN}', "[" * 300 + "]" * 300])
def test_arguments_that_are_no_strict_json_are_kept_verbatim(arguments):
    trace = one_trace([ASKED, called(arguments=arguments), result()])
    assert (trace.calls[0].args, trace.calls[0].args_raw) == (None, arguments)


def test_ids_that_providers_use_again_pair_in_order():
    messages = [
        ASKED,
        called(arguments='{"n": 1}'),
        result(content="one"),
        called(arguments='{"n": 2}'),
        result(content="two"),
    ]
    assert [(call.args, call.result) for call in one_trace(messages).calls] == [({"n": 1}, "one"), ({"n": 2}, "two")]


def test_a_result_before_its_call_is_paired_too():
    trace = one_trace([ASKED, result(), called(), {"role": "assistant", "content": "Seven."}])
    assert trace.calls[0].result == "7"
    assert trace.warnings == ()


def test_what_is_said_between_the_calls_keeps_its_order():
    messages = [
        {"role": "assistant", "content": "Hello!"},
        ASKED,
        {"role": "assistant", "content": "Which hall?"},
        {"role": "user", "content": "Hall 1."},
        called(content="I count."),
        result(),
        called("c2", content="Once more."),
        result("c2"),
        {"role": "assistant", "content": "Seven."},
        {"role": "user", "content": "Thanks."},
    ]
    trace = plain_trace(one_trace(messages))
    assert trace["plan"] == "I count."
    assert trace["final_answer"] == "Seven."
    said = [(step["kind"], step.get("text", step.get("call_id"))) for step in trace["steps"]]
    assert said == [
        ("assistant", "Which hall?"), ("user", "Hall 1."), ("tool", "c1"), ("assistant", "Once more."), ("tool", "c2"),
        ("user", "Thanks."),
    ]  # fmt: skip


def test_media_parts_are_named_with_their_size():
    parts = [
        {"type": "image_url", "image_url": {"url": "https://example.org/a.png"}},
        {"type": "input_audio", "input_audio": {"data": "AAAA", "format": "wav"}},
        {"type": "file", "file": {"file_id": "file-1"}},
    ]
    trace = one_trace([{"role": "user", "content": parts}, called(), result()])
    assert trace.request == "[image https://example.org/a.png]\n[audio audio/wav 3 bytes]\n[file file-1]"
    assert "non_text_part" in trace.warnings


def test_a_streamed_dump_is_put_together():
    def chunk(delta, finish=None, index=0):
        choice = {"index": index, "delta": delta, "finish_reason": finish}
        return {"object": "chat.completion.chunk", "id": "s1", "model": "m", "choices": [choice]}

    def fragment(**function):
        return {"tool_calls": [{"index": 0, "function": function}]}

    first = {
        "tool_calls": [{"index": 0, "id": "c1", "type": "function", "function": {"name": "count", "arguments": ""}}]
    }
    chunks = [
        chunk({"role": "assistant", "content": "I "}),
        chunk({"content": "count."}),
        chunk(first),
        chunk(fragment(arguments='{"n"')),
        chunk(fragment(arguments=": 1}")),
        chunk({}, "tool_calls"),
        {
            "object": "chat.completion.chunk",
            "id": "s1",
            "choices": [],
            "usage": {"prompt_tokens": 4, "completion_tokens": 2},
        },
    ]
    trace = one_trace(json.loads(json.dumps(chunks)))
    assert (trace.id, trace.plan, trace.tokens_in, trace.tokens_out) == ("s1", "I count.", 4, 2)
    assert [(call.tool, call.call_id, call.args) for call in trace.calls] == [("count", "c1", {"n": 1})]
