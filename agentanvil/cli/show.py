"""`anvil show`: the exact request that would be sent."""

from __future__ import annotations

import json
import re
import sys
from typing import Annotated

import typer

from agentanvil.cli.invocation import flags, surroundings
from agentanvil.cli.options import (
    DATA,
    AllowHttpOption,
    CacheOption,
    JudgeOption,
    KeyOption,
    MapOption,
    MaxTokensOption,
    SeedOption,
    TemperatureOption,
    parse_format,
)
from agentanvil.cli.output import emit, say
from agentanvil.cli.progress import Progress
from agentanvil.runner.config import judge_settings, load_config
from agentanvil.runner.show import ShownRequest, ShowSettings, show

app = typer.Typer(add_completion=False, rich_markup_mode=None)

# Control characters and direction overrides: text that is to be judged must not steer a terminal or mislead the eye.
_STEERING = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


@app.command("show")
def command(
    ctx: typer.Context,
    rubric: Annotated[str, typer.Argument(metavar="RUBRIC", help="The rubric (YAML).")],
    data: Annotated[str | None, DATA] = None,
    id_: Annotated[str | None, typer.Option("--id", metavar="ID", help="The row to show; else the first.")] = None,
    judge: JudgeOption = None,
    repeat: Annotated[int, typer.Option("--repeat", metavar="N", help="The repeat to show, from 0 on.")] = 0,
    call: Annotated[
        str | None, typer.Option("--call", metavar="NAME", help="The call to show, where a row gets several.")
    ] = None,
    map_: MapOption = None,
    cache: CacheOption = None,
    seed: SeedOption = None,
    temperature: TemperatureOption = None,
    max_tokens: MaxTokensOption = None,
    api_key_env: KeyOption = None,
    allow_http: AllowHttpOption = None,
    format_: Annotated[
        str | None, typer.Option("--format", metavar="body|text", help="body: byte for byte as sent; text: to be read.")
    ] = None,
) -> None:
    """Print the request that `anvil grade` would send for one row, and what it would cost; nothing is sent."""
    output = parse_format(format_, ("body", "text"))
    config = load_config()
    settings = ShowSettings(
        rubric=rubric,
        judge=judge_settings(flags(ctx), config),
        data=data,
        mapping=tuple(map_ or config.mapping),
        id=id_,
        repeat=repeat,
        call=call,
    )
    shown = show(settings, surroundings(), Progress(quiet=False))
    if shown is None:
        say("code decides every dimension of this rubric: no judge is asked, nothing would be sent")
        return
    _explain(shown)
    emit(_body(shown) if output == "body" else _text(shown))


def _explain(shown: ShownRequest) -> None:
    cost = "unknown (give prices in anvil.yaml)" if shown.cost_usd is None else f"${shown.cost_usd:.6f}"
    say(f"task {shown.task}")
    say(f"POST {shown.url}")
    say(f"headers {', '.join(shown.headers)}")
    say(f"about {shown.input_tokens:,} tokens in, {shown.output_tokens:,} out; cost {cost}")
    for note in shown.notes:
        say(f"note: {note}")


def _body(shown: ShownRequest) -> bytes:
    """Return the body; a person's prompt gets a line of its own, a file gets not one byte more."""
    return shown.body + (b"\n" if sys.stdout.isatty() else b"")


def _text(shown: ShownRequest) -> bytes:
    parts: list[tuple[str, str]] = [(message.role, message.content) for message in shown.request.messages]
    if shown.request.schema is not None:
        parts.append(("reply schema", json.dumps(shown.request.schema.schema, ensure_ascii=False)))
    text = "\n".join(f"──── {title} ────\n{content}\n" for title, content in parts)
    return _STEERING.sub(_escaped, text).encode("utf-8", "replace")


def _escaped(match: re.Match[str]) -> str:
    return match[0].encode("unicode_escape").decode()
