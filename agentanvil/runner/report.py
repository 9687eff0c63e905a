"""Rebuild every report of a run from its journal and manifest."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from agentanvil.aggregate import Summary
from agentanvil.rubric import parse_rubric
from agentanvil.runner.events import Listener
from agentanvil.runner.exits import Exit
from agentanvil.runner.folder import RunFolder, write_manifest
from agentanvil.runner.gate import refuse_baseline, settled_gate, with_gate
from agentanvil.runner.gate_settings import GateFlags, GateSettings
from agentanvil.runner.job import STDIN
from agentanvil.runner.reports import write_reports
from agentanvil.runner.run_view import open_data, read_run, rubric_of


def report(folder: Path, listener: Listener, gate: GateFlags | None = None) -> tuple[Summary, Exit]:
    """Rewrite the reports; return the summary and the exit code that the run has by it.

    What `gate` says is decided anew, and kept in the manifest as if the run had been made with it. Raises
    RunFolderError where the folder holds no readable run, and InputError for a gate that cannot be meant.
    """
    manifest = read_run(folder)
    if gate:
        manifest = _gated(manifest, gate)
    with RunFolder(folder), ExitStack() as opened:
        rows = None
        if manifest["state"] != "complete":  # rows that were never asked are named by the data file alone
            data = opened.enter_context(open_data(manifest))
            if data.rows is None and manifest["data"]["file"] != STDIN:
                listener.notice(f"{data.reason}; rows that were not run are named by their number")
            rows = data.rows
        summary, code = write_reports(folder, manifest, rows, listener.failed)
        if gate:
            write_manifest(folder, manifest | {"exit_code": int(code)})
    return summary, code


def _gated(manifest: Mapping[str, Any], gate: GateFlags) -> dict[str, Any]:
    """Return the manifest with what the flags say of the gate."""
    plan = manifest["plan"]
    asked = rubric_of({**manifest, "plan": {**plan, "gate": None}})
    written_for = parse_rubric(manifest["rubric"]["text"], manifest["rubric"]["file"]).mode
    settings = settled_gate(asked, gate.over(GateSettings.of_manifest(manifest)), written_for)
    refuse_baseline(plan["baseline"], with_gate(asked, settings))
    return {**manifest, "plan": {**plan, "gate": settings.as_dict()}}
