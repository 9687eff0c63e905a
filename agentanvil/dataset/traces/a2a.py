"""A2A: a task, alone or as the result of a JSON-RPC call, with the updates of a stream folded in."""

from __future__ import annotations

from collections.abc import Sequence

from agentanvil.dataset.texts import canonical_text
from agentanvil.dataset.traces.build import build_trace, with_warnings
from agentanvil.dataset.traces.content import media
from agentanvil.dataset.traces.events import Event, Facts, Said
from agentanvil.dataset.traces.record import Trace
from agentanvil.strict_json import JsonValue

Task = dict[str, JsonValue]

_FAILED = frozenset({"failed", "rejected", "canceled", "auth_required"})
_STATES = frozenset({"completed", "unknown", "unspecified", "submitted", "working", "input_required", *_FAILED})
_OPEN = frozenset({"submitted", "working", "input_required", "auth_required"})


def task_of(value: JsonValue) -> Task | None:
    """Return the task, or the update of one, that `value` is or carries; None where it is neither."""
    if not isinstance(value, dict):
        return None
    found = value.get("result") if "jsonrpc" in value else value
    for key in ("task", "statusUpdate", "artifactUpdate"):
        if isinstance(found, dict) and isinstance(inner := found.get(key), dict):
            found = inner
    if not isinstance(found, dict):
        return None
    is_part = found.get("kind") in ("task", "status-update", "artifact-update") or isinstance(
        found.get("artifact"), dict
    )
    status = found.get("status")
    has_state = isinstance(status, dict) and _state(status) in _STATES
    return found if (is_part and ("taskId" in found or "id" in found)) or (has_state and _is_named(found)) else None


def is_answer(value: Task) -> bool:
    """Say whether `value` is a JSON-RPC answer that carries a task."""
    return "jsonrpc" in value and is_task(value)


def is_task(value: Task) -> bool:
    """Say whether `value` is a task, or an update of one."""
    return task_of(value) is not None


def key_of(value: Task) -> str:
    """Return the id of the task that `value` is, carries or updates."""
    task = task_of(value)
    return "" if task is None else task_id(task)


def join(_: str, values: Sequence[Task], notes: set[str]) -> list[Trace]:
    """Return the trace of one task from every value that tells of it, in order."""
    tasks = [task for value in values if (task := task_of(value)) is not None]
    return with_warnings(read_task(tasks), notes)


def task_id(task: Task) -> str:
    """Return the id of the task that `task` is, or is an update of."""
    found = task.get("taskId") or task.get("id")
    return found if isinstance(found, str) else ""


def read_task(parts: Sequence[Task]) -> list[Trace]:
    """Return the trace of one task from its record and its updates, in order."""
    history: dict[str, Task] = {}
    artifacts: dict[str, list[JsonValue]] = {}
    status: Task = {}
    for part in parts:
        for message in _objects(part.get("history")):
            history.setdefault(_key(message, "messageId", len(history)), message)
        for artifact in _objects(part.get("artifacts")):
            artifacts[_key(artifact, "artifactId", len(artifacts))] = _list(artifact.get("parts"))
        if isinstance(made := part.get("artifact"), dict):
            kept = artifacts.setdefault(_key(made, "artifactId", len(artifacts)), [])
            if part.get("append") is not True:
                kept.clear()
            kept.extend(_list(made.get("parts")))
        if isinstance(found := part.get("status"), dict):
            status = found
            if isinstance(last := status.get("message"), dict):
                history.setdefault(_key(last, "messageId", len(history)), last)
    facts = Facts(id=next((name for part in parts if (name := task_id(part))), None))
    return [_told(list(history.values()), artifacts, status, facts)]


def _told(messages: Sequence[Task], artifacts: dict[str, list[JsonValue]], status: Task, facts: Facts) -> Trace:
    notes = facts.warnings
    events: list[Event] = []
    for message in messages:
        role = f"{message.get('role')}".lower().removeprefix("role_")
        text = "\n".join(_part(part, notes) for part in _list(message.get("parts")))
        if role in ("user", "agent") and text:
            events.append(Said("user" if role == "user" else "assistant", text))
    made = "\n".join(_part(part, notes) for parts in artifacts.values() for part in parts)
    if made:
        events.append(Said("assistant", made))
    state = _state(status)
    facts.error = state if state in _FAILED else None
    if state == "input_required":
        notes.add("input_required")
    if state in _OPEN:
        notes.add("unfinished")
    return build_trace(events, facts)


def _part(part: JsonValue, notes: set[str]) -> str:
    """One part: its content is under the key that names its kind, in every version of the protocol."""
    if not isinstance(part, dict):
        return canonical_text(part)
    if isinstance(text := part.get("text"), str):
        return text
    if "data" in part:
        return canonical_text(part["data"])
    return media(part, "", notes)


def _state(status: Task) -> str:
    """The state without its version's spelling: `TASK_STATE_INPUT_REQUIRED` and `input-required` are the same."""
    return f"{status.get('state')}".lower().removeprefix("task_state_").replace("-", "_")


def _is_named(value: Task) -> bool:
    return any(key in value for key in ("id", "contextId", "taskId", "artifacts", "history"))


def _key(value: Task, name: str, number: int) -> str:
    found = value.get(name)
    return found if isinstance(found, str) and found else f"#{number}"


def _objects(value: JsonValue) -> list[Task]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def _list(value: JsonValue) -> list[JsonValue]:
    return value if isinstance(value, list) else []
