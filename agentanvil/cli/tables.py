"""Cells and tables of what a person reads, alike in every part of a summary."""

from __future__ import annotations

from rich.table import Table

from agentanvil.cli.output import visible
from agentanvil.stats import Estimate, Interval

QUOTE_WIDTH = 100


def titled_table(title: str, *columns: tuple[str, str]) -> Table:
    """Return an empty table; each column has a name and a side: `left`, `right`, or `fold` for long names.

    Where the terminal is too narrow for everything, columns that fold give way on several lines; nothing is cut.
    """
    table = Table(title=title, title_justify="left", title_style="bold", box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for name, justify in columns:
        folds = justify == "fold"
        table.add_column(
            name,
            justify="right" if justify == "right" else "left",
            header_style="dim",
            no_wrap=not folds,
            overflow="fold" if folds else "ellipsis",
        )
    return table


def number(estimate: Estimate) -> str:
    """Return an estimate with two decimals, a dash where it is undefined."""
    return "–" if estimate.value is None else f"{estimate.value:.2f}"


def share(estimate: Estimate) -> str:
    """Return a share in per cent, a dash where it is undefined."""
    return "–" if estimate.value is None else f"{estimate.value:.0%}"


def span(interval: Interval) -> str:
    """Return both ends of an interval, a dash where it is undefined."""
    return "–" if interval.low is None or interval.high is None else f"{interval.low:.2f} … {interval.high:.2f}"


def cut(text: str, width: int = QUOTE_WIDTH) -> str:
    """Return text on one line that no terminal acts on, cut with a mark."""
    line = visible(" ".join(text.split()))
    return line if len(line) <= width else line[: width - 1] + "…"
