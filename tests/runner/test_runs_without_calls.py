"""An agent that called no tool is judged by the same checks as one that did."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.fakes.runs import Runs, read_table
from tests.fakes.verdicts import write_rows

RUBRIC = """\
version: 1
id: agent
scale: {min: 0, max: 1}
dimensions:
  - {id: looks_up, check: {type: must_call, tool: status}}
  - {id: few_calls, check: {type: max_calls, limit: 2}}
"""
CHAT = [{"role": "user", "content": "Is flight 12 on time?"}, {"role": "assistant", "content": "I cannot tell."}]


def test_an_agent_that_called_nothing_fails_what_it_must_call(tmp_path: Path) -> None:
    runs = Runs(tmp_path, "compat:m@http://127.0.0.1:1/v1", {"id": "a", "request": "q", "response": CHAT})
    runs.rubric.write_text(RUBRIC, encoding="utf-8")
    runs.grade()
    cells = {cell["dimension"]: (cell["state"], cell["score"]) for cell in read_table(runs.out, "scores.csv")}
    assert cells == {"looks_up": ("scored", "0"), "few_calls": ("scored", "1")}


@pytest.mark.parametrize("side", ["response_a", "response_b"])
def test_so_does_either_side_of_a_pair(tmp_path: Path, side: str) -> None:
    other = "response_b" if side == "response_a" else "response_a"
    call = {"id": "c", "type": "function", "function": {"name": "status", "arguments": "{}"}}
    called = [CHAT[0], {"role": "assistant", "tool_calls": [call]}, CHAT[1]]
    runs = Runs(tmp_path, "compat:m@http://127.0.0.1:1/v1", {"id": "a", "request": "q", side: CHAT, other: called})
    runs.rubric.write_text(RUBRIC, encoding="utf-8")
    runs.grade(mode="pairwise", order="fixed")
    (cell,) = [cell for cell in read_table(runs.out, "scores.csv") if cell["dimension"] == "looks_up"]
    assert (cell["state"], cell["score"]) == ("scored", "-1" if side == "response_a" else "1")


def test_so_do_the_joined_files_of_two_systems(tmp_path: Path) -> None:
    runs = Runs(tmp_path, "compat:m@http://127.0.0.1:1/v1", {"id": "a", "request": "q", "response": CHAT})
    folder = tmp_path / "other"
    folder.mkdir()
    other = write_rows(folder, {"id": "a", "request": "q", "response": [*CHAT, *CHAT]})
    runs.rubric.write_text(RUBRIC, encoding="utf-8")
    runs.grade(mode="pairwise", order="fixed", vs=(str(other),))
    states = {cell["dimension"]: (cell["state"], cell["score"]) for cell in read_table(runs.out, "scores.csv")}
    assert states == {"looks_up": ("scored", "0"), "few_calls": ("scored", "0")}
