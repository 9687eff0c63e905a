"""A test set with ties and two recorded judges, one of which is at times unreadable: each policy has its figures."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from agentanvil.runner.grade import GradeResult
from agentanvil.stats import cohen_kappa
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


def replayed(folder: Path, records: list[Any], judge: str) -> tuple[GradeResult, list[str]]:
    """Grade in the one order that was asked, and return the winners row by row, `UNREAD` where there is none.

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
            "labels": {"winner": majority(record)},
        }
        for record in records
    ]
    replies = [{"id": record["idx"], "order": "ab", "reply": str(record[judge]["result"])} for record in records]
    runs = Runs(folder, recording(folder, *replies), *rows)
    runs.rubric.write_text(RUBRIC, encoding="utf-8")
    result = runs.grade(order="fixed", min_coverage=0.0)
    assert result.problem is None
    return result, [row["winner"] for row in read_table(runs.out, "items.csv")]


@pytest.mark.parametrize("judge", ["gpt35", "pandalm7b"])
def test_figures_by_either_policy(tmp_path: Path, records: list[Any], judge: str) -> None:
    result, winners = replayed(tmp_path, records, judge)
    found = read_json("pandalm/expected.json")["judges"][judge]

    # Ours: what cannot be read is no verdict.
    assert winners.count(UNREAD) == found["garbage"]
    assert result.summary.dimensions[0].states["judge_error"] == found["garbage"]
    assert result.summary.pairwise is not None
    assert result.summary.pairwise.verdict.missing == found["garbage"]
    assert result.summary.pairwise.labels is not None
    dropped = result.summary.pairwise.labels.verdict
    assert (dropped.labelled, dropped.exact.n) == (len(records), found["dropped"]["n"])
    assert dropped.exact.value == pytest.approx(found["dropped"]["accuracy"], abs=1e-6)
    assert dropped.kappa.value == pytest.approx(found["dropped"]["cohen_kappa"], abs=1e-6)

    # Theirs: it is a tie.
    read = [winner or "tie" for winner in winners]
    golds = [majority(record) for record in records]
    confusion = [
        [sum(pair == (gold, said) for pair in zip(golds, read, strict=True)) for said in LABELS] for gold in LABELS
    ]
    assert confusion == found["as_tie"]["confusion_rows_true_0_1_2"]
    accuracy = sum(gold == said for gold, said in zip(golds, read, strict=True)) / len(records)
    assert accuracy == pytest.approx(found["as_tie"]["accuracy"], abs=1e-6)
    assert cohen_kappa(golds, read, LABELS).value == pytest.approx(found["as_tie"]["cohen_kappa"], abs=1e-6)


def test_the_three_people_agree_as_published(records: list[Any]) -> None:
    found = read_json("pandalm/expected.json")["pairwise_cohen_kappa"]
    raters = list(zip(*(record["human"] for record in records), strict=True))
    for pair, kappa in found.items():
        one, other = (raters[int(number) - 1] for number in pair.split("-"))
        assert cohen_kappa(one, other, (0, 1, 2)).value == pytest.approx(kappa, abs=1e-6)
