"""The part of a calibration that looks within groups of items, as a person reads it."""

from __future__ import annotations

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from agentanvil.aggregate import CalibrationReport, Grouped, Measured
from agentanvil.cli.output import visible
from agentanvil.cli.tables import titled_table


def group_blocks(report: CalibrationReport) -> list[RenderableType]:
    """Return correlations within groups, who finds the best response, and pass rates over tries; nothing ungrouped."""
    if report.groups is None:
        return []
    level = f"{100 * report.level:.4g} % interval"
    blocks: list[RenderableType] = [_within(report.groups, level)]
    tops, trials = _top_one(report.groups, level), _trials(report.groups)
    return [*blocks, *(table for table in (tops, trials) if table.row_count)]


def _within(groups: Grouped, level: str) -> Table:
    left_out = f", {groups.without} labelled items are in none" if groups.without else ""
    table = titled_table(
        f"Within {groups.groups} groups by {visible(groups.field)}{left_out}",
        ("dimension", "fold"),
        ("mean of", "left"),
        ("groups", "right"),
        ("undefined", "right"),
        ("mean", "right"),
        (level, "left"),
    )
    for found in groups.dimensions:
        named = (("Spearman", found.spearman), ("Kendall tau-b", found.kendall_tau_b), ("Pearson", found.pearson))
        for name, within in named:
            cells = (str(within.mean.n), str(within.undefined), _value(within.mean), _interval(within.mean))
            table.add_row(Text(visible(found.id)), name, *cells)
    return table


def _top_one(groups: Grouped, level: str) -> Table:
    table = titled_table(
        "Best response found, by the repeats used",
        ("dimension", "fold"),
        ("k", "right"),
        ("groups", "right"),
        ("found", "right"),
        (level, "left"),
        ("tied", "right"),
        ("dropped", "right"),
    )
    for found in groups.dimensions:
        for top in found.top_one:
            if top.groups:
                cells = (str(top.k), str(top.groups), _share(top.accuracy), _interval(top.accuracy))
                table.add_row(Text(visible(found.id)), *cells, _share(top.tie_rate), str(top.dropped))
    return table


def _trials(groups: Grouped) -> Table:
    table = titled_table(
        "Tries of one group: pass@k one of k passes, pass^k all of them",
        ("dimension", "fold"),
        ("k", "right"),
        ("groups", "right"),
        ("judge pass@k", "right"),
        ("pass^k", "right"),
        ("labels pass@k", "right"),
        ("pass^k", "right"),
    )
    for found in groups.dimensions:
        for tries in found.trials:
            figures = (tries.judge_pass_at, tries.judge_pass_hat, tries.label_pass_at, tries.label_pass_hat)
            if any(figure.value is not None for figure in figures):
                n = str(tries.label_pass_hat.n)
                table.add_row(Text(visible(found.id)), str(tries.k), n, *(_value(figure) for figure in figures))
    return table


def _value(found: Measured) -> str:
    return "–" if found.value is None else f"{found.value:.3f}"


def _share(found: Measured) -> str:
    return "–" if found.value is None else f"{found.value:.1%}"


def _interval(found: Measured) -> str:
    low, high = found.interval.low, found.interval.high
    return "–" if low is None or high is None else f"{low:.3f} … {high:.3f}"
