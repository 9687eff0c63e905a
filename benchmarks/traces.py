"""Agent traces of fifty steps in three containers, written without being held in memory."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

STEPS = 50
TEXT = "pallet order dock lorry ticket invoice shelf route customs label weight window driver depot"
WORDS = TEXT.split()


def _words(pick: random.Random, count: int) -> str:
    return " ".join(pick.choices(WORDS, k=count))


def _messages(number: int) -> list[dict[str, object]]:
    pick = random.Random(number)
    messages: list[dict[str, object]] = [{"role": "user", "content": f"{number}: {_words(pick, 20)}?"}]
    for step in range(STEPS):
        call = {
            "id": f"call_{step}",
            "type": "function",
            "function": {"name": "look_up", "arguments": json.dumps({"key": _words(pick, 3)})},
        }
        messages.append({"role": "assistant", "content": None, "tool_calls": [call]})
        messages.append({"role": "tool", "tool_call_id": f"call_{step}", "content": _words(pick, 30)})
    messages.append({"role": "assistant", "content": _words(pick, 30)})
    return messages


def rows(count: int) -> Iterator[str]:
    """Yield rows whose response is a chat with tool calls."""
    for number in range(count):
        request = f"request {number}"
        yield json.dumps({"id": f"t{number}", "request": request, "response": _messages(number)}) + "\n"


def tau(count: int) -> Iterator[str]:
    """Yield one JSON array of trajectories."""
    yield "["
    for number in range(count):
        entry = {"task_id": number, "reward": 1.0, "info": {}, "traj": _messages(number), "trial": 0}
        yield ("," if number else "") + json.dumps(entry)
    yield "]"


def spans(count: int) -> Iterator[str]:
    """Yield one OTLP span a line, a hundred traces interleaved with each other."""
    block = 100
    for start in range(0, count, block):
        members = range(start, min(start + block, count))
        for step in range(STEPS + 1):
            for number in members:
                yield json.dumps(_span_line(number, step)) + "\n"


def _span_line(number: int, step: int) -> dict[str, object]:
    pick = random.Random(number * 1000 + step)
    begun = 1_780_000_000_000_000_000 + number * 10**12 + step * 10**9
    span: dict[str, object] = {
        "traceId": f"{number:032x}",
        "spanId": f"{number * 1000 + step + 1:016x}",
        "startTimeUnixNano": str(begun),
        "endTimeUnixNano": str(begun + 10**8),
        "kind": 1,
        "status": {},
    }
    if step == STEPS:
        said = [{"role": "user", "parts": [{"type": "text", "content": f"{number}: {_words(pick, 20)}?"}]}]
        answer = [{"role": "assistant", "parts": [{"type": "text", "content": _words(pick, 30)}]}]
        values = {"gen_ai.input.messages": json.dumps(said), "gen_ai.output.messages": json.dumps(answer)}
        span |= {"name": "chat", "parentSpanId": ""}
        values["gen_ai.operation.name"] = "invoke_agent"
    else:
        span |= {"name": "execute_tool look_up", "parentSpanId": f"{number * 1000 + STEPS + 1:016x}"}
        values = {
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": "look_up",
            "gen_ai.tool.call.id": f"call_{step}",
            "gen_ai.tool.call.arguments": json.dumps({"key": _words(pick, 3)}),
            "gen_ai.tool.call.result": _words(pick, 30),
        }
    span["attributes"] = [{"key": key, "value": {"stringValue": value}} for key, value in values.items()]
    return {"resourceSpans": [{"resource": {}, "scopeSpans": [{"scope": {"name": "bench"}, "spans": [span]}]}]}


SHAPES: Mapping[str, tuple[str, Callable[[int], Iterator[str]]]] = {
    "rows with traces": ("jsonl", rows),
    "a list of trajectories": ("json", tau),
    "interleaved spans": ("jsonl", spans),
}


def write(folder: Path, shape: str, count: int) -> Path:
    """Write `count` traces of one shape and return the file."""
    ending, make = SHAPES[shape]
    path = folder / f"{shape.replace(' ', '-')}-{count}.{ending}"
    if not path.exists():
        with path.open("w", encoding="utf-8") as file:
            file.writelines(make(count))
    return path
