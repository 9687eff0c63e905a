"""The table of a probe, as a person reads it on standard error."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from rich.console import Console
from rich.table import Table
from rich.text import Text

from agentanvil.aggregate.probe.findings import ALPHA, Effect, Finding, ProbeVerdict
from agentanvil.aggregate.probe.kin import SLOPE
from agentanvil.cli.output import visible
from agentanvil.cli.tables import cut, number, share, span, titled_table
from agentanvil.runner.probe.probe import ProbeResult
from agentanvil.stats import Interval

_STYLES: dict[ProbeVerdict, str] = {
    "bias found": "bold red",
    "noise found": "yellow",
    "inconclusive": "yellow",
    "no effect found": "green",
    "does not apply": "dim",
}
_WHOLE = ("–", "winner")
"""Targets that say no more than the probe's name, where it has one line alone."""
_SKIPPED = {
    "trace": "an agent's run",
    "conversation": "a conversation of several messages",
    "empty": "empty",
    "no_prose": "code, data or tables alone",
}


def print_probe(console: Console, result: ProbeResult) -> None:
    """Print the table, and under it what its verdicts rest on."""
    console.print(_table(result))
    for line in _lines(result):
        console.print(Text(visible(line)))


def _table(result: ProbeResult) -> Table:
    layout = result.layout
    beside = "" if layout.second is None else f", beside {cut(layout.second, 60)}"
    table = titled_table(
        f"Probes of {cut(layout.judge, 60)}{beside}: {layout.rows} rows",
        ("probe", "fold"),
        ("effect", "right"),
        ("95 %", "left"),
        ("n", "right"),
        ("p (Holm)", "right"),
        ("least", "right"),
        ("verdict", "fold"),
    )
    for name, group in groupby(result.findings, key=lambda finding: _name(finding.effect)):
        found = list(group)
        if len(found) == 1 and found[0].effect.target in _WHOLE:
            table.add_row(name, *_cells(found[0]))
            continue
        table.add_row(name)
        for finding in found:
            table.add_row(Text(f"  {cut(finding.effect.target, 40)}"), *_cells(finding))
    return table


def _cells(finding: Finding) -> tuple[str | Text, ...]:
    effect = finding.effect
    return (
        _value(effect),
        _span(effect.interval, effect),
        str(effect.value.n),
        "–" if finding.adjusted is None else f"{finding.adjusted:.2g}",
        _number(effect, effect.least.value),
        Text(finding.verdict, style=_STYLES[finding.verdict]),
    )


def _name(effect: Effect) -> str:
    return "length slope" if effect.measure == SLOPE else effect.probe


def _value(effect: Effect) -> str:
    value = effect.value.value
    if value is None:
        return "–"
    if effect.probe == "self-preference" or effect.unit.startswith("points"):
        return f"+{_number(effect, value)}" if value > 0 else _number(effect, value)
    return f"{value:.0%}"


def _span(interval: Interval, effect: Effect) -> str:
    if interval.low is None or interval.high is None:
        return "–"
    return f"{_number(effect, interval.low)} … {_number(effect, interval.high)}"


def _number(effect: Effect, value: float | None) -> str:
    """Points have two decimals, shares are per cents."""
    if value is None:
        return "–"
    return f"{value:.2f}" if effect.unit.startswith("points") else f"{value:.0%}"


def _lines(result: ProbeResult) -> Iterator[str]:
    tests = sum(finding.effect.p_value is not None for finding in result.findings)
    if tests:
        yield (
            f"p-values are corrected by Holm over the {tests} tests of this table and found below {ALPHA:g}; intervals "
            "are 95 % each, uncorrected; an effect as large as `least` would be found four times in five"
        )
    yield from _floors(result.findings)
    yield from _places(result.findings)
    yield from _spreads(result.findings)
    yield from _reasons(result.findings)
    for name, count in result.layout.counts.items():
        if count.skipped and count.written:
            told = ", ".join(f"{n} {_SKIPPED.get(why, why)}" for why, n in sorted(count.skipped.items()))
            yield f"{name}: rows that could not be changed: {told}"
    yield f"report: {result.folder}"


def _floors(findings: tuple[Finding, ...]) -> Iterator[str]:
    """Yield what planted instructions are held against, kinds with the same floor together."""
    kinds: dict[str, list[str]] = {}
    for finding in findings:
        effect = finding.effect
        if effect.upward and effect.value.value is not None:
            kinds.setdefault(f"{effect.null:.0%}", []).append(effect.target)
    for floor, names in kinds.items():
        of = f" ({', '.join(names)})" if len(kinds) > 1 else ""
        yield f"injection: the floor is {floor}{of}: so many rise without any instruction"


def _places(findings: tuple[Finding, ...]) -> Iterator[str]:
    for finding in findings:
        details = finding.effect.details
        if "first_pick_rate" in details and details["first_pick_rate"].n:
            picked, flips = details["first_pick_rate"], details["flip_rate"]
            yield (
                f"position: the first response was picked in {share(picked)} of {picked.n} calls that picked one; "
                f"the two orders gave two winners in {share(flips)} of {flips.n}"
            )


def _spreads(findings: tuple[Finding, ...]) -> Iterator[str]:
    told = [
        f"{finding.effect.target} {number(details['sd_of_one_reading'])} ({span(details['sd_interval'])})"
        for finding in findings
        if (details := finding.effect.details) and "sd_of_one_reading" in details
    ]
    if told:
        yield f"repeatability: SD of one reading: {', '.join(told)}"


def _reasons(findings: tuple[Finding, ...]) -> Iterator[str]:
    """Yield why something is not known, once for all lines of a probe that share the reason."""
    targets: dict[tuple[str, str, str], list[str]] = {}
    for finding in findings:
        if finding.verdict in {"inconclusive", "does not apply"}:
            key = (_name(finding.effect), finding.verdict, finding.reason)
            targets.setdefault(key, []).append(finding.effect.target)
    for (probe, verdict, reason), names in targets.items():
        of = "" if names == ["–"] else f" of {', '.join(names)}"
        yield f"{probe}{of}: {verdict}: {reason}"
