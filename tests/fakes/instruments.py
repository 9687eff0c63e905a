"""What each instrument says of a judge on the loopback, reduced to its findings."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from agentanvil.aggregate import CalibrationReport, Summary
from agentanvil.runner.ablation.ablate import ablate
from agentanvil.runner.ablation.settings import AblateSettings
from agentanvil.runner.calibration.calibrate import CalibrateSettings, calibrate
from agentanvil.runner.job import Surroundings
from tests.fakes.probed import Probes
from tests.fakes.runs import Collected, Runs
from tests.fakes.server import FakeServer

JUDGE = "gpt-4o"
"""The judge's name, so that half of the synthetic rows are of its own family."""
Gap = tuple[str, int, int]
"""A dimension and two neighbouring anchors."""


class Instruments:
    """The verbs on rows of their own, all of them asking one judge by one rubric."""

    def __init__(self, folder: Path, server: FakeServer, rubric: Path) -> None:
        self._folder = folder
        self._server = server
        self._rubric = rubric

    def probe(self, rows: list[dict[str, Any]], seed: int) -> set[tuple[str, str]]:
        """Return the probe and the target of every bias. That a judge is noisy is no bias."""
        (folder := self._folder / "probe").mkdir()
        probes = Probes(folder, f"compat:{JUDGE}@{self._server.url}", *rows)
        probes.rubric = self._rubric
        findings = probes.probe(seed=seed, planted=15).findings
        return {(each.effect.probe, each.effect.target) for each in findings if each.verdict == "bias found"}

    def ablate(self, rows: list[dict[str, Any]], clauses: tuple[str, ...] = (), **changes: Any) -> dict[str, str]:
        """Return the verdicts on all clauses that have a measurable effect."""
        runs = self._runs("ablate", rows)
        settings = AblateSettings(runs.settings(**changes), clauses=clauses, again=False)
        report = ablate(settings, Surroundings({}), Collected()).report
        assert report is not None
        return {
            finding.clause.id: finding.verdict
            for finding in report.ablation.findings
            if finding.verdict != "no_measurable_effect"
        }

    def grade(self, rows: list[dict[str, Any]], **changes: Any) -> tuple[Summary, CalibrationReport]:
        """Return a run's summary and its calibration, whose intervals are at 99.9 %."""
        runs = self._runs("grade", rows)
        summary = runs.grade(**changes).summary
        # Each of a calibration's intervals is at its level by itself, and dozens of them are held against 0 here.
        return summary, calibrate(CalibrateSettings(runs.out, level=0.999)).report

    def _runs(self, name: str, rows: list[dict[str, Any]]) -> Runs:
        (folder := self._folder / name).mkdir()
        runs = Runs(folder, self._server, *rows)
        runs.rubric = self._rubric
        return runs


def disagreements(report: CalibrationReport) -> set[tuple[str, str]]:
    """Return where a calibration says that the judge is not what people say: by its verdicts, and by the bias.

    The overall is the minimum of the dimensions and moves with each, so it counts only where nothing else is labelled:
    in pairs, whose winner is judged too leniently where response_a is favoured.
    """
    labelled = [each for each in report.dimensions if each.labelled]
    found = set()
    for each in labelled or ([report.overall] if report.overall is not None else []):
        if each.verdict == "UNTRUSTED":
            found.add((each.id, "untrusted"))
        if (each.bias.interval.low or 0) > 0:
            found.add((each.id, "lenient"))
        if (each.bias.interval.high or 0) < 0:
            found.add((each.id, "severe"))
    return found


def singled_out(summary: Summary) -> set[Gap]:
    """Return the ambiguous anchors that stand out: their intervals lie above those of all others in the table."""
    table = [
        (each.interval.low or 0.0, each.interval.high or 0.0, (dimension.id, each.below, each.above))
        for dimension in summary.dimensions
        for each in dimension.straddled
    ]
    table.sort(reverse=True)
    for many in range(1, len(table)):
        if min(low for low, _, _ in table[:many]) > max(high for _, high, _ in table[many:]):
            return {gap for _, _, gap in table[:many]}
    return set()
