"""Agent runs as tools export them, with a canary in every place where such a file tells how good the answer was."""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import count
from typing import Any

CANARY = "CANARY"
REQUEST = "Is shelf B free?"
ANSWER = "Shelf B is free."
CALL_ID = "c1"
Make = Callable[[Callable[[], str]], Any]


def canaries() -> Callable[[], str]:
    """Return a source of canaries, all different."""
    numbers = count(1)
    return lambda: f"{CANARY}-{next(numbers):03}"


def lines(make: Make) -> bytes:
    """A file that holds what `make` returns: a list as JSON lines, anything else as one JSON value."""
    made = make(canaries())
    values = made if isinstance(made, list) else [made]
    return "".join(f"{json.dumps(value)}\n" for value in values).encode()


def _chat() -> list[dict[str, Any]]:
    call = {"id": CALL_ID, "type": "function", "function": {"name": "look", "arguments": '{"shelf": "B"}'}}
    return [
        {"role": "user", "content": REQUEST},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": CALL_ID, "content": "empty"},
        {"role": "assistant", "content": ANSWER},
    ]


def _grade(canary: Callable[[], str]) -> dict[str, Any]:
    return {"pass": True, "score": 1, "reason": canary(), "comment": canary(), "value": canary()}


def chat_row(canary: Callable[[], str]) -> Any:
    """A chat as a data set keeps it: with what is expected beside the messages."""
    return {
        "messages": _chat(),
        "expected": canary(),
        "expected_actions": [canary()],
        "reward": canary(),
        "score": canary(),
        "ground_truth": {"answer": canary()},
        "metadata": {"gold": canary()},
    }


def promptfoo(canary: Callable[[], str]) -> Any:
    row = {
        "id": "p-1",
        "promptIdx": 0,
        "testIdx": 0,
        "prompt": {"raw": REQUEST, "label": "p"},
        "provider": {"id": "openai:chat:m", "label": ""},
        "response": {
            "output": ANSWER,
            "metadata": {
                "toolCalls": [{"id": CALL_ID, "name": "look", "input": {"shelf": "B"}, "output": "empty"}],
                "expected": canary(),
            },
        },
        "gradingResult": {**_grade(canary), "componentResults": [{**_grade(canary), "assertion": {"value": canary()}}]},
        "namedScores": {canary(): 1},
        "score": canary(),
        "success": False,
        "failureReason": 1,
        "error": f"the assertion wanted {canary()}",
        "testCase": {
            "vars": {"task": REQUEST, "expected": canary()},
            "assert": [{"type": "equals", "value": canary()}],
            "metadata": {"gold": canary()},
        },
        "vars": {"task": REQUEST, "expected": canary()},
        "metadata": {"reference": canary()},
    }
    stats = {"successes": 0, "note": canary()}
    return {"evalId": "e", "results": {"results": [row], "stats": stats}, "config": {"tests": [{"assert": canary()}]}}


def tau(canary: Callable[[], str]) -> Any:
    action = {"name": "book", "kwargs": {"shelf": canary()}}
    return {
        "task_id": 1,
        "reward": canary(),
        "trial": 0,
        "info": {
            "task": {"user_id": "u", "actions": [action], "instruction": canary(), "outputs": [canary()]},
            "reward_info": {"reward": 1.0, "info": {"r_actions": canary()}, "actions": [action]},
        },
        "traj": [{"role": "system", "content": "policy"}, *_chat()],
    }


def tau2(canary: Callable[[], str]) -> Any:
    messages = _chat()
    messages[1]["tool_calls"] = [{"id": CALL_ID, "name": "look", "arguments": {"shelf": "B"}, "requestor": "assistant"}]
    messages[2] = {"role": "tool", "id": CALL_ID, "content": "empty", "error": False, "requestor": "assistant"}
    task = {
        "id": "7",
        "description": {"purpose": canary()},
        "user_scenario": {"instructions": {"task_instructions": canary()}},
        "evaluation_criteria": {"actions": [{"name": canary()}], "nl_assertions": [canary()]},
    }
    simulation = {
        "id": "s",
        "task_id": "7",
        "termination_reason": "user_stop",
        "reward_info": {"reward": 1.0, "action_checks": [{"action": canary()}], "info": {"note": canary()}},
        "review": {"summary": canary()},
        "messages": messages,
    }
    return {"info": {"agent_info": {"llm": "m"}}, "tasks": [task], "simulations": [simulation]}


def inspect(canary: Callable[[], str]) -> Any:
    said = [{"id": f"m{n}", **message} for n, message in enumerate(_chat())]
    said[1] = {**said[1], "tool_calls": [{"id": CALL_ID, "function": "look", "arguments": {"shelf": "B"}}]}
    grader = {
        "event": "model",
        "model": "grader",
        "role": "grader",
        "input": [{"role": "user", "content": canary()}],
        "output": {"model": "grader", "choices": [{"message": {"role": "assistant", "content": canary()}}]},
    }
    sample = {
        "id": "s-1",
        "epoch": 1,
        "input": REQUEST,
        "target": canary(),
        "messages": said,
        "output": {"model": "m", "choices": [], "completion": ANSWER},
        "scores": {"judge": {"value": "C", "answer": canary(), "explanation": canary()}},
        "metadata": {"expected": canary()},
        "events": [
            {"event": "sample_init", "sample": {"input": REQUEST, "target": canary()}},
            {"event": "span_begin", "id": "g", "type": "scorers", "name": "scorers"},
            {**grader, "span_id": "g"},
            {"event": "score", "span_id": "g", "score": {"value": "C", "explanation": canary()}, "target": canary()},
            {"event": "span_end", "id": "g"},
        ],
    }
    results = {"total_samples": 1, "scores": [{"name": canary()}]}
    return {
        "version": 2,
        "status": "success",
        "eval": {"task": "t", "model": "m", "created": "2026-01-01T00:00:00+00:00"},
        "results": results,
        "samples": [sample],
        "reductions": [{"scorer": canary()}],
    }


def langsmith(canary: Callable[[], str]) -> Any:
    def run(number: int, kind: str, parent: int | None, **more: Any) -> dict[str, Any]:
        return {
            "id": f"r{number}",
            "trace_id": "r1",
            "parent_run_id": None if parent is None else f"r{parent}",
            "run_type": kind,
            "name": kind,
            "start_time": f"2026-01-01T00:00:0{number}+00:00",
            "end_time": f"2026-01-01T00:00:0{number}.5+00:00",
            "dotted_order": ".".join(f"2026010{n}" for n in range(1, number + 1)),
            **more,
        }

    calls = [{"name": "look", "args": {"shelf": "B"}, "id": CALL_ID}]
    said = [
        {"type": "human", "content": REQUEST},
        {"type": "ai", "content": "", "tool_calls": calls},
        {"type": "tool", "content": "empty", "tool_call_id": CALL_ID, "status": "success"},
        {"type": "ai", "content": ANSWER, "tool_calls": []},
    ]
    root = run(
        1,
        "chain",
        None,
        inputs={"messages": said[:1]},
        outputs={"messages": said},
        reference_example_id=canary(),
        feedback_stats={"correctness": {"avg": canary()}},
        reference_outputs={"answer": canary()},
        extra={"metadata": {"ls_example_expected": canary()}},
    )
    return [root]


def langfuse(canary: Callable[[], str]) -> Any:
    def observed(key: str, kind: str, **more: Any) -> dict[str, Any]:
        times = {"startTime": f"2026-01-01T00:00:0{key[1]}Z", "endTime": f"2026-01-01T00:00:0{key[1]}.5Z"}
        return {"id": key, "traceId": "t", "parentObservationId": None, "type": kind, "name": key, **times, **more}

    trace = {
        "id": "t",
        "name": "agent",
        "timestamp": "2026-01-01T00:00:00Z",
        "input": REQUEST,
        "output": ANSWER,
        "metadata": {"expected": canary()},
        "scores": [{"name": "quality", **_grade(canary)}],
    }
    call = {"id": CALL_ID, "type": "function", "function": {"name": "look", "arguments": '{"shelf": "B"}'}}
    seen = [
        observed(
            "o1",
            "GENERATION",
            input=_chat()[:1],
            output={"role": "assistant", "content": None, "tool_calls": [call]},
            metadata={"expectedOutput": canary()},
        ),
        observed("o2", "TOOL", name="look", input={"shelf": "B"}, output="empty"),
        observed("o3", "GENERATION", input=_chat()[:3], output={"role": "assistant", "content": ANSWER}),
        observed("o4", "EVALUATOR", input=canary(), output={"score": canary()}),
    ]
    return {"trace": trace, "observations": seen, "scores": [{"traceId": "t", **_grade(canary)}]}


def openinference(canary: Callable[[], str]) -> Any:
    def span(number: int, kind: str, parent: int | None, **attributes: Any) -> dict[str, Any]:
        return {
            "id": f"x{number}",
            "name": kind.lower(),
            "context": {"trace_id": "a" * 32, "span_id": f"{number:016}"},
            "span_kind": kind,
            "parent_id": None if parent is None else f"{parent:016}",
            "start_time": f"2026-01-01T00:00:0{number}+00:00",
            "end_time": f"2026-01-01T00:00:0{number}.5+00:00",
            "status_code": "OK",
            "attributes": {name.replace("__", "."): value for name, value in attributes.items()},
            "events": [],
        }

    asked = {"llm__input_messages__0__message__role": "user", "llm__input_messages__0__message__content": REQUEST}
    said = {"llm__output_messages__0__message__role": "assistant"}
    call = "llm__output_messages__0__message__tool_calls__0__tool_call__"
    called = {
        f"{call}id": CALL_ID,
        f"{call}function__name": "look",
        f"{call}function__arguments": '{"shelf": "B"}',
    }
    judged = {"llm__output_messages__0__message__content": canary(), **said}
    return [
        span(1, "AGENT", None, input__value=REQUEST, output__value=ANSWER, metadata=json.dumps({"gold": canary()}))
        | {"annotations": [{"name": "correct", "result": {"label": canary(), "explanation": canary()}}]},
        span(2, "LLM", 1, **asked, **said, **called),
        span(3, "TOOL", 1, tool__name="look", tool__id=CALL_ID, input__value='{"shelf": "B"}', output__value="empty"),
        span(4, "LLM", 1, **asked, **said, llm__output_messages__0__message__content=ANSWER),
        span(5, "EVALUATOR", 1, input__value=canary(), output__value=canary(), eval__explanation=canary()),
        span(6, "LLM", 5, llm__input_messages__0__message__content=canary(), **judged),
    ]


def genai(canary: Callable[[], str]) -> Any:
    def span(number: int, operation: str, parent: int | None, **more: Any) -> dict[str, Any]:
        return {
            "name": operation,
            "context": {"trace_id": f"0x{'b' * 32}", "span_id": f"0x{number:016}"},
            "parent_id": None if parent is None else f"0x{parent:016}",
            "start_time": f"2026-01-01T00:00:0{number}.000000Z",
            "end_time": f"2026-01-01T00:00:0{number}.500000Z",
            "status": {"status_code": "UNSET"},
            "kind": "SpanKind.CLIENT",
            "attributes": {"gen_ai.operation.name": operation, **{f"gen_ai.{k}": v for k, v in more.items()}},
            "events": [],
        }

    asked = json.dumps([{"role": "user", "parts": [{"type": "text", "content": REQUEST}]}])
    call = {"type": "tool_call", "id": CALL_ID, "name": "look", "arguments": {"shelf": "B"}}
    called = json.dumps([{"role": "assistant", "parts": [call]}])
    said = json.dumps([{"role": "assistant", "parts": [{"type": "text", "content": ANSWER}]}])
    result = {
        "name": "gen_ai.evaluation.result",
        "timestamp": "2026-01-01T00:00:09.000000Z",
        "attributes": {"gen_ai.evaluation.name": canary(), "gen_ai.evaluation.explanation": canary()},
    }
    return [
        span(1, "invoke_agent", None, **{"agent.name": "a", "evaluation.score.label": canary()}) | {"events": [result]},
        span(2, "chat", 1, **{"input.messages": asked, "output.messages": called}),
        span(3, "execute_tool", 1, **{"tool.name": "look", "tool.call.id": CALL_ID, "tool.call.result": "empty"}),
        span(4, "chat", 1, **{"input.messages": asked, "output.messages": said}),
    ]


def batch(canary: Callable[[], str]) -> Any:
    body = {
        "object": "chat.completion",
        "model": "m",
        "choices": [{"message": {"role": "assistant", "content": ANSWER}, "finish_reason": "stop"}],
        "metadata": {"expected": canary()},
    }
    response = {"status_code": 200, "request_id": "q", "body": body}
    return {"id": "b", "custom_id": "r", "response": response, "error": None, "expected": canary(), "score": canary()}


def a2a(canary: Callable[[], str]) -> Any:
    said = [
        {"messageId": "m1", "role": "ROLE_USER", "parts": [{"text": REQUEST}], "metadata": {"expected": canary()}},
        {"messageId": "m2", "role": "ROLE_AGENT", "parts": [{"text": ANSWER, "metadata": {"score": canary()}}]},
    ]
    status = {"state": "TASK_STATE_COMPLETED"}
    return {"id": "t", "contextId": "c", "status": status, "history": said, "metadata": {"reward": canary()}}


def responses(canary: Callable[[], str]) -> Any:
    items = [
        {"type": "message", "role": "user", "content": REQUEST},
        {"type": "function_call", "call_id": CALL_ID, "name": "look", "arguments": '{"shelf": "B"}'},
        {"type": "function_call_output", "call_id": CALL_ID, "output": "empty"},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": ANSWER}]},
    ]
    return {"object": "list", "data": items, "expected": canary(), "metadata": {"gold": canary()}}


def anthropic(canary: Callable[[], str]) -> Any:
    said = [
        {"role": "user", "content": REQUEST},
        {"role": "assistant", "content": [{"type": "tool_use", "id": CALL_ID, "name": "look", "input": {"s": "B"}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": CALL_ID, "content": "empty"}]},
        {"role": "assistant", "content": [{"type": "text", "text": ANSWER}]},
    ]
    return {"system": "policy", "messages": said, "expected": canary(), "metadata": {"gold": canary()}}


FORMATS: dict[str, Make] = {
    make.__name__: make
    for make in (
        chat_row, promptfoo, tau, tau2, inspect, langsmith, langfuse, openinference, genai, batch, a2a, responses,
        anthropic,
    )
}  # fmt: skip
