"""The summary that a person reads in ten seconds, on standard error."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping

from rich.console import Console
from rich.table import Table
from rich.text import Text

from agentanvil.aggregate import Agreement, DimensionSummary, ScoreSummary, Summary
from agentanvil.cli.output import leave, visible
from agentanvil.runner.events import Tally
from agentanvil.stats import Estimate, Interval
from agentanvil.verdict import State

_BARS = " ▁▂▃▄▅▆▇█"
_WORST_LINES = 5
_QUOTE_WIDTH = 100
_STATE_NAMES: Mapping[State, str] = {
    "not_applicable": "n/a",
    "judge_error": "judge error",
    "input_error": "input error",
    "not_run": "not run",
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
    """Print scores, worst items, ambiguous anchors, agreement with labels, gate and cost.

    `tally` counts the sitting that just ended; without it the cost line speaks of the whole run.
    """
    console.print(_scores(summary))
    for block in (_worst(summary), _missing(summary), _anchors(summary), _agreement(summary)):
        if block is not None:
            console.print()
            console.print(block)
    console.print()
    for line in _closing(summary, tally, folder):
        console.print(line, highlight=False, soft_wrap=True)


def _table(title: str, *columns: tuple[str, str]) -> Table:
    table = Table(title=title, title_justify="left", title_style="bold", box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for name, justify in columns:
        table.add_column(name, justify="right" if justify == "right" else "left", header_style="dim", no_wrap=True)
    return table


def _scores(summary: Summary) -> Table:
    table = _table(
        f"Scores · rubric {summary.rubric_id} · {summary.items} items × {summary.repeats}",
        ("dimension", "left"),
        ("scores", "left"),
        ("mean", "right"),
        ("95 % interval", "left"),
        ("spread", "right"),
        ("quotes found", "right"),
        ("missing", "left"),
    )
    for dimension in summary.dimensions:
        table.add_row(*_score_cells(dimension), _share(dimension.evidence_found), _states(dimension))
    rule = summary.overall.rule
    table.add_row(*(Text(cell, style="bold") for cell in _score_cells(summary.overall, f"overall ({rule})")))
    return table


def _score_cells(scores: ScoreSummary, name: str | None = None) -> tuple[str, str, str, str, str]:
    return (
        name or scores.id,
        _spark(scores.distribution),
        _number(scores.mean),
        _span(scores.interval),
        _number(scores.repeat_sd),
    )


def _spark(distribution: Mapping[str, int]) -> str:
    """Draw counts from the lowest to the highest score as bars, the ends labelled."""
    counts = list(distribution.values())
    most = max(counts, default=0)
    if not most:
        return "–"
    names = list(distribution)
    bars = "".join(_BARS[max(1, round(count / most * 8)) if count else 0] for count in counts)
    return f"{names[0]} {bars} {names[-1]}"


def _number(estimate: Estimate) -> str:
    return "–" if estimate.value is None else f"{estimate.value:.2f}"


def _share(estimate: Estimate) -> str:
    return "–" if estimate.value is None else f"{estimate.value:.0%}"


def _span(interval: Interval) -> str:
    return "–" if interval.low is None or interval.high is None else f"{interval.low:.2f} … {interval.high:.2f}"


def _states(dimension: DimensionSummary) -> str:
    parts = [
        f"{count} {_STATE_NAMES[state]}" for state, count in dimension.states.items() if count and state != "scored"
    ]
    return ", ".join(parts) or "–"


def _worst(summary: Summary) -> Table | None:
    if not summary.worst:
        return None
    table = _table("Worst items", ("overall", "right"), ("id", "left"), ("because of", "left"))
    table.add_column("evidence", header_style="dim", overflow="fold")
    for item in summary.worst[:_WORST_LINES]:
        quote = " / ".join(item.evidence) or "(none given)"
        found = " (not in the text)" if item.evidence_found is False else ""
        text = Text(_cut(quote) + found)
        if item.reason:
            text.append(f"\n{_cut(item.reason)}", style="dim")
        table.add_row(f"{item.overall:.3g}", Text(_cut(item.id, 40)), f"{item.dimension} {item.score:.3g}", text)
    return table


def _missing(summary: Summary) -> Table | None:
    if not summary.missing:
        return None
    table = _table("Missing verdicts (examples)", ("id", "left"), ("dimension", "left"), ("why", "left"))
    for item in summary.missing[:_WORST_LINES]:
        why = item.code + (f": {item.message}" if item.message else "")
        table.add_row(Text(_cut(item.id, 40)), item.dimension, Text(_cut(why)))
    return table


def _anchors(summary: Summary) -> Table | None:
    rows = [
        (dimension.id, f"{pair.below} | {pair.above}", str(pair.items), ", ".join(pair.examples))
        for dimension in summary.dimensions
        for pair in dimension.straddled
    ]
    if not rows:
        return None
    table = _table(
        "Ambiguous anchors: repeats of one item fell on both sides",
        ("dimension", "left"),
        ("between", "left"),
        ("items", "right"),
        ("for example", "left"),
    )
    for row in rows:
        table.add_row(*(Text(_cut(cell)) for cell in row))
    return table


def _agreement(summary: Summary) -> Table | None:
    rows = [(scores.id, scores.agreement) for scores in (*summary.dimensions, summary.overall) if scores.agreement]
    if not rows:
        return None
    table = _table(
        "Judge against hand grades",
        ("dimension", "left"),
        ("n", "right"),
        ("exact", "right"),
        ("kappa (quadratic)", "right"),
        ("95 % interval", "left"),
        ("reading", "left"),
    )
    for name, agreement in rows:
        table.add_row(name, *_agreement_cells(agreement))
    return table


def _agreement_cells(agreement: Agreement) -> tuple[str, str, str, str, Text]:
    return (
        str(agreement.exact.n),
        _share(agreement.exact),
        _number(agreement.kappa),
        _span(agreement.kappa_interval),
        Text("agrees" if agreement.trusted else "do not trust", style="green" if agreement.trusted else "yellow"),
    )


def _closing(summary: Summary, tally: Tally | None, folder: str) -> Iterator[str | Text]:
    for note in summary.notes:
        yield Text(visible(f"note: {note}"))
    if summary.gate.verdict != "none":
        gate = summary.gate
        style = {"pass": "green", "fail": "red"}.get(gate.verdict, "yellow")
        yield Text(
            f"gate: {gate.verdict.upper()} ({gate.passed} passed, {gate.failed} failed, {gate.undecided} undecided; "
            "every item must meet every threshold)",
            style=style,
        )
    coverage = summary.coverage
    share = "–" if coverage.share is None else f"{coverage.share:.1%}"
    yield f"verdicts {coverage.covered} of {coverage.expected} ({share}) · {_spent(summary, tally)}"
    yield Text(visible(f"reports in {folder}"))


def _spent(summary: Summary, tally: Tally | None) -> str:
    if tally is None:
        usage = summary.usage
        tokens = f"{usage.input_tokens or 0:,} in, {usage.output_tokens or 0:,} out"
        return f"replies {usage.exchanges} · tokens {tokens} · cost {_dollars(usage.cost, usage.exchanges)}"
    tokens = f"{tally.input_tokens:,} in, {tally.output_tokens:,} out"
    cost = _dollars(tally.cost, tally.calls)
    saved = f" (saved {tally.saved_tokens:,} tokens)" if tally.saved_tokens else ""
    return f"calls {tally.calls} · cache hits {tally.cached}{saved} · tokens {tokens} · cost {cost}"


def _dollars(cost: float | None, calls: int) -> str:
    if cost is None and calls:
        return "unknown"
    return f"${cost or 0:.4f}"


def _cut(text: str, width: int = _QUOTE_WIDTH) -> str:
    line = visible(" ".join(text.split()))
    return line if len(line) <= width else line[: width - 1] + "…"
