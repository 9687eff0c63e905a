"""Rebuild every report of a run from its journal and manifest."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from agentanvil.aggregate import Summary
from agentanvil.errors import DatasetError, RunFolderError, UsageError, Where
from agentanvil.runner.events import Listener
from agentanvil.runner.exits import Exit, run_exit
from agentanvil.runner.folder import RunFolder, read_manifest
from agentanvil.runner.job import STDIN, Surroundings, open_rows
from agentanvil.runner.manifest import read_share
from agentanvil.runner.reports import RowSource, rubric_of, write_reports


def report(folder: Path, listener: Listener) -> tuple[Summary, Exit]:
    """Rewrite the reports; return the summary and the exit code that the run has by it.

    Raises RunFolderError where the folder holds no readable run.
    """
    manifest = read_run(folder)
    with RunFolder(folder):
        summary = write_reports(folder, manifest, _rows(manifest, listener), listener.failed)
    least = manifest["plan"]["min_coverage"]
    return summary, run_exit(manifest["state"], summary, least, read=read_share(manifest))


def read_run(folder: Path) -> dict[str, Any]:
    """Return a run's manifest. Raises RunFolderError where there is none."""
    manifest = read_manifest(folder)
    if manifest is None:
        raise RunFolderError(
            "no manifest.json here, so this is not a run folder",
            where=Where(str(folder)),
            hint="Name the folder that `anvil grade` wrote; its last line says which.",
        )
    return manifest


def _rows(manifest: Mapping[str, Any], listener: Listener) -> RowSource | None:
    """Return the run's data file if it is still there unchanged; only rows that were never asked need it."""
    data = manifest["data"]
    if manifest["state"] == "complete" or data["file"] == STDIN:
        return None
    rubric = rubric_of(manifest)
    try:
        with open_rows(data["file"], data["map"], rubric, Surroundings({}), data["vs"]) as dataset:
            if dataset.scan().hash == data["hash"]:
                return dataset.rows
        reason = "it has changed"
    except (DatasetError, UsageError) as error:
        reason = error.message
    listener.notice(f"{data['file']}: {reason}; rows that were not run are named by their number")
    return None
