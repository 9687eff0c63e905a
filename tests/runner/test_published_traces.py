"""Real agents' trajectories, graded as any run is: each becomes numbered steps, code decides, no reward is shown."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from agentanvil.runner.exits import Exit
from tests.fakes.published import FOLDER, read_lines
from tests.fakes.runs import Runs, read_table
from tests.fakes.server import FakeServer
from tests.fakes.verdicts import graded

pytestmark = pytest.mark.published

TRAJECTORIES = FOLDER / "tau_airline/trajectories.jsonl"
RUBRIC = """\
version: 1
id: airline
scale: {min: 0, max: 1}
evidence: pinpoint
dimensions:
  - id: care
    question: Does the agent change only what the user asked it to change?
    anchors: {1: each change was asked for, 0: at least one was not}
  - {id: few_calls, check: {type: max_calls, limit: 3}}
  - {id: few_lookups, check: {type: max_calls, limit: 1, tool: get_reservation_details}}
  - {id: looks_up, check: {type: must_call, tool: get_reservation_details}}
  - {id: no_handover, check: {type: must_not_call, tool: transfer_to_human_agents}}
  - {id: looks_then_cancels, check: {type: call_order, tools: [get_reservation_details, cancel_reservation]}}
  - {id: no_failed_call, check: {type: no_error_steps}}
  - id: reservation_ids
    check:
      type: argument_matches
      tool: get_reservation_details
      schema: {properties: {reservation_id: {pattern: "^[A-Z0-9]{6}$"}}, required: [reservation_id]}
"""
Calls = list[tuple[str, dict[str, Any]]]
LOOKUP = "get_reservation_details"


def calls_of(record: Any) -> Calls:
    found = [call["function"] for message in record["messages"] for call in message.get("tool_calls") or ()]
    return [(call["name"], json.loads(call["arguments"])) for call in found]


def names(calls: Calls) -> list[str]:
    return [name for name, _ in calls]


def cancels_after_lookup(calls: Calls) -> bool:
    called = names(calls)
    return LOOKUP in called and "cancel_reservation" in called[called.index(LOOKUP) :]


def ids_are_whole(calls: Calls) -> bool | None:
    asked = [str(arguments.get("reservation_id")) for name, arguments in calls if name == LOOKUP]
    return all(re.fullmatch("[A-Z0-9]{6}", one) for one in asked) if asked else None


DECIDED: dict[str, Callable[[Calls], bool | None]] = {
    "few_calls": lambda calls: len(calls) <= 3,
    "few_lookups": lambda calls: names(calls).count(LOOKUP) <= 1,
    "looks_up": lambda calls: LOOKUP in names(calls),
    "no_handover": lambda calls: "transfer_to_human_agents" not in names(calls),
    "looks_then_cancels": cancels_after_lookup,
    "reservation_ids": ids_are_whole,
}


def as_rows(records: list[Any], path: Path) -> tuple[str, ...]:
    """Our own ids beside the published fields, which `--map` names; reward and actions stay in the rows."""
    rows = [{**record, "id": f"{record['task']}#{record['trial']}"} for record in records]
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    return "request=instruction", "response=messages"


def as_the_benchmark_keeps_them(records: list[Any], path: Path) -> tuple[str, ...]:
    """One array of runs under the benchmark's own names, read as it is; it tells failed calls by their text."""
    runs = [
        {
            "task_id": record["task"],
            "trial": record["trial"],
            "reward": record["reward"],
            "info": {
                "task": {"instruction": record["instruction"], "actions": record["expected_actions"]},
                "reward_info": {"reward": record["reward"], "actions": record["expected_actions"]},
            },
            "traj": record["messages"],
        }
        for record in records
    ]
    path.write_text(json.dumps(runs), encoding="utf-8")
    return ()


@pytest.mark.parametrize(("write", "failed"), [(as_rows, set()), (as_the_benchmark_keeps_them, {"8#1"})])
def test_checks_decide_as_the_messages_say_and_no_reward_is_shown(
    tmp_path: Path, write: Callable[[list[Any], Path], tuple[str, ...]], failed: set[str]
) -> None:
    records = {f"{record['task']}#{record['trial']}": record for record in read_lines("tau_airline/trajectories.jsonl")}
    with FakeServer(lambda request: graded(request, 1)) as server:
        runs = Runs(tmp_path, server)
        runs.rubric.write_text(RUBRIC, encoding="utf-8")
        runs.data = tmp_path / "runs.jsonl"
        mapping = write(list(records.values()), runs.data)
        result = runs.grade(mapping=mapping)
    assert (result.problem, result.exit, result.summary.items) == (None, Exit.OK, 36)

    decided: dict[str, dict[str, bool | None]] = {name: {} for name in (*DECIDED, "care", "no_failed_call")}
    for cell in read_table(runs.out, "scores.csv"):
        assert cell["state"] in {"scored", "not_applicable"}
        decided[cell["dimension"]][cell["id"]] = cell["score"] == "1" if cell["state"] == "scored" else None
    for name, rule in DECIDED.items():
        assert decided[name] == {item: rule(calls_of(record)) for item, record in records.items()}, name
    assert {item for item, passed in decided["no_failed_call"].items() if not passed} == failed

    assert len(server.requests) == 36
    for body in server.bodies:
        text = "\n".join(message["content"] for message in body["messages"])
        assert "[step 1: " in text
        assert "reward" not in text.casefold()
        assert "expected_actions" not in text


def test_hidden_fields_are_told(tmp_path: Path) -> None:
    with FakeServer(graded) as server:
        runs = Runs(tmp_path, server)
        runs.data = TRAJECTORIES
        result = runs.grade(limit=1)
    assert result.problem is None
    (body,) = server.bodies
    assert "reward" not in json.dumps(body).casefold()
    assert result.manifest["data"]["hidden_fields"] == ["expected_actions", "reward"]
