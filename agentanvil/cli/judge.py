"""`anvil judge`: what an endpoint can do, found out by asking it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

import orjson
import typer
from rich.table import Table
from rich.text import Text

from agentanvil.cli.invocation import flags, surroundings
from agentanvil.cli.options import (
    AllowHttpOption,
    EffortOption,
    KeyCommandOption,
    KeyOption,
    MaxTokensOption,
    SeedOption,
    TableOption,
    TemperatureOption,
    TimeoutOption,
    parse_format,
)
from agentanvil.cli.output import emit, say, visible
from agentanvil.cli.progress import Progress
from agentanvil.cli.summary import console
from agentanvil.runner.config import judge_settings, load_config
from agentanvil.runner.judge import JudgeReport, as_dict, inspect_judge, judge_exit
from agentanvil.runner.pricing import price_line

app = typer.Typer(add_completion=False, rich_markup_mode=None)

_RUNGS = {
    "json_schema": "a strict JSON schema",
    "tool": "a forced tool call",
    "json_object": "JSON mode, without a schema",
    "plain": "none: the prompt alone asks for JSON",
    "questions": "typed questions, answered with probabilities and without evidence",
}
_LOGPROBS = {"yes": "yes", "none_came": "no: none came back", "refused": "no: refused", "unknown": "not known"}


@app.command("judge")
def command(
    ctx: typer.Context,
    judge: Annotated[
        str | None, typer.Argument(metavar="JUDGE", help="PROVIDER:MODEL[@BASE_URL]; else that of anvil.yaml.")
    ] = None,
    temperature: TemperatureOption = None,
    max_tokens: MaxTokensOption = None,
    effort: EffortOption = None,
    seed: SeedOption = None,
    timeout: TimeoutOption = None,
    api_key_env: KeyOption = None,
    api_key_command: KeyCommandOption = None,
    allow_http: AllowHttpOption = None,
    format_: TableOption = None,
) -> None:
    """Ask JUDGE three tiny questions and print what it can do; exits 2 where it cannot grade."""
    output = parse_format(format_, ("table", "json"))
    progress = Progress(quiet=output == "json")
    report = inspect_judge(judge_settings(flags(ctx), load_config()), surroundings(), progress)
    if output == "json":
        emit(orjson.dumps(as_dict(report), option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE))
    else:
        console().print(_table(report))
    if report.problem is not None:
        say(f"error: {report.problem}")
    raise typer.Exit(int(judge_exit(report)))


def _table(report: JudgeReport) -> Table:
    table = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column(style="dim", no_wrap=True)
    table.add_column(overflow="fold")
    lines = _live_lines(report) if report.replies is None else iter((("replies", f"{report.replies:,} recorded"),))
    for name, value in (("judge", report.judge), *lines):
        table.add_row(name, Text(visible(value)))
    return table


def _live_lines(report: JudgeReport) -> Iterator[tuple[str, str]]:
    facts, calls = report.facts, len(report.latencies_s)
    if report.url is not None:
        yield "address", report.url
    yield "answers as", report.model or "(does not say)"
    started = "" if report.url else " (the first with the start of its server)"
    yield "latency", ", then ".join(f"{seconds:.2f} s" for seconds in report.latencies_s) + started
    yield "structured output", _RUNGS.get(facts.rung or "", "none")
    read = f"verdict read in {report.verdicts} of {calls}"
    yield from [("replies", read)] if report.decides else _text_lines(report, read)
    if report.same_reply is not None:
        yield "same reply twice", "yes" if report.same_reply else "no: use --repeats to see the spread"
    if report.logprobs is not None:
        note = f" ({report.logprobs_note})" if report.logprobs_note else ""
        yield "log-probabilities", _LOGPROBS[report.logprobs] + note
    if not report.decides:
        yield "hidden reasoning", "yes: it counts against the output cap" if report.reasoning else "none seen"
    yield "usage", _usage(report)
    yield from _limits(report)
    yield "price", _price(report)


def _text_lines(report: JudgeReport, read: str) -> Iterator[tuple[str, str]]:
    facts = report.facts
    yield "schema", f"kept in {report.schema_kept} of {len(report.latencies_s)} replies; {read}"
    yield "not taken", ", ".join(facts.dropped) or "nothing: all that is sent by default is taken"
    yield "output cap", facts.cap_field or "–"


def _usage(report: JudgeReport) -> str:
    usage = report.usage
    if usage is None or usage.input_tokens is None or usage.output_tokens is None:
        return "not reported: costs stay unknown"
    cached = "" if usage.cached_tokens is None else f" ({usage.cached_tokens:,} from its prompt cache)"
    return f"reported: {usage.input_tokens:,} tokens in{cached}, {usage.output_tokens:,} out for the last of the calls"


def _limits(report: JudgeReport) -> Iterator[tuple[str, str]]:
    if report.rates is None:
        return
    told = (("requests", report.rates.requests), ("tokens", report.rates.tokens))
    limits = [f"{window.limit:,} {name}" for name, window in told if window.limit is not None]
    if limits:
        yield "limits told", ", ".join(limits)


def _price(report: JudgeReport) -> str:
    totals = report.facts.totals
    spent = f"{totals.calls if totals else 0} wire requests"
    if report.price is None:
        return f"unknown (give prices in anvil.yaml); {spent} were made"
    cost = f", ${totals.cost:.6f}" if totals and totals.cost is not None else ""
    return f"{price_line(report.price)}; {spent} were made{cost}"
