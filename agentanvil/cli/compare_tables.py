"""The comparison that a person reads, on standard error."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Console
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from agentanvil.aggregate.comparison.tally import (
    ComparedFigure,
    Comparison,
    Finding,
    RegressedSide,
    Regression,
    RegressionVerdict,
)
from agentanvil.cli.output import visible
from agentanvil.cli.tables import cut, number, span, titled_table

_NAME_WIDTH = 40
_TEXT_WIDTH = 160
_FINDINGS: dict[Finding, str] = {"worse": "worse", "no_worse": "no worse", "inconclusive": "inconclusive"}
_VERDICTS: dict[RegressionVerdict, str] = {
    "pass": "no regression",
    "fail": "REGRESSION",
    "missing": "not decided: too many verdicts are missing",
    "inconclusive": "INCONCLUSIVE",
}


def print_comparison(console: Console, comparison: Comparison, *, asked: bool) -> None:
    """Print what is compared, every figure, what is missing, the worst regressions and, if asked for, the verdict."""
    if comparison.brand is not None:
        console.print(Text(visible(comparison.brand), style="bold red"), soft_wrap=True)
        console.print()
    for line in _heading(comparison):
        console.print(line, highlight=False, soft_wrap=True, markup=False)
    for table in (_figures(comparison), _power(comparison), _left_out(comparison)):
        if table is not None:
            console.print()
            console.print(table)
    console.print()
    for line in (*_closing(comparison), *_regressions(comparison)):
        console.print(line, highlight=False, soft_wrap=True, markup=False)
    if asked:
        style = "bold green" if comparison.gate.verdict == "pass" else "bold red"
        console.print(Text(_VERDICTS[comparison.gate.verdict], style=style))


def _heading(comparison: Comparison) -> Iterator[str]:
    for name, run in (("A", comparison.a), ("B", comparison.b)):
        yield visible(f"{name}: {run.run} ({run.data}, {run.judge})")
    items = comparison.items
    yield f"{items.both} item(s) in both, {items.only_a} in A alone, {items.only_b} in B alone"


def _figures(comparison: Comparison) -> Table:
    whose = ", response_a's numbers" if comparison.mode == "pairwise" else ""
    scale = ", scores put on 0–1" if comparison.normalised else ""
    table = titled_table(
        f"Means over paired items, and B − A{whose}{scale}",
        ("figure", "fold"),
        ("n", "right"),
        ("A", "right"),
        ("B", "right"),
        ("B − A", "right"),
        ("95 % interval", "left"),
        ("Holm p", "right"),
        ("B is", "left"),
    )
    for figure in comparison.figures:
        table.add_row(
            _name(figure),
            str(figure.n),
            number(figure.mean_a),
            number(figure.mean_b),
            "–" if figure.difference.value is None else f"{figure.difference.value:+.3f}",
            _ends(figure.interval.low, figure.interval.high),
            _p(figure.adjusted_p),
            _FINDINGS[figure.finding],
            style=_style(figure),
        )
    return table


def _power(comparison: Comparison) -> Table:
    table = titled_table(
        "Item by item, and what so many items could show",
        ("figure", "fold"),
        ("better/same/worse", "right"),
        ("p", "right"),
        ("detectable", "right"),
        ("Spearman", "right"),
        ("95 % interval", "left"),
    )
    for figure in comparison.figures:
        least = figure.least_detectable.value
        table.add_row(
            _name(figure),
            f"{figure.wins}/{figure.ties}/{figure.losses}",
            _p(figure.test.p_value),
            "–" if least is None else f"{least:.3f}",
            number(figure.correlation),
            span(figure.correlation_interval),
            style=_style(figure),
        )
    return table


def _left_out(comparison: Comparison) -> Table | None:
    """Return what could not be paired, None where nothing is missing."""
    if not any(figure.unpaired.missing or figure.unpaired.not_applicable for figure in comparison.figures):
        return None
    table = titled_table(
        "Items of both runs without a pair",
        ("figure", "fold"),
        ("missing in A/B/both", "right"),
        ("n/a", "right"),
        ("B − A at worst … best", "left"),
    )
    for figure in comparison.figures:
        left, bounds = figure.unpaired, figure.bounds
        table.add_row(
            _name(figure),
            f"{left.a}/{left.b}/{left.both}",
            str(left.not_applicable),
            _ends(bounds.low, bounds.high),
            style=_style(figure),
        )
    return table


def _name(figure: ComparedFigure) -> str:
    return escape(visible(figure.id))


def _style(figure: ComparedFigure) -> str:
    return "bold" if figure.kind == "overall" else "dim" if not figure.tested else ""


def _closing(comparison: Comparison) -> Iterator[str]:
    tests = dict.fromkeys(figure.test.method for figure in comparison.figures if figure.test.p_value is not None)
    yield f"tests: {', '.join(tests) or 'none'}; {comparison.correction}"
    for interval in dict.fromkeys(f.interval.method for f in comparison.figures if f.interval.low is not None):
        yield f"interval: {interval}"
    if comparison.gate.margin:
        yield f"p is of a drop by {comparison.gate.margin:g}, the largest that counts as none"
    yield "detectable: the difference that so many items find with probability 0.8 at alpha 0.05"
    if any(figure.unpaired.missing for figure in comparison.figures):
        yield "at worst, at best: if every missing verdict were the worst for B, or the best"
    for name, dimensions in (("A", comparison.only_a_dimensions), ("B", comparison.only_b_dimensions)):
        if dimensions:
            yield visible(f"only {name}'s rubric has: {', '.join(dimensions)}")
    if comparison.items.unchecked is not None:
        yield visible(comparison.items.unchecked)
    for note in comparison.notes:
        yield visible(note)


def _regressions(comparison: Comparison) -> Iterator[str]:
    if comparison.regressions:
        yield ""
        yield "Worst regressions"
    for found in comparison.regressions:
        yield from _regression(found)
    if comparison.regressions and comparison.texts_missing is not None:
        yield visible(f"  request and response are not at hand: {comparison.texts_missing}")


def _regression(found: Regression) -> Iterator[str]:
    where = "" if found.dimension is None else f" on {found.dimension}"
    drop = "" if found.drop is None else f", overall {_plain(found.a.overall)} → {_plain(found.b.overall)}"
    yield visible(f"  {cut(found.id, _NAME_WIDTH)}{where}: {_plain(found.a.score)} → {_plain(found.b.score)}{drop}")
    if found.request is not None:
        yield f"    request: {cut(found.request, _TEXT_WIDTH)}"
    for name, side in (("A", found.a), ("B", found.b)):
        yield from _side(name, side)


def _side(name: str, side: RegressedSide) -> Iterator[str]:
    if side.response is not None:
        yield f"    {name} answered: {cut(side.response, _TEXT_WIDTH)}"
    if side.rival_response is not None:
        yield f"    {name} was set against: {cut(side.rival_response, _TEXT_WIDTH)}"
    for quote in (*side.evidence, *side.rival_evidence):
        yield f"    {name}'s evidence: {cut(quote, _TEXT_WIDTH)}"
    if side.reason:
        yield f"    {name}'s reason: {cut(side.reason, _TEXT_WIDTH)}"


def _ends(low: float | None, high: float | None) -> str:
    return "–" if low is None or high is None else f"{low:+.3f} … {high:+.3f}"


def _p(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}" if value >= 0.001 else f"{value:.0e}"


def _plain(value: float | None) -> str:
    return "–" if value is None else f"{value:g}"
