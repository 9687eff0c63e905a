"""`anvil lint`: the contract, read for what would make its numbers mean nothing."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Any

import orjson
import typer

from agentanvil.cli.invocation import surroundings
from agentanvil.cli.options import JudgeOption, MapOption, ModeOption, VsOption, parse_format
from agentanvil.cli.output import emit, say, visible
from agentanvil.runner.config import load_config
from agentanvil.runner.lint import LintResult, LintSettings, explain, lint, lint_exit

app = typer.Typer(add_completion=False, rich_markup_mode=None)
_LAID_OUT = orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE


@app.command("lint")
def command(
    rubrics: Annotated[list[str] | None, typer.Argument(metavar="RUBRIC…", help="Rubric files (YAML).")] = None,
    strict: Annotated[bool, typer.Option("--strict", help="Exit 1 on warnings too, not only on errors.")] = False,
    explain_: Annotated[
        str | None, typer.Option("--explain", metavar="CODE", help="Say what a finding means, and read nothing.")
    ] = None,
    data: Annotated[
        str | None,
        typer.Option("--data", metavar="FILE", help="Rows to hold the rubric against; - for standard input."),
    ] = None,
    map_: MapOption = None,
    vs: VsOption = None,
    mode: ModeOption = None,
    judge: JudgeOption = None,
    format_: Annotated[str | None, typer.Option("--format", metavar="text|json", help="Output format.")] = None,
) -> None:
    """Read each RUBRIC and report what would make its numbers mean little: all of it, with line and mending."""
    output = parse_format(format_, ("text", "json"))
    if explain_ is not None:
        _explain(explain_, output)
        return
    # A mode that there is none of is refused by the settings.
    asked: Any = mode
    families = {} if judge is None else load_config().families
    settings = LintSettings(tuple(rubrics or ()), asked, data, tuple(map_ or ()), tuple(vs or ()), judge, families)
    results = lint(settings, surroundings())
    if output == "json":
        emit(orjson.dumps([_as_json(result) for result in results], option=_LAID_OUT))
    else:
        for result in results:
            _print(result)
    raise typer.Exit(int(lint_exit(results, strict=strict)))


def _explain(name: str, output: str) -> None:
    found = explain(name)
    as_json = {"code": found.code} | asdict(found.kind)
    emit(orjson.dumps(as_json, option=_LAID_OUT) if output == "json" else found.text.encode())


def _print(result: LintResult) -> None:
    for finding in result.findings:
        place = f"{finding.file or result.file}:{finding.line or 1}"
        subject = f" [{finding.dimension}]" if finding.dimension else ""
        text = f"{place}: {finding.code} {finding.severity}{subject}: {finding.message}\n  {finding.mend}\n"
        emit(visible(text).encode())
    if not result.findings:
        say(f"{result.file}: no findings")


def _as_json(result: LintResult) -> dict[str, Any]:
    return {
        "file": result.file,
        "usable": result.usable,
        "findings": [
            asdict(finding) | {"title": finding.title, "file": finding.file or result.file}
            for finding in result.findings
        ],
    }
