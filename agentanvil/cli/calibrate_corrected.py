"""The part of a calibration that a person reads about corrected estimates."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import RenderableType
from rich.text import Text

from agentanvil.aggregate import CorrectedFigure, CorrectedSummary
from agentanvil.cli.output import visible
from agentanvil.cli.tables import number, titled_table
from agentanvil.stats import Estimate, Interval


def corrected_blocks(summary: CorrectedSummary) -> list[RenderableType]:
    """Return the corrected estimates with their targets, methods and cautions; nothing where none are labelled."""
    figures = [(name, kind, figure) for name, kind, figure in _figures(summary) if figure is not None]
    if not figures:
        return []
    table = titled_table(
        "Corrected by the labels",
        ("dimension", "fold"),
        ("", "left"),
        ("n labels", "right"),
        ("others", "right"),
        ("labels", "right"),
        ("judge", "right"),
        ("population (95 %)", "left"),
        ("these rows (95 %)", "left"),
    )
    for name, kind, figure in figures:
        table.add_row(
            Text(visible(name)),
            kind,
            str(figure.labelled),
            str(figure.unlabelled),
            number(figure.labels),
            number(figure.judge),
            _with_interval(figure.population, figure.population_interval),
            _with_interval(figure.items, figure.items_interval),
        )
    return [table, Text("\n").join(Text(visible(line)) for line in [*_legend(summary, figures), *_cautions(summary)])]


def _figures(summary: CorrectedSummary) -> Iterator[tuple[str, str, CorrectedFigure | None]]:
    for found in (*summary.dimensions, *([] if summary.overall is None else [summary.overall])):
        yield found.id, "mean", found.mean
        yield found.id, "pass rate", found.pass_rate


def _with_interval(estimate: Estimate, interval: Interval) -> str:
    if estimate.value is None:
        return "–"
    ends = "–" if interval.low is None or interval.high is None else f"{interval.low:.2f} … {interval.high:.2f}"
    return f"{estimate.value:.2f} [{ends}]"


def _legend(summary: CorrectedSummary, figures: list[tuple[str, str, CorrectedFigure]]) -> Iterator[str]:
    yield f"population: {summary.targets.population}; these rows: {summary.targets.items}, by the judge's error alone"
    for kind in ("mean", "pass rate"):
        of_kind = [figure for _, found, figure in figures if found == kind]
        if of_kind:
            first = of_kind[0]
            # Lambda is each row's own; it stands in the JSON.
            method = first.population_interval.method.split(", lambda")[0]
            yield f"{kind}: {method}; these rows: {first.items_interval.method}"


def _cautions(summary: CorrectedSummary) -> Iterator[str]:
    for found in (*summary.dimensions, *([] if summary.overall is None else [summary.overall])):
        for caution in found.cautions:
            yield f"! {found.id}: {caution.text}"
        for kind, figure in (("mean", found.mean), ("pass rate", found.pass_rate)):
            for caution in figure.cautions if figure is not None else ():
                yield f"! {found.id}, {kind}: {caution.text}"
