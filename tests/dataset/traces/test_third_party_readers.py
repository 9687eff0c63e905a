"""Readers of other packages: found when installed, named when broken."""

from __future__ import annotations

import json
import sys
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from agentanvil.dataset.traces import Trace, TraceError, is_trace_file, iter_traces, read_trace
from agentanvil.dataset.traces.readers import GROUP, load_reader, third_party

MODULE = """
from agentanvil.dataset.traces import Trace

class Reader:
    def claims(self, value):
        if value.get("diary") == "crash":
            raise KeyError("oops")
        return "diary" in value

    def read(self, value):
        return [Trace(final_answer=entry) if isinstance(entry, str) else entry for entry in value["diary"]]

class Half:
    def claims(self, value):
        return True

made = Reader()
"""


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """A package on the path whose metadata names these entry points."""
    (tmp_path / "diaries.py").write_text(MODULE, encoding="utf-8")
    metadata = tmp_path / "diaries-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: diaries\nVersion: 1.0\n", encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    third_party.cache_clear()

    def install(*targets):
        points = "\n".join(f"reader{number} = {target}" for number, target in enumerate(targets))
        (metadata / "entry_points.txt").write_text(f"[{GROUP}]\n{points}\n", encoding="utf-8")

    yield install
    third_party.cache_clear()
    sys.modules.pop("diaries", None)


@pytest.mark.parametrize("target", ["diaries:Reader", "diaries:made"])
def test_an_installed_reader_reads_values_and_files(installed, tmp_path, target):
    installed(target)
    assert read_trace({"diary": ["Dear"]}) == Trace(final_answer="Dear")
    assert read_trace({"other": 1}) is None
    path = tmp_path / "a.jsonl"
    path.write_text("\n".join(json.dumps({"diary": entries}) for entries in (["A", "B"], ["C"])), encoding="utf-8")
    assert is_trace_file(path)
    assert [record.trace.final_answer for record in iter_traces(path)] == ["A", "B", "C"]


def test_a_known_format_is_never_taken_over(installed):
    installed("diaries:Half")
    marked = read_trace({"object": "response", "output": [], "diary": []})
    assert marked is not None


@pytest.mark.parametrize("target", ["nowhere:Reader", "diaries:Missing", "diaries:Half"])
def test_an_entry_point_that_cannot_be_loaded_is_named(installed, target):
    installed(target)
    with pytest.raises(TraceError) as raised:
        read_trace({"diary": []})
    assert raised.value.code == "broken_reader"
    assert "reader0" in str(raised.value)


@pytest.mark.parametrize("value", [{"diary": "crash"}, {"diary": [7]}, {"diary": 7}])
def test_a_reader_that_fails_is_named(installed, value):
    installed("diaries:Reader")
    with pytest.raises(TraceError) as raised:
        read_trace(value)
    assert raised.value.code == "broken_reader"


def test_a_reader_is_an_object_or_a_class():
    with pytest.raises(TraceError, match="no methods"):
        load_reader(EntryPoint("x", "json:dumps", GROUP))


def test_the_reader_of_the_page_works(installed, tmp_path):
    page = Path(__file__).parents[3].joinpath("docs", "traces.md").read_text(encoding="utf-8")
    (tmp_path / "diaries.py").write_text(page.partition("```python\n")[2].partition("```")[0], encoding="utf-8")
    installed("diaries:Reader")
    trace = read_trace({"format": "diary/1", "q": "who", "found": "me", "answer": "I"})
    assert trace is not None
    assert (trace.request, trace.final_answer, trace.calls[0].args) == ("who", "I", {"q": "who"})
