from __future__ import annotations

import math

import pytest

from agentanvil.aggregate.spread import spread_of, straddled

ANCHORS = (1, 3, 5)


def test_three_repeats_by_hand() -> None:
    # 3, 4, 5: mean 4, Σ squares 2.
    spread = spread_of((3, 4, 5), ANCHORS)
    assert (spread.n, spread.mean, spread.range, spread.sample_sd) == (3, 4, 2, 1)
    assert spread.population_sd == pytest.approx(math.sqrt(2 / 3))
    assert spread.modal_agreement == pytest.approx(1 / 3)
    assert spread.straddles == ((3, 5),)


def test_one_score_shows_no_stability() -> None:
    spread = spread_of((4,), ANCHORS)
    assert (spread.sample_sd, spread.population_sd, spread.modal_agreement) == (None, None, None), "O-E12"
    assert spread.range == 0


def test_equal_scores_are_stable() -> None:
    spread = spread_of((4, 4), ANCHORS)
    assert (spread.sample_sd, spread.population_sd, spread.modal_agreement) == (0, 0, 1)


@pytest.mark.parametrize(
    ("low", "high", "pairs"),
    [
        (5, 5, ()),
        (4, 5, ((3, 5),)),
        (3, 4, ((3, 5),)),
        (3, 5, ((3, 5),)),
        (2, 3, ((1, 3),)),
        (2, 4, ((1, 3), (3, 5))),
        (1, 5, ((1, 3), (3, 5))),
    ],
)
def test_which_anchors_a_spread_straddles(low: float, high: float, pairs: tuple[tuple[int, int], ...]) -> None:
    assert straddled(low, high, ANCHORS) == pairs
