"""The pairwise part of the summary on standard error."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from agentanvil.aggregate import Pairwise, Ranking, Summary, WinRate
from agentanvil.cli.output import visible
from agentanvil.cli.tables import cut, number, share, span, titled_table
from agentanvil.stats import Estimate, Interval

_NAME_WIDTH = 40


def pair_blocks(summary: Summary) -> Iterator[RenderableType]:
    """Yield who won, what the order did, and the ranking where there is one; nothing in other modes."""
    pairwise = summary.pairwise
    if pairwise is None:
        return
    yield Group(_wins(pairwise), *(Text(visible(line)) for line in _lines(pairwise)))
    if pairwise.ranking is not None:
        yield _ranking(pairwise.ranking)


def _wins(pairwise: Pairwise) -> Table:
    models = "" if pairwise.models is None else f": {' against '.join(cut(m, _NAME_WIDTH) for m in pairwise.models)}"
    table = titled_table(
        f"response_a against response_b{models}",
        ("reading", "left"),
        ("wins", "right"),
        ("ties", "right"),
        ("losses", "right"),
        ("no result", "right"),
        ("win rate", "right"),
        ("95 % interval", "left"),
        ("right", "right"),
    )
    labels = pairwise.labels
    for name, wins, exact in (
        ("verdict", pairwise.verdict, labels and labels.verdict.exact),
        ("expected", pairwise.expected, labels and labels.expected.exact),
    ):
        chosen = name == pairwise.reading
        if chosen or wins.rate.n:
            cells = (f"{name} (result)" if chosen else name, *_win_cells(wins), share(exact) if exact else "–")
            table.add_row(*(Text(cell, style="bold" if chosen else "") for cell in cells))
    return table


def _win_cells(wins: WinRate) -> tuple[str, ...]:
    counts = (str(wins.wins), str(wins.ties), str(wins.losses), str(wins.missing))
    return (*counts, _percent(wins.rate), _percents(wins.interval))


def _lines(pairwise: Pairwise) -> Iterator[str]:
    agreement, position, read = pairwise.agreement, pairwise.position, pairwise.preferences
    if agreement.flip_rate.n:
        yield (
            f"both orders: {agreement.consistent} consistent, {agreement.partial} partial, {agreement.inconsistent} "
            f"inconsistent (flip rate {_percent(agreement.flip_rate)}, {_percents(agreement.flip_interval)})"
        )
    if position.rate.n:
        p_value = "" if position.test.p_value is None else f", p = {position.test.p_value:.2g}"
        yield (
            f"first response picked in {_percent(position.rate)} of {position.rate.n} calls that picked one "
            f"({_percents(position.interval)}{p_value})"
        )
    if pairwise.stated.compared:
        yield (
            f"the judge's own winner differs from the computed one in {pairwise.stated.disagreements} of "
            f"{pairwise.stated.compared} calls"
        )
    if read.cells and read.without < read.cells:
        yield (
            f"log-probabilities for {read.cells - read.without} of {read.cells} verdicts, "
            f"{_percent(read.label_mass)} of them on the answers on offer"
        )


def _ranking(ranking: Ranking) -> Table:
    table = titled_table(
        "Ranking (Bradley-Terry, ties as half a win)" + (f": {ranking.reason}" if ranking.reason else ""),
        ("rank", "right"),
        ("model", "left"),
        ("strength", "right"),
        ("95 % interval", "left"),
        ("wins", "right"),
        ("ties", "right"),
        ("losses", "right"),
    )
    for entry in ranking.models:
        counts = (str(entry.wins), str(entry.ties), str(entry.losses))
        rank = "–" if entry.rank is None else str(entry.rank)
        name = Text(cut(entry.model, _NAME_WIDTH))
        table.add_row(rank, name, number(entry.strength), span(entry.interval), *counts)
    return table


def _percent(estimate: Estimate) -> str:
    return "–" if estimate.value is None else f"{estimate.value:.1%}"


def _percents(interval: Interval) -> str:
    return "–" if interval.low is None or interval.high is None else f"{interval.low:.1%} … {interval.high:.1%}"
