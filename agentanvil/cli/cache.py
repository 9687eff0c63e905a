"""`anvil cache`: the reply cache, looked at and looked after."""

from __future__ import annotations

import sys
import time
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import orjson
import typer
from rich.filesize import decimal
from rich.table import Table
from rich.text import Text

from agentanvil.cli.invocation import surroundings
from agentanvil.cli.options import CacheOption, TableOption, parse_format
from agentanvil.cli.output import emit, say, visible
from agentanvil.cli.summary import console
from agentanvil.errors import UsageError
from agentanvil.runner.cache import (
    CacheStats,
    cache_clear,
    cache_export,
    cache_import,
    cache_stats,
    find_cache,
    prune_cache,
)
from agentanvil.runner.config import judge_settings, load_config
from agentanvil.runner.exits import Exit

app = typer.Typer(add_completion=False, rich_markup_mode=None, no_args_is_help=True)


@app.callback()
def cache() -> None:
    """Look at, prune, clear, export or import the reply cache.

    It is the file that --cache names, else `cache:` in anvil.yaml, else ANVIL_CACHE, else one in the user's
    cache folder. It holds replies, not requests; deleting it costs nothing but the calls that it would spare.
    """


@app.command("stats")
def stats(
    cache: CacheOption = None,
    format_: TableOption = None,
) -> None:
    """Count the kept replies by judge and model."""
    output = parse_format(format_, ("table", "json"))
    path = _path(cache)
    found, missing = cache_stats(path), _is_missing(path)
    if output == "json":
        emit(orjson.dumps(asdict(found), option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE))
    elif not missing:
        say(_held(found))
        console().print(_table(found))


@app.command("prune")
def prune(
    older_than: Annotated[
        str | None, typer.Option("--older-than", metavar="AGE", help="Drop replies older than this, e.g. 30d or 12h.")
    ] = None,
    max_size: Annotated[
        str | None, typer.Option("--max-size", metavar="SIZE", help="Drop the oldest beyond this, e.g. 500MB.")
    ] = None,
    cache: CacheOption = None,
) -> None:
    """Drop old replies, or the oldest ones beyond a size."""
    path = _path(cache)
    before = cache_stats(path).entries
    left = prune_cache(path, time.time(), older_than=older_than, max_size=max_size)
    if not _is_missing(path):
        say(f"dropped {before - left.entries:,} replies; {_held(left)}")


@app.command("clear")
def clear(
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    cache: CacheOption = None,
) -> None:
    """Drop every reply, and what was learnt about endpoints."""
    path = _path(cache)
    if _is_missing(path):
        return
    if not yes and not _agreed(f"Drop all {cache_stats(path).entries:,} replies in {path}?"):
        say("nothing was dropped")
        return
    say(f"{path}: dropped {cache_clear(path):,} replies")


@app.command("export")
def export(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Where to write; JSON lines.")],
    cache: CacheOption = None,
) -> None:
    """Write every reply to FILE, to be imported on another machine."""
    say(f"{file}: {cache_export(_path(cache), file):,} replies")


@app.command("import")
def import_(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="What `anvil cache export` wrote.")],
    cache: CacheOption = None,
) -> None:
    """Add the replies in FILE; those that are known stay as they are."""
    path = _path(cache)
    found = cache_import(path, file)
    say(f"{path}: {found.added:,} replies added, {found.known:,} known before")


def _path(cache: str | None) -> Path:
    return find_cache(judge_settings({"cache": cache}, load_config()).cache, surroundings().environ)


def _is_missing(path: Path) -> bool:
    """Tell whether there is no such file, and say so."""
    missing = not path.exists()
    if missing:
        say(f"{path}: there is no cache yet")
    return missing


def _agreed(question: str) -> bool:
    """Ask on a terminal. Raises UsageError elsewhere."""
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise UsageError("nobody is there to be asked", hint="Say --yes to clear the cache without a question.")
    try:
        return typer.confirm(question, err=True)
    except typer.Abort:  # Ctrl-C or Ctrl-D; the exit code of an interruption is not that of a failed gate
        raise typer.Exit(int(Exit.INTERRUPTED)) from None


def _held(found: CacheStats) -> str:
    span = "" if found.oldest is None or found.newest is None else f", {_day(found.oldest)} … {_day(found.newest)}"
    learnt = f", {found.shapes} endpoint(s) known" if found.shapes else ""
    return f"{found.path}: {found.entries:,} replies, {decimal(found.bytes)} on disk{span}{learnt}"


def _table(found: CacheStats) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column("judge", header_style="dim", overflow="fold")
    table.add_column("answered as", header_style="dim", overflow="fold")
    table.add_column("replies", header_style="dim", justify="right")
    table.add_column("size", header_style="dim", justify="right")
    for group in found.groups:
        table.add_row(
            Text(visible(group.judge)), Text(visible(group.model)), f"{group.entries:,}", decimal(group.bytes)
        )
    return table


def _day(moment: float) -> str:
    return datetime.fromtimestamp(moment, UTC).strftime("%Y-%m-%d")
