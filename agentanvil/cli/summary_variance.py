"""The part of the summary on standard error about readings that differ: what one is worth, which anchors to mend."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from agentanvil.aggregate import RepeatsNeeded, Straddle, Summary, Variance
from agentanvil.cli.output import visible
from agentanvil.cli.tables import cut, number, share, span, titled_table
from agentanvil.stats import SOURCES, Component

_ID_WIDTH = 40


def variance_blocks(summary: Summary) -> list[RenderableType]:
    """Return the blocks on what readings differ by; none where every item was read once, or none has a score."""
    found = [(scores.id, scores.variance) for scores in (*summary.dimensions, summary.overall) if scores.variance]
    if not any(variance.readings for _, variance in found):
        return []
    return [_sources(found), _worth(found), _method([variance for _, variance in found])]


def anchor_blocks(summary: Summary) -> list[RenderableType]:
    """Return the ambiguous anchors and their wording; none where no item's repeats fell on both sides of a pair."""
    found = [(dimension.id, pair) for dimension in summary.dimensions for pair in dimension.straddled]
    if not found:
        return []
    table = titled_table(
        "Ambiguous anchors: repeats of one item fell on both sides",
        ("dimension", "fold"),
        ("between", "left"),
        ("items", "right"),
        ("share", "right"),
        ("95 % interval", "left"),
        ("for example", "fold"),
    )
    for name, pair in found:
        examples = ", ".join(cut(example, _ID_WIDTH) for example in pair.examples)
        of = f"{pair.items} of {pair.share.n}"
        table.add_row(name, _between(pair), of, share(pair.share), span(pair.interval), Text(examples))
    wording = [line for name, pair in found if pair.below_text or pair.above_text for line in _wording(name, pair)]
    return [table, Text("\n").join(wording)] if wording else [table]


def _sources(found: list[tuple[str, Variance]]) -> Table:
    """Return the shares of what readings differ by. A source that no dimension's readings tell apart has no column."""
    told = [place for place, _ in enumerate(SOURCES) if any(_is_told(v.components[place]) for _, v in found)]
    table = titled_table(
        "Variance: what readings differ by, and how reliable they are",
        ("dimension", "fold"),
        *((SOURCES[place], "right") for place in told),
        ("ICC(1,1)", "right"),
        ("95 % interval", "left"),
        ("ICC(1,k)", "right"),
        ("k", "right"),
        ("n", "right"),
    )
    for name, variance in found:
        table.add_row(
            name,
            *(share(variance.components[place].share.estimate) for place in told),
            number(variance.icc_single.estimate),
            span(variance.icc_single.interval),
            number(variance.icc_mean.estimate),
            f"{variance.readings / variance.items:.3g}" if variance.items else "–",
            str(variance.items),
        )
    return table


def _worth(found: list[tuple[str, Variance]]) -> Table:
    wanted = [f"±{needed.half_width:.3g}" for needed in found[0][1].repeats_needed]
    table = titled_table(
        "What one reading is worth: its SD, from where on two differ, repeats for a mean within ±",
        ("dimension", "fold"),
        ("SD", "right"),
        ("95 % interval", "left"),
        ("two differ", "right"),
        ("means", "right"),
        *((half_width, "right") for half_width in wanted),
    )
    for name, variance in found:
        table.add_row(
            name,
            number(variance.sd_single.estimate),
            span(variance.sd_single.interval),
            number(variance.least_detectable_single.estimate),
            number(variance.least_detectable_mean.estimate),
            *(_repeats(needed) for needed in variance.repeats_needed),
        )
    return table


def _repeats(needed: RepeatsNeeded) -> str:
    if needed.repeats is None:
        return "–"
    if needed.low is None or needed.low == needed.high:
        return str(needed.repeats)
    return f"{needed.repeats} ({needed.low} … {needed.high})"


def _method(found: list[Variance]) -> Text:
    shown = [figure.interval for variance in found for figure in (variance.icc_single, variance.sd_single)]
    methods = dict.fromkeys(interval.method for interval in shown if interval.low is not None)
    how = f" ({'; '.join(methods)})" if methods else ""
    return Text(visible(f"n: items; {found[0].method}{how}"), style="dim")


def _is_told(component: Component) -> bool:
    return component.variance.estimate.value is not None


def _between(pair: Straddle) -> str:
    return f"{pair.below} | {pair.above}"


def _wording(name: str, pair: Straddle) -> Iterator[Text]:
    yield Text(f"{visible(name)}: tighten the wording of {_between(pair)}")
    for score, text in ((pair.below, pair.below_text), (pair.above, pair.above_text)):
        yield Text(f"  {score}: {cut(text) if text else '(no anchor)'}", style="dim")
