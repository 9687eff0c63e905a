"""Effects of all clauses → a verdict on each, after adjustment for how many tests there were.

The rule, per clause; "measurably" is a Holm-adjusted p of at most ALPHA:

1. `harmful`: without the clause some dimension agrees measurably better with the labels.
2. `earns_its_tokens`: without it some dimension agrees measurably less with them.
3. Where labels do not tell: `earns_its_tokens` if the mean of a dimension that the clause is about measurably changes,
   or the two dimensions that it keeps apart measurably correlate more without it; `harmful` if they correlate less, so
   that it draws together what it is there to part.
4. `inconclusive` if fewer than FEWEST_ITEMS items have a score in both arms: nothing could have been found.
5. `no_measurable_effect` otherwise.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from agentanvil.aggregate.ablation.tally import (
    ALPHA,
    FEWEST_ITEMS,
    POWER,
    Ablation,
    Change,
    ClauseEffect,
    ClauseFinding,
    ClauseVerdict,
    DimensionEffect,
)
from agentanvil.rubric.variant import Clause
from agentanvil.stats import Estimate, holm, least_detectable_difference_paired

_ALIKE = "all items change by the same, so that nothing tells how far they could"


def conclude(effects: Sequence[tuple[Clause, ClauseEffect]], noise: ClauseEffect | None, items: int) -> Ablation:
    """Adjust the p-values of all clauses together, and return every finding in the order of the clauses."""
    p_values = [change.test.p_value for _, effect in effects for change in _changes(effect) if change.test is not None]
    tests = sum(p_value is not None for p_value in p_values)
    adjusted = iter(holm(p_values))
    settled = [(clause, _settled(effect, adjusted)) for clause, effect in effects]
    findings = tuple(_finding(clause, effect, tests) for clause, effect in settled)
    labelled = any(dimension.kappa is not None for _, effect in effects for dimension in effect.dimensions)
    return Ablation(findings, noise, items, labelled, tests)


def _changes(effect: ClauseEffect) -> Iterator[Change]:
    """Yield what may be tested, in the order in which `_settled` takes it up."""
    for dimension in effect.dimensions:
        yield from (each for each in (dimension.mean, dimension.kappa, dimension.distance) if each is not None)
    yield from (pair.correlation for pair in effect.pairs)


def _settled(effect: ClauseEffect, adjusted: Iterator[float | None]) -> ClauseEffect:
    def settle(change: Change) -> Change:
        return replace(change, p_adjusted=next(adjusted)) if change.test is not None else change

    dimensions = [
        replace(
            dimension,
            mean=settle(dimension.mean),
            kappa=None if dimension.kappa is None else settle(dimension.kappa),
            distance=None if dimension.distance is None else settle(dimension.distance),
        )
        for dimension in effect.dimensions
    ]
    pairs = [replace(pair, correlation=settle(pair.correlation)) for pair in effect.pairs]
    return replace(effect, dimensions=tuple(dimensions), pairs=tuple(pairs))


def _finding(clause: Clause, effect: ClauseEffect, tests: int) -> ClauseFinding:
    detectable = {dimension.id: _detectable(dimension, tests) for dimension in effect.dimensions}
    verdict, because = _decided(effect)
    moved = [
        f"it moves `{each.id}`, which it is not about: {_mean(each)}"
        for each in effect.dimensions
        if not each.about and each.mean.significant
    ]
    about = [each for each in effect.dimensions if each.about]
    if verdict == "no_measurable_effect":
        verdict, because = _unless_too_few(about, detectable)
    return ClauseFinding(clause, effect, verdict, (*because, *moved, *_unpaired(about)), detectable)


def _unless_too_few(
    about: Sequence[DimensionEffect], detectable: Mapping[str, Estimate]
) -> tuple[ClauseVerdict, list[str]]:
    """Tell a clause without an effect from one of which nothing could have been found, whatever it does."""
    most = max(each.flips.n for each in about)
    if most >= FEWEST_ITEMS:
        return "no_measurable_effect", _unseen(about, detectable)
    counted = f"{most} item{'' if most == 1 else 's'}"
    return "inconclusive", [f"{counted} with a score in both arms could show nothing; {FEWEST_ITEMS} is the least"]


def _unpaired(about: Sequence[DimensionEffect]) -> list[str]:
    return [
        f"{each.unpaired} of `{each.id}` have a score in one arm alone, and count nowhere"
        for each in about
        if each.unpaired
    ]


def _decided(effect: ClauseEffect) -> tuple[ClauseVerdict, list[str]]:
    nearer, farther = _by_labels(effect)
    means, apart, together = _by_scores(effect)
    if nearer:
        return "harmful", [*nearer, *farther, *means, *apart, *together]
    if farther:
        return "earns_its_tokens", [*farther, *means, *apart, *together]
    if means or apart:
        return "earns_its_tokens", [*means, *apart, *together, "labels do not tell whether for better or worse"]
    return ("harmful", together) if together else ("no_measurable_effect", [])


def _by_labels(effect: ClauseEffect) -> tuple[list[str], list[str]]:
    """Return where scores are nearer to the labels without the clause, and where they are farther from them."""
    nearer: list[str] = []
    farther: list[str] = []
    for dimension in effect.dimensions:
        for change, figure, better in ((dimension.kappa, "kappa", 1), (dimension.distance, "distance", -1)):
            if change is not None and change.significant:
                gains = change.value * better > 0
                told = f"agrees {'more' if gains else 'less'} with the labels: {figure} {_from_to(change)}"
                (nearer if gains else farther).append(f"without it `{dimension.id}` {told}")
    return nearer, farther


def _by_scores(effect: ClauseEffect) -> tuple[list[str], list[str], list[str]]:
    """Return which means change, and which pairs the clause keeps apart or draws together."""
    means = [f"without it {_mean(each)}" for each in effect.dimensions if each.about and each.mean.significant]
    apart: list[str] = []
    together: list[str] = []
    for pair in effect.pairs:
        if pair.correlation.significant:
            more = pair.correlation.value > 0
            names = " and ".join(f"`{name}`" for name in pair.dimensions)
            told = f"without it {names} correlate {'more' if more else 'less'}: r {_from_to(pair.correlation)}"
            (apart if more else together).append(told)
    return means, apart, together


def _mean(dimension: DimensionEffect) -> str:
    return f"the mean of `{dimension.id}` goes from {_from_to(dimension.mean)}"


def _from_to(change: Change) -> str:
    first, second, p_value = change.whole.value, change.without.value, change.p_adjusted
    if first is None or second is None or p_value is None:
        return "undefined"
    return f"{first:.2f} to {second:.2f} (adjusted p {'< 0.0001' if p_value < 1e-4 else f'{p_value:.4f}'})"


def _detectable(dimension: DimensionEffect, tests: int) -> Estimate:
    """Return the least detectable change of a mean at the strictest significance level that Holm's rule asks for."""
    if not dimension.sd.value:
        return Estimate(None, dimension.sd.n, dimension.sd.reason or _ALIKE)
    alpha = ALPHA / max(1, tests)
    return least_detectable_difference_paired(dimension.sd.n, dimension.sd.value, alpha=alpha, power=POWER)


def _unseen(dimensions: Sequence[DimensionEffect], detectable: Mapping[str, Estimate]) -> list[str]:
    """Say how large the effects may be that were not found: of what never changed together, of the rest one by one."""
    unchanged = [each for each in dimensions if each.flips.n and not each.flips.changed]
    told: list[str] = []
    if unchanged:
        names = ", ".join(f"`{each.id}`" for each in unchanged)
        least = min((each.flips for each in unchanged), key=lambda flips: flips.n)
        most = (
            "" if least.interval.high is None else f", so that at most {least.interval.high:.0%} of such items change"
        )
        told.append(f"no score of {names} changed on {least.n} item{'' if least.n == 1 else 's'}{most}")
    for each in dimensions:
        found = detectable[each.id]
        if found.value is not None:
            told.append(f"a change of {found.value:.2f} or more in the mean of `{each.id}` would probably have shown")
        elif each not in unchanged:
            told.append(f"`{each.id}`: {found.reason}")
    return told
