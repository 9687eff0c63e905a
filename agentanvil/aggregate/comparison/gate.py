"""May B replace A? One rule over all figures."""

from __future__ import annotations

from collections.abc import Sequence

from agentanvil.aggregate.comparison.figure import LEAST_CLUSTERS
from agentanvil.aggregate.comparison.tally import ComparedFigure, RegressionGate, RegressionVerdict
from agentanvil.aggregate.wording import plain, telling


def regression_gate(
    figures: Sequence[ComparedFigure], margin: float, min_coverage: float, *, only_a: int
) -> RegressionGate:
    """Decide by the overall and every dimension.

    A figure that is worse fails whatever is missing, because more verdicts cannot mend it. `only_a` items of A that B
    has not at all lack a pair as those do whose verdict is missing: else leaving hard items out would pass. B's own new
    items are no matter, since nothing can have become worse in them; nor is a dimension that applies to no item at all.
    """
    tested = [figure for figure in figures if figure.tested and _coverage(figure, only_a) is not None]
    shares = [(share, figure) for figure in tested if (share := _coverage(figure, only_a)) is not None]
    covered = min((share for share, _ in shares), default=None)
    worse = [figure for figure in tested if figure.finding == "worse"]
    short = [(share, figure) for share, figure in shares if share < min_coverage]
    inconclusive = [figure for figure in tested if figure.finding == "inconclusive"]
    verdict: RegressionVerdict = (
        "fail" if worse else "missing" if short else "inconclusive" if inconclusive or not tested else "pass"
    )
    reasons = [
        *(_worse(figure, margin) for figure in worse),
        *(
            f"{figure.id}: {telling(share, min_coverage)} of A's items have a pair, below {plain(min_coverage)}"
            for share, figure in short
        ),
        *(_open(figure, margin) for figure in inconclusive),
    ]
    return RegressionGate(margin, min_coverage, covered, verdict, tuple(reasons))


def _coverage(figure: ComparedFigure, only_a: int) -> float | None:
    wanted = figure.n + figure.unpaired.missing + only_a
    return figure.n / wanted if wanted else None


def _worse(figure: ComparedFigure, margin: float) -> str:
    return f"{figure.id} is worse: {_span(figure, margin)}, adjusted p = {figure.adjusted_p:.2g}"


def _open(figure: ComparedFigure, margin: float) -> str:
    if figure.interval.low is None:
        return f"{figure.id} is inconclusive: {figure.interval.reason}"
    if figure.clusters < LEAST_CLUSTERS:
        few = f"{figure.clusters} paired items could show no drop, whatever they are"
        return f"{figure.id} is inconclusive: {few}; {LEAST_CLUSTERS} is the least"
    least = figure.least_detectable.value
    power = "" if least is None else f"; {figure.clusters} items find a difference from {least:.2g} on"
    return f"{figure.id} is inconclusive: {_span(figure, margin)}{power}"


def _span(figure: ComparedFigure, margin: float) -> str:
    low, high, value = figure.interval.low, figure.interval.high, figure.difference.value
    shown = [telling(end, -margin) for end in (value, low, high) if end is not None]
    allowed = f", a drop by up to {plain(margin)} counts as none" if margin else ""
    return f"{shown[0]} [{', '.join(shown[1:])}]{allowed}"
