"""`anvil lint`: the contract, read for what would make its numbers mean nothing."""

from __future__ import annotations

from typing import Annotated, Any

import orjson
import typer

from agentanvil.cli.options import parse_format
from agentanvil.cli.output import emit
from agentanvil.runner.lint import LintResult, lint, lint_exit

app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command("lint")
def command(
    rubrics: Annotated[list[str], typer.Argument(metavar="RUBRIC…", help="Rubric files (YAML).")],
    strict: Annotated[bool, typer.Option("--strict", help="Exit 1 on any finding, not only on errors.")] = False,
    format_: Annotated[str | None, typer.Option("--format", metavar="text|json", help="Output format.")] = None,
) -> None:
    """Read each RUBRIC and report what is well formed and yet will not measure."""
    output = parse_format(format_, ("text", "json"))
    results = lint(rubrics)
    if output == "json":
        emit(orjson.dumps([_as_json(r) for r in results], option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE))
    else:
        for result in results:
            _print(result)
    raise typer.Exit(int(lint_exit(results, strict=strict)))


def _print(result: LintResult) -> None:
    if result.error is not None:
        typer.echo(f"error: {result.error}", err=True)
        return
    for finding in result.findings:
        subject = f" [{finding.dimension}]" if finding.dimension else ""
        typer.echo(f"{result.file}:{finding.line or 1}: {finding.code} {finding.severity}{subject}: {finding.message}")
        typer.echo(f"  {finding.mend}")
    if not result.findings:
        typer.echo(f"{result.file}: no findings", err=True)


def _as_json(result: LintResult) -> dict[str, Any]:
    return {
        "file": result.file,
        "error": str(result.error) if result.error else None,
        "findings": result.findings,
    }
