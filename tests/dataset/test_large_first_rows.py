"""A first row beyond the size that is looked at as a whole: rows stay rows, and traces stay traces."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from agentanvil.dataset.traces import is_trace_file

LONG = "x" * (3 << 20)
RUN = [
    {"role": "user", "content": LONG},
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}],
    },
    {"role": "tool", "tool_call_id": "c", "content": "ok"},
]


@pytest.mark.parametrize("rows", [1, 2])
@pytest.mark.parametrize(
    ("row", "traces"),
    [
        pytest.param({"id": "a", "request": LONG, "response": "short"}, False, id="a row"),
        pytest.param({"id": "a", "request": "q", "response": RUN}, False, id="a row that holds a run"),
        pytest.param({"id": "a", "request": "q", "response_a": RUN, "response_b": "b"}, False, id="a pair"),
        pytest.param({"prompt": LONG, "output": "short"}, False, id="somebody's own names"),
        pytest.param({"messages": RUN}, True, id="a chat"),
        pytest.param({"task_id": 1, "trial": 0, "traj": RUN}, True, id="a benchmark's run"),
    ],
)
def test_a_long_first_line_is_told_by_what_it_holds(
    tmp_path: Path, row: dict[str, Any], traces: bool, rows: int
) -> None:
    file = tmp_path / "rows.jsonl"
    file.write_text(f"{json.dumps(row)}\n" * rows, encoding="utf-8")
    assert is_trace_file(file) is traces
