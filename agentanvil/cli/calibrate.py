"""`anvil calibrate`: a run's judge against people."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from agentanvil.cli.calibrate_tables import print_calibration
from agentanvil.cli.options import QuietOption, TableOption, parse_format
from agentanvil.cli.output import emit, say
from agentanvil.cli.summary import console
from agentanvil.report import calibration_json
from agentanvil.runner.calibration.calibrate import CalibrateSettings, calibrate

app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command("calibrate")
def command(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="A run folder.")],
    labels: Annotated[
        Path | None,
        typer.Option("--labels", metavar="FILE", help="Labels in CSV or JSON lines; else those of the rows."),
    ] = None,
    min_kappa: Annotated[
        float, typer.Option("--min-kappa", metavar="K", help="The kappa that a trusted judge reaches.")
    ] = 0.6,
    level: Annotated[float, typer.Option("--level", metavar="SHARE", help="The confidence of every interval.")] = 0.95,
    group: Annotated[
        str | None,
        typer.Option("--group", metavar="FIELD", help="Also within groups of rows that share a field, as meta.task."),
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="FILE", help="Write calibration.json there instead of into RUN.")
    ] = None,
    format_: TableOption = None,
    quiet: QuietOption = False,
) -> None:
    """Measure the judge of RUN against human labels, per dimension and overall; no judge is asked.

    A dimension is TRUSTED where the whole interval of kappa (quadratic-weighted for scores) is at or above
    --min-kappa, UNTRUSTED where the whole of it is below, else INCONCLUSIVE, with the number of further labels that
    would decide. A labels file has the columns id, rater (if there are several), weight (if it is a drawn sample) and
    one a dimension, overall or winner; it takes the place of the labels in the rows.

    Exits 0 where everything that was labelled is trusted, 1 where something is untrusted, 4 where something is
    inconclusive, 2 for labels that cannot be used.
    """
    output = parse_format(format_, ("table", "json"))
    found = calibrate(CalibrateSettings(run, labels, min_kappa, level, group, out))
    if output == "json":
        emit(calibration_json(found.report))
    elif not quiet:
        print_calibration(console(), found.report)
        say(f"calibration: {found.path}")
    raise typer.Exit(int(found.exit))
