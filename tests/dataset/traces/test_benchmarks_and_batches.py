"""tau-bench, tau2-bench and OpenAI batches."""

from __future__ import annotations

import json

import pytest

from agentanvil.dataset.traces import TraceError, iter_traces, read_trace
from tests.fakes.trace_dicts import all_traces, one_trace, plain_trace


def simulation(*messages, **fields):
    return {
        "id": "x",
        "task_id": "7",
        "trial": 1,
        "messages": list(messages),
        "termination_reason": "user_stop",
        **fields,
    }


def tau2(*simulations):
    return {
        "info": {"agent_info": {"llm": "m"}},
        "tasks": [{"id": "7", "evaluation_criteria": {"secret": 1}}],
        "simulations": list(simulations),
    }


def call(call_id, requestor="assistant", name="t"):
    return {"id": call_id, "name": name, "arguments": {"n": 1}, "requestor": requestor}


def test_the_users_own_calls_carry_the_name_user():
    trace = one_trace(
        tau2(
            simulation(
                {"role": "user", "content": "Help."},
                {"role": "assistant", "content": "Please restart."},
                {"role": "user", "content": None, "tool_calls": [call("u1", "user", "restart")]},
                {"role": "tool", "id": "u1", "content": "ok", "requestor": "user", "error": False},
                {"role": "user", "content": "Done. ###STOP###"},
            )
        )
    )
    assert [(step.tool, step.agent) for step in trace.calls] == [("restart", "user")]
    assert trace.final_answer == "Please restart."
    assert trace.steps[-1].text == "Done."


def test_the_users_tokens_and_the_tasks_secrets_stay_out():
    messages = [
        {"role": "user", "content": "Help.", "usage": {"prompt_tokens": 999, "completion_tokens": 9}},
        {"role": "assistant", "content": "Yes.", "usage": {"prompt_tokens": 10, "completion_tokens": 2}},
    ]
    trace = one_trace(
        tau2(simulation(*messages, agent_cost=0.1, user_cost=9, duration=2, reward_info={"reward": 0.123}))
    )
    assert (trace.tokens_in, trace.tokens_out, trace.cost_usd, trace.latency_s) == (10, 2, 0.1, 2.0)
    assert "0.123" not in json.dumps(plain_trace(trace))


def test_many_tool_messages_in_one_and_a_failed_call():
    inner = [{"role": "tool", "id": name, "content": name, "error": name == "b"} for name in ("a", "b")]
    asked = {"role": "assistant", "content": None, "tool_calls": [call("a"), call("b")]}
    trace = one_trace(
        tau2(simulation({"role": "user", "content": "Go."}, asked, {"role": "tool", "tool_messages": inner}))
    )
    assert [(step.result, step.error) for step in trace.calls] == [("a", False), ("b", True)]


def test_a_run_that_was_stopped_names_why():
    assert (
        one_trace(tau2(simulation({"role": "user", "content": "Go."}, termination_reason="max_steps"))).error
        == "max_steps"
    )


def test_voice_runs_hold_no_messages(tmp_path):
    path = tmp_path / "a.json"
    path.write_text(json.dumps(tau2(simulation(ticks=[{"t": 1}]))), encoding="utf-8")
    assert read_trace(tau2(simulation(ticks=[{"t": 1}]))) is None
    with pytest.raises(TraceError) as raised:
        list(iter_traces(path))
    assert raised.value.code == "not_a_trace"


def test_a_failed_tau_run_with_a_history_keeps_it():
    run = {
        "task_id": 1,
        "reward": 0,
        "info": {"error": "boom"},
        "traj": [{"role": "user", "content": "Hi"}],
        "trial": 0,
    }
    (trace,) = all_traces([run])
    assert (trace.id, trace.request, trace.error) == ("1#0", "Hi", "boom")


ANSWER = {
    "custom_id": "a",
    "response": {"status_code": 200, "body": {"choices": [{"message": {"role": "assistant", "content": "7"}}]}},
}
BODY = {"messages": [{"role": "user", "content": "How many?"}]}
FAILED = {
    "custom_id": "b",
    "response": {"status_code": 429, "body": {"error": {"message": "slow down", "code": None}}},
    "error": None,
}


def test_answers_join_their_questions_by_id_whatever_the_order(tmp_path):
    path = tmp_path / "out.jsonl"
    path.write_text(f"{json.dumps(FAILED)}\n{json.dumps(ANSWER)}\n\n", encoding="utf-8")
    questions = [{"custom_id": "a", "body": BODY}, {"custom_id": "b", "body": {"input": "What?"}}]
    (tmp_path / "out.requests.jsonl").write_text("\n".join(map(json.dumps, questions)), encoding="utf-8")
    first, second = (record.trace for record in iter_traces(path))
    assert (first.id, first.request, first.error) == ("b", "What?", "slow down")
    assert (second.id, second.request, second.final_answer) == ("a", "How many?", "7")


def test_a_broken_line_of_questions_loses_only_its_own_join(tmp_path):
    path = tmp_path / "out.jsonl"
    path.write_text(json.dumps(ANSWER), encoding="utf-8")
    (tmp_path / "out.requests.jsonl").write_text(
        '{"custom_id": \n' + json.dumps({"custom_id": "a", "body": BODY}), encoding="utf-8"
    )
    assert [record.trace.request for record in iter_traces(path)] == ["How many?"]


def test_the_input_of_a_batch_is_no_trace(tmp_path):
    path = tmp_path / "in.jsonl"
    path.write_text(json.dumps({"custom_id": "a", "method": "POST", "url": "/v1", "body": BODY}), encoding="utf-8")
    with pytest.raises(TraceError) as raised:
        list(iter_traces(path))
    assert raised.value.code == "not_a_trace"
    assert "input of a batch" in str(raised.value)


def test_an_answer_without_a_body_is_told_as_far_as_it_goes():
    trace = one_trace({"custom_id": "a", "response": {"status_code": 200, "body": {}}, "error": None})
    assert (trace.id, trace.error, trace.warnings) == ("a", None, ("no_request", "tokens_missing"))


def test_counts_that_nobody_made_are_missing():
    told = [{"role": "user", "content": "Go."}, {"role": "assistant", "content": "Yes.", "usage": None}]
    assert one_trace(tau2(simulation(*told))).warnings == ("tokens_missing",)
