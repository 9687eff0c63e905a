"""`anvil probe`: what moves a judge that should not."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import orjson
import typer

from agentanvil.cli.estimate import estimate_lines
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
    QuietOption,
    RubricOption,
    SeedOption,
    TableOption,
    TemperatureOption,
    TimeoutOption,
    VsOption,
    parse_format,
)
from agentanvil.cli.output import emit, say, visible
from agentanvil.cli.probe_table import print_probe
from agentanvil.cli.progress import Progress
from agentanvil.cli.summary import console
from agentanvil.runner.config import load_config
from agentanvil.runner.estimate import Estimate, as_dict
from agentanvil.runner.exits import Exit
from agentanvil.runner.probe.probe import ProbeResult, estimate_probe, probe
from agentanvil.runner.probe.settings import probe_settings
from agentanvil.runner.study import Arm

app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command("probe")
def command(
    ctx: typer.Context,
    data: Annotated[str, DATA],
    rubric: RubricOption = None,
    judge: JudgeOption = None,
    second_judge: Annotated[
        str | None, typer.Option("--second-judge", metavar="JUDGE", help="Whom self-preference is measured against.")
    ] = None,
    only: Annotated[
        str | None,
        typer.Option(
            "--only",
            metavar="PROBES",
            help="Some of position,verbosity,self-preference,injection,repeatability,format.",
        ),
    ] = None,
    mode: ModeOption = None,
    vs: VsOption = None,
    calls: CallsOption = None,
    evidence: EvidenceOption = None,
    allow_code: Annotated[bool, typer.Option("--allow-code", help="Run the rubric's own python: checks.")] = False,
    sample: Annotated[int | None, typer.Option("--sample", metavar="N", help="Only N rows, drawn by the seed.")] = None,
    limit: Annotated[int | None, typer.Option("--limit", metavar="N", help="Only the first N rows.")] = None,
    planted: Annotated[
        int | None,
        typer.Option("--planted", metavar="N", help="Plant instructions in N rows at most; 50 unless set."),
    ] = None,
    repeats: Annotated[int | None, typer.Option("--repeats", metavar="N", help="Ask each question N times.")] = None,
    fail_on: Annotated[
        str | None,
        typer.Option("--fail-on", metavar="bias", help="Exit 1 where a bias is found, 4 where it is inconclusive."),
    ] = None,
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
    """Measure what moves a judge that should not, on the rows of DATA; the same command again resumes.

    Each probe changes one thing about the responses, by code alone, and has the same judge grade them again: length,
    form, the order of pairs, planted instructions, or nothing. Every effect has an interval, and tests are adjusted for
    their number.

    Exits 0 when everything was measured, whatever was found; 3 where verdicts are missing or the budget is reached.
    With --fail-on bias: 1 where a bias was found, 4 where none was and something is inconclusive.
    """
    output = parse_format(format_, ("table", "json"))
    settings = probe_settings(data, flags(ctx), load_config())
    around = surroundings()
    if settings.run.dry_run:
        _show_estimates(estimate_probe(settings, around), output)
        return
    result = probe(settings, around, Progress(quiet=quiet))
    _show(result, output, quiet=quiet)
    raise typer.Exit(int(result.exit))


def _show(result: ProbeResult, output: str, *, quiet: bool) -> None:
    if output == "json":
        emit(orjson.dumps(result.data, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE))
    elif not quiet:
        print_probe(console(), result)
    if result.problem is not None:
        say(f"error: {result.problem}")
    if result.exit is Exit.MISSING:
        say("verdicts are missing; the same command resumes this probe and asks only for those")
    if result.exit is Exit.INTERRUPTED:
        say("interrupted; the same command resumes this probe")


def _show_estimates(found: tuple[tuple[Arm, Estimate], ...], output: str) -> None:
    if output == "json":
        arms = [{"arm": arm.name, **as_dict(estimate)} for arm, estimate in found]
        emit(orjson.dumps({"arms": arms}, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE))
        return
    for arm, estimate in found:
        typer.echo(visible(f"{arm.name}:"))
        for line in estimate_lines(estimate):
            typer.echo(f"  {line}")
    costs = [estimate.cost_usd for _, estimate in found]
    known = [cost for cost in costs if cost is not None]
    total = f"${sum(known):.4f}" if len(known) == len(costs) else "unknown (give prices in anvil.yaml)"
    typer.echo(f"all {len(found)} arms: judge calls {sum(estimate.calls for _, estimate in found):,}, cost {total}")
    say("nothing was sent")
