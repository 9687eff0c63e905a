"""A measured figure against its threshold: the verdict by the interval, and what more would decide an open one."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from agentanvil.aggregate.gate.summary import FigureVerdict, GateFigure
from agentanvil.rubric import GatedFigure
from agentanvil.stats import Interval, least_deciding

MOST_ROWS = 1_000_000

Gauge = Callable[[float, float], Interval]
"""How the interval would be with so many times the items, and so many of them missing."""


@dataclass(frozen=True, slots=True)
class Measured:
    """A figure as it was read, and how its interval would move; `repeats` tells how many more of them would decide."""

    value: float | None
    n: int
    missing: int
    interval: Interval
    gauge: Gauge
    repeats: Callable[[], int | None] = lambda: None


def decided(figure: GatedFigure, confidence: float, found: Measured) -> GateFigure:
    """Decide."""
    verdict = verdict_on(found.interval, figure.threshold)
    rows = repeats = reason = None
    if verdict == "inconclusive":
        rows, reason = _more_rows(figure, found)
        repeats = found.repeats() if rows != 0 else None
        if repeats is not None:
            reason += f", or {repeats} more repeat(s) of each item"
    return GateFigure(
        name=figure.name,
        value=found.value,
        n=found.n,
        missing=found.missing,
        interval=found.interval,
        threshold=figure.threshold,
        confidence=confidence,
        verdict=verdict,
        more_rows=rows,
        more_repeats=repeats,
        reason=reason,
    )


def _more_rows(figure: GatedFigure, found: Measured) -> tuple[int | None, str]:
    """Return how many more rows would decide, and the sentence about it."""
    if found.value is None:
        return None, "no item has a value"
    alone = verdict_on(found.gauge(1, 0), figure.threshold)
    if found.missing and alone != "inconclusive":
        return 0, f"without the {found.missing} item(s) that lack a verdict it would {alone}, so these decide"
    if math.isclose(found.value, figure.threshold, rel_tol=0, abs_tol=1e-9):
        return None, "the estimate lies on the threshold, so that no number of rows would decide"
    lacking = f" once no verdict is missing ({found.missing} are)" if found.missing else ""

    def decides(n: int) -> bool:
        return verdict_on(found.gauge(n / found.n, 0), figure.threshold) != "inconclusive"

    needed = least_deciding(decides, found.n, MOST_ROWS)
    if needed is None:
        return None, f"the estimate lies so close to the threshold that more than {MOST_ROWS:,} rows would be needed"
    return needed - found.n, f"about {needed - found.n:,} more row(s) of the same kind would decide{lacking}"


def verdict_on(interval: Interval, threshold: float) -> FigureVerdict:
    """Return where the whole interval lies; without one, and across the threshold, nothing is decided."""
    if interval.low is None or interval.high is None:
        return "inconclusive"
    if interval.low >= threshold:
        return "pass"
    return "fail" if interval.high < threshold else "inconclusive"


def hull(worst: Interval, best: Interval) -> Interval:
    """Return what reaches from the worst case's lower end to the best case's upper one."""
    return Interval(worst.low, best.high, worst.level, worst.method, worst.reason)
