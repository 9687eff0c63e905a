"""Compare two runs over the same items: paired, per dimension and overall. Nothing is asked, no run is changed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from agentanvil.aggregate import Frame, ItemOutcomes, ItemResult
from agentanvil.aggregate.comparison.columns import JoinedColumns, RunColumns, Shape
from agentanvil.aggregate.comparison.figure import FigureTerms, adjusted, compare_figure, finding
from agentanvil.aggregate.comparison.gate import regression_gate
from agentanvil.aggregate.comparison.items import regression, worst_fallen
from agentanvil.aggregate.comparison.tally import (
    ComparedFigure,
    Comparison,
    Regression,
    SharedItems,
    Unlikeness,
)
from agentanvil.errors import RunFolderError, Where, quoted
from agentanvil.hashing import derive_seed
from agentanvil.runner.comparison.file import check_out, write_comparison
from agentanvil.runner.comparison.like import brand_of, refuse_other_mode, refuse_unlike, unlikenesses
from agentanvil.runner.comparison.texts import EXAMPLES, other_requests, with_texts
from agentanvil.runner.comparison.told import compared_run, comparison_notes, figure_notes, only_in
from agentanvil.runner.due import RowName
from agentanvil.runner.events import Listener
from agentanvil.runner.exits import Exit, compare_exit
from agentanvil.runner.run_view import RunData, RunView, open_data, open_view, read_run

FORMAT = 1
_STEP = 1_000


@dataclass(frozen=True, slots=True)
class CompareSettings:
    """`fail_on_regression` makes the exit code tell whether B may replace A; `margin` is the drop that counts as none.

    `min_coverage` is None for the lower of what both runs asked of themselves.
    """

    a: Path
    b: Path
    force: bool = False
    fail_on_regression: bool = False
    margin: float = 0.0
    min_coverage: float | None = None
    out: Path | None = None


@dataclass(frozen=True, slots=True)
class Compared:
    """A comparison, and the exit code that follows from it."""

    comparison: Comparison
    exit: Exit


@dataclass(frozen=True, slots=True)
class _Run:
    """One of the two: its manifest, its journal and its data."""

    manifest: Mapping[str, Any]
    view: RunView
    data: RunData
    frame: Frame


def compare(settings: CompareSettings, listener: Listener) -> Compared:
    """Compare two runs. Raises InputError for what is no run, and for runs that cannot be compared as they are."""
    manifests = (read_run(settings.a), read_run(settings.b))
    differences = _differences(settings, *manifests)
    check_out(settings.out, [manifest["data"]["file"] for manifest in manifests])
    with ExitStack() as opened:
        a, b = (
            _opened(opened, folder, manifest)
            for folder, manifest in zip((settings.a, settings.b), manifests, strict=True)
        )
        comparison = _compared(settings, differences, a, b, listener)
    if settings.out is not None:
        write_comparison(settings.out, comparison)
    if settings.fail_on_regression and comparison.gate.verdict != "pass":
        for line in (comparison.brand, *comparison.gate.reasons):
            if line is not None:
                listener.failed(line)
    return Compared(comparison, compare_exit(comparison.gate.verdict, asked=settings.fail_on_regression))


def _differences(settings: CompareSettings, a: Mapping[str, Any], b: Mapping[str, Any]) -> tuple[Unlikeness, ...]:
    try:
        refuse_other_mode(a, b, str(settings.b))
        found = unlikenesses(a, b)
    except (KeyError, TypeError) as error:
        raise RunFolderError(
            f"a manifest lacks {error}", where=Where(str(settings.b)), hint="Name two folders that `anvil grade` wrote."
        ) from error
    if not settings.force:
        refuse_unlike(found, str(settings.b))
    return found


def _opened(opened: ExitStack, folder: Path, manifest: Mapping[str, Any]) -> _Run:
    data = opened.enter_context(open_data(manifest))
    view = opened.enter_context(open_view(folder, manifest, data.rows))
    return _Run(manifest, view, data, view.reducer().frame)


def _compared(
    settings: CompareSettings, differences: tuple[Unlikeness, ...], a: _Run, b: _Run, listener: Listener
) -> Comparison:
    shape = Shape.of(a.frame, b.frame)
    joined = JoinedColumns(_columns(a, shape, listener), _columns(b, shape, listener), shape)
    items, more = _shared(settings, joined, a, b)
    differences = (*differences, *more)
    figures = _figures(joined, settings.margin, _seed(a, b))
    wanted = settings.min_coverage
    if wanted is None:
        wanted = min(run.manifest["plan"]["min_coverage"] for run in (a, b))
    regressions, texts_missing = _regressions(joined, a, b)
    tested = sum(figure.tested and figure.test.p_value is not None for figure in figures)
    return Comparison(
        format=FORMAT,
        mode=a.frame.mode,
        a=compared_run(settings.a, a.manifest),
        b=compared_run(settings.b, b.manifest),
        brand=brand_of(differences),
        differences=differences,
        normalised=shape.normalised,
        items=items,
        only_a_dimensions=only_in(a.frame, b.frame),
        only_b_dimensions=only_in(b.frame, a.frame),
        correction=f"Holm over {tested} figures: the overall and the dimensions",
        figures=tuple(figures),
        gate=regression_gate(figures, settings.margin, wanted, only_a=items.only_a),
        regressions=regressions,
        texts_missing=texts_missing,
        notes=(*comparison_notes(a.manifest, b.manifest), *figure_notes(figures)),
    )


def _columns(run: _Run, shape: Shape, listener: Listener) -> RunColumns:
    columns = RunColumns(run.frame, shape)
    name = f"reading {run.view.folder}"
    for number, result in enumerate(run.view.results()):
        columns.add(result)
        if number % _STEP == 0:
            listener.step(name, number, run.view.rows)
    return columns


def _seed(a: _Run, b: _Run) -> int:
    """The same whichever run is named first, and in whatever order the rows stand in their files."""
    return derive_seed(*sorted(run.manifest["rubric"]["hash"] for run in (a, b)), "comparison")


def _shared(
    settings: CompareSettings, joined: JoinedColumns, a: _Run, b: _Run
) -> tuple[SharedItems, tuple[Unlikeness, ...]]:
    """Return how the runs' items meet, and other requests under the same ids as one more difference."""
    only_a, only_b = joined.only_a(), joined.only_b()
    if not joined.places:
        raise RunFolderError(
            "the two runs have no item id in common: they are of different data",
            where=Where(str(settings.b)),
            hint="Items are joined by id: give the same request the same id in both files.",
        )
    found: int | None = 0
    unchecked = None
    more: tuple[Unlikeness, ...] = ()
    if a.manifest["data"]["hash"] != b.manifest["data"]["hash"]:
        checked = other_requests(joined, a.data, b.data)
        if isinstance(checked, str):
            found, unchecked = None, checked
        elif checked[0]:
            found = checked[0]
            named = ", ".join(quoted(name) for name in checked[1])
            more = (
                Unlikeness("request", "A's", f"another for {found} of {len(joined.places)} items, such as {named}"),
            )
            if not settings.force:
                refuse_unlike(more, str(settings.b))
    items = SharedItems(
        both=len(joined.places),
        only_a=len(only_a),
        only_b=len(only_b),
        only_a_examples=tuple(only_a[:EXAMPLES]),
        only_b_examples=tuple(only_b[:EXAMPLES]),
        other_requests=found,
        unchecked=unchecked,
    )
    return items, more


def _figures(joined: JoinedColumns, margin: float, seed: int) -> list[ComparedFigure]:
    figures = [
        compare_figure(spec, joined.figure(number), FigureTerms(derive_seed(seed, spec.id), margin))
        for number, spec in enumerate(joined.shape.specs)
    ]
    # What no item of either run has, such as a preference where no probabilities came back, is no figure at all.
    kept = [figure for figure in figures if figure.tested or figure.n]
    return [
        replace(
            figure,
            adjusted_p=p_value,
            finding=finding(
                figure.interval, p_value if figure.tested else figure.test.p_value, margin, figure.clusters
            ),
        )
        for figure, p_value in zip(kept, adjusted(kept), strict=True)
    ]


def _regressions(joined: JoinedColumns, a: _Run, b: _Run) -> tuple[tuple[Regression, ...], str | None]:
    fallen = worst_fallen(joined)
    results_a = _again(a.view, [item.row_a for item in fallen])
    results_b = _again(b.view, [item.row_b for item in fallen])
    told = [
        regression(item, mine, theirs, (a.frame, b.frame))
        for item, mine, theirs in zip(fallen, results_a, results_b, strict=True)
    ]
    return with_texts(told, fallen, a.data, b.data)


def _again(view: RunView, rows: Sequence[int]) -> Iterator[ItemResult]:
    """Read a few rows of a journal once more; they all have outcomes, since they have scores."""
    reducer = view.reducer()
    due = view.due()
    for row in rows:
        outcomes = view.reader.row(row)
        name = RowName(row, outcomes[0].item_id, outcomes[0].labels)
        yield reducer.reduce(ItemOutcomes(row, name.item_id, due.of(name, outcomes)))
