"""The parts of the summary on standard error that hold the judge against people, and against itself."""

from __future__ import annotations

from rich.table import Table
from rich.text import Text

from agentanvil.aggregate import Agreement, Summary, Trust
from agentanvil.cli.tables import number, share, span, titled_table

VERDICT_STYLES: dict[Trust | None, str] = {
    "TRUSTED": "green",
    "UNTRUSTED": "bold red",
    "INCONCLUSIVE": "yellow",
    None: "dim",
}


def ways_table(summary: Summary) -> Table | None:
    """Return how joint and split calls differ, None where only one way was asked."""
    if not summary.call_ways:
        return None
    table = titled_table(
        "Joint against split calls",
        ("dimension", "left"),
        ("n", "right"),
        ("joint", "right"),
        ("split", "right"),
        ("split − joint", "right"),
        ("95 % interval", "left"),
        ("equal", "right"),
    )
    for ways in summary.call_ways:
        figures = (number(ways.joint), number(ways.split), number(ways.difference), span(ways.interval))
        table.add_row(ways.id, str(ways.difference.n), *figures, share(ways.equal))
    return table


def agreement_table(summary: Summary) -> Table | None:
    """Return the judge against human labels, None where nobody graded."""
    overall = [] if summary.pairwise is not None else [(summary.overall.id, summary.overall.agreement)]
    named = [(dimension.id, dimension.agreement) for dimension in summary.dimensions] + overall
    rows = [(name, agreement) for name, agreement in named if agreement]
    if summary.pairwise is not None and (labels := summary.pairwise.labels) is not None:
        rows.append(("winner, each call", labels.calls))
        rows.append(("winner, verdict", labels.verdict))
        rows.append(("winner, expected", labels.expected))
    if not rows:
        return None
    weights = "" if summary.mode != "absolute" else " (quadratic)"
    table = titled_table(
        "Judge against human labels",
        ("dimension", "left"),
        ("n", "right"),
        ("exact", "right"),
        (f"kappa{weights}", "right"),
        ("95 % interval", "left"),
        ("verdict", "left"),
    )
    for name, agreement in rows:
        table.add_row(name, *_agreement_cells(agreement))
    return table


def _agreement_cells(agreement: Agreement) -> tuple[str, str, str, str, Text]:
    return (
        str(agreement.exact.n),
        share(agreement.exact),
        number(agreement.kappa),
        span(agreement.kappa_interval),
        Text(agreement.verdict, style=VERDICT_STYLES[agreement.verdict]),
    )
