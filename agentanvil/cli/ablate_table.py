"""An ablation as a person reads it: a verdict a clause, the most telling first, and the figures that it rests on."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Console
from rich.table import Table
from rich.text import Text

from agentanvil.aggregate.ablation.tally import (
    ALPHA,
    Change,
    ClauseEffect,
    ClauseFinding,
    ClauseVerdict,
    DimensionEffect,
)
from agentanvil.cli.output import visible
from agentanvil.cli.tables import cut, titled_table
from agentanvil.report.ablation_files import JSON_FILE, AblationReport
from agentanvil.runner.ablation.ablate import AblateEstimate
from agentanvil.runner.estimate import Estimate

_ORDER: tuple[ClauseVerdict, ...] = ("harmful", "earns_its_tokens", "inconclusive", "no_measurable_effect")
_SAID: dict[ClauseVerdict, tuple[str, str]] = {
    "harmful": ("harmful", "bold red"),
    "earns_its_tokens": ("earns its tokens", "green"),
    "inconclusive": ("inconclusive", "yellow"),
    "no_measurable_effect": ("no measurable effect", "yellow"),
}
_NAME_WIDTH, _TEXT_WIDTH = 40, 70


def print_ablation(console: Console, report: AblationReport, folder: str) -> None:
    """Print the verdicts, the figures that they rest on, the reasons, and how all of it was measured."""
    told = sorted(zip(report.measured, report.ablation.findings, strict=True), key=_telling)
    console.print(_verdicts(report, told))
    console.print()
    console.print(_figures(told))
    console.print()
    for line in (*_reasons(told), *_notes(report, folder)):
        console.print(Text(visible(line)))


def _telling(numbered: tuple[int, ClauseFinding]) -> tuple[int, float, int]:
    number, finding = numbered
    p_values = [change.p_adjusted for change in _tested(finding.effect) if change.p_adjusted is not None]
    return _ORDER.index(finding.verdict), min(p_values, default=1.0), number


def _tested(effect: ClauseEffect) -> Iterator[Change]:
    for dimension in effect.dimensions:
        yield from (change for change in (dimension.mean, dimension.kappa, dimension.distance) if change is not None)
    yield from (pair.correlation for pair in effect.pairs)


def _verdicts(report: AblationReport, told: list[tuple[int, ClauseFinding]]) -> Table:
    facts = report.facts
    table = titled_table(
        f"Without each clause of {facts.rubric_id}: {_counted(report.ablation.items, 'item')}, "
        f"{cut(facts.judge, _NAME_WIDTH)}",
        ("#", "right"),
        ("clause", "fold"),
        ("verdict", "left"),
        ("dimension", "fold"),
        ("tokens", "right"),
        ("cost", "right"),
    )
    for number, finding in told:
        said, style = _SAID[finding.verdict]
        table.add_row(
            str(number),
            Text(finding.clause.id),
            Text(said, style=style),
            Text(_most(finding).id),
            _signed(finding.effect.input_tokens, 0),
            _signed(finding.effect.cost, 5),
        )
    return table


def _figures(told: list[tuple[int, ClauseFinding]]) -> Table:
    table = titled_table(
        "What is different without it, in that dimension",
        ("#", "right"),
        ("mean", "right"),
        ("95 % interval", "left"),
        ("p (Holm)", "right"),
        ("changed", "right"),
        ("kappa", "right"),
        ("r", "right"),
    )
    for number, finding in told:
        most = _most(finding)
        parted = next((pair.correlation for pair in finding.effect.pairs if pair.separates), None)
        table.add_row(
            str(number),
            _signed(most.mean),
            _span(most.mean),
            "–" if most.mean.p_adjusted is None else f"{most.mean.p_adjusted:.2g}",
            f"{most.flips.changed}/{most.flips.n}",
            _signed(most.kappa),
            _signed(parted),
        )
    return table


def _most(finding: ClauseFinding) -> DimensionEffect:
    """Return the dimension on which the clause shows most, among those that it is about."""
    about = [dimension for dimension in finding.effect.dimensions if dimension.about]

    def least(dimension: DimensionEffect) -> tuple[float, float]:
        changes = (dimension.kappa, dimension.distance, dimension.mean)
        p_values = [each.p_adjusted for each in changes if each is not None and each.p_adjusted is not None]
        return min(p_values, default=1.0), -abs(dimension.mean.value)

    return min(about, key=least)


def _signed(change: Change | None, decimals: int = 2) -> str:
    if change is None or change.change.value is None:
        return "–"
    return f"{change.change.value:+.{decimals}f}"


def _span(change: Change) -> str:
    low, high = change.interval.low, change.interval.high
    return "–" if low is None or high is None else f"{low:+.2f} … {high:+.2f}"


def _counted(count: int, what: str) -> str:
    return f"{count:,} {what}{'' if count == 1 else 's'}"


def _reasons(told: list[tuple[int, ClauseFinding]]) -> Iterator[str]:
    for number, finding in told:
        clause = finding.clause
        line = f" (line {clause.line})" if clause.line is not None else ""
        yield f"{number} {clause.id}{line}: {cut(clause.text, _TEXT_WIDTH)}"
        yield from (f"    {reason}" for reason in finding.because)


def _notes(report: AblationReport, folder: str) -> Iterator[str]:
    ablation, facts = report.ablation, report.facts
    tests, measured = _counted(ablation.tests, "test"), _counted(len(report.measured), "clause")
    yield (
        f"every change is without − with the clause; the p-values of {tests} over {measured} are adjusted by Holm and "
        f"found below {ALPHA:g}; intervals are 95 % each, unadjusted"
    )
    if not ablation.labelled:
        yield "no labels: whether a change is for better or worse is not known"
    if ablation.noise is not None:
        again = ", ".join(
            f"{dimension.id} {dimension.flips.changed} of {dimension.flips.n}"
            for dimension in ablation.noise.dimensions
        )
        yield f"the whole rubric asked again, with nothing left out, changes: {again}"
    if report.unsaid:
        yield f"not told to this judge, so not taken out: {', '.join(clause.id for clause in report.unsaid.values())}"
    if report.unmeasured:
        yield f"not measured yet: {', '.join(clause.id for clause in report.unmeasured.values())}"
    spent = "" if facts.cost_usd is None else f"; all arms cost ${facts.cost_usd:.4f} so far"
    yield f"report: {folder}/{JSON_FILE}{spent}"


def estimate_lines_of(found: AblateEstimate) -> Iterator[str]:
    """Yield a line for each arm and one for all of them."""
    yield _estimate("whole rubric", found.whole)
    for number, arm in found.arms.items():
        yield _estimate(f"{number} without {found.layout.clauses[number].id}", arm)
    every = (found.whole, *found.arms.values())
    costs = [arm.cost_usd for arm in every]
    known = [cost for cost in costs if cost is not None]
    total = f"${sum(known):.4f}" if len(known) == len(costs) else "unknown (give prices in anvil.yaml)"
    yield (
        f"all {len(every)} arms: judge calls {sum(arm.calls for arm in every):,}, about "
        f"{sum(arm.input_tokens for arm in every):,} tokens in, {sum(arm.output_tokens for arm in every):,} out; cost "
        f"{total}"
    )
    if found.layout.unsaid:
        unsaid = ", ".join(clause.id for clause in found.layout.unsaid.values())
        yield f"not told to this judge, so not taken out: {unsaid}"


def _estimate(name: str, arm: Estimate) -> str:
    kept = f", {arm.cached} from the cache" if arm.cached else ""
    cost = "" if arm.cost_usd is None else f", ${arm.cost_usd:.4f}"
    tokens = f"{arm.input_tokens:,} tokens in, {arm.output_tokens:,} out"
    return visible(f"{name}: {arm.calls} calls{kept}, done before {arm.done_before}, about {tokens}{cost}")
