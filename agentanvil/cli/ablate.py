"""`anvil ablate`: what each clause of a rubric does, and what it costs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import orjson
import typer

from agentanvil.cli.ablate_table import estimate_lines_of, print_ablation
from agentanvil.cli.invocation import flags, surroundings
from agentanvil.cli.options import (
    DATA,
    AllowHttpOption,
    CacheOption,
    CallsOption,
    EffortOption,
    EvidenceOption,
    JudgeOption,
    KeyCommandOption,
    KeyOption,
    MapOption,
    MaxTokensOption,
    ModeOption,
    OrderOption,
    QuietOption,
    RubricOption,
    SeedOption,
    TableOption,
    TemperatureOption,
    TimeoutOption,
    VsOption,
    parse_format,
)
from agentanvil.cli.options_panel import AcceptOption
from agentanvil.cli.output import emit, say
from agentanvil.cli.progress import Progress
from agentanvil.cli.summary import console
from agentanvil.report.ablation_files import ablation_json
from agentanvil.runner.ablation.ablate import AblateEstimate, AblateResult, ablate, estimate_ablation
from agentanvil.runner.ablation.settings import ablate_settings
from agentanvil.runner.config import load_config
from agentanvil.runner.estimate import as_dict
from agentanvil.runner.exits import Exit

app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command("ablate")
def command(
    ctx: typer.Context,
    data: Annotated[str, DATA],
    rubric: RubricOption = None,
    judge: JudgeOption = None,
    clause: Annotated[
        list[str] | None,
        typer.Option("--clause", metavar="NAME", help="Only this clause: a number, or how names begin."),
    ] = None,
    noise_floor: Annotated[
        bool, typer.Option("--noise-floor/--no-noise-floor", help="Ask the whole rubric again, to see what noise does.")
    ] = True,
    sample: Annotated[int | None, typer.Option("--sample", metavar="N", help="Only N rows, drawn by the seed.")] = None,
    limit: Annotated[int | None, typer.Option("--limit", metavar="N", help="Only the first N rows.")] = None,
    mode: ModeOption = None,
    order: OrderOption = None,
    vs: VsOption = None,
    reading: Annotated[
        str | None,
        typer.Option("--reading", metavar="READING", help="Score by the verdict, or what its probabilities expect."),
    ] = None,
    calls: CallsOption = None,
    evidence: EvidenceOption = None,
    accept_self_judging: AcceptOption = False,
    allow_code: Annotated[bool, typer.Option("--allow-code", help="Run the rubric's own python: checks.")] = False,
    repeats: Annotated[int | None, typer.Option("--repeats", metavar="N", help="Ask each question N times.")] = None,
    out: Annotated[Path | None, typer.Option("--out", metavar="FOLDER", help="The folder of arms and report.")] = None,
    map_: MapOption = None,
    concurrency: Annotated[int | None, typer.Option("--concurrency", metavar="N", help="Calls at once.")] = None,
    rpm: Annotated[
        float | None, typer.Option("--rpm", metavar="N", help="Requests a minute that the provider allows.")
    ] = None,
    tpm: Annotated[
        float | None, typer.Option("--tpm", metavar="N", help="Tokens a minute that the provider allows.")
    ] = None,
    timeout: TimeoutOption = None,
    max_attempts: Annotated[
        int | None, typer.Option("--max-attempts", metavar="N", help="Wire attempts for one call.")
    ] = None,
    max_calls: Annotated[
        int | None, typer.Option("--max-calls", metavar="N", help="Stop after so many wire attempts.")
    ] = None,
    max_cost: Annotated[
        float | None, typer.Option("--max-cost", metavar="USD", help="Stop when all arms have cost so much.")
    ] = None,
    min_coverage: Annotated[
        float | None, typer.Option("--min-coverage", metavar="SHARE", help="Share of verdicts that must be there.")
    ] = None,
    cache: CacheOption = None,
    seed: SeedOption = None,
    temperature: TemperatureOption = None,
    max_tokens: MaxTokensOption = None,
    effort: EffortOption = None,
    api_key_env: KeyOption = None,
    api_key_command: KeyCommandOption = None,
    allow_http: AllowHttpOption = None,
    dry_run_: Annotated[
        bool, typer.Option("--dry-run", help="Print each arm's calls, tokens and cost; ask nothing.")
    ] = False,
    format_: TableOption = None,
    quiet: QuietOption = False,
) -> None:
    """Take each clause out of the rubric in turn and grade the same rows without it; the same command again resumes.

    Clauses are the entries of each dimension's scope, the rubric's own rules, the built-in rules, and evidence before
    the score. What each one changes is measured item by item, with intervals and tests adjusted for their number.

    Exits 0 when everything was measured, whatever was found; 3 where verdicts are missing or the budget is reached.
    """
    output = parse_format(format_, ("table", "json"))
    settings = ablate_settings(data, flags(ctx), load_config())
    around = surroundings()
    if settings.run.dry_run:
        _show_estimate(estimate_ablation(settings, around), output)
        return
    result = ablate(settings, around, Progress(quiet=quiet))
    _show(result, output, quiet=quiet)
    raise typer.Exit(int(result.exit))


def _show(result: AblateResult, output: str, *, quiet: bool) -> None:
    if result.report is None:
        say("nothing is measured before the whole rubric was asked about every row")
    elif output == "json":
        emit(ablation_json(result.report))
    elif not quiet:
        print_ablation(console(), result.report, str(result.folder))
    if result.problem is not None:
        say(f"error: {result.problem}")
    if result.exit is Exit.MISSING:
        say("verdicts are missing; the same command resumes this ablation and asks only for those")
    if result.exit is Exit.INTERRUPTED:
        say("interrupted; the same command resumes this ablation")


def _show_estimate(found: AblateEstimate, output: str) -> None:
    if output == "json":
        whole = {"number": 0, "clause": None, **as_dict(found.whole)}
        arms = [
            {"number": number, "clause": found.layout.clauses[number].id, **as_dict(arm)}
            for number, arm in found.arms.items()
        ]
        emit(orjson.dumps({"arms": [whole, *arms]}, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE))
        return
    for line in estimate_lines_of(found):
        typer.echo(line)
    say("nothing was sent")
