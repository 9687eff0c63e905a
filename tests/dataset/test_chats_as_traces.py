"""When a list of messages is an agent's run: with tool calls always, without them where the run asks for traces."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from agentanvil.dataset import Asked, Row, open_dataset, parse_map

ASKED = {"role": "user", "content": "Is flight 12 on time?"}
SAID = {"role": "assistant", "content": "I cannot tell."}
CALLED = [
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "status", "arguments": '{"flight": 12}'}}],
    },
    {"role": "tool", "tool_call_id": "c1", "content": "on time"},
]


def read(folder: Path, record: dict[str, Any], *maps: str, asked: Asked | None = None) -> Row:
    file = folder / "rows.jsonl"
    file.write_text(json.dumps(record), encoding="utf-8")
    (only,) = open_dataset(file, parse_map(maps), asked).rows()
    return only


@pytest.mark.parametrize(
    ("between", "traces", "calls"),
    [
        pytest.param((), False, None, id="a conversation"),
        pytest.param((), True, [], id="a run without calls"),
        pytest.param(CALLED, False, ["status"], id="a run"),
        pytest.param(CALLED, True, ["status"], id="a run, asked for"),
    ],
)
def test_a_chat_without_calls_is_a_run_where_runs_are_asked_for(
    tmp_path: Path, between: list[Any], traces: bool, calls: list[str] | None
) -> None:
    record = {"id": "a", "request": "q", "response": [ASKED, *between, SAID]}
    row = read(tmp_path, record, asked=Asked(traces=traces))
    found = None if row.trace is None else [call.tool for call in row.trace.calls]
    assert found == calls
    assert "I cannot tell." in row.response


@pytest.mark.parametrize("response", ["I cannot tell.", '{"on_time": null}', {"on_time": None}])
def test_text_and_data_are_no_run_even_then(tmp_path: Path, response: Any) -> None:
    row = read(tmp_path, {"id": "a", "request": "q", "response": response}, asked=Asked(traces=True))
    assert row.trace is None


def test_both_sides_of_a_pair_are_runs_then(tmp_path: Path) -> None:
    record = {"id": "a", "request": "q", "response_a": [ASKED, SAID], "response_b": [ASKED, *CALLED, SAID]}
    row = read(tmp_path, record, asked=Asked(pairs=True, traces=True))
    assert row.rival is not None
    assert row.trace is not None
    assert row.rival.trace is not None
    assert (len(row.trace.calls), len(row.rival.trace.calls)) == (0, 1)


def test_rows_that_are_mapped_are_no_file_of_traces(tmp_path: Path) -> None:
    """As one, the file would give its own requests and ids, and the mapping would do nothing."""
    record = {"n": 7, "task": "Tell the truth.", "messages": [ASKED, *CALLED, SAID]}
    row = read(tmp_path, record, "id=n", "request=task", "response=messages")
    assert (row.id, row.request) == ("7", "Tell the truth.")
    assert row.trace is not None
    assert read(tmp_path, record).id == "trace-1"


@pytest.mark.parametrize("chats", [True, False])
def test_what_stands_beside_the_messages_is_hidden_and_told(tmp_path: Path, chats: bool) -> None:
    chat = {"messages": [{"role": "assistant", "content": "It is 4."}], "metadata": {"gold": "CANARY"}, "score": 1}
    row = read(tmp_path, {"id": "a", "request": "q", "response": chat}, asked=Asked(traces=chats))
    assert row.response == "It is 4."
    assert (row.hidden, row.extra) == (("gold", "score"), {})


def test_an_object_that_is_no_chat_loses_no_key(tmp_path: Path) -> None:
    row = read(tmp_path, {"id": "a", "request": "q", "response": {"action": "click", "target": "#b"}})
    assert (row.response, row.hidden) == ('{"action":"click","target":"#b"}', ())


def test_a_large_run_among_small_ones_is_read(tmp_path: Path) -> None:
    def chat(size: int) -> dict[str, object]:
        said = [{"role": "user", "content": "q"}, {"role": "assistant", "content": "x" * size}]
        return {"messages": said}

    file = tmp_path / "runs.json"
    file.write_text(json.dumps([chat(1), chat(2_000_000), chat(3)]), encoding="utf-8")
    assert [len(row.response) for row in open_dataset(file).rows()] == [1, 2_000_000, 3]
