"""No value and no bytes make a reader crash, and nothing of a chat gets lost."""

from __future__ import annotations

import copy
import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentanvil.dataset.traces import ToolStep, TraceError, is_trace_file, iter_traces, read_trace
from agentanvil.dataset.traces.formats import read_value
from tests.fakes.trace_dicts import one_trace

SAMPLES = sorted(Path(__file__).parent.joinpath("samples").glob("*/*.json*"))


def documents():
    for path in SAMPLES:
        if path.name == "expected.json":
            continue
        text = path.read_text(encoding="utf-8")
        try:
            yield json.loads(text)
        except ValueError:
            lines = [line for line in text.splitlines() if line.startswith('{"')]
            yield from [[json.loads(line) for line in lines]] if lines else []


DOCUMENTS = [document for document in documents() if document]
MARKS = [
    "role",
    "content",
    "messages",
    "type",
    "tool_calls",
    "function",
    "arguments",
    "id",
    "object",
    "output",
    "choices",
    "resourceSpans",
    "scopeSpans",
    "spans",
    "attributes",
    "traceId",
    "spanId",
    "context",
    "span_id",
    "run_type",
    "inputs",
    "outputs",
    "observations",
    "startTime",
    "jsonrpc",
    "result",
    "status",
    "state",
    "version",
    "eval",
    "samples",
    "traj",
    "simulations",
    "promptIdx",
    "testIdx",
    "response",
    "custom_id",
    "error",
    "body",
    "usage",
    "parts",
    "call_id",
]
WORDS = [
    "user",
    "assistant",
    "tool",
    "message",
    "text",
    "tool_use",
    "tool_result",
    "function_call",
    "response",
    "length",
    "{",
    '["a"',
]
SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.sampled_from(WORDS) | st.text()
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(MARKS), inner, max_size=6),
    max_leaves=25,
)


def reads(value):
    try:
        read_value(value)
        read_trace(value)
    except TraceError as error:
        assert error.code == "several_traces"  # noqa: PT017 - any other exception must pass through


@given(VALUES)
def test_no_value_crashes_a_reader(value):
    reads(value)


@settings(max_examples=150)
@given(st.sampled_from(DOCUMENTS), st.data())
def test_no_damage_to_a_real_trace_crashes_a_reader(document, data):
    damaged = copy.deepcopy(document)
    for _ in range(data.draw(st.integers(1, 3))):
        place = damaged
        while isinstance(place, dict | list) and place:
            key = data.draw(st.sampled_from(list(place) if isinstance(place, dict) else range(len(place))))
            inner = place[key]
            if not isinstance(inner, dict | list) or not inner or data.draw(st.integers(0, 5)) == 0:
                place[key] = data.draw(VALUES)
                break
            place = inner
    reads(damaged)


@settings(max_examples=100)
@given(st.binary(max_size=60) | st.tuples(st.sampled_from(SAMPLES), st.integers(0, 4000)))
def test_no_bytes_crash_the_file_reader(tmp_path_factory, given_bytes):
    if isinstance(given_bytes, tuple):
        path, kept = given_bytes
        given_bytes = path.read_bytes()[:kept]
    path = tmp_path_factory.mktemp("files") / "a.json"
    path.write_bytes(given_bytes)
    is_trace_file(path)
    try:
        for record in iter_traces(path):
            assert (record.trace is None) != (record.fault is None)
    except TraceError as error:
        assert error.where is not None  # noqa: PT017


ARGUMENTS = st.dictionaries(st.text(max_size=5), st.integers() | st.text(max_size=5), max_size=3)


@given(
    st.lists(st.tuples(st.text(min_size=1, max_size=5), ARGUMENTS, st.text(max_size=8)), min_size=1, max_size=8),
    st.randoms(),
)
def test_every_call_of_a_chat_is_told_once_with_its_own_result(calls, random):
    asked = [
        {"id": f"c{number}", "type": "function", "function": {"name": name, "arguments": json.dumps(args)}}
        for number, (name, args, _) in enumerate(calls)
    ]
    results = [
        {"role": "tool", "tool_call_id": f"c{number}", "content": result} for number, (*_, result) in enumerate(calls)
    ]
    random.shuffle(results)
    trace = one_trace(
        [{"role": "user", "content": "Go."}, {"role": "assistant", "content": None, "tool_calls": asked}, *results]
    )
    assert [(step.tool, step.args, step.result) for step in trace.steps if isinstance(step, ToolStep)] == calls


@pytest.mark.parametrize("depth", [100, 127])
def test_deep_values_are_read_as_deep_as_json_may_be(depth):
    deep = json.loads("[" * depth + "]" * depth)
    reads({"messages": [{"role": "user", "content": deep}]})
    reads([{"role": "assistant", "content": [{"type": "tool_use", "id": "t", "name": "n", "input": deep}]}])
    reads({"resourceSpans": [{"scopeSpans": [{"spans": [{"traceId": "t", "spanId": "s", "attributes": deep}]}]}]})
