"""Probes that need no changed rows: whether a judge favours its own family, and whether it pays for length."""

from __future__ import annotations

import math
from array import array
from collections import defaultdict

from agentanvil.aggregate.probe.findings import ALPHA, LEVEL, POWER, SCORE_MARGIN, SHARE_MARGIN, Effect, no_interval
from agentanvil.hashing import derive_seed
from agentanvil.stats import (
    Estimate,
    Interval,
    Slope,
    clopper_pearson_interval,
    cluster_bootstrap_mean,
    clustered_slope,
    least_detectable_difference_paired,
    paired_permutation_test,
)

SLOPE = "length slope given labels"
_FEWEST_A_SIDE = 10
_EQUAL = 1e-9
_ALIKE = "all scores follow the label exactly, so that nothing tells what length does to others"


class KinTally:
    """Counts how much better a judge grades than a second one, by whether the response is of the judge's own family."""

    def __init__(self, target: str, range_: float) -> None:
        self._target = target
        self._range = range_
        self._differences, self._own, self._groups = array("d"), array("b"), array("q")
        self._missing = 0

    def add(self, judge: float | None, second: float | None, *, own: bool, group: int) -> None:
        """Count one response; `group` is the same for all that answer one request."""
        if judge is None or second is None:
            self._missing += 1
            return
        self._differences.append(judge - second)
        self._own.append(own)
        self._groups.append(group)

    def effect(self) -> Effect:
        """Return (own − others) by this judge minus the same by the second one."""
        found = clustered_slope(self._differences, self._own, clusters=self._groups, level=LEVEL)
        sizes = [len({g for g, own in zip(self._groups, self._own, strict=True) if own == side}) for side in (1, 0)]
        few = max(sizes) > 0 and min(sizes) < _FEWEST_A_SIDE
        return Effect(
            "self-preference",
            "difference in differences",
            self._target,
            unit="points",
            value=found.estimate if self._own else Estimate(None, 0, "no response was graded by both"),
            interval=self._alike(sizes) if _is_flat(found) else found.interval,
            p_value=None if few else found.p_value,
            test="least squares, clustered by request",
            margin=SCORE_MARGIN * self._range,
            least=_least(found),
            shortage=_shortage(sizes) if few else "",
            details={
                "own": self._side(1),
                "others": self._side(0),
                "requests": len(set(self._groups)),
                "missing": self._missing,
            },
        )

    def _alike(self, sizes: list[int]) -> Interval:
        """Both judges differ by the same everywhere: bound the share of requests on which either side may not."""
        most = self._range * math.fsum(clopper_pearson_interval(0, size, LEVEL).high or 0.0 for size in sizes)
        return Interval(
            -most, most, LEVEL, "all alike: clopper-pearson bounds of the shares that are not, by the scale"
        )

    def _side(self, side: int) -> Estimate:
        rows = [d for d, own in zip(self._differences, self._own, strict=True) if own == side]
        return Estimate(math.fsum(rows) / len(rows), len(rows)) if rows else Estimate(None, 0, "no rows")


class KinPairTally:
    """The same for pairs of which one response is of the judge's family and the other is not."""

    def __init__(self) -> None:
        self._of_group: defaultdict[int, list[float]] = defaultdict(list)
        self._missing = 0

    def add(self, judge: float | None, second: float | None, group: int) -> None:
        """Count one pair; each winner is 1 where the response of the judge's family won, -1 where the other one did."""
        if judge is None or second is None:
            self._missing += 1
            return
        self._of_group[group].append((judge - second) / 2)

    def effect(self, seed: int) -> Effect:
        """Return the share that the judge's own family wins by this judge minus that by the second one."""
        clusters = list(self._of_group.values())
        rows = [value for cluster in clusters for value in cluster]
        drawn = derive_seed(seed, "self-preference")
        test = paired_permutation_test([math.fsum(cluster) for cluster in clusters], seed=drawn)
        found = Estimate(math.fsum(rows) / len(rows), len(rows)) if rows else Estimate(None, 0, "no such pair was read")
        interval = cluster_bootstrap_mean(clusters, seed=drawn, level=LEVEL)
        return Effect(
            "self-preference",
            "difference in differences",
            "winner",
            unit="share won by the own family",
            value=found,
            interval=interval,
            p_value=test.p_value,
            test=f"over requests, {test.method}",
            margin=SHARE_MARGIN,
            least=_of_width(interval, len(rows)),
            details={"requests": len(clusters), "missing": self._missing},
        )


class LengthTally:
    """Counts scores against the length of the response, people's label held constant."""

    def __init__(self, target: str, range_: float) -> None:
        self._target = target
        self._range = range_
        self._scores, self._labels, self._lengths, self._groups = array("d"), array("d"), array("d"), array("q")

    def add(self, score: float | None, label: float | None, characters: int, group: int) -> None:
        """Count one response that was graded and labelled."""
        if score is None or label is None or characters < 1:
            return
        self._scores.append(score)
        self._labels.append(label)
        self._lengths.append(math.log2(characters))
        self._groups.append(group)

    def effect(self) -> Effect:
        """Return by how much the score rises with each doubling of the length, at the same label.

        Labels are noisy, and where better answers are longer a noisy control leaves some of their worth to their
        length. What judge − label gains with length is free of that, though not of a judge who uses less of the scale.
        So both must show the same sign, and the larger p-value counts.
        """
        held = clustered_slope(self._scores, self._lengths, [self._labels], clusters=self._groups, level=LEVEL)
        gaps = [score - label for score, label in zip(self._scores, self._labels, strict=True)]
        gap = clustered_slope(gaps, self._lengths, clusters=self._groups, level=LEVEL)
        return Effect(
            "verbosity",
            SLOPE,
            self._target,
            unit="points a doubling of the length",
            value=held.estimate if self._scores else Estimate(None, 0, "no row has both a score and a label"),
            interval=no_interval(_ALIKE) if _is_flat(held) else held.interval,
            p_value=_both(held, gap),
            test="least squares with the label as control, clustered by request",
            margin=SCORE_MARGIN * self._range,
            least=_least(held),
            details={"slope_of_judge_minus_label": gap.estimate, "interval_of_judge_minus_label": gap.interval},
        )


def _both(one: Slope, other: Slope) -> float | None:
    if one.p_value is None or other.p_value is None:
        return None
    same = (one.estimate.value or 0.0) * (other.estimate.value or 0.0) > 0
    return max(one.p_value, other.p_value) if same else 1.0


def _is_flat(slope: Slope) -> bool:
    """Tell an effect of nothing without any spread, whose interval would have no width however few the rows are."""
    return slope.estimate.value is not None and not slope.standard_error and abs(slope.estimate.value) < _EQUAL


def _least(slope: Slope) -> Estimate:
    """The standard error is that of a mean, as it were, of one row."""
    if not slope.standard_error:
        return Estimate(None, slope.estimate.n, slope.estimate.reason or "the errors have no spread")
    shift = least_detectable_difference_paired(1, slope.standard_error, alpha=ALPHA, power=POWER, kind="z")
    return Estimate(shift.value, slope.estimate.n)


def _of_width(interval: Interval, n: int) -> Estimate:
    """An interval at 95 % is 3.92 standard errors wide."""
    if interval.low is None or interval.high is None:
        return Estimate(None, n, interval.reason or "no interval")
    error = (interval.high - interval.low) / (2 * 1.959964)
    return Estimate(least_detectable_difference_paired(1, error, alpha=ALPHA, power=POWER, kind="z").value, n)


def _shortage(sizes: list[int]) -> str:
    return (
        f"{sizes[0]} requests with a response of the judge's family and {sizes[1]} with one of another: "
        f"{_FEWEST_A_SIDE} of each at the least"
    )
