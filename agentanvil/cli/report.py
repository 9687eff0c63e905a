"""`anvil report`: every report of a run, again."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from agentanvil.cli.options import QuietOption, TableOption, parse_format
from agentanvil.cli.output import emit
from agentanvil.cli.progress import Progress
from agentanvil.cli.summary import console, print_summary
from agentanvil.report import summary_json
from agentanvil.runner.report import report

app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command("report")
def command(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="A run folder.")],
    format_: TableOption = None,
    quiet: QuietOption = False,
) -> None:
    """Rebuild items.csv, scores.csv, summary.json and junit.xml of RUN from its journal; no judge is asked.

    Exits as the run itself did: 0, 1 for a failed gate, 3 for missing verdicts, 130 for an interrupted run.
    """
    output = parse_format(format_, ("table", "json"))
    summary, code = report(run, Progress(quiet=quiet))
    if output == "json":
        emit(summary_json(summary))
    elif not quiet:
        print_summary(console(), summary, None, str(run))
    raise typer.Exit(int(code))
