"""The command table. A verb's file, and the runner behind it, is loaded only when that verb runs."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from agentanvil import __version__

VERBS: Mapping[str, str] = {
    "grade": "Grade a dataset against a rubric: the main job.",
    "batch": "Grade at about half the price, within a day.",
    "lint": "Read a rubric's contract before a cent is spent.",
    "show": "Print the exact request that would be sent.",
    "judge": "Ask an endpoint what it can do.",
    "label": "Draw rows for people to label, and read their labels back.",
    "calibrate": "Measure a run's judge against human labels.",
    "compare": "Compare two runs over the same items, and fail on a regression.",
    "probe": "Measure what moves a judge that should not, on your own rows.",
    "ablate": "Measure what each clause of a rubric changes and costs.",
    "report": "Rebuild every report of a run from its journal.",
    "cache": "Look at, prune, clear, export or import the reply cache.",
    "init": "Write a starter rubric, dataset, anvil.yaml and CI line.",
}


class Verbs(TyperGroup):
    """Lists the verbs without importing them."""

    listing = False

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the verbs in the order of the table."""
        return list(VERBS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Load a verb's file; for a listing, a stub with its one-line help is enough."""
        if cmd_name not in VERBS:
            return None
        if self.listing:
            return TyperCommand(name=cmd_name, help=VERBS[cmd_name])
        module = importlib.import_module(f"agentanvil.cli.{cmd_name}")
        return typer.main.get_command(module.app)

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the overview."""
        self.listing = True
        super().format_help(ctx, formatter)

    def shell_complete(self, ctx: Any, incomplete: str) -> Any:
        """Complete verb names without importing them."""
        self.listing = True
        return super().shell_complete(ctx, incomplete)


app = typer.Typer(
    cls=Verbs,
    name="anvil",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"anvil {__version__}")
        raise typer.Exit


@app.callback()
def anvil(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """Let an LLM grade other LLMs' answers, and measure how far that judge can be trusted.

    Exit codes: 0 done and every gate passed; 1 a gate failed, a judge is untrusted, or what --fail-on names was found;
    2 usage, rubric, data or configuration error, nothing spent; 3 verdicts missing or budget reached; 4 inconclusive;
    5 internal error; 130 interrupted.
    """
