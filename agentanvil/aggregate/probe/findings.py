"""What the probes of a judge found: one effect a line, its interval, and the verdict on it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from agentanvil.stats import Estimate, Interval, holm

ProbeName = Literal["position", "verbosity", "self-preference", "injection", "repeatability", "format"]
PROBES: tuple[ProbeName, ...] = get_args(ProbeName)
ProbeVerdict = Literal["bias found", "noise found", "inconclusive", "no effect found", "does not apply"]
VERDICTS: tuple[ProbeVerdict, ...] = get_args(ProbeVerdict)
"""Every verdict, the most telling first."""

LEVEL = 0.95
ALPHA = 0.05
POWER = 0.8
FEWEST_ITEMS = 10
"""Fewer items show nothing, however much alike they are."""
SCORE_MARGIN = 0.1
"""The share of the scale's range up to which a difference of scores does not matter."""
SHARE_MARGIN = 0.1
"""The share of items up to which an effect on items does not matter."""


@dataclass(frozen=True, slots=True)
class Example:
    """One item's reading before and after the change."""

    id: str
    before: float
    after: float


@dataclass(frozen=True, slots=True)
class Effect:
    """One line of the table: what a probe measured, against `null`, where the judge would be indifferent.

    `target` is the dimension, the kind of planted instruction, or `winner`. An effect within `margin` of `null` does
    not matter; `contrast` is the interval that is held against it where it is not that of the value, as a distance from
    `null`. `least` is the effect that this many items let one find with probability POWER. With `upward`, only an
    effect above `null` is one. `noise`: any value but `null` says that the judge is not steady, which is no bias.
    `shortage` says what there is too little of, `absent` why nothing was measured at all.
    """

    probe: ProbeName
    measure: str
    target: str
    unit: str
    value: Estimate
    interval: Interval
    p_value: float | None = None
    test: str = "none"
    null: float = 0.0
    margin: float = SHARE_MARGIN
    contrast: Interval | None = None
    least: Estimate = field(default_factory=lambda: Estimate(None, 0, "not worked out"))
    upward: bool = False
    noise: bool = False
    shortage: str = ""
    absent: str = ""
    details: Mapping[str, Any] = field(default_factory=dict)
    examples: tuple[Example, ...] = ()


@dataclass(frozen=True, slots=True)
class Finding:
    """An effect with its verdict. `adjusted` is its p-value after Holm's correction over all tests of the table."""

    effect: Effect
    adjusted: float | None
    verdict: ProbeVerdict
    reason: str


def nothing_measured(probe: ProbeName, measure: str, reason: str) -> Effect:
    """Return the line of a probe that does not apply to the data."""
    return Effect(probe, measure, "–", "", Estimate(None, 0, reason), no_interval(reason), absent=reason)


def nothing_yet(probe: ProbeName, measure: str, reason: str, target: str = "–") -> Effect:
    """Return the line of a probe whose calls were not all made."""
    return Effect(probe, measure, target, "", Estimate(None, 0, reason), no_interval(reason))


def no_interval(reason: str) -> Interval:
    """Return the interval of what has none."""
    return Interval(None, None, LEVEL, "none", reason)


def settle(effects: Sequence[Effect]) -> tuple[Finding, ...]:
    """Return the verdicts. The tests are one family: their p-values are adjusted together."""
    return tuple(
        Finding(effect, adjusted, *_verdict(effect, adjusted))
        for effect, adjusted in zip(effects, holm([effect.p_value for effect in effects]), strict=True)
    )


def verdict_of(findings: Sequence[Finding]) -> ProbeVerdict:
    """Return the most telling verdict of several lines. Raises ValueError without any."""
    return min((finding.verdict for finding in findings), key=VERDICTS.index)


def _verdict(effect: Effect, adjusted: float | None) -> tuple[ProbeVerdict, str]:
    value = effect.value
    if effect.absent:
        return "does not apply", effect.absent
    if value.value is None or effect.shortage:
        return "inconclusive", effect.shortage or value.reason or ""
    if effect.noise and value.value != effect.null:
        return "noise found", "the same call does not always bring the same verdict"
    if adjusted is not None and adjusted < ALPHA and (value.value > effect.null or not effect.upward):
        return "bias found", f"p = {adjusted:.2g} after Holm's correction"
    return _unless_found(effect)


def _unless_found(effect: Effect) -> tuple[ProbeVerdict, str]:
    """Tell an effect that is none that matters from one that may be there all the same."""
    interval, null = (effect.interval, effect.null) if effect.contrast is None else (effect.contrast, 0.0)
    n = effect.value.n
    if n < FEWEST_ITEMS:
        return "inconclusive", f"{n} item{' is' if n == 1 else 's are'} too few: {FEWEST_ITEMS} at the least"
    if interval.low is None or interval.high is None:
        return "inconclusive", interval.reason or ""
    low, high = interval.low - null, interval.high - null
    if (effect.upward or low >= -effect.margin) and high <= effect.margin:
        return "no effect found", _least(effect)
    if effect.contrast is None:
        return "inconclusive", f"the interval reaches beyond {effect.margin:.2g}, from where on an effect matters"
    most = high if effect.upward else max(high, -low)
    return "inconclusive", f"an effect of {most:.2g} cannot be ruled out, and from {effect.margin:.2g} on it matters"


def _least(effect: Effect) -> str:
    least = effect.least.value
    return "" if least is None else f"one of {least:.2g} would be found four times in five"
