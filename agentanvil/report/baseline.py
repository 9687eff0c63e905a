"""An earlier run's reports → what failed there, read row by row."""

from __future__ import annotations

import csv
import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import cast, get_args

import orjson

from agentanvil.aggregate import Baseline, Gated, Reading, gated_by
from agentanvil.errors import RunFolderError, Where, quoted
from agentanvil.report.cells import cell_text
from agentanvil.report.csv_files import ITEM_COLUMNS
from agentanvil.report.writers import ITEMS, SUMMARY
from agentanvil.rubric import Rubric

_MAX_SUMMARY = 64 * 1024 * 1024


def read_baseline(folder: str | Path, rubric: Rubric) -> Baseline:
    """Return what falls short in the run in `folder` by the thresholds that `rubric` has now, as that run was read.

    So a threshold that was raised since makes no item worse. What that run did not gate, or has no number for, did not
    fail there. Memory grows with the failures alone. Raises RunFolderError where the reports are missing, damaged, or
    of another rubric or mode.
    """
    folder = Path(folder)
    reading = _check_kind(folder / SUMMARY, rubric)
    path = folder / ITEMS
    try:
        with path.open(encoding="utf-8", newline="") as file:
            return Baseline(frozenset(_failures(csv.reader(file, strict=True), path, gated_by(rubric, reading))))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise _unreadable(path, error) from error


def _failures(rows: Iterator[list[str]], path: Path, gates: Sequence[Gated]) -> Iterator[tuple[str, str]]:
    header = next(rows, [])
    if tuple(header[: len(ITEM_COLUMNS)]) != ITEM_COLUMNS:
        raise RunFolderError("not the columns of an items.csv", where=Where(str(path), 1), hint=_rebuild(path))
    places = {cell_text(name): place for place, name in enumerate(header)}
    gated = [(name, places[name], threshold) for name, _, threshold in gates if name in places]
    for number, row in enumerate(rows, start=1):
        if len(row) != len(header):
            raise _damaged(path, number, f"has {len(row)} cells, the header has {len(header)}")
        for name, place, threshold in gated:
            value = _number(row, place, path, number)
            if value is not None and value < threshold:
                yield cell_text(row[0]), name


def _number(row: Sequence[str], place: int, path: Path, number: int) -> float | None:
    if not row[place]:
        return None
    try:
        value = float(row[place])
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise _damaged(path, number, f"{quoted(row[place])} is no number")
    return value


def _check_kind(path: Path, rubric: Rubric) -> Reading:
    """Return what that run's values were read from."""
    try:
        with path.open("rb") as file:
            summary = orjson.loads(file.read(_MAX_SUMMARY))
        found, mode, reading = summary["rubric_id"], summary["mode"], summary["reading"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise _unreadable(path, error) from error
    for what, here, there in (("rubric", rubric.id, found), ("mode", rubric.mode, mode)):
        if here != there:
            raise RunFolderError(
                f"the baseline is a run of the {what} {quoted(str(there))}, this one of {quoted(here)}",
                where=Where(str(path)),
                hint="Name a run of the same rubric in the same mode.",
            )
    if reading not in get_args(Reading):
        raise _unreadable(path, ValueError(f"{quoted(str(reading))} is no reading"))
    return cast("Reading", reading)


def _damaged(path: Path, number: int, what: str) -> RunFolderError:
    return RunFolderError(f"record {number} {what}", where=Where(str(path)), hint=_rebuild(path))


def _unreadable(path: Path, error: Exception) -> RunFolderError:
    reason = (error.strerror or str(error)).lower() if isinstance(error, OSError) else "it is damaged"
    return RunFolderError(
        f"the baseline cannot be read: {reason}", where=Where(str(path)), hint=f"Name a finished run. {_rebuild(path)}"
    )


def _rebuild(path: Path) -> str:
    return f"`anvil report {path.parent}` writes its reports from its journal."
