"""`anvil calibrate` as a person and a build meet it."""

from __future__ import annotations

import io
import json
import random
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console
from syrupy.assertion import SnapshotAssertion

from agentanvil.aggregate import CalibrationReport
from agentanvil.cli.calibrate_tables import print_calibration
from agentanvil.runner.calibration.calibrate import CalibrateSettings, calibrate
from tests.fakes.calibrated import Labels, calibrated
from tests.fakes.command import anvil
from tests.fakes.graded import ERROR, Score, rubric
from tests.fakes.runs import Runs, recording, verdict

SCORES = [5, 4, 3, 2, 1, 4] * 8


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Forty-eight rows, of which two raters label two thirds; they side with the judge on accuracy, not on coverage."""
    folder = tmp_path_factory.mktemp("calibrate")
    people = random.Random(3)
    rows = [
        {
            "id": f"item-{n}",
            "request": f"What is {n} + {n}?",
            "response": f"It is the number {2 * n}.",
            "meta": {"task": n // 4},
            "labels": {
                "accuracy": [score, min(5, score + people.randint(0, 1))],
                "coverage": [6 - score, 6 - score],
            }
            if n % 3
            else {},
        }
        for n, score in enumerate(SCORES)
    ]
    replies = [{"id": f"item-{n}", "reply": verdict(score)} for n, score in enumerate(SCORES) if n != 1]
    runs = Runs(folder, recording(folder, *replies), *rows)
    runs.grade()
    return runs.out


@pytest.fixture(scope="module")
def report(run: Path) -> CalibrationReport:
    return calibrate(CalibrateSettings(run, group="meta.task")).report


def shown(report: CalibrationReport, width: int = 110) -> str:
    file = io.StringIO()
    print_calibration(Console(file=file, width=width, color_system=None), report)
    return "\n".join(line.rstrip() for line in file.getvalue().splitlines())


def plain(report: CalibrationReport) -> CalibrationReport:
    """The same with figures whose seed has no part in where the test runs."""
    rows: list[tuple[dict[str, Score], Labels]] = [
        ({"accuracy": score, "tone": ERROR if n == 5 else 6 - score}, {"accuracy": [score, max(1, score - n % 2)]})
        for n, score in enumerate(SCORES[:24])
    ]
    rows += [({"accuracy": 4, "tone": 2}, {})] * 30
    found = calibrated(rubric("accuracy", "tone", gate={"accuracy": 4}), rows, groups=["a", "b", "c"] * 18)
    return replace(
        report,
        dimensions=found.dimensions,
        overall=found.overall,
        groups=found.groups,
        corrected=found.corrected,
        disagreements=tuple(replace(each, request="What?", response="So.") for each in found.disagreements[:2]),
        notes=("one thing to know",),
    )


@pytest.mark.parametrize("width", [80, 110])
def test_a_calibration_as_it_is_shown(report: CalibrationReport, snapshot: SnapshotAssertion, width: int) -> None:
    assert shown(plain(report), width) == snapshot


def test_nothing_is_cut_on_eighty_columns(report: CalibrationReport) -> None:
    text = shown(report, 80)
    assert all(
        len(line) <= 80 or line.startswith(("note:", "accuracy:", "coverage:", "overall:"))
        for line in text.splitlines()
    )
    for word in ("quadratic-weighted kappa", "infinitesimal", "INCONCLUSIVE" if "INCONCLUSIVE" in text else "TRUSTED"):
        assert word in text


def test_no_text_of_a_judge_row_or_rater_steers_the_terminal(report: CalibrationReport) -> None:
    evil = "\x1b[31m[bold]red[/bold] \u202e \x07"
    example = replace(
        report.disagreements[0], id=evil, evidence=(evil,), reason=evil, request=evil, response=evil, response_b=evil
    )
    text = shown(replace(report, disagreements=(example,), texts_missing=evil, notes=(evil,)))
    assert "\x1b" not in text
    assert "\u202e" not in text
    assert "[bold]red[/bold]" in text


def test_exit_codes_and_streams(run: Path, tmp_path: Path) -> None:
    found = anvil("calibrate", run, "--format", "json", "--out", "c.json", cwd=tmp_path)
    assert (found.code, found.err) == (1, "")
    assert found.out == (tmp_path / "c.json").read_bytes()
    assert json.loads(found.out)["verdict"] == "UNTRUSTED"
    (tmp_path / "labels.csv").write_text("id,accuracy\nitem-0,5\nitem-2,9\n", encoding="utf-8")
    refused = anvil("calibrate", run, "--labels", "labels.csv", cwd=tmp_path)
    assert (refused.code, refused.out) == (2, b"")
    assert "labels.csv:3: accuracy: 9 is not on the scale 1 to 5" in refused.err


def test_weights_are_told_where_figures_are(report: CalibrationReport) -> None:
    rows: list[tuple[dict[str, Score], Labels]] = [
        ({"accuracy": n % 5 + 1}, {"accuracy": [n % 4 + 1]}) for n in range(20)
    ]
    found = calibrated(rubric("accuracy"), rows, weights=[1.0, 3.0] * 10)
    lines = shown(replace(report, dimensions=found.dimensions), 80).splitlines()
    assert any("accuracy: 20 items, 20 labels, weighted as drawn: 16.0 items in effect" in line for line in lines)
    assert any("accuracy: items by sampling weight" in line for line in lines)
    assert any("sampling weights" in line for line in lines)
