"""`anvil init`: a project to start from."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import Annotated, cast, get_args

import typer

from agentanvil.cli.options import JudgeOption, ModeOption
from agentanvil.cli.output import say
from agentanvil.rubric import Mode
from agentanvil.runner.init import InitSettings, init
from agentanvil.runner.starters import domains

app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command("init")
def command(
    folder: Annotated[
        Path, typer.Argument(metavar="DIR", help="The folder; it is made where it does not exist.")
    ] = Path(),
    mode: ModeOption = None,
    domain: Annotated[
        str | None, typer.Option("--domain", metavar="DOMAIN", help=f"What is judged: {', '.join(domains())}.")
    ] = None,
    judge: JudgeOption = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite files that are there already.")] = False,
) -> None:
    """Write a starter rubric, ten rows with grades, anvil.yaml and a CI step into DIR."""
    settings = InitSettings(
        mode=cast("Mode", mode or _asked("mode", get_args(Mode))),
        domain=domain or _asked("domain", domains()),
        judge=judge,
        force=force,
    )
    started = init(folder, settings)
    place = "" if folder == Path() else f"  cd {shlex.quote(str(folder))}\n"
    say(
        f"wrote {', '.join(started.files)}\n"
        f"next:\n{place}"
        f"  anvil lint rubric.yaml     does the contract hold?\n"
        f"  anvil judge                what can {started.judge} do?\n"
        f"  anvil grade data.jsonl     grade the rows, and compare with their labels\n"
        "then put in your own rows and dimensions; ci-anvil.sh is a step for your CI"
    )


def _asked(what: str, choices: tuple[str, ...]) -> str:
    """Ask a person; a script gets the first choice."""
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        return choices[0]
    return str(typer.prompt(f"{what} ({', '.join(choices)})", default=choices[0], show_default=False, err=True))
