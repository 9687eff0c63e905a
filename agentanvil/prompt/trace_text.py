"""An agent's run → text with numbered steps that evidence can point to.

Plan first, then the steps, the final answer last. Nothing in a value can pass for a heading: headings stand in more
brackets than anything like one in the values, or carry a token that is in none of them. What is long is cut in the
middle, and says so. Tokens, times and costs are not shown.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import accumulate

from agentanvil.dataset.texts import canonical_text, heading_marks
from agentanvil.dataset.traces import ToolStep, Trace, TurnStep

RESULT_CHARS = 4_000
"""What one tool result, or the arguments of one call, may take up: about a page."""
TRACE_CHARS = 60_000
"""What one run may take up: about 15,000 tokens, which every judge but the smallest can read."""

FINAL_ANSWER = "final answer"
PLAN = "plan"
ENDED = "ended early"

# However long a run is, a value that is shown at all says this much.
_LEAST_CHARS = 80
_NAME_CHARS = 120
_TURNS = {"assistant": "agent says", "user": "user says", "thought": "agent thinks"}
# The text comes from anybody: no bracket is looked at twice, however many stand in a row.
_HEADING_LIKE = re.compile(r"(?<!\[)(\[++)\s*+(?:steps?\b|plan\b|final\b|ended\b|…)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class TraceText:
    """A run as the judge reads it: how many steps it had, and the other places that it shows by name."""

    text: str
    steps: int
    places: frozenset[str]


@dataclass(frozen=True, slots=True)
class _Value:
    """A text that may be cut. `label` begins its line; `most` is what it may take up in any run."""

    text: str
    label: str = ""
    most: int | None = None

    @property
    def size(self) -> int:
        return len(self.text) if self.most is None else min(len(self.text), self.most)


@dataclass(frozen=True, slots=True)
class _Part:
    """A heading and what stands under it. `step` is 0 for what is no step."""

    heading: str
    values: tuple[_Value, ...]
    step: int = 0

    @property
    def frame(self) -> int:
        """The characters beside the values, brackets and line ends included."""
        return len(self.heading) + 8 + sum(len(value.label) + 1 for value in self.values)

    @property
    def least(self) -> int:
        return self.frame + sum(min(value.size, _LEAST_CHARS) for value in self.values)


def trace_text(trace: Trace, result_chars: int = RESULT_CHARS, trace_chars: int = TRACE_CHARS) -> TraceText:
    """Return the run as text of `trace_chars` characters, or a little more, no tool result over `result_chars`.

    Where a run is longer, its longest values are cut to one common length; where it has more steps than fit even so,
    those in the middle are left out under a heading that tells which.
    """
    parts = tuple(_parts(trace, result_chars))
    texts = [value.text for part in parts for value in part.values]
    marks = heading_marks(max(map(_forged_depth, texts)), texts)
    head, tail = _ends(parts, trace_chars)
    kept = (*head, *tail)
    sizes = [value.size for part in kept for value in part.values]
    limit = _common_limit(sizes, trace_chars - sum(part.frame for part in kept))
    shown = [_written(part, limit, marks) for part in kept]
    left_out = parts[len(head) : len(parts) - len(tail)]
    if left_out:
        shown.insert(len(head), _bracketed(f"… steps {left_out[0].step} to {left_out[-1].step} left out …", marks))
    return TraceText("\n\n".join(shown), len(trace.steps), frozenset(p.heading for p in parts if not p.step))


def _parts(trace: Trace, result_chars: int) -> Iterator[_Part]:
    if trace.plan is not None:
        yield _Part(PLAN, (_Value(trace.plan),))
    for number, step in enumerate(trace.steps, start=1):
        yield _tool_part(number, step, result_chars) if isinstance(step, ToolStep) else _turn_part(number, step)
    if trace.error is not None:
        yield _Part(ENDED, (_Value(trace.error),))
    yield _Part(FINAL_ANSWER, (_Value("(none)" if trace.final_answer is None else trace.final_answer),))


def _turn_part(number: int, step: TurnStep) -> _Part:
    return _Part(f"step {number}: {_TURNS[step.kind]}", (_Value(step.text),), number)


def _tool_part(number: int, step: ToolStep, most: int) -> _Part:
    """Every line but the last is one line whatever it holds, so that no value can pass for the line after it."""
    kind = "hosted tool call" if step.hosted else "tool call"
    failed = ", failed" if step.error else ""
    agent = () if step.agent is None else (_Value(_name(step.agent), "agent: "),)
    values = (_Value(_name(step.tool), "tool: "), *agent, _arguments(step, most), _result(step, most))
    return _Part(f"step {number}: {kind}{failed}", values, number)


def _arguments(step: ToolStep, most: int) -> _Value:
    if step.args_raw is not None:
        return _Value(json.dumps(step.args_raw, ensure_ascii=False), "arguments, not valid JSON: ", most)
    if step.args is None:
        return _Value(_absent(step), "arguments: ")
    return _Value(canonical_text(step.args), "arguments: ", most)


def _result(step: ToolStep, most: int) -> _Value:
    if step.result is None:
        return _Value(_absent(step), "result: ")
    text = step.result if isinstance(step.result, str) else canonical_text(step.result)
    return _Value(text, "result: ", most)


def _absent(step: ToolStep) -> str:
    return "(redacted)" if step.redacted else "(not recorded)"


def _name(text: str) -> str:
    return " ".join(text.split())[:_NAME_CHARS]


def _ends(parts: tuple[_Part, ...], room: int) -> tuple[tuple[_Part, ...], tuple[_Part, ...]]:
    """Return the parts that fit before and after a gap between steps; where all fit there is none."""
    costs = [part.least for part in parts]
    if sum(costs) <= room:
        return parts, ()
    numbered = [index for index, part in enumerate(parts) if part.step]
    first, last = (numbered[0], numbered[-1] + 1) if numbered else (len(parts), len(parts))
    half = (room - sum(costs[:first]) - sum(costs[last:])) // 2
    steps = costs[first:last]
    before = _fitting(steps, half)
    after = min(_fitting(steps[::-1], half), len(steps) - before)
    return parts[: first + before], parts[last - after :]


def _fitting(costs: list[int], room: int) -> int:
    return sum(1 for total in accumulate(costs) if total <= room)


def _common_limit(sizes: Iterable[int], room: int) -> int:
    """Return the length at which values must be cut so that all fit, never less than is worth showing."""
    ascending = sorted(sizes)
    for index, size in enumerate(ascending):
        share = room // (len(ascending) - index)
        if size > share:
            return max(share, _LEAST_CHARS)
        room -= size
    return max(ascending, default=_LEAST_CHARS)


def _written(part: _Part, limit: int, marks: tuple[str, str]) -> str:
    lines = (
        value.label + _cut(value.text, limit if value.most is None else min(limit, value.most), marks)
        for value in part.values
    )
    return "\n".join((_bracketed(part.heading, marks), *lines))


def _cut(text: str, limit: int, marks: tuple[str, str]) -> str:
    """Return the text with its middle left out where it is longer than `limit`, the gap's own words not counted."""
    if len(text) <= limit:
        return text
    head = (limit + 1) // 2
    tail = limit - head
    gap = _bracketed(f"… {len(text) - limit:,} characters left out …", marks)
    return f"{text[:head]} {gap} {text[len(text) - tail :]}"


def _bracketed(words: str, marks: tuple[str, str]) -> str:
    return f"{marks[0]}{words}{marks[1]}"


def _forged_depth(text: str) -> int:
    return max((len(found[1]) for found in _HEADING_LIKE.finditer(text)), default=0)
