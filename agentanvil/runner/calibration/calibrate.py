"""Measure a run's judge against people: labels of the rows, or of a file, against what the journal holds."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, replace
from itertools import repeat
from pathlib import Path
from typing import Any

from agentanvil.aggregate import CalibrationFigures, CalibrationReport, CalibrationTally
from agentanvil.dataset import FieldPath, parse_path
from agentanvil.errors import UsageError, Where
from agentanvil.hashing import derive_seed
from agentanvil.report import AtomicText, calibration_json
from agentanvil.rubric import Rubric
from agentanvil.runner.calibration.file import CALIBRATION, CALIBRATION_FORMAT, Instrument
from agentanvil.runner.calibration.labels import LabelSource, file_labels, row_labels
from agentanvil.runner.calibration.notes import notes_of
from agentanvil.runner.calibration.rows import group_names, texts_of
from agentanvil.runner.exits import Exit, trust_exit
from agentanvil.runner.run_view import RowSource, RunData, RunView, open_data, open_view, read_run, rubric_of

_LEAST_LEVEL = 0.5


@dataclass(frozen=True, slots=True)
class CalibrateSettings:
    """What `anvil calibrate` was asked. `group` is a dotted path into the rows; `out` is RUN's own file where None."""

    run: Path
    labels: Path | None = None
    min_kappa: float = 0.6
    level: float = 0.95
    group: str | None = None
    out: Path | None = None


@dataclass(frozen=True, slots=True)
class Calibrated:
    """What came of it: the report, where it was written, and the exit code that follows from it."""

    report: CalibrationReport
    path: Path
    exit: Exit


def calibrate(settings: CalibrateSettings) -> Calibrated:
    """Measure the judge of a run and write `calibration.json`. No judge is asked.

    Raises UsageError for options that mean nothing here, for a run without any label, and where the report cannot be
    written; DatasetError for a labels file that is not as declared; RunFolderError where there is no readable run.
    """
    manifest = read_run(settings.run)
    rubric = rubric_of(manifest)
    path = _checked(settings, rubric, manifest["data"]["file"])
    labels = row_labels() if settings.labels is None else file_labels(settings.labels, rubric)
    with ExitStack() as opened:
        data = opened.enter_context(open_data(manifest))
        _refuse_groups(settings.group, data)
        view = opened.enter_context(open_view(settings.run, manifest, data.rows))
        found = _measured(view, labels, data.rows, settings)
        labels.refuse_none(found.labelled, view)
        if found.groups is not None and not found.groups.items:
            raise UsageError(f"no labelled row has anything at {settings.group}", hint="--group takes a dotted path")
        texts = texts_of(found.disagreements, data)
    report = _report(manifest, settings, labels, found)
    report = replace(report, disagreements=texts, texts_missing=data.reason or None)
    _write(path, calibration_json(report))
    return Calibrated(report, path, trust_exit(report.verdict))


def _measured(
    view: RunView, labels: LabelSource, rows: RowSource | None, settings: CalibrateSettings
) -> CalibrationFigures:
    reducer = view.reducer()
    tally = CalibrationTally(reducer.frame, named=labels.named, group_field=settings.group)
    names = _groups(settings.group, rows, view.rows)
    for result in view.results():
        ratings, weight = labels.of(result)
        tally.add(result, ratings, weight, next(names))
    # Not the run's own seed, which is of the data file too: the same rows in another order are the same calibration.
    seed = derive_seed(view.manifest["rubric"]["hash"], "calibration")
    return tally.finish(seed, settings.level, settings.min_kappa)


def _groups(group: str | None, rows: RowSource | None, many: int) -> Iterator[str | None]:
    return repeat(None, many) if group is None or rows is None else group_names(rows, _path(group), many)


def _report(
    manifest: dict[str, Any], settings: CalibrateSettings, labels: LabelSource, found: CalibrationFigures
) -> CalibrationReport:
    instrument = Instrument.of(manifest)
    return CalibrationReport(
        format=CALIBRATION_FORMAT,
        rubric_id=manifest["rubric"]["id"],
        rubric_hash=instrument.rubric_hash,
        judge=instrument.judge,
        prompt_version=instrument.prompt_version,
        mode=manifest["plan"]["mode"],
        evidence=instrument.evidence,
        reading=manifest["plan"]["reading"],
        min_kappa=settings.min_kappa,
        level=settings.level,
        verdict=found.verdict,
        labels=labels.used(),
        items=found.items,
        labelled=found.labelled,
        dimensions=found.dimensions,
        overall=found.overall,
        overall_from=found.overall_from,
        groups=found.groups,
        corrected=found.corrected,
        disagreements=(),
        texts_missing=None,
        notes=tuple(notes_of(manifest, labels.used(), found, bits=_bits(manifest, labels))),
    )


def _bits(manifest: dict[str, Any], labels: LabelSource) -> bool:
    scale = rubric_of(manifest).scale
    return manifest["plan"]["mode"] == "gate" and (scale.min, scale.max) != (0, 1) and labels.only_bits


def _checked(settings: CalibrateSettings, rubric: Rubric, data: str) -> Path:
    """Return where the report goes. Raises UsageError for options that mean nothing here."""
    if not -1 <= settings.min_kappa <= 1:
        raise UsageError(f"--min-kappa is a kappa, -1 to 1, not {settings.min_kappa:g}")
    if not _LEAST_LEVEL <= settings.level < 1:
        raise UsageError(f"--level is a confidence from {_LEAST_LEVEL} to below 1, not {settings.level:g}")
    if settings.group is not None:
        _path(settings.group)
        if rubric.mode == "pairwise":
            raise UsageError("--group means nothing in pairwise: a pair compares within its request already")
    path = settings.out or settings.run / CALIBRATION
    if _is_precious(path, settings, data):
        raise UsageError("would be overwritten: give --out another file", where=Where(str(path)))
    if path.is_dir() or not path.parent.is_dir():
        raise UsageError("cannot be written: give a file in a folder that exists", where=Where(str(path)))
    return path


def _is_precious(path: Path, settings: CalibrateSettings, data: str) -> bool:
    """Whether the report would take the place of the labels, of the rows, or of another file of the run."""
    if path.resolve() in {given.resolve() for given in (settings.labels, Path(data)) if given is not None}:
        return True
    return path.resolve().parent == settings.run.resolve() and path.name != CALIBRATION


def _refuse_groups(group: str | None, data: RunData) -> None:
    if group is not None and data.rows is None:
        raise UsageError(f"--group reads the data file, which is not at hand: {data.reason}")


def _path(group: str) -> FieldPath:
    return parse_path(group, "--group")


def _write(path: Path, content: bytes) -> None:
    try:
        draft = AtomicText(path)
        try:
            draft.write(content.decode())
            draft.commit()
        finally:
            draft.discard()
    except OSError as error:
        raise UsageError(f"cannot be written: {error.strerror}", where=Where(str(path))) from None
