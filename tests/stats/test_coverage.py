"""Simulated coverage of the corrected intervals: 95 % of them must hold the truth, which the draws know."""

from __future__ import annotations

import math
import zlib
from collections import Counter
from collections.abc import Callable, Iterator

import numpy as np
import pytest
from numpy.typing import NDArray

from agentanvil.stats import (
    Corrected,
    CorrectedPair,
    corrected_mean,
    corrected_pass_rate,
    mean_shift,
    weighted_corrected_mean,
    weighted_shift,
)
from tests.fakes.judged_draws import PASSES, SCORES, Floats

pytestmark = pytest.mark.slow

REPETITIONS = 1000
CELLS = [(labelled, unlabelled) for labelled in (50, 200, 1000) for unlabelled in (50, 1000)]
# From this many labels on an interval near the ceiling is promised to cover 92 %; below, it comes with a doubt.
ENOUGH_NEAR_THE_CEILING = 200

# One in twenty, and more than three Monte Carlo errors.
FALSE_ALARMS = 0.075


def generators(*key: str | int, repetitions: int = REPETITIONS) -> Iterator[np.random.Generator]:
    seed = zlib.crc32(repr(key).encode())
    return (np.random.default_rng([seed, n]) for n in range(repetitions))


class Tally:
    """Counts what became of one target's intervals."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()

    def add(self, found: Corrected, truth: float) -> None:
        low, high = found.interval.low, found.interval.high
        self.counts["draws"] += 1
        self.counts["doubted"] += found.doubt is not None or low is None
        self.counts["covered"] += low is not None and high is not None and low - 1e-9 <= truth <= high + 1e-9

    @property
    def doubted(self) -> float:
        return self.counts["doubted"] / self.counts["draws"]

    @property
    def coverage(self) -> float:
        return self.counts["covered"] / self.counts["draws"]

    def holds(self, bar: float = 0.93) -> bool:
        """Whether coverage is below the bar by no more than two Monte Carlo errors."""
        error = math.sqrt(max(self.coverage * (1 - self.coverage), 1e-4) / self.counts["draws"])
        return self.coverage + 2 * error >= bar


def both(draws: Iterator[tuple[CorrectedPair, float, float]]) -> tuple[Tally, Tally]:
    population, items = Tally(), Tally()
    for pair, truth, realised in draws:
        population.add(pair.population, truth)
        items.add(pair.items, realised)
    return population, items


def means(scenario: str, labelled: int, unlabelled: int) -> tuple[Tally, Tally]:
    of = SCORES[scenario]

    def draws() -> Iterator[tuple[CorrectedPair, float, float]]:
        for rng in generators("mean", scenario, labelled, unlabelled):
            human, judge = of.draw(labelled + unlabelled, rng)
            pair = corrected_mean(list(human[:labelled]), list(judge[:labelled]), list(judge[labelled:]))
            yield pair, of.truth, float(human[labelled:].mean())

    return both(draws())


def rates(scenario: str, labelled: int, unlabelled: int) -> tuple[Tally, Tally]:
    of = PASSES[scenario]

    def draws() -> Iterator[tuple[CorrectedPair, float, float]]:
        for rng in generators("rate", scenario, labelled, unlabelled):
            human, judge = of.draw(labelled, rng, labelled=True)
            others, rest = of.draw(unlabelled, rng)
            yield corrected_pass_rate(list(human), list(judge), list(rest)), of.rate, float(others.mean())

    return both(draws())


@pytest.mark.parametrize(("labelled", "unlabelled"), CELLS)
@pytest.mark.parametrize("scenario", ["good", "weak"])
def test_corrected_means_hold_their_level(scenario: str, labelled: int, unlabelled: int) -> None:
    population, items = means(scenario, labelled, unlabelled)
    assert population.holds(), population.coverage
    assert items.holds(), items.coverage
    assert population.doubted < 0.05
    assert items.doubted < 0.05


@pytest.mark.parametrize(("labelled", "unlabelled"), CELLS)
@pytest.mark.parametrize("scenario", ["typical", "weak", "shift"])
def test_corrected_rates_hold_their_level_whatever_passes_among_the_labelled(
    scenario: str, labelled: int, unlabelled: int
) -> None:
    population, items = rates(scenario, labelled, unlabelled)
    assert population.holds(), population.coverage
    assert items.holds(), items.coverage
    assert population.doubted < 0.05


@pytest.mark.parametrize(("labelled", "unlabelled"), CELLS)
@pytest.mark.parametrize(("draw", "scenario"), [(means, "ceiling"), (rates, "high")], ids=["ceiling", "high"])
def test_near_the_ceiling_a_few_labels_raise_doubt_and_many_hold_92_per_cent(
    draw: Callable[[str, int, int], tuple[Tally, Tally]], scenario: str, labelled: int, unlabelled: int
) -> None:
    for found in draw(scenario, labelled, unlabelled):
        if labelled < ENOUGH_NEAR_THE_CEILING:
            assert found.doubted > 0.8
        else:
            assert found.coverage >= 0.92, found.coverage
            assert found.doubted < 0.1


@pytest.mark.parametrize(("labelled", "unlabelled", "power"), [(50, 1000, 0.9), (200, 50, 0.8), (200, 1000, 0.99)])
def test_a_shift_is_found_and_none_is_made_up(labelled: int, unlabelled: int, power: float) -> None:
    found = Counter[str]()
    for scenario in ("shift", "typical"):
        for rng in generators("shift", scenario, labelled, unlabelled):
            _, judge = PASSES[scenario].draw(labelled, rng, labelled=True)
            _, rest = PASSES[scenario].draw(unlabelled, rng)
            found[scenario] += mean_shift(list(judge), list(rest)).found
    assert found["shift"] / REPETITIONS >= power
    assert found["typical"] / REPETITIONS <= FALSE_ALARMS


def drawn(judge: Floats, share: float, odd: float, rng: np.random.Generator) -> tuple[NDArray[np.bool_], Floats]:
    """Draw labels so that rows with a judge below its top come `odd` times as often; return who, and the weights."""
    times = np.where(judge < judge.max(), odd, 1.0)
    probability = np.minimum(1.0, share * times / times.mean())
    return rng.random(len(judge)) < probability, 1 / probability


@pytest.mark.parametrize("odd", [1.0, 4.0, 0.25])
@pytest.mark.parametrize("scenario", ["good", "weak"])
def test_weighted_means_hold_their_level_when_labels_are_drawn_unevenly(scenario: str, odd: float) -> None:
    of = SCORES[scenario]
    alarms = 0

    def draws() -> Iterator[tuple[CorrectedPair, float, float]]:
        nonlocal alarms
        for rng in generators("weighted mean", scenario, int(odd * 4)):
            human, judge = of.draw(1000, rng)
            who, weights = drawn(judge, 0.15, odd, rng)
            sample = list(judge[who]), list(weights[who]), list(judge[~who])
            pair = weighted_corrected_mean(list(human[who]), *sample)
            alarms += weighted_shift(*sample).found
            yield pair, of.truth, float(human.mean())

    population, items = both(draws())
    assert population.holds(), population.coverage
    assert items.holds(), items.coverage
    assert alarms / REPETITIONS <= FALSE_ALARMS


@pytest.mark.parametrize("odd", [1.0, 4.0, 0.25])
@pytest.mark.parametrize("scenario", ["typical", "weak"])
def test_weighted_rates_hold_their_level_when_labels_are_drawn_unevenly(scenario: str, odd: float) -> None:
    of = PASSES[scenario]

    def draws() -> Iterator[tuple[CorrectedPair, float, float]]:
        for rng in generators("weighted rate", scenario, int(odd * 4)):
            human, judge = of.draw(1000, rng)
            who, weights = drawn(judge, 0.15, odd, rng)
            pair = corrected_pass_rate(list(human[who]), list(judge[who]), list(judge[~who]), list(weights[who]))
            yield pair, of.rate, float(human.mean())

    population, items = both(draws())
    assert population.holds(), population.coverage
    assert items.holds(), items.coverage


def test_without_the_weights_labels_drawn_unevenly_mislead_a_mean() -> None:
    of, found = SCORES["good"], Tally()
    for rng in generators("weights ignored"):
        human, judge = of.draw(1000, rng)
        who, _ = drawn(judge, 0.1, 8.0, rng)
        found.add(corrected_mean(list(human[who]), list(judge[who]), list(judge[~who])).population, of.truth)
    assert found.coverage < 0.9
