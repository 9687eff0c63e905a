"""Labels drawn by design, simulated: disputed items oftener than others, and what a calibration makes of them.

The population is of 3,000 items with two readings each, of which a quarter is hard for the judge. Half of a draw is
spread evenly, half goes to items by how far the two readings lie apart, as `anvil label` draws them.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pytest

from agentanvil.aggregate import CalibrationTally, DimensionCalibration, ItemResult, Measured, Ratings, Reducer
from agentanvil.stats import inclusion_probabilities, systematic_sample
from tests.fakes.graded import item, plan, rubric

pytestmark = pytest.mark.slow

ITEMS, DRAWN, DRAWS = 3_000, 150, 400
BAR = 0.6
FIGURES: Mapping[str, Callable[[DimensionCalibration], Measured]] = {
    "kappa": lambda found: found.kappa,
    "exact": lambda found: found.exact,
    "adjacent": lambda found: found.adjacent,
    "pearson": lambda found: found.pearson,
    "spearman": lambda found: found.spearman,
    "kendall": lambda found: found.kendall_tau_b,
    "alpha": lambda found: found.alpha.interval,
    "mae": lambda found: found.mean_absolute_error,
    "bias": lambda found: found.bias,
}


@dataclass(frozen=True)
class Population:
    """Items with their labels, the probabilities by which they are drawn, and the figures of all of them."""

    frame: Reducer
    results: Sequence[ItemResult]
    labels: Sequence[Ratings]
    probabilities: np.ndarray[tuple[int], np.dtype[np.float64]]

    def figures(self, places: Sequence[int], weights: Sequence[float | None]) -> DimensionCalibration:
        tally = CalibrationTally(self.frame.frame, named=False)
        for place, weight in zip(places, weights, strict=True):
            tally.add(self.results[place], self.labels[place], weight)
        return tally.finish(7, 0.95, BAR).dimensions[0]

    def draw(self, seed: int, *, weighted: bool) -> DimensionCalibration:
        places = systematic_sample(self.probabilities, seed)
        weights = 1 / self.probabilities[places]
        return self.figures(places.tolist(), weights.tolist() if weighted else [None] * len(places))


@pytest.fixture(scope="module")
def population() -> Population:
    rng = random.Random(11)
    of = rubric("accuracy")
    shape, rows, labels, apart = plan(of, 2), [], [], []
    for place in range(ITEMS):
        label = rng.choices((1, 2, 3, 4, 5), (1, 2, 2, 3, 3))[0]
        noise = 1.9 if rng.random() < 0.25 else 0.6
        scores = [min(5, max(1, round(label + 0.2 + rng.gauss(0, noise)))) for _ in range(2)]
        rows.append(item(shape, place, {"accuracy": scores}))
        labels.append({"accuracy": (("1", float(label)),)})
        apart.append(abs(scores[0] - scores[1]) / 4)
    reducer = Reducer(of, shape)
    sizes = np.array(apart) / sum(apart) / 2 + 0.5 / ITEMS
    return Population(reducer, [reducer.reduce(row) for row in rows], labels, inclusion_probabilities(sizes, DRAWN))


@pytest.fixture(scope="module")
def truth(population: Population) -> Mapping[str, float]:
    found = population.figures(range(ITEMS), [None] * ITEMS)
    return {name: of(found).value or 0.0 for name, of in FIGURES.items()}


@pytest.fixture(scope="module")
def draws(population: Population) -> Sequence[DimensionCalibration]:
    return [population.draw(seed, weighted=True) for seed in range(DRAWS)]


@pytest.mark.parametrize("name", FIGURES)
def test_weighted_figures_are_those_of_the_population(
    name: str, draws: Sequence[DimensionCalibration], truth: Mapping[str, float]
) -> None:
    points = np.array([FIGURES[name](found).value for found in draws], dtype=np.float64)
    monte_carlo = points.std(ddof=1) / math.sqrt(DRAWS)
    # A ratio of sums is off by something like 1 / n of its spread, which is no error of the weights.
    assert points.mean() == pytest.approx(truth[name], abs=3 * monte_carlo + points.std() ** 2)


@pytest.mark.parametrize("name", FIGURES)
def test_their_intervals_hold_what_they_promise(
    name: str, draws: Sequence[DimensionCalibration], truth: Mapping[str, float]
) -> None:
    intervals = [FIGURES[name](found).interval for found in draws]
    held = [i.low is not None and i.high is not None and i.low <= truth[name] <= i.high for i in intervals]
    assert np.mean(held) >= 0.92


def test_without_weights_the_judge_of_a_drawn_sample_looks_worse_than_it_is(
    population: Population, truth: Mapping[str, float]
) -> None:
    plain = [population.draw(seed, weighted=False) for seed in range(20)]
    for name in ("kappa", "exact", "pearson"):
        points = [FIGURES[name](found).value or 0.0 for found in plain]
        assert max(points) < truth[name]
    assert min(found.mean_absolute_error.value or 0.0 for found in plain) > truth["mae"]
