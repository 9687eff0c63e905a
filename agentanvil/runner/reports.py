"""Manifest + journal → every report, in row order, one pass. The same journal gives the same bytes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from agentanvil.aggregate import GateCircumstances, Summariser, Summary
from agentanvil.errors import RunWriteError, Where
from agentanvil.report import Ended, ReportWriters, failure_lines, gate_failures, read_baseline
from agentanvil.rubric import Rubric
from agentanvil.runner.deciders import without_evidence
from agentanvil.runner.exits import Exit, run_exit
from agentanvil.runner.folder import JOURNAL
from agentanvil.runner.gate import circumstances
from agentanvil.runner.kinship import self_judged
from agentanvil.runner.manifest import read_share
from agentanvil.runner.run_view import RowSource, open_view

CALIBRATION_PROPERTY = "judge_calibration"
_ENDED: Mapping[Exit, Ended] = {
    Exit.MISSING: "missing",
    Exit.INTERRUPTED: "interrupted",
}


def write_reports(
    folder: Path, manifest: Mapping[str, Any], rows: RowSource | None, failed: Callable[[str], None]
) -> tuple[Summary, Exit]:
    """Write items.csv, scores.csv, summary.json and junit.xml; return the summary and the exit code it comes to.

    `rows` gives the names of rows that no journal line names; without it they are called after their number. `failed`
    is told of everything that fails the run, a line each. Raises RunFolderError for a damaged journal or baseline,
    ConfigError for a damaged calibration file, RunWriteError where a report cannot be written.
    """
    baseline = manifest["plan"]["baseline"]
    with open_view(folder, manifest, rows) as view:
        summariser = Summariser(
            view.rubric,
            view.plan,
            view.seed,
            reading=view.reading,
            baseline=None if baseline is None else read_baseline(baseline, view.rubric),
            jury=view.jury,
        )
        around = circumstances(folder, manifest, view.rubric)
        try:
            properties = _properties(manifest, view.rubric, around)
            lenient = manifest["plan"]["min_coverage"] < 1
            with ReportWriters(folder, summariser.frame, junit=True, properties=properties, lenient=lenient) as writers:
                for item in view.items():
                    result = summariser.add(item)
                    writers.add(result)
                    for line in () if summariser.frame.figures else failure_lines(result):
                        failed(line)
                unread = () if view.escalation is None else sorted(view.escalation.unread)
                notes = (*_notes(manifest, view.rubric, view.plan.judges), *map(_never_unsure, unread))
                summary = summariser.finish((*_told(properties, around), *notes), around)
                for line in gate_failures(summary.gate):
                    failed(line)
                code = _exit(manifest, summary)
                writers.finish(summary, _ENDED.get(code))
        except OSError as error:
            raise RunWriteError(
                f"the reports cannot be written: {error.strerror or error}",
                where=Where(error.filename or str(folder)),
                hint=f"Every verdict is safe in {JOURNAL}. Mend this, then run the same command again.",
            ) from error
    return summary, code


def _exit(manifest: Mapping[str, Any], summary: Summary) -> Exit:
    return run_exit(manifest["state"], summary, manifest["plan"]["min_coverage"], read=read_share(manifest))


def _notes(manifest: Mapping[str, Any], rubric: Rubric, judges: tuple[str, ...]) -> tuple[str, ...]:
    data = manifest["data"]
    notes = [*manifest["kinship"]["told"]]
    notes += [f"no evidence: {name} answers with probabilities alone" for name in without_evidence(judges)]
    if data["hidden_fields"] and not rubric.allow_expected:
        notes.append(f"the judge never saw the field(s) {', '.join(data['hidden_fields'])}")
    for flag, rows in sorted(data["flagged"].items()):
        notes.append(f"{rows} row(s) carry the flag {flag}")
    if data["unread"]:
        told = "; ".join(data["unread_examples"])
        notes.append(f"{data['unread']} record(s) of the data hold no trace that can be read: {told}")
    several = len(judges) > 1
    for judge in manifest["judges"]:
        if judge.get("dropped"):
            name = judge["name"] if several else "the judge"
            notes.append(f"{name} does not take {', '.join(judge['dropped'])}, so it was asked without")
    return tuple(notes)


def _properties(manifest: Mapping[str, Any], rubric: Rubric, around: GateCircumstances) -> dict[str, str]:
    """Return what is told of the run as a whole, also in a report that has no room for notes."""
    own = self_judged(manifest["kinship"], rubric)
    told = {} if own is None else {"self_judging": own}
    return told | ({CALIBRATION_PROPERTY: "; ".join(around.doubts)} if around.doubts else {})


def _told(properties: Mapping[str, str], around: GateCircumstances) -> list[str]:
    """Return what the notes repeat of the properties: doubts that count are among the gate's own reasons."""
    return [text for name, text in properties.items() if name != CALIBRATION_PROPERTY or not around.required]


def _never_unsure(measure: str) -> str:
    return f"no verdict of the first judge came with its {measure}, so none was unsure by that"
