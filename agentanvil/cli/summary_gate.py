"""The gate's lines of the summary on standard error."""

from __future__ import annotations

from collections.abc import Iterator

from rich.text import Text

from agentanvil.aggregate import Gate
from agentanvil.cli.output import visible


def gate_lines(gate: Gate) -> Iterator[Text]:
    """Yield the verdict, each figure that it rests on, and what kept it from passing; nothing without a gate."""
    if gate.verdict == "none":
        return
    style = {"pass": "green", "fail": "red"}.get(gate.verdict, "yellow")
    yield Text(f"gate: {gate.verdict.upper()} ({_of_figures(gate) if gate.figures else _of_items(gate)})", style=style)
    for figure in gate.figures:
        if figure.verdict == "pass":
            yield _beneath(figure.text)
    for reason in gate.reasons:
        yield _beneath(reason)


def _of_figures(gate: Gate) -> str:
    methods = ", ".join(sorted({figure.interval.method for figure in gate.figures}))
    rule = f"by {100 * gate.figures[0].confidence:g} % intervals: {methods}"
    decided = f"; {gate.passed} items meet the thresholds, {gate.failed} do not, {gate.undecided} undecided"
    return rule + decided * bool(gate.thresholds)


def _of_items(gate: Gate) -> str:
    rule = "every item must meet every threshold"
    if gate.baseline is not None:
        found = gate.baseline
        rule = (
            f"against the baseline: {found.newly_failing} newly failing, {found.known} known, "
            f"{found.newly_passing} newly passing"
        )
    return f"{gate.passed} passed, {gate.failed} failed, {gate.undecided} undecided; {rule}"


def _beneath(text: str) -> Text:
    return Text(visible(f"  {text}"))
