"""The summary that a person reads in ten seconds, on standard error."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping

from rich.console import Console
from rich.table import Table
from rich.text import Text

from agentanvil.aggregate import DimensionSummary, ScoreSummary, Summary
from agentanvil.cli.output import leave, visible
from agentanvil.cli.summary_agreement import agreement_table, ways_table
from agentanvil.cli.summary_gate import gate_lines
from agentanvil.cli.summary_pairs import pair_blocks
from agentanvil.cli.summary_panel import panel_blocks
from agentanvil.cli.summary_readings import reading_cells, reading_columns, reading_line, uncertain_table
from agentanvil.cli.summary_variance import anchor_blocks, variance_blocks
from agentanvil.cli.tables import cut, number, share, span, titled_table
from agentanvil.rubric import Mode
from agentanvil.runner.events import Tally
from agentanvil.verdict import State

_BARS = " ▁▂▃▄▅▆▇█"
_WORST_LINES = 5
_STATE_NAMES: Mapping[State, str] = {
    "not_applicable": "n/a",
    "judge_error": "judge error",
    "input_error": "input error",
    "not_run": "not run",
}


_TITLES: Mapping[Mode, str] = {
    "absolute": "Scores",
    "gate": "Gate (1 holds, 0 does not)",
    "pairwise": "How much better response_a is",
}
_LEAST_WIDTH = 110


class _Console(Console):
    """A console whose reader may go away; rich itself would end the process as if a gate had failed."""

    def on_broken_pipe(self) -> None:
        """Say no more."""
        self.quiet = True
        leave(sys.stderr)


def console() -> Console:
    """Return a console on standard error; off a terminal it is wide enough that no column is cut."""
    found = _Console(stderr=True)
    return found if found.is_terminal else _Console(stderr=True, width=max(_LEAST_WIDTH, found.width))


def print_summary(console: Console, summary: Summary, tally: Tally | None, folder: str) -> None:
    """Print scores, pairs, worst items, ambiguous anchors, variance, agreement with labels, gate and cost.

    `tally` counts the sitting that just ended; without it the cost line speaks of the whole run.
    """
    console.print(_scores(summary))
    blocks = (
        *pair_blocks(summary),
        _worst(summary),
        _missing(summary),
        *anchor_blocks(summary),
        *variance_blocks(summary),
        uncertain_table(summary),
        ways_table(summary),
        agreement_table(summary),
        *panel_blocks(summary),
    )
    for block in blocks:
        if block is not None:
            console.print()
            console.print(block)
    console.print()
    for line in _closing(summary, tally, folder):
        console.print(line, highlight=False, soft_wrap=True)


def _scores(summary: Summary) -> Table:
    table = titled_table(
        f"{_title(summary)} · rubric {summary.rubric_id} · {summary.items} items × {_repeats(summary)}",
        ("dimension", "left"),
        ("scores", "left"),
        ("mean" if summary.mode != "gate" else "pass", "right"),
        ("95 % interval", "left"),
        ("spread", "right"),
        *reading_columns(summary),
        ("quotes found", "right"),
        ("missing", "left"),
    )
    for dimension in summary.dimensions:
        cells = _pass_cells(dimension) if summary.mode == "gate" else _score_cells(dimension)
        table.add_row(*cells, *reading_cells(summary, dimension), share(dimension.evidence_found), _states(dimension))
    rule = summary.overall.rule
    overall = (*_score_cells(summary.overall, f"overall ({rule})"), *reading_cells(summary, None))
    table.add_row(*(Text(cell, style="bold") for cell in overall))
    return table


def _repeats(summary: Summary) -> str:
    more = summary.more_repeats
    return str(summary.repeats) if more is None else f"{more.first} to {summary.repeats}"


def _title(summary: Summary) -> str:
    by_expected = summary.reading == "expected" and summary.mode != "pairwise"
    return _TITLES[summary.mode] + " by expected score" * by_expected


def _score_cells(scores: ScoreSummary, name: str | None = None) -> tuple[str, str, str, str, str]:
    return (
        name or scores.id,
        _spark(scores.distribution),
        number(scores.mean),
        span(scores.interval),
        number(scores.repeat_sd),
    )


def _pass_cells(dimension: DimensionSummary) -> tuple[str, str, str, str, str]:
    """Return the same of a gate's dimension: the share of items that pass in place of the mean."""
    name, bars, mean, interval, spread = _score_cells(dimension)
    if dimension.pass_rate is not None and dimension.pass_interval is not None:
        mean, interval = share(dimension.pass_rate), span(dimension.pass_interval)
    return name, bars, mean, interval, spread


def _spark(distribution: Mapping[str, int]) -> str:
    """Draw counts from the lowest to the highest score as bars, the ends labelled."""
    counts = list(distribution.values())
    most = max(counts, default=0)
    if not most:
        return "–"
    names = list(distribution)
    bars = "".join(_BARS[max(1, round(count / most * 8)) if count else 0] for count in counts)
    return f"{names[0]} {bars} {names[-1]}"


def _states(dimension: DimensionSummary) -> str:
    parts = [
        f"{count} {_STATE_NAMES[state]}" for state, count in dimension.states.items() if count and state != "scored"
    ]
    return ", ".join(parts) or "–"


def _worst(summary: Summary) -> Table | None:
    if not summary.worst:
        return None
    table = titled_table("Worst items", ("overall", "right"), ("id", "left"), ("because of", "left"))
    table.add_column("evidence", header_style="dim", overflow="fold")
    for item in summary.worst[:_WORST_LINES]:
        quote = " / ".join(item.evidence) or "(none given)"
        found = " (not in the text)" if item.evidence_found is False else ""
        text = Text(cut(quote) + found)
        if item.reason:
            text.append(f"\n{cut(item.reason)}", style="dim")
        table.add_row(f"{item.overall:.3g}", Text(cut(item.id, 40)), f"{item.dimension} {item.score:.3g}", text)
    return table


def _missing(summary: Summary) -> Table | None:
    if not summary.missing:
        return None
    table = titled_table("Missing verdicts (examples)", ("id", "left"), ("dimension", "left"), ("why", "left"))
    for item in summary.missing[:_WORST_LINES]:
        why = item.code + (f": {item.message}" if item.message else "")
        table.add_row(Text(cut(item.id, 40)), item.dimension, Text(cut(why)))
    return table


def _closing(summary: Summary, tally: Tally | None, folder: str) -> Iterator[str | Text]:
    line = reading_line(summary)
    if line is not None:
        yield Text(visible(line))
    for note in summary.notes:
        yield Text(visible(f"note: {note}"))
    yield from gate_lines(summary.gate)
    coverage = summary.coverage
    share = "–" if coverage.share is None else f"{coverage.share:.1%}"
    yield f"verdicts {coverage.covered} of {coverage.expected} ({share}) · {_spent(summary, tally)}"
    yield Text(visible(f"reports in {folder}"))


def _spent(summary: Summary, tally: Tally | None) -> str:
    if tally is None:
        usage = summary.usage
        tokens = f"{usage.input_tokens or 0:,} in, {usage.output_tokens or 0:,} out"
        each = "" if usage.cost_per_item.value is None else f", ${usage.cost_per_item.value:.6f} an item"
        return f"replies {usage.exchanges} · tokens {tokens} · cost {_dollars(usage.cost, usage.exchanges)}{each}"
    tokens = f"{tally.input_tokens:,} in, {tally.output_tokens:,} out"
    cost = _dollars(tally.cost, tally.calls)
    if tally.cost is not None and tally.unpriced:
        cost = f"at least {cost}: {tally.unpriced} replies have no price"
    saved = f" (saved {tally.saved_tokens:,} tokens)" if tally.saved_tokens else ""
    return f"calls {tally.calls} · cache hits {tally.cached}{saved} · tokens {tokens} · cost {cost}"


def _dollars(cost: float | None, calls: int) -> str:
    if cost is None and calls:
        return "unknown"
    return f"${cost or 0:.4f}"
