"""The part of a calibration that a person reads about corrected estimates."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import RenderableType
from rich.text import Text

from agentanvil.aggregate import CorrectedDimension, CorrectedFigure, CorrectedSummary
from agentanvil.cli.output import visible
from agentanvil.cli.tables import number, titled_table
from agentanvil.stats import Estimate, Interval

_RATE = "pass"
_Named = list[tuple[str, str, CorrectedFigure]]


def corrected_blocks(summary: CorrectedSummary) -> list[RenderableType]:
    """Return the corrected estimates with their targets, methods and cautions.

    Nothing where nothing is labelled, nor where everything is: labels need no correction.
    """
    figures = list(_figures(summary))
    if not any(figure.unlabelled or summary.weighted for _, _, figure in figures):
        return []
    level = f"{figures[0][2].population_interval.level * 100:g} %"
    table = titled_table(
        "Corrected by the labels",
        ("dimension", "fold"),
        ("", "left"),
        ("n", "right"),
        ("labels", "right"),
        ("judge", "right"),
        (f"population, {level}", "left"),
        (f"these rows, {level}", "left"),
    )
    for name, kind, figure in figures:
        table.add_row(
            Text(visible(name)),
            kind,
            f"{figure.labelled}+{figure.unlabelled}",
            number(figure.labels),
            number(figure.judge),
            _with_interval(figure.population, figure.population_interval),
            _with_interval(figure.items, figure.items_interval),
        )
    return [table, Text("\n").join(Text(visible(line)) for line in [*_legend(summary, figures), *_cautions(summary)])]


def _dimensions(summary: CorrectedSummary) -> tuple[CorrectedDimension, ...]:
    return summary.dimensions if summary.overall is None else (*summary.dimensions, summary.overall)


def _figures(summary: CorrectedSummary) -> Iterator[tuple[str, str, CorrectedFigure]]:
    for found in _dimensions(summary):
        for kind, figure in (("mean", found.mean), (_RATE, found.pass_rate)):
            if figure is not None:
                yield found.id, kind, figure


def _with_interval(estimate: Estimate, interval: Interval) -> str:
    if estimate.value is None:
        return "–"
    ends = "–" if interval.low is None or interval.high is None else f"{interval.low:.2f}, {interval.high:.2f}"
    return f"{estimate.value:.2f} [{ends}]"


def _legend(summary: CorrectedSummary, figures: _Named) -> Iterator[str]:
    yield "n: labelled + unlabelled rows; labels: as they are; judge: as it is"
    yield f"population: {summary.targets.population}"
    yield f"these rows: {summary.targets.items}, by the judge's error alone"
    for kind in ("mean", _RATE):
        first = next((figure for _, found, figure in figures if found == kind), None)
        if first is not None:
            # Lambda is each figure's own; it stands in the JSON.
            method = first.population_interval.method.split(", lambda")[0]
            yield f"{kind}: {method}; these rows: {first.items_interval.method}"


def _cautions(summary: CorrectedSummary) -> Iterator[str]:
    """Yield each caution once, after the names of the figures that it is about."""
    about: dict[str, list[str]] = {}
    for found in _dimensions(summary):
        for caution in found.cautions:
            about.setdefault(caution.text, []).append(found.id)
    for name, kind, figure in _figures(summary):
        for caution in figure.cautions:
            about.setdefault(caution.text, []).append(f"{name} ({kind})")
    for text, names in about.items():
        yield f"! {', '.join(names)}: {text}"
