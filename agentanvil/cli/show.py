"""`anvil show`: the exact request that would be sent, and what the contract costs to ask."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from typing import Annotated, Any

import orjson
import typer

from agentanvil.cli.invocation import flags, surroundings
from agentanvil.cli.options import (
    DATA,
    AllowHttpOption,
    CacheOption,
    CallsOption,
    EvidenceOption,
    JudgeOption,
    KeyOption,
    MapOption,
    MaxTokensOption,
    ModeOption,
    OrderOption,
    SeedOption,
    TemperatureOption,
    VsOption,
    parse_format,
)
from agentanvil.cli.output import emit, say
from agentanvil.cli.progress import Progress
from agentanvil.runner.config import Config, judge_settings, load_config
from agentanvil.runner.show import ShownRequest, show
from agentanvil.runner.show_cost import Amount, PromptCost, cost_as_dict, show_cost
from agentanvil.runner.show_subject import ShowSettings

app = typer.Typer(add_completion=False, rich_markup_mode=None)

# Control characters and direction overrides: text that is to be judged must not steer a terminal or mislead the eye.
_STEERING = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
_NO_JUDGE = "code decides every dimension of this rubric: no judge is asked, nothing would be sent"


@app.command("show")
def command(
    ctx: typer.Context,
    rubric: Annotated[str, typer.Argument(metavar="RUBRIC", help="The rubric (YAML).")],
    data: Annotated[str | None, DATA] = None,
    id_: Annotated[str | None, typer.Option("--id", metavar="ID", help="The row to show; else the first.")] = None,
    judge: JudgeOption = None,
    mode: ModeOption = None,
    order: OrderOption = None,
    vs: VsOption = None,
    calls: CallsOption = None,
    evidence: EvidenceOption = None,
    repeat: Annotated[int, typer.Option("--repeat", metavar="N", help="The repeat to show, from 0 on.")] = 0,
    call: Annotated[
        str | None, typer.Option("--call", metavar="NAME", help="The call to show, where a row gets several.")
    ] = None,
    cost: Annotated[
        bool, typer.Option("--cost", help="Tokens and cost with and without the scope clauses, not the request.")
    ] = False,
    map_: MapOption = None,
    cache: CacheOption = None,
    seed: SeedOption = None,
    temperature: TemperatureOption = None,
    max_tokens: MaxTokensOption = None,
    api_key_env: KeyOption = None,
    allow_http: AllowHttpOption = None,
    format_: Annotated[
        str | None,
        typer.Option(
            "--format",
            metavar="FORMAT",
            help="body: byte for byte as sent; text: to be read. With --cost: table or json.",
        ),
    ] = None,
) -> None:
    """Print the request that `anvil grade` would send for one row, and what it would cost; nothing is sent."""
    output = parse_format(format_, ("table", "json") if cost else ("body", "text"))
    settings = _settings(flags(ctx), load_config())
    if cost:
        _print_cost(show_cost(settings, surroundings()), output)
        return
    requests = show(settings, surroundings(), Progress(quiet=False))
    if not requests:
        say(_NO_JUDGE)
        return
    for shown in requests:
        _explain(shown)
    emit(_bodies(requests) if output == "body" else b"".join(map(_text, requests)))


def _settings(given: dict[str, Any], config: Config) -> ShowSettings:
    def chosen(name: str) -> Any:
        return given[name] if given[name] is not None else config.values.get(name)

    return ShowSettings(
        rubric=given["rubric"],
        judge=judge_settings(given, config),
        data=given["data"],
        mapping=tuple(given["map"] or config.mapping),
        id=given["id"],
        repeat=given["repeat"],
        call=given["call"],
        mode=chosen("mode"),
        order=chosen("order"),
        vs=tuple(given["vs"] or ()),
        calls=chosen("calls"),
        evidence=chosen("evidence"),
        order_by_default=given["order"] is None,
    )


def _explain(shown: ShownRequest) -> None:
    say(f"task {shown.task}")
    say(f"POST {shown.url}")
    say(f"headers {', '.join(shown.headers)}")
    say(f"about {shown.input_tokens:,} tokens in, {shown.output_tokens:,} out; cost {_dollars(shown.cost_usd)}")
    for note in shown.notes:
        say(f"note: {note}")


def _dollars(cost: float | None) -> str:
    return "unknown (give prices in anvil.yaml)" if cost is None else f"${cost:.6f}"


def _bodies(requests: tuple[ShownRequest, ...]) -> bytes:
    """Return the bodies, two on lines of their own; a person's prompt gets a line too, a file not one byte more."""
    last = b"\n" if sys.stdout.isatty() else b""
    return b"\n".join(shown.body for shown in requests) + last


def _text(shown: ShownRequest) -> bytes:
    parts: list[tuple[str, str]] = [(message.role, message.content) for message in shown.request.messages]
    if shown.request.schema is not None:
        parts.append(("reply schema", json.dumps(shown.request.schema.schema, ensure_ascii=False)))
    for question in shown.request.questions:
        options = "".join(f"\n- {name}: {words}" for name, words in question.options)
        parts.append((f"{question.kind} {question.name}", question.instructions + options))
    text = "\n".join(f"──── {title} ────\n{content}\n" for title, content in parts)
    return _STEERING.sub(_escaped, text).encode("utf-8", "replace")


def _escaped(match: re.Match[str]) -> str:
    return match[0].encode("unicode_escape").decode()


def _print_cost(cost: PromptCost | None, output: str) -> None:
    if cost is None:
        say(_NO_JUDGE)
    elif output == "json":
        emit(orjson.dumps(cost_as_dict(cost), option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE))
    else:
        table = "".join(f"{line}\n" for line in _cost_lines(cost))
        emit(_STEERING.sub(_escaped, table).encode("utf-8", "replace"))


def _cost_lines(cost: PromptCost) -> Iterator[str]:
    """Yield a table: what is asked takes with the scope clauses, without them, the clauses alone, and the reply."""
    yield f"{cost.rubric}, mode {cost.mode}, row {cost.row}: estimated tokens"
    yield f"{'':36}{'with scope':>13}{'without':>13}{'clauses':>13}{'reply':>13}"
    for call in cost.calls:
        yield _line(f"call {call.call}", call.amount)
        for part in call.dimensions:
            clauses = part.tokens - part.tokens_without_scope
            yield f"{f'  {part.dimension}':36}{part.tokens:>13,}{part.tokens_without_scope:>13,}{clauses:>13,}"
    totals = [("the row", cost.of_row)] if cost.of_row.calls > 1 else []
    if cost.run is not None:
        totals.append((f"{cost.rows:,} rows", cost.run))
    for title, amount in totals:
        yield _line(f"{title}, {amount.calls:,} calls", amount)
    yield from _money([("one call" if cost.of_row.calls == 1 else "the row", cost.of_row), *totals[-1:]])


def _line(title: str, amount: Amount) -> str:
    numbers = (amount.input_tokens, amount.input_tokens_without_scope, amount.scope_tokens, amount.output_tokens)
    return f"{title:36}{''.join(f'{number:>13,}' for number in numbers)}"


def _money(amounts: list[tuple[str, Amount]]) -> Iterator[str]:
    for title, amount in dict(amounts).items():
        if amount.cost_usd is None or amount.cost_without_scope_usd is None:
            yield f"cost {_dollars(None)}"
            return
        yield f"cost of {title}: {_dollars(amount.cost_usd)}, without {_dollars(amount.cost_without_scope_usd)}"
