"""`anvil compare`: two runs side by side, paired by item."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Annotated

import typer

from agentanvil.cli.compare_tables import print_comparison
from agentanvil.cli.options import QuietOption, TableOption, parse_format
from agentanvil.cli.output import emit
from agentanvil.cli.progress import Progress
from agentanvil.cli.summary import console
from agentanvil.errors import UsageError
from agentanvil.report.comparison_json import comparison_json
from agentanvil.runner.comparison.compare import CompareSettings, compare

app = typer.Typer(add_completion=False, rich_markup_mode=None)

_REGRESSION = "regression"


@app.command("compare")
def command(
    run_a: Annotated[Path, typer.Argument(metavar="RUN_A", help="The run to compare with: the old one.")],
    run_b: Annotated[Path, typer.Argument(metavar="RUN_B", help="The run in question: the new one.")],
    force: Annotated[
        bool, typer.Option("--force", help="Compare runs of other rubrics, judges or settings; every output says so.")
    ] = False,
    fail_on: Annotated[
        str | None,
        typer.Option("--fail-on", metavar=_REGRESSION, help="Exit 1 where B is worse, 4 where that is inconclusive."),
    ] = None,
    margin: Annotated[
        float, typer.Option("--margin", metavar="M", help="A drop by up to M counts as none, in the figures' units.")
    ] = 0.0,
    min_coverage: Annotated[
        float | None,
        typer.Option(
            "--min-coverage", metavar="SHARE", help="Share of A's items that need a pair; else the runs' own."
        ),
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="FILE", help="Write the comparison there, as JSON.")
    ] = None,
    format_: TableOption = None,
    quiet: QuietOption = False,
) -> None:
    """Compare two runs over the same items, per dimension and overall; no judge is asked.

    Items are paired by id, and every difference is B - A with an interval and a test. Runs that differ in more than
    the responses they judged (rubric, judge, prompt version, order seed, ...) are refused unless --force is given.

    Exits 0. With --fail-on regression: 1 where B is worse beyond chance, 3 where too many of A's items have no pair, 4
    where it is inconclusive, 0 where B is no worse. 2 for runs that cannot be compared.
    """
    output = parse_format(format_, ("table", "json"))
    if fail_on not in {None, _REGRESSION}:
        raise UsageError(f"--fail-on knows {_REGRESSION}, not {fail_on!r}")
    if not 0 <= margin < math.inf:
        raise UsageError(f"--margin is a drop, 0 or more, not {margin}")
    if min_coverage is not None and not 0 <= min_coverage <= 1:
        raise UsageError(f"--min-coverage is a share between 0 and 1, not {min_coverage}")
    settings = CompareSettings(run_a, run_b, force, fail_on is not None, margin, min_coverage, out)
    progress = Progress(quiet=quiet)
    try:
        found = compare(settings, progress)
    finally:
        progress.finished()
    if output == "json":
        emit(comparison_json(found.comparison))
    elif not quiet:
        print_comparison(console(), found.comparison, asked=settings.fail_on_regression)
    raise typer.Exit(int(found.exit))
