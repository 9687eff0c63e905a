"""A test set with ties and two recorded judges, one of which is at times unreadable: each policy has its figures."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from agentanvil.aggregate import CalibrationReport
from agentanvil.runner.calibration.calibrate import CalibrateSettings, calibrate
from agentanvil.runner.grade import GradeResult
from tests.fakes.published import read_json, read_lines
from tests.fakes.runs import Runs, read_table, recording

pytestmark = pytest.mark.published

RUBRIC = """\
version: 1
id: pandalm
mode: pairwise
scale: {min: 0, max: 1}
evidence: none
reply: {format: label, labels: {"1": 1, "2": -1, "0": 0, "Tie": 0}}
dimensions:
  - id: following
    question: Which response does what the instruction asks?
    anchors: {1: what is asked is done, 0: what is asked is not done}
"""
LABELS = ("tie", "a", "b")
UNREAD = ""


@pytest.fixture(scope="module")
def records() -> list[Any]:
    return read_lines("pandalm/testset.jsonl")


def majority(record: Any) -> str:
    """Return what two of the three people said."""
    return LABELS[max(set(record["human"]), key=record["human"].count)]


def replayed(folder: Path, records: list[Any], judge: str) -> tuple[GradeResult, CalibrationReport, list[str]]:
    """Grade in the one order that was asked, calibrate, and return the winners row by row, `UNREAD` without one.

    Some responses are empty or were turned into booleans where the file was made: rows refuse these, a replay does not
    need them.
    """
    rows = [
        {
            "id": record["idx"],
            "request": f"{record['instruction']}\n{record['input']}",
            **{
                f"response_{side}": f"Response: {record[name]}"
                for side, name in (("a", "response1"), ("b", "response2"))
            },
            "labels": {"winner": [LABELS[said] for said in record["human"]]},
        }
        for record in records
    ]
    replies = [{"id": record["idx"], "order": "ab", "reply": str(record[judge]["result"])} for record in records]
    runs = Runs(folder, recording(folder, *replies), *rows)
    runs.rubric.write_text(RUBRIC, encoding="utf-8")
    result = runs.grade(order="fixed", min_coverage=0.0)
    assert result.problem is None
    report = calibrate(CalibrateSettings(runs.out)).report
    return result, report, [row["winner"] for row in read_table(runs.out, "items.csv")]


@pytest.mark.parametrize("judge", ["gpt35", "pandalm7b"])
def test_figures_by_either_policy(tmp_path: Path, records: list[Any], judge: str) -> None:
    result, report, winners = replayed(tmp_path, records, judge)
    found = read_json("pandalm/expected.json")["judges"][judge]
    assert report.overall is not None
    assert report.overall.classes is not None
    dropped, as_tie = report.overall.classes.majority, report.overall.classes.majority_counted

    # Ours: what cannot be read is no verdict.
    assert winners.count(UNREAD) == found["garbage"]
    assert result.summary.dimensions[0].states["judge_error"] == found["garbage"]
    assert report.overall.missing["judge_error"] == found["garbage"]
    assert dropped is not None
    assert dropped.accuracy.n == found["dropped"]["n"]
    assert dropped.accuracy.value == pytest.approx(found["dropped"]["accuracy"], abs=1e-6)
    assert dropped.kappa.value == pytest.approx(found["dropped"]["cohen_kappa"], abs=1e-6)

    # Theirs: it is a tie.
    assert as_tie is not None
    assert "tie" in as_tie.policy
    theirs = found["as_tie"]
    assert as_tie.accuracy.value == pytest.approx(theirs["accuracy"], abs=1e-6)
    assert as_tie.macro_precision.value == pytest.approx(theirs["macro_precision"], abs=1e-6)
    assert as_tie.macro_recall.value == pytest.approx(theirs["macro_recall"], abs=1e-6)
    assert as_tie.macro_f1.value == pytest.approx(theirs["macro_f1"], abs=1e-6)
    assert as_tie.kappa.value == pytest.approx(theirs["cohen_kappa"], abs=1e-6)
    read = [winner or "tie" for winner in winners]
    golds = [majority(record) for record in records]
    confusion = [
        [sum(pair == (gold, said) for pair in zip(golds, read, strict=True)) for said in LABELS] for gold in LABELS
    ]
    assert confusion == theirs["confusion_rows_true_0_1_2"]


def test_the_three_people_agree_as_published(tmp_path: Path, records: list[Any]) -> None:
    _, report, _ = replayed(tmp_path, records, "gpt35")
    found = read_json("pandalm/expected.json")
    assert report.overall is not None
    people = report.overall.humans
    assert people is not None
    kappas = {f"{pair.a}-{pair.b}": pair.kappa.value for pair in people.pairs}
    assert kappas == {pair: pytest.approx(kappa, abs=1e-6) for pair, kappa in found["pairwise_cohen_kappa"].items()}
    assert people.fleiss.value == pytest.approx(found["fleiss_kappa"], abs=1e-6)
    assert people.alpha.nominal.value == pytest.approx(found["krippendorff_alpha_nominal"], abs=1e-6)
