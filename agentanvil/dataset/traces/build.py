"""Events in order → the trace: what was asked, planned, done and answered."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import replace

from agentanvil.dataset.traces.events import Answered, Called, Event, Facts, Said, Thought
from agentanvil.dataset.traces.record import Step, ToolStep, Trace, TurnStep


def build_trace(events: Sequence[Event], facts: Facts) -> Trace:
    """Return the trace of one run.

    The request is the first text of the user. The plan is the one that the log names, else what the agent says in
    the turn of its first call, before it. The answer is the agent's last text with no call after it. What the agent
    says before the user said anything is a greeting and no step.
    """
    notes = facts.warnings
    _pair(events, notes)
    told = [event for event in events if not isinstance(event, Answered)]
    asked = next((at for at, event in enumerate(told) if _is_said(event, "user")), None)
    own = [at for at, event in enumerate(told) if isinstance(event, Called) and event.agent is None]
    planned = _plan_at(told, own[0]) if own and facts.plan is None else []
    answer = _answer_at(told, max(own[-1] if own else -1, -1 if asked is None else asked))
    left_out = {asked, answer, *planned, *_greeting_at(told, asked, own)}
    steps = tuple(_step(event, notes) for at, event in enumerate(told) if at not in left_out and _is_shown(event))
    if asked is None:
        notes.add("no_request")
    if answer is None and told and facts.speaks:
        notes.add("unfinished")
    return Trace(
        id=facts.id,
        request=None if asked is None else _text(told[asked]),
        plan="\n".join(_text(told[at]) for at in planned) or facts.plan,
        steps=steps,
        final_answer=None if answer is None else _text(told[answer]),
        model=facts.model,
        tokens_in=facts.tokens_in,
        tokens_out=facts.tokens_out,
        latency_s=facts.latency_s,
        cost_usd=facts.cost_usd,
        error=facts.error,
        warnings=tuple(sorted(notes)),
    )


def with_warnings(traces: Sequence[Trace], notes: set[str]) -> list[Trace]:
    """Return traces with more warnings."""
    if not notes:
        return list(traces)
    return [replace(trace, warnings=tuple(sorted({*trace.warnings, *notes}))) for trace in traces]


def _pair(events: Sequence[Event], notes: set[str]) -> None:
    """Give every call its result: by id, else by the tool's name; a result may also stand before its call."""
    open_calls: dict[tuple[str, str], deque[Called]] = {}
    early: list[Answered] = []
    for event in events:
        if isinstance(event, Called):
            if event.call_id is not None:
                open_calls.setdefault(("id", event.call_id), deque()).append(event)
            open_calls.setdefault(("tool", event.tool), deque()).append(event)
        elif isinstance(event, Answered) and not _answer(open_calls, event):
            early.append(event)
    for event in early:
        if not _answer(open_calls, event):
            notes.add("orphan_result")


def _answer(open_calls: dict[tuple[str, str], deque[Called]], event: Answered) -> bool:
    key = ("id", event.call_id) if event.call_id is not None else ("tool", event.tool or "")
    queue = open_calls.get(key, deque())
    while queue:
        call = queue.popleft()
        if not call.answered:
            call.answered, call.result = True, event.result
            call.error = event.error if call.error is None else call.error
            return True
    return False


def _plan_at(told: Sequence[Event], first: int) -> list[int]:
    found: list[int] = []
    for at in range(first - 1, -1, -1):
        if isinstance(event := told[at], Said):
            if event.role == "user":
                break
            if event.text:
                found.append(at)
    return found[::-1]


def _answer_at(told: Sequence[Event], after: int) -> int | None:
    for at in range(len(told) - 1, after, -1):
        if isinstance(event := told[at], Said) and event.role == "assistant":
            return at
    return None


def _greeting_at(told: Sequence[Event], asked: int | None, own: Sequence[int]) -> list[int]:
    if asked is None or (own and own[0] < asked):
        return []
    return [at for at in range(asked) if isinstance(event := told[at], Said) and event.role == "assistant"]


def _is_said(event: Event, role: str) -> bool:
    return isinstance(event, Said) and event.role == role and bool(event.text)


def _is_shown(event: Event) -> bool:
    return isinstance(event, Called) or (isinstance(event, Said | Thought) and bool(event.text))


def _text(event: Event) -> str:
    return event.text if isinstance(event, Said | Thought) else ""


def _step(event: Event, notes: set[str]) -> Step:
    if not isinstance(event, Called):
        return TurnStep(event.role if isinstance(event, Said) else "thought", _text(event))
    missing = not (event.answered or event.hosted or event.error is True)
    if missing:
        notes.add("missing_result")
    if event.redacted:
        notes.add("redacted")
    return ToolStep(
        tool=event.tool,
        call_id=event.call_id,
        args=event.args,
        result=event.result,
        error=event.error,
        args_raw=event.args_raw,
        missing_result=missing,
        hosted=event.hosted,
        agent=event.agent,
        redacted=event.redacted,
    )
