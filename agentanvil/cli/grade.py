"""`anvil grade`: the main job."""

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
    CalibrationOption,
    CallsOption,
    ConfidenceOption,
    EffortOption,
    EvidenceOption,
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
from agentanvil.cli.options_panel import (
    AcceptOption,
    CrossJudgeOption,
    CrossSampleOption,
    EscalateCostOption,
    EscalateShareOption,
    EscalateToOption,
    EscalateWhenOption,
    JudgesOption,
    JuryOption,
    QuorumOption,
)
from agentanvil.cli.output import emit, say
from agentanvil.cli.progress import Progress
from agentanvil.cli.summary import console, print_summary
from agentanvil.report import summary_json
from agentanvil.runner.config import grade_settings, load_config
from agentanvil.runner.estimate import Estimate, as_dict, estimate
from agentanvil.runner.exits import Exit
from agentanvil.runner.grade import GradeResult, grade

app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command("grade")
def command(
    ctx: typer.Context,
    data: Annotated[str, DATA],
    rubric: RubricOption = None,
    judge: JudgesOption = None,
    mode: ModeOption = None,
    order: OrderOption = None,
    vs: VsOption = None,
    reading: Annotated[
        str | None,
        typer.Option("--reading", metavar="READING", help="Score by the verdict, or what its probabilities expect."),
    ] = None,
    calls: CallsOption = None,
    baseline: Annotated[
        Path | None, typer.Option("--baseline", metavar="RUN", help="Fail only on what did not fail in this run.")
    ] = None,
    calibration: CalibrationOption = None,
    confidence: ConfidenceOption = None,
    evidence: EvidenceOption = None,
    accept_self_judging: AcceptOption = False,
    jury: JuryOption = None,
    quorum: QuorumOption = None,
    cross_judge: CrossJudgeOption = None,
    cross_sample: CrossSampleOption = None,
    escalate_to: EscalateToOption = None,
    escalate_when: EscalateWhenOption = None,
    escalate_share: EscalateShareOption = None,
    escalate_max_cost: EscalateCostOption = None,
    allow_code: Annotated[bool, typer.Option("--allow-code", help="Run the rubric's own python: checks.")] = False,
    repeats: Annotated[
        str | None,
        typer.Option("--repeats", metavar="N|auto[:MAX]", help="Ask N times; auto: twice, more where answers differ."),
    ] = None,
    out: Annotated[Path | None, typer.Option("--out", metavar="RUN", help="The run folder.")] = None,
    map_: MapOption = None,
    limit: Annotated[int | None, typer.Option("--limit", metavar="N", help="Only the first N rows.")] = None,
    concurrency: Annotated[
        int | None, typer.Option("--concurrency", metavar="N", help="Calls at once, to each judge.")
    ] = None,
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
    max_cost: Annotated[float | None, typer.Option("--max-cost", metavar="USD", help="Stop at this cost.")] = None,
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
    dry_run_: Annotated[bool, typer.Option("--dry-run", help="Print calls, tokens and cost; ask nothing.")] = False,
    format_: TableOption = None,
    quiet: QuietOption = False,
) -> None:
    """Grade the rows of DATA against a rubric through a judge; the same command again resumes.

    Exits 0 when done, with every gate passed; 1 for a failed gate, 3 where verdicts are missing or the budget is
    reached, 4 for a gate that is inconclusive.
    """
    output = parse_format(format_, ("table", "json"))
    settings = grade_settings(data, flags(ctx), load_config())
    around = surroundings()
    progress = Progress(quiet=quiet)
    if settings.dry_run:
        _show_estimate(estimate(settings, around), output)
        return
    result = grade(settings, around, progress)
    _show(result, output, quiet=quiet)
    raise typer.Exit(int(result.exit))


def _show(result: GradeResult, output: str, *, quiet: bool) -> None:
    if output == "json":
        emit(summary_json(result.summary))
    elif not quiet:
        print_summary(console(), result.summary, result.tally, str(result.folder))
    if result.problem is not None:
        say(f"error: {result.problem}")
    if result.exit is Exit.MISSING and result.summary.coverage.covered < result.summary.coverage.expected:
        say("verdicts are missing; the same command resumes this run and asks only for those")
    if result.exit is Exit.MISSING and (unread := result.manifest["data"]["unread"]):
        say(f"{unread} record(s) could not be read and have no verdict; --min-coverage says how many may lack one")
    if result.exit is Exit.INTERRUPTED:
        say("interrupted; the same command resumes this run")


def _show_estimate(found: Estimate, output: str) -> None:
    if output == "json":
        emit(orjson.dumps(as_dict(found), option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE))
        return
    for line in estimate_lines(found):
        typer.echo(line)
    say("nothing was sent")
