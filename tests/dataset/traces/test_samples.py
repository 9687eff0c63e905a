"""Every sample, good and awkward, reads to exactly what its expected.json says."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from agentanvil.dataset.traces import is_trace_file, iter_traces, read_trace
from tests.fakes.trace_dicts import plain_trace

SAMPLES = Path(__file__).parent / "samples"
CASES = [
    pytest.param(folder / name, expected["traces"], id=f"{folder.name}-{name}")
    for folder in sorted(SAMPLES.iterdir())
    for name, expected in json.loads((folder / "expected.json").read_text(encoding="utf-8")).items()
]
WHOLE = [case for case in CASES if case.values[0].suffix == ".json" and len(case.values[1]) == 1]


def test_there_are_all_samples():
    assert len(CASES) == 30


@pytest.mark.parametrize(("path", "expected"), CASES)
def test_a_file_reads_as_expected(path, expected):
    assert is_trace_file(path)
    assert [plain_trace(record.trace) for record in iter_traces(path) if record.trace is not None] == expected


@pytest.mark.parametrize(("path", "expected"), WHOLE)
def test_a_value_reads_like_the_file(path, expected):
    trace = read_trace(json.loads(path.read_text(encoding="utf-8")))
    assert trace is not None
    assert [plain_trace(trace)] == expected


def test_verdicts_in_the_file_are_named_and_nowhere_in_the_trace():
    hidden: dict[str, set[str]] = {}
    for path, _ in (case.values for case in CASES):
        for record in iter_traces(path):
            hidden.setdefault(path.parent.name, set()).update(record.hidden)
    assert hidden["tau_bench"] == {"reward", "reward_info"}
    assert hidden["promptfoo"] == {"assert", "gradingResult", "score"}
    assert hidden["inspect_eval"] == {"scores", "target"}
    assert hidden["langfuse"] == {"evaluator"}
    shown = json.dumps(
        [plain_trace(record.trace) for case in CASES for record in iter_traces(case.values[0]) if record.trace]
    )
    for secret in ("You are in a hurry", "All assertions passed", "17 and 20", "GRADE: I", "reserves the slot"):
        assert secret not in shown
