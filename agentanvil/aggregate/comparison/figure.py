"""One figure of two runs: means, difference, interval, test, and what was left out of the pairing."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from agentanvil.aggregate.comparison.columns import MISSING, NOT_APPLICABLE, SCORED, FigureSpec, PairedRow
from agentanvil.aggregate.comparison.tally import Bounds, ComparedFigure, Finding, Unpaired
from agentanvil.stats import (
    Estimate,
    Interval,
    SignificanceTest,
    association_interval,
    association_of_items,
    holm,
    least_detectable_difference_paired,
    mcnemar_exact,
    mean,
    mirrored_bootstrap_mean,
    paired_permutation_test,
    sample_sd,
)

ALPHA = 0.05
POWER = 0.8
# With fewer, all signs alike have a probability of 2 / 2^n above alpha: no drop could be found at all.
LEAST_CLUSTERS = 6
# Scores that lie anywhere are many; two decimals are far below what any interval of so many items could show.
_MAX_DISTINCT = 4_000
_DECIMALS = 2
# Differences of means of repeats, freed of rounding.
_DIGITS = 12
_NO_PAIRS = "no item has a number in both runs"


@dataclass(slots=True)
class _Tally:
    """Pairs of one figure, and the items that have none."""

    pairs: Counter[tuple[float, float]] = field(default_factory=Counter)
    requests: dict[int, tuple[float, int]] = field(default_factory=dict)
    missing: Counter[tuple[bool, bool]] = field(default_factory=Counter)
    not_applicable: int = 0
    low: list[float] = field(default_factory=list)
    high: list[float] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class FigureTerms:
    """What every figure is measured by: the run pair's seed, and the largest drop that counts as none."""

    seed: int
    margin: float


def compare_figure(spec: FigureSpec, rows: Iterable[PairedRow], terms: FigureTerms) -> ComparedFigure:
    """Compare one figure over the items that both runs have.

    Exchanging the runs exchanges the means and mirrors difference, interval, wins and bounds, exactly.
    """
    tally = _counted(spec, rows)
    n = tally.pairs.total()
    sums = list(tally.requests.values())
    clustered = len(sums) < n
    differences = [(round(b - a, _DIGITS) + 0.0, times) for (a, b), times in tally.pairs.items()]
    difference = mean([value for value, _ in differences], [times for _, times in differences])
    interval = _interval(Counter(sums), terms.seed)
    wins, losses = (sum(times for value, times in differences if sign * value > 0) for sign in (1, -1))
    patterns = [[pair] for pair in tally.pairs]
    times = list(tally.pairs.values())
    return ComparedFigure(
        id=spec.id,
        kind=spec.kind,
        tested=spec.tested,
        n=n,
        clusters=len(sums),
        mean_a=_mean([a for a, _ in tally.pairs], times),
        mean_b=_mean([b for _, b in tally.pairs], times),
        difference=difference if difference.value is not None else Estimate(None, 0, _NO_PAIRS),
        interval=interval,
        test=_test(tally, clustered, terms),
        adjusted_p=None,
        finding="inconclusive",
        wins=wins,
        ties=n - wins - losses,
        losses=losses,
        least_detectable=_least_detectable(sums, n),
        correlation=association_of_items(patterns, "spearman", times),
        correlation_interval=association_interval(patterns, "spearman", times),
        unpaired=Unpaired(
            a=tally.missing[True, False],
            b=tally.missing[False, True],
            both=tally.missing[True, True],
            not_applicable=tally.not_applicable,
        ),
        bounds=_bounds(differences, tally),
    )


def adjusted(figures: Sequence[ComparedFigure]) -> list[float | None]:
    """Return each figure's p-value by Holm over those that are tested, None for the others."""
    return holm([figure.test.p_value if figure.tested else None for figure in figures])


def finding(interval: Interval, adjusted_p: float | None, margin: float, clusters: int) -> Finding:
    """Say whether a figure dropped by more than the margin.

    Not, where the whole interval is above the drop that counts as none; yes, where the whole interval is below it and
    the test, adjusted for all figures, agrees. Few items that all fell alike have an interval without width, and no
    test would call that a finding; so few that none ever could have no drop ruled out either, however alike they are.
    """
    if interval.low is None or interval.high is None or clusters < LEAST_CLUSTERS:
        return "inconclusive"
    if interval.low >= -margin:
        return "no_worse"
    if interval.high < -margin and adjusted_p is not None and adjusted_p <= ALPHA:
        return "worse"
    return "inconclusive"


def _counted(spec: FigureSpec, rows: Iterable[PairedRow]) -> _Tally:
    tally = _Tally()
    for a, state_a, b, state_b, group in rows:
        if state_a == state_b == SCORED:
            tally.pairs[a, b] += 1
            total, size = tally.requests.get(group, (0.0, 0))
            tally.requests[group] = (round(total + b - a, _DIGITS) + 0.0, size + 1)
        elif NOT_APPLICABLE in (state_a, state_b):
            tally.not_applicable += 1
        else:
            lacks_a, lacks_b = state_a == MISSING, state_b == MISSING
            tally.missing[lacks_a, lacks_b] += 1
            tally.low.append((spec.low if lacks_b else b) - (spec.high if lacks_a else a))
            tally.high.append((spec.high if lacks_b else b) - (spec.low if lacks_a else a))
    return tally


def _mean(values: Sequence[float], times: Sequence[int]) -> Estimate:
    found = mean(values, times)
    return found if found.value is not None else Estimate(None, 0, _NO_PAIRS)


def _interval(sums: Counter[tuple[float, int]], seed: int) -> Interval:
    """Return the interval of the mean difference, resampling requests; the run pair's names do not matter to it."""
    if len(sums) > _MAX_DISTINCT:
        rounded: Counter[tuple[float, int]] = Counter()
        for (total, size), times in sums.items():
            rounded[round(total, _DECIMALS) + 0.0, size] += times
        sums = rounded
    clusters = [[total, *[0.0] * (size - 1)] for total, size in sums]
    return mirrored_bootstrap_mean(clusters, list(sums.values()), seed=seed)


def _test(tally: _Tally, clustered: bool, terms: FigureTerms) -> SignificanceTest:
    values = {value for pair in tally.pairs for value in pair}
    if values and values <= {0.0, 1.0} and not clustered and not terms.margin:
        return mcnemar_exact(tally.pairs[1.0, 0.0], tally.pairs[0.0, 1.0])
    shifted = Counter(round(total + size * terms.margin, _DIGITS) for total, size in tally.requests.values())
    return paired_permutation_test(list(shifted), list(shifted.values()), seed=terms.seed)


def _least_detectable(sums: Sequence[tuple[float, int]], n: int) -> Estimate:
    # A request with several items weighs as many times as much as one with one.
    weighed = [total * len(sums) / n for total, _ in sums]
    sd = sample_sd(weighed)
    if sd.value is None:
        return Estimate(None, len(sums), "fewer than two items to judge the spread by")
    if sd.value == 0:
        return Estimate(None, len(sums), "every item differs by the same, which shows no spread to judge by")
    return least_detectable_difference_paired(len(sums), sd.value, alpha=ALPHA, power=POWER)


def _bounds(differences: Sequence[tuple[float, int]], tally: _Tally) -> Bounds:
    n = sum(times for _, times in differences) + len(tally.low)
    if n == 0:
        return Bounds(None, None, "no item of both runs is scored or lacks a verdict")
    total = math.fsum(value * times for value, times in differences)
    return Bounds((total + math.fsum(tally.low)) / n + 0.0, (total + math.fsum(tally.high)) / n + 0.0)
