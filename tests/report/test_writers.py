from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import orjson
import pytest
from syrupy.assertion import SnapshotAssertion
from syrupy.extensions.single_file import SingleFileSnapshotExtension, WriteMode

from agentanvil.aggregate import Baseline, Frame, ItemOutcomes, Summariser
from agentanvil.report import ReportWriters, summary_json
from agentanvil.verdict import Exchange, NotRun, Scored
from tests.fakes.graded import NA, Pair, Score, columns, compared, grade, grade_by, item, plan, rubric, shuffled

OF = rubric("faithfulness", "tone", checks=["names_ticket"], gate={"overall": 3, "faithfulness": 4})
SHAPE = plan(OF, 2)
FILES = ("items.csv", "scores.csv", "junit.xml", "summary.json")


class PlainText(SingleFileSnapshotExtension):
    _write_mode = WriteMode.TEXT
    file_extension = "txt"


def _rows() -> list[ItemOutcomes]:
    wrong = Scored(2, ("=1+1", 'he said "no"'), False, "first line\nsecond line", ("reasked",))
    scores: list[dict[str, Sequence[Score] | Score]] = [
        {"faithfulness": [5, 5], "tone": [4, 5], "names_ticket": 5},
        {"faithfulness": [wrong, 3], "tone": [1, 1], "names_ticket": 1},
        {"faithfulness": [None, 4], "tone": [NA, NA], "names_ticket": 5},
        {"faithfulness": [NotRun(), NotRun()], "tone": [None, None], "names_ticket": 5},
    ]
    labels = {"faithfulness": (5.0,), "tone": (4.0,)}
    exchange = Exchange(input_tokens=900, output_tokens=120, cost=0.002)
    return [item(SHAPE, i, row, labels=labels, exchanges=[exchange]) for i, row in enumerate(scores)]


def _write(folder: Path, rows: list[ItemOutcomes]) -> None:
    results, summary = grade(OF, rows, 2)
    with ReportWriters(folder, Frame.of(OF, SHAPE)) as writers:
        for result in results:
            writers.add(result)
        writers.finish(summary)


@pytest.mark.parametrize("name", FILES)
def test_the_files_as_they_are(tmp_path: Path, name: str, snapshot: SnapshotAssertion) -> None:
    _write(tmp_path, _rows())
    assert (tmp_path / name).read_bytes().decode() == snapshot(extension_class=PlainText)


@pytest.mark.parametrize("name", ["items.csv", "scores.csv", "summary.json"])
def test_a_pairwise_run_as_it_is(tmp_path: Path, name: str, snapshot: SnapshotAssertion) -> None:
    of = rubric("help", "tone", checks=["short"], mode="pairwise")
    results, summary = compared(
        of,
        Pair(
            {"help": [2, 1], "tone": [1, 0], "short": [0]},
            preferences=[0.9, 0.7],
            stated=["a", "tie"],
            models=("x", "y"),
            labels={"winner": (1.0,), "help": (1.0,)},
        ),
        Pair({"help": [3, -1], "tone": [0, 0], "short": [0]}, models=("x", "y"), labels={"winner": (-1.0, 0.0)}),
        Pair({"help": [-1, None], "tone": [0, 0], "short": [4]}, models=("x", "y")),
    )
    with ReportWriters(tmp_path, Frame.of(of, plan(of))) as writers:
        for result in results:
            writers.add(result)
        writers.finish(summary)
    assert (tmp_path / name).read_bytes().decode() == snapshot(extension_class=PlainText)


@pytest.mark.parametrize("name", FILES)
def test_a_gate_against_its_baseline_as_it_is(tmp_path: Path, name: str, snapshot: SnapshotAssertion) -> None:
    of = rubric("safe", "true", checks=["short"], mode="gate", gate={"overall": 4})
    rows = columns(
        of, safe=[1, Scored(0, ("=1+1",), False, "it leaks"), 0, 1], true=[1, 1, 1, None], short=[1, 1, 1, 0]
    )
    known = Baseline(frozenset({("item-2", "safe"), ("item-3", "safe")}))
    summariser = Summariser(of, plan(of), seed=7, baseline=known)
    results, summary = grade_by(summariser, rows)
    with ReportWriters(tmp_path, summariser.frame) as writers:
        for result in results:
            writers.add(result)
        writers.finish(summary)
    assert (tmp_path / name).read_bytes().decode() == snapshot(extension_class=PlainText)


def test_arrival_order_changes_no_byte(tmp_path: Path) -> None:
    one, other = tmp_path / "one", tmp_path / "other"
    for folder in (one, other):
        folder.mkdir()
    _write(one, _rows())
    _write(other, [shuffled(row, seed) for seed, row in enumerate(_rows())])
    for name in FILES:
        assert (one / name).read_bytes() == (other / name).read_bytes()


def test_only_finished_reports_take_their_place(tmp_path: Path) -> None:
    (tmp_path / "items.csv").write_text("older", encoding="utf-8")
    results, _ = grade(OF, _rows(), 2)

    def stop_half_way() -> None:
        with ReportWriters(tmp_path, Frame.of(OF, SHAPE)) as writers:
            writers.add(results[0])
            raise RuntimeError("stop")

    with pytest.raises(RuntimeError, match="stop"):
        stop_half_way()
    with ReportWriters(tmp_path, Frame.of(OF, SHAPE)) as writers:
        writers.add(results[0])
    assert [path.name for path in tmp_path.iterdir()] == ["items.csv"]
    assert (tmp_path / "items.csv").read_text(encoding="utf-8") == "older"


def test_a_new_report_replaces_the_older_one(tmp_path: Path) -> None:
    _write(tmp_path, _rows()[:1])
    _write(tmp_path, _rows())
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(FILES)
    assert len((tmp_path / "items.csv").read_text(encoding="utf-8").splitlines()) == 5


def test_summary_json_is_strict_and_complete(tmp_path: Path) -> None:
    _write(tmp_path, _rows())
    data = (tmp_path / "summary.json").read_bytes()
    assert data.endswith(b"}\n")
    parsed = orjson.loads(data)
    assert parsed["coverage"]["states"] == {
        "scored": 13,
        "not_applicable": 2,
        "judge_error": 3,
        "input_error": 0,
        "not_run": 2,
    }
    assert parsed["gate"]["verdict"] == "fail"
    assert parsed["worst"][0]["id"] == "item-1"
    assert data == summary_json(grade(OF, _rows(), 2)[1])
