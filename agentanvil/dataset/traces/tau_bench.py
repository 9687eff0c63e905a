"""tau-bench: a list of runs, each a chat between an agent, its tools and a simulated user."""

from __future__ import annotations

import re

from agentanvil.dataset.traces.build import build_trace
from agentanvil.dataset.traces.events import Event, Facts, Said
from agentanvil.dataset.traces.openai_chat import chat_events
from agentanvil.dataset.traces.record import Trace
from agentanvil.strict_json import JsonValue

Run = dict[str, JsonValue]

_CONTROL = re.compile(r"###[A-Z][A-Z_-]*###")


def is_tau_run(value: JsonValue) -> bool:
    """Say whether `value` is one run of the benchmark."""
    return isinstance(value, dict) and isinstance(value.get("traj"), list) and "task_id" in value


def read_tau(run: Run) -> list[Trace]:
    """Return the trace of one run. The environment marks a failed call by a text that begins with `Error`."""
    facts = Facts(id=run_id(run))
    messages, info = run.get("traj"), run.get("info")
    listed = messages if isinstance(messages, list) else []
    events = chat_events(listed, facts.warnings, lambda text: text.startswith("Error"))
    fault = info.get("error") if isinstance(info, dict) else None
    facts.error = fault if isinstance(fault, str) else None
    return [build_trace(without_control(events), facts)]


def run_id(run: Run) -> str | None:
    """Return `task#trial`, what both versions of the benchmark name a run by."""
    task, trial = run.get("task_id"), run.get("trial")
    return None if task is None else f"{task}#{trial}" if trial is not None else f"{task}"


def without_control(events: list[Event]) -> list[Event]:
    """Return the events without the words, such as ###STOP###, by which the simulated user steers the benchmark."""
    kept: list[Event] = []
    for event in events:
        if isinstance(event, Said) and "###" in event.text:
            text = _CONTROL.sub("", event.text).strip()
            if text:
                kept.append(Said(event.role, text))
        else:
            kept.append(event)
    return kept
