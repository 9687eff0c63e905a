"""Rebuild every report of a run from its journal and manifest."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path

from agentanvil.aggregate import Summary
from agentanvil.runner.events import Listener
from agentanvil.runner.exits import Exit, run_exit
from agentanvil.runner.folder import RunFolder
from agentanvil.runner.job import STDIN
from agentanvil.runner.manifest import read_share
from agentanvil.runner.reports import write_reports
from agentanvil.runner.run_view import open_data, read_run


def report(folder: Path, listener: Listener) -> tuple[Summary, Exit]:
    """Rewrite the reports; return the summary and the exit code that the run has by it.

    Raises RunFolderError where the folder holds no readable run.
    """
    manifest = read_run(folder)
    with RunFolder(folder), ExitStack() as opened:
        rows = None
        if manifest["state"] != "complete":  # rows that were never asked are named by the data file alone
            data = opened.enter_context(open_data(manifest))
            if data.rows is None and manifest["data"]["file"] != STDIN:
                listener.notice(f"{data.reason}; rows that were not run are named by their number")
            rows = data.rows
        summary = write_reports(folder, manifest, rows, listener.failed)
    least = manifest["plan"]["min_coverage"]
    return summary, run_exit(manifest["state"], summary, least, read=read_share(manifest))
