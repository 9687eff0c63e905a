"""`anvil init`: a project to start from."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

import typer

from agentanvil.cli.options import JudgeOption
from agentanvil.cli.output import say
from agentanvil.runner.init import init

app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command("init")
def command(
    folder: Annotated[
        Path, typer.Argument(metavar="DIR", help="The folder; it is made where it does not exist.")
    ] = Path(),
    judge: JudgeOption = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite files that are there already.")] = False,
) -> None:
    """Write a starter rubric, ten rows with grades, anvil.yaml and a CI step into DIR."""
    started = init(folder, judge=judge, force=force)
    place = "" if folder == Path() else f"  cd {shlex.quote(str(folder))}\n"
    say(
        f"wrote {', '.join(started.files)}\n"
        f"next:\n{place}"
        f"  anvil lint rubric.yaml     does the contract hold?\n"
        f"  anvil judge                what can {started.judge} do?\n"
        f"  anvil grade data.jsonl     grade the rows, and compare with their labels\n"
        "then put in your own rows and dimensions; ci-anvil.sh is a step for your CI"
    )
