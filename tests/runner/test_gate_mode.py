"""Whole runs in gate mode: what fails, how it is told, and what a baseline forgives."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from agentanvil.errors import RunFolderError, UsageError
from tests.fakes.runs import Collected, Runs, asked_about, read_table, rows
from tests.fakes.server import Answer, FakeServer, Recorded, chat
from tests.fakes.verdicts import graded

RUBRIC = """\
version: 1
id: release
mode: gate
scale: {min: 1, max: 5}
dimensions:
  - id: accuracy
    question: Is each claim true?
    anchors: {5: no error, 3: exactly one error, 1: two or more errors}
  - id: coverage
    question: Is each part answered?
    anchors: {5: no part is missing, 3: exactly one part is missing, 1: two or more parts are missing}
  - {id: short, check: {type: max_words, limit: 40}}
gate: {accuracy: 5, coverage: 3}
"""


def judge(*failing: tuple[str, str]) -> Any:
    """Let the named (number of the item, dimension) fail."""

    def answer(request: Recorded) -> Answer:
        number = asked_about(request)
        verdict = {
            name: {"evidence": ["It is the number"], "reason": "as it says", "pass": (number, name) not in failing}
            for name in ("accuracy", "coverage")
        }
        return chat(json.dumps(verdict))

    return answer


def runs_of(folder: Path, server: FakeServer, *data: dict[str, Any]) -> Runs:
    runs = Runs(folder, server, *data)
    runs.rubric = folder / "release.yaml"
    runs.rubric.write_text(RUBRIC, encoding="utf-8")
    return runs


def test_all_true_passes_and_any_false_fails_with_item_dimension_and_evidence(tmp_path: Path) -> None:
    with FakeServer(judge()) as server:
        assert int(runs_of(tmp_path, server).grade().exit) == 0
    with FakeServer(judge(("1", "coverage"))) as server:
        listener = Collected()
        runs = runs_of(tmp_path, server)
        result = runs.grade(listener, out=tmp_path / "failed")
    assert int(result.exit) == 1
    assert listener.failures == ["item-1 · coverage: false — “It is the number” (as it says)"]
    items = read_table(tmp_path / "failed", "items.csv")
    assert [(item["pass"], item["accuracy"], item["coverage"], item["short"]) for item in items] == [
        ("true", "1", "1", "1"),
        ("false", "1", "0", "1"),
        ("true", "1", "1", "1"),
    ]
    suite = ET.parse(tmp_path / "failed" / "junit.xml").getroot()
    (failure,) = suite.iter("failure")
    assert "coverage" in (failure.text or "")
    assert "It is the number" in (failure.text or "")


def test_a_check_fails_the_gate_too(tmp_path: Path) -> None:
    long = {"id": "long", "request": "What is 0 + 0?", "response": "It is the number 0. " + "word " * 60}
    with FakeServer(judge()) as server:
        listener = Collected()
        result = runs_of(tmp_path, server, *rows(2), long).grade(listener)
    assert int(result.exit) == 1
    (line,) = listener.failures
    assert line.startswith("long · short: false")


def test_only_what_got_worse_fails_beside_a_baseline(tmp_path: Path) -> None:
    with FakeServer(judge(("0", "accuracy"), ("1", "coverage"))) as server:
        assert int(runs_of(tmp_path, server).grade(out=tmp_path / "before").exit) == 1
    with FakeServer(judge(("0", "accuracy"))) as server:
        listener = Collected()
        runs = runs_of(tmp_path, server)
        better = runs.grade(listener, out=tmp_path / "winner", baseline=tmp_path / "before")
        assert (int(better.exit), listener.failures) == (0, [])
    with FakeServer(judge(("0", "accuracy"), ("2", "coverage"))) as server:
        listener = Collected()
        worse = runs_of(tmp_path, server).grade(listener, out=tmp_path / "worse", baseline=tmp_path / "before")
    assert int(worse.exit) == 1
    assert [line.split(":")[0] for line in listener.failures] == ["item-2 · coverage"]


def test_a_baseline_that_is_none_costs_nothing(tmp_path: Path) -> None:
    with FakeServer(judge()) as server:
        runs = runs_of(tmp_path, server)
        with pytest.raises(RunFolderError):
            runs.grade(baseline=tmp_path / "nowhere")
        runs.rubric = Runs(tmp_path, server).rubric
        with pytest.raises(UsageError, match="nothing can fail"):
            runs.grade(baseline=tmp_path / "nowhere")
        assert not server.requests
    assert not runs.out.exists()


def test_one_contract_is_asked_in_another_mode_by_the_flag(tmp_path: Path) -> None:
    with FakeServer(graded) as server:
        runs = runs_of(tmp_path, server)
        absolute = runs.grade(mode="absolute", out=tmp_path / "absolute")
        gate = runs.grade(out=tmp_path / "gate")
        sizes = [len(request.body) for request in server.requests]
    assert absolute.summary.dimensions[0].mean.value == 4.0
    assert gate.summary.dimensions[0].mean.value == 1.0
    assert max(sizes[3:]) < min(sizes[:3])


def test_grades_of_people_count_as_passed_from_the_threshold_on(tmp_path: Path) -> None:
    graded_rows = [
        {**row, "labels": {"accuracy": label, "coverage": 3}} for row, label in zip(rows(3), (5, 4, True), strict=True)
    ]
    with FakeServer(judge()) as server:
        result = runs_of(tmp_path, server, *graded_rows).grade()
    accuracy, coverage, _ = result.summary.dimensions
    assert accuracy.agreement is not None
    assert accuracy.agreement.exact.value == pytest.approx(2 / 3)
    assert coverage.agreement is not None
    assert coverage.agreement.exact.value == 1.0


def test_a_run_does_not_forgive_itself(tmp_path: Path) -> None:
    with FakeServer(judge(("1", "coverage"))) as server:
        runs = runs_of(tmp_path, server)
        assert int(runs.grade().exit) == 1
        (tmp_path / "link").symlink_to(runs.out)
        for own in (runs.out, runs.out / ".." / "run", tmp_path / "link"):
            with pytest.raises(UsageError, match="own folder"):
                runs.grade(baseline=own)
