"""A calibration as a person reads it, on standard error: the verdicts first, then every figure, then examples."""

from __future__ import annotations

import re
from collections.abc import Iterator

from rich.console import Console, RenderableType
from rich.table import Table
from rich.text import Text

from agentanvil.aggregate import CalibrationReport, ClassFigures, DimensionCalibration, Measured
from agentanvil.cli.calibrate_corrected import corrected_blocks
from agentanvil.cli.calibrate_examples import example_blocks
from agentanvil.cli.calibrate_groups import group_blocks
from agentanvil.cli.output import visible
from agentanvil.cli.summary_agreement import VERDICT_STYLES
from agentanvil.cli.tables import titled_table
from agentanvil.stats import Estimate

# A larger matrix is no help to a reader; it is in the JSON.
_WIDEST_MATRIX = 7
_RESAMPLES = re.compile(r", \d+ resamples")


def print_calibration(console: Console, report: CalibrationReport) -> None:
    """Print verdicts, every figure with its n, interval and method, groups, corrections, examples and notes."""
    targets = [*report.dimensions, *([report.overall] if report.overall is not None else [])]
    labelled = [target for target in targets if target.labelled]
    blocks: list[RenderableType] = [_verdicts(report, targets)]
    for target in labelled:
        blocks += [_figures(target, report.level), *_matrix(target)]
    blocks += [*group_blocks(report), *corrected_blocks(report.corrected), *example_blocks(report)]
    for block in blocks:
        console.print(block)
        console.print()
    for line in _closing(report, labelled):
        console.print(line, highlight=False, soft_wrap=True)


def _verdicts(report: CalibrationReport, targets: list[DimensionCalibration]) -> Table:
    weights = " (quadratic)" if report.mode == "absolute" else ""
    table = titled_table(
        f"Judge against human labels: is kappa{weights} {report.min_kappa:g} or more?",
        ("dimension", "fold"),
        ("n", "right"),
        ("kappa", "right"),
        (f"{100 * report.level:.4g} % interval", "left"),
        ("people", "right"),
        ("verdict", "left"),
        ("more labels", "fold"),
    )
    for target in targets:
        people = "–" if target.humans is None else _value(target.humans.kappa)
        verdict = Text(target.verdict or "not labelled", style=VERDICT_STYLES[target.verdict])
        figures = (str(target.kappa.n), _value(target.kappa), _interval(target.kappa), people)
        table.add_row(Text(visible(target.id)), *figures, verdict, _further(target))
    return table


def _figures(target: DimensionCalibration, level: float) -> Table:
    table = titled_table(
        f"{visible(target.id)}: {target.labelled} items, {target.labels} labels{_weighed(target)}",
        ("figure", "left"),
        ("n", "right"),
        ("value", "right"),
        (f"{100 * level:.4g} % interval", "left"),
        ("method, or why there is none", "fold"),
    )
    for name, found in _named(target):
        if isinstance(found, Measured):
            how = found.reason or found.interval.reason or _short(found.interval.method)
            table.add_row(name, str(found.n), _value(found), _interval(found), Text(visible(how)))
        else:
            table.add_row(name, str(found.n), _value(found), "–", Text(visible(found.reason or "mean over pairs")))
    return table


def _named(target: DimensionCalibration) -> Iterator[tuple[str, Measured | Estimate]]:
    weighted = "quadratic-weighted kappa" if target.kappa_weights == "quadratic" else "kappa"
    yield weighted, target.kappa
    yield "exact agreement", target.exact
    if target.kappa_weights == "quadratic":
        yield "adjacent agreement", target.adjacent
    yield "Spearman", target.spearman
    yield "Kendall tau-b", target.kendall_tau_b
    yield "Pearson", target.pearson
    yield "alpha, nominal", target.alpha.nominal
    yield "alpha, ordinal", target.alpha.ordinal
    yield "alpha, interval", target.alpha.interval
    yield "mean absolute error", target.mean_absolute_error
    yield "bias (judge − label)", target.bias
    if target.classes is not None:
        yield from _of_classes("", target.classes.answered)
        yield from _of_classes(", missing counted", target.classes.counted)
        if target.classes.majority is not None:
            yield from _of_classes(", majority label", target.classes.majority)
    if target.humans is not None:
        yield "person against person", target.humans.kappa
        yield "judge against person", target.humans.judge
        yield "difference", target.humans.difference
        yield "Fleiss' kappa, people", target.humans.fleiss
        yield "alpha, nominal, people", target.humans.alpha.nominal
        yield "alpha, ordinal, people", target.humans.alpha.ordinal
        yield "alpha, interval, people", target.humans.alpha.interval
        yield "mean rater–rater kappa", target.humans.mean_pair_kappa
        yield "mean judge–rater kappa", target.humans.mean_judge_kappa
    if target.probabilities is not None:
        yield "Spearman, expected score", target.probabilities.spearman
        yield "MAE, expected score", target.probabilities.mean_absolute_error
        yield "bias, expected score", target.probabilities.bias
        if target.probabilities.brier is not None:
            yield "Brier score", target.probabilities.brier


def _of_classes(name: str, found: ClassFigures) -> Iterator[tuple[str, Measured | Estimate]]:
    if name:  # without a name it is the exact agreement, told already
        yield f"accuracy{name}", found.accuracy
        yield f"kappa{name}", found.kappa
    yield f"macro F1{name}", found.macro_f1


def _matrix(target: DimensionCalibration) -> list[Table]:
    values = target.confusion.values
    if len(values) > _WIDEST_MATRIX:
        return []
    table = titled_table(
        f"{visible(target.id)}: items{' by sampling weight' if target.weighted else ''}",
        ("verdict ↓ label →", "left"),
        *((value, "right") for value in values),
    )
    for name, row in zip((*values, "no verdict"), target.confusion.counts, strict=True):
        table.add_row(name, *(f"{count:.4g}" if count != int(count) else str(int(count)) for count in row))
    return [table]


def _closing(report: CalibrationReport, labelled: list[DimensionCalibration]) -> Iterator[Text]:
    for note in report.notes:
        yield Text(visible(f"note: {note}"))
    for target in labelled:
        if target.humans is not None:
            for note in target.humans.notes:
                yield Text(visible(f"note: {target.id}: {note}"))
        yield Text(visible(f"{target.id}: {target.verdict}: {target.reading}"), style=VERDICT_STYLES[target.verdict])


def _weighed(target: DimensionCalibration) -> str:
    if target.effective_n is None:
        return ""
    return f", weighted as drawn: {target.effective_n:,.1f} items in effect"


def _short(method: str) -> str:
    """Return a method as the table has room for it; the JSON has its whole name, with the number of resamples."""
    return _RESAMPLES.sub("", method).replace("cluster bootstrap percentile", "bootstrap by item")


def _further(target: DimensionCalibration) -> str:
    if target.further is None:
        return ""
    if target.further.items is None:
        return target.further.reason or ""
    return f"about {target.further.items:,}"


def _value(found: Measured | Estimate) -> str:
    return "–" if found.value is None else f"{found.value:.2f}"


def _interval(found: Measured) -> str:
    low, high = found.interval.low, found.interval.high
    return "–" if low is None or high is None else f"{low:.2f} … {high:.2f}"
