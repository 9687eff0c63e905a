"""`anvil report`: every report of a run, again, or under another rubric."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from agentanvil.cli.invocation import surroundings
from agentanvil.cli.options import CalibrationOption, ConfidenceOption, QuietOption, TableOption, parse_format
from agentanvil.cli.output import emit, say
from agentanvil.cli.progress import Progress
from agentanvil.cli.summary import console, print_summary
from agentanvil.errors import UsageError
from agentanvil.report import summary_json
from agentanvil.runner.gate_settings import GateFlags
from agentanvil.runner.report import report
from agentanvil.runner.rescore import Rescored, RescoreSettings, rescore

app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command("report")
def command(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="A run folder.")],
    rubric: Annotated[
        Path | None, typer.Option("--rubric", metavar="NEW", help="Apply this rubric to the verdicts of RUN.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="FOLDER", help="With --rubric: the folder of the new run.")
    ] = None,
    allow_code: Annotated[
        bool, typer.Option("--allow-code", help="With --rubric: run its own python: checks.")
    ] = False,
    calibration: CalibrationOption = None,
    confidence: ConfidenceOption = None,
    format_: TableOption = None,
    quiet: QuietOption = False,
) -> None:
    """Rebuild items.csv, scores.csv, summary.json and junit.xml of RUN from its journal; no judge is asked.

    With --rubric a new run is made: overall, weights, gates and checks are applied anew, verdicts are taken over where
    the request would be the same, and the calls that are missing are told. --calibration and --confidence decide the
    gate anew and stay with the run. Exits as the run itself does: 0, 1 for a failed gate, 3 for missing verdicts, 4 for
    a gate that is inconclusive, 130 for an interrupted run.
    """
    output = parse_format(format_, ("table", "json"))
    progress = Progress(quiet=quiet)
    gate = GateFlags(None if calibration is None else str(calibration), confidence)
    if rubric is None:
        if out is not None or allow_code:
            raise UsageError("--out and --allow-code need --rubric", hint="RUN's own reports are rebuilt in RUN.")
        folder, (summary, code) = run, report(run, progress, gate)
    else:
        found = rescore(RescoreSettings(run, str(rubric), out, allow_code, gate), surroundings(), progress)
        folder, summary, code = found.folder, found.summary, found.exit
        _say_missing(found, str(rubric))
    if output == "json":
        emit(summary_json(summary))
    elif not quiet:
        print_summary(console(), summary, None, str(folder))
    raise typer.Exit(int(code))


def _say_missing(found: Rescored, rubric: str) -> None:
    if not found.missing:
        say(f"every verdict was taken over: {found.folder}")
        return
    for dimensions in found.changed.values():
        what = f"{', '.join(dimensions)} (one call)" if len(dimensions) > 1 else dimensions[0]
        say(f"needs new calls: {what}; the new rubric asks for it in other words")
    say(
        f"{found.missing} judge call(s) are open; `anvil grade` with --rubric {rubric} --out {found.folder} "
        "asks for those alone"
    )
