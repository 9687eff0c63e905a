"""`anvil batch`: a run over a provider's batch API, at a discount and within a day."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import orjson
import typer
from rich.text import Text

from agentanvil.cli.invocation import flags, surroundings
from agentanvil.cli.options import (
    DATA,
    AllowHttpOption,
    CacheOption,
    CallsOption,
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
from agentanvil.cli.options_panel import AcceptOption, JudgesOption
from agentanvil.cli.output import emit, say, visible
from agentanvil.cli.progress import Progress
from agentanvil.cli.summary import console, print_summary
from agentanvil.cli.tables import titled_table
from agentanvil.report import summary_json
from agentanvil.runner.batch.access import World
from agentanvil.runner.batch.collect import collect
from agentanvil.runner.batch.opened import Reach
from agentanvil.runner.batch.status import Status, cancel, status
from agentanvil.runner.batch.submit import Submission, submit
from agentanvil.runner.config import grade_settings, load_config

app = typer.Typer(add_completion=False, rich_markup_mode=None, no_args_is_help=True)
RUN = typer.Argument(metavar="RUN", help="The run folder that `submit` wrote.")
AllowCodeOption = Annotated[bool, typer.Option("--allow-code", help="Run the rubric's own python: checks.")]
_COLUMNS = ("batch", "state", "requests", "succeeded", "failed", "age", "next")


@app.callback()
def batch() -> None:
    """Grade through a provider's batch API: about half the price, answered within a day.

    Judges of openai, openai-responses and anthropic have one. A run that was collected is the same as one that was
    graded live: folder, journal, reports and cache. Nothing is handed over twice, also where a command was killed.
    """


@app.command("submit")
def submit_command(
    ctx: typer.Context,
    data: Annotated[str, DATA],
    rubric: RubricOption = None,
    judge: JudgesOption = None,
    mode: ModeOption = None,
    order: OrderOption = None,
    vs: VsOption = None,
    reading: Annotated[
        str | None, typer.Option("--reading", metavar="READING", help="verdict, or expected (from probabilities).")
    ] = None,
    calls: CallsOption = None,
    baseline: Annotated[
        Path | None, typer.Option("--baseline", metavar="RUN", help="Fail only on what did not fail in this run.")
    ] = None,
    evidence: EvidenceOption = None,
    accept_self_judging: AcceptOption = False,
    allow_code: AllowCodeOption = False,
    repeats: Annotated[int | None, typer.Option("--repeats", metavar="N", help="Ask each question N times.")] = None,
    out: Annotated[Path | None, typer.Option("--out", metavar="RUN", help="The run folder.")] = None,
    map_: MapOption = None,
    limit: Annotated[int | None, typer.Option("--limit", metavar="N", help="Only the first N rows.")] = None,
    batch_size: Annotated[
        int | None, typer.Option("--batch-size", metavar="N", help="Requests in one batch; what the provider takes.")
    ] = None,
    timeout: TimeoutOption = None,
    max_attempts: Annotated[
        int | None, typer.Option("--max-attempts", metavar="N", help="Wire attempts for one call.")
    ] = None,
    max_calls: Annotated[
        int | None, typer.Option("--max-calls", metavar="N", help="Hand over so many requests at most.")
    ] = None,
    max_cost: Annotated[
        float | None, typer.Option("--max-cost", metavar="USD", help="Hand over what cannot cost more than this.")
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
    format_: TableOption = None,
    quiet: QuietOption = False,
) -> None:
    """Hand the rows of DATA that have no verdict yet over in batches; run it again for those that failed.

    What the cache or a check settles is settled at once. Where nothing is known about the judge, one row is asked
    about live: it shows what the judge accepts. Exit codes: 0 handed over, 3 not all of it.
    """
    output = parse_format(format_, ("table", "json"))
    given = flags(ctx)
    most = given.pop("batch_size")
    settings = grade_settings(data, given, load_config())
    done = submit(settings, World(surroundings(), Progress(quiet=quiet)), most=most)
    _show_submission(done, output, quiet=quiet)
    raise typer.Exit(int(done.exit))


@app.command("status")
def status_command(
    ctx: typer.Context,
    run: Annotated[Path, RUN],
    api_key_env: KeyOption = None,
    api_key_command: KeyCommandOption = None,
    timeout: TimeoutOption = None,
    format_: TableOption = None,
    quiet: QuietOption = False,
) -> None:
    """Show how far each batch of RUN is, and what to do next. Exit codes: 0 all have ended, 3 some still run."""
    output = parse_format(format_, ("table", "json"))
    found = status(run, _reach(ctx), World(surroundings(), Progress(quiet=quiet)))
    _show_status(found, output)
    raise typer.Exit(int(found.exit))


@app.command("collect")
def collect_command(
    ctx: typer.Context,
    run: Annotated[Path, RUN],
    wait: Annotated[bool, typer.Option("--wait", help="Wait until every batch has ended.")] = False,
    allow_code: AllowCodeOption = False,
    cache: CacheOption = None,
    api_key_env: KeyOption = None,
    api_key_command: KeyCommandOption = None,
    timeout: TimeoutOption = None,
    format_: TableOption = None,
    quiet: QuietOption = False,
) -> None:
    """Fetch the results of the batches that have ended, and write the reports of RUN.

    Exits as `anvil grade` does; 3 also as long as batches run or requests are to be submitted again.
    """
    output = parse_format(format_, ("table", "json"))
    reach = _reach(ctx)
    found = collect(run, reach, World(surroundings(), Progress(quiet=quiet)), wait_for_all=wait)
    if output == "json":
        emit(summary_json(found.result.summary))
    elif not quiet:
        print_summary(console(), found.result.summary, found.result.tally, str(found.result.folder))
    for note in found.notes:
        say(note)
    if found.running:
        say(f"{found.running} batch(es) still run; collect again later, or with --wait")
    raise typer.Exit(int(found.result.exit))


@app.command("cancel")
def cancel_command(
    ctx: typer.Context,
    run: Annotated[Path, RUN],
    api_key_env: KeyOption = None,
    api_key_command: KeyCommandOption = None,
    timeout: TimeoutOption = None,
    format_: TableOption = None,
    quiet: QuietOption = False,
) -> None:
    """Cancel the open batches of RUN. What was answered until then is billed, and can still be collected."""
    output = parse_format(format_, ("table", "json"))
    found = cancel(run, _reach(ctx), World(surroundings(), Progress(quiet=quiet)))
    _show_status(found, output)
    if found.batches:
        say("collect them once they have ended: what was answered is not lost")
    raise typer.Exit(int(found.exit))


def _reach(ctx: typer.Context) -> Reach:
    """Return what is said anew about how the judge is reached; a key's command may stand in anvil.yaml."""
    given: Mapping[str, Any] = flags(ctx)
    config = load_config()
    names = ("cache", "api_key_env", "timeout")
    changes = {name: given.get(name) for name in names}
    command = given.get("api_key_command") or config.values.get("api_key_command")
    return Reach({**changes, "api_key_command": command}, config.prices, allow_code=bool(given.get("allow_code")))


def _show_submission(done: Submission, output: str, *, quiet: bool) -> None:
    if output == "json":
        shown = {
            "run": str(done.folder),
            "batches": done.batches,
            "requests": done.requests,
            "settled": done.settled,
            "waiting": done.waiting,
            "held_back": done.held_back,
        }
        emit(orjson.dumps(shown, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE))
    elif not quiet:
        waiting = f", {done.waiting} in batches of before" if done.waiting else ""
        say(f"{done.requests} requests in {len(done.batches)} batch(es), {done.settled} settled at once{waiting}")
        if done.batches or done.waiting:
            say(f"within a day: anvil batch collect {done.folder} --wait")
    if done.held_back:
        say(f"{done.held_back} requests were held back by --max-cost or --max-calls; submit again after collecting")
    if done.problem is not None:
        say(f"error: {done.problem}")


def _show_status(found: Status, output: str) -> None:
    if output == "json":
        shown = {"run": str(found.folder), "batches": [line.as_dict() for line in found.batches]}
        emit(orjson.dumps(shown, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE))
        return
    if not found.batches:
        say("no batch is open")
        return
    table = titled_table(f"Batches of {found.folder}", *((name, _side(name)) for name in _COLUMNS))
    for line in found.batches:
        cells = {**line.as_dict(), "batch": line.batch or "?", "age": _age(line.age_s)}
        table.add_row(*(Text(visible(str(cells[name]))) for name in _COLUMNS))
    console().print(table)


def _side(name: str) -> str:
    return "right" if name in {"requests", "succeeded", "failed", "age"} else "left"


def _age(seconds: float) -> str:
    hours, minutes = divmod(int(seconds) // 60, 60)
    return f"{hours} h {minutes:02} min" if hours else f"{minutes} min"
