"""`anvil label`: a sheet for people to fill in, and back."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import orjson
import typer

from agentanvil.cli.invocation import surroundings
from agentanvil.cli.options import (
    DATA,
    MapOption,
    ModeOption,
    QuietOption,
    RubricOption,
    TableOption,
    VsOption,
    parse_format,
)
from agentanvil.cli.output import emit, say
from agentanvil.cli.summary import console
from agentanvil.cli.tables import titled_table
from agentanvil.errors import UsageError
from agentanvil.runner.config import CONFIG_FILE, load_config
from agentanvil.runner.labelling.label import Drawn, LabelSettings, draw
from agentanvil.runner.labelling.read import ReadBack, ReadSettings, read_back

app = typer.Typer(add_completion=False, rich_markup_mode=None)

_WHY = {
    "random": "drawn evenly",
    "disagreement": "repeats, orders or judges disagree",
    "uncertainty": "the judge's probabilities are undecided",
    "gate": "near the gate's threshold",
    "coverage": "a category with few labels",
}
_LAID_OUT = orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE


@app.command("label")
def command(
    data: Annotated[str, DATA],
    rubric: RubricOption = None,
    next_: Annotated[int | None, typer.Option("--next", metavar="N", help="Write a sheet of the next N rows.")] = None,
    run: Annotated[
        Path | None,
        typer.Option("--run", metavar="RUN", help="A run over the rows: draw those whose labels help it most."),
    ] = None,
    random: Annotated[
        float | None,
        typer.Option("--random", metavar="SHARE", help="Share of the draw spread evenly over all rows; else 0.5."),
    ] = None,
    seed: Annotated[int, typer.Option("--seed", metavar="N", help="Seed of the draw.")] = 0,
    out: Annotated[Path | None, typer.Option("--out", metavar="SHEET.csv", help="Where the sheet goes.")] = None,
    read: Annotated[
        Path | None, typer.Option("--read", metavar="SHEET.csv", help="Read a filled sheet into --labels.")
    ] = None,
    labels: Annotated[
        Path | None,
        typer.Option("--labels", metavar="FILE", help="The labels: CSV or JSON lines. Rows in it are not drawn again."),
    ] = None,
    rater: Annotated[str | None, typer.Option("--rater", metavar="NAME", help="Who filled in the sheet.")] = None,
    replace: Annotated[
        bool, typer.Option("--replace", help="Replace what this rater said of the sheet before.")
    ] = False,
    mode: ModeOption = None,
    map_: MapOption = None,
    vs: VsOption = None,
    format_: TableOption = None,
    quiet: QuietOption = False,
) -> None:
    """Let people label rows: write a sheet with --next N, have it filled in, and take it back with --read.

    The sheet is blind: it names no system and no verdict. Rows are drawn with known probabilities, those more often
    whose label would help most; the labels file keeps the weights that undo it, and `anvil calibrate RUN --labels FILE`
    uses them.

    Exits 0, or 2 for what cannot be drawn or read.
    """
    output = parse_format(format_, ("table", "json"))
    if (next_ is None) == (read is None):
        raise UsageError("give --next N to write a sheet, or --read SHEET.csv to take one back")
    config = load_config()
    contract = rubric or config.values.get("rubric")
    if contract is None:
        raise UsageError("no rubric given", hint=f"give --rubric FILE, or set `rubric:` in {CONFIG_FILE}")
    mapping, others = tuple(map_ or ()), tuple(vs or ())
    if next_ is not None:
        _refuse({"--rater": rater, "--replace": replace}, "--read")
        if run is None:  # else the run knows how its rows were read and asked about
            mode, mapping = mode or config.values.get("mode"), mapping or config.mapping
        # A mode that there is none of is refused by the settings.
        asked: Any = mode
        settings = LabelSettings(data, Path(contract), next_, random, seed, run, labels, out, asked, mapping, others)
        drawn = draw(settings, surroundings())
        _show(drawn, output, quiet=quiet)
        return
    _refuse({"--run": run, "--random": random, "--out": out, "--mode": mode}, "--next")
    if read is None or labels is None or rater is None:
        raise UsageError("--read needs --labels FILE and --rater NAME")
    back = read_back(ReadSettings(data, Path(contract), read, labels, rater, replace, mapping, others), surroundings())
    _show(back, output, quiet=quiet)


def _refuse(given: dict[str, object], needed: str) -> None:
    """Raise UsageError for flags that mean nothing without another one."""
    for flag, value in given.items():
        if value not in (None, False):
            raise UsageError(f"{flag} means nothing without {needed}")


def _show(found: Drawn | ReadBack, output: str, *, quiet: bool) -> None:
    if output == "json":
        emit(orjson.dumps(found, option=_LAID_OUT))
    elif quiet:
        return
    elif isinstance(found, Drawn):
        _print_drawn(found)
    else:
        _print_read(found)


def _print_drawn(found: Drawn) -> None:
    say(f"{found.rows} of {found.eligible} rows without a label were drawn")
    table = titled_table("Why these rows", ("main reason", "left"), ("rows", "right"))
    for reason, rows in found.reasons.items():
        table.add_row(_WHY[reason], str(rows))
    console().print(table)
    if found.labelled:
        say(f"{found.labelled} row(s) have labels already and were left out")
    say(f"sheet: {found.sheet}")
    say(f"guide: {found.guide} (what the raters need to know; give them both)")
    say(f"key: {found.key} (keep it beside the sheet, and from the raters)")
    say(f"then: {found.read}")


def _print_read(found: ReadBack) -> None:
    partly = f", {found.partial} of them in part" if found.partial else ""
    left = f"{found.blank} left empty, {found.absent} not in the sheet"
    say(f"{found.rater} labelled {found.labelled} row(s){partly}; {left}")
    if found.ignored:
        say(f"not read: column(s) {', '.join(found.ignored)}")
    if found.replaced:
        say(f"{found.replaced} earlier line(s) of {found.rater} were replaced")
    if found.carried:
        say(f"{found.carried} row(s) with labels of their own were taken over")
    say(
        f"{found.labels} has labels of {found.items} row(s) from {found.sheets} sheet(s); "
        f"their weights sum to {found.weight_sum:.1f} of {found.population} rows"
    )
    say(f"then: anvil calibrate {found.run or 'RUN'} --labels {found.labels}")
