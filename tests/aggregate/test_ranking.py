from __future__ import annotations

import math
import random

import pytest

from agentanvil.aggregate import Pairwise, Ranking, Summary
from agentanvil.stats import mirrored_bootstrap_mean
from tests.fakes.graded import Pair, compared, rubric

OF = rubric("a", mode="pairwise")


def won(one: str | None, other: str | None, delta: float, group: str = "") -> Pair:
    return Pair({"a": [delta, delta]}, models=(one, other), group=group)


def pairwise(summary: Summary) -> Pairwise:
    assert summary.pairwise is not None
    return summary.pairwise


def ranking(*pairs: Pair) -> Ranking:
    found = pairwise(compared(OF, *pairs)[1]).ranking
    assert found is not None
    return found


def test_strengths_by_hand() -> None:
    # x beats y 3 : 1, y beats z 3 : 1, x never meets z: steps of ln 3, and a tie is half a win each.
    pairs = [won("x", "y", 1)] * 3 + [won("y", "x", 1)] + [won("z", "y", -1)] * 3 + [won("z", "y", 1)]
    found = ranking(*pairs)
    assert [(entry.rank, entry.model) for entry in found.models] == [(1, "x"), (2, "y"), (3, "z")]
    assert [entry.strength.value for entry in found.models] == pytest.approx([math.log(3), 0, -math.log(3)], abs=1e-8)
    assert [(entry.wins, entry.ties, entry.losses) for entry in found.models] == [(3, 0, 1), (4, 0, 4), (1, 0, 3)]
    assert (found.items, found.models[1].strength.n) == (8, 8)
    tied = ranking(won("x", "y", 0), won("y", "z", 0))
    assert [(entry.rank, entry.ties) for entry in tied.models] == [(1, 1), (1, 2), (1, 1)]


def test_an_undefeated_model_has_no_finite_strength() -> None:
    found = ranking(won("x", "y", 1), won("y", "z", 1), won("z", "y", 1))
    assert "never lost" in str(found.reason)
    assert all(entry.rank is None and entry.strength.value is None for entry in found.models)
    assert all(entry.interval.low is None and entry.interval.reason for entry in found.models)
    assert [entry.wins for entry in found.models] == [1, 1, 1]


def test_two_models_in_their_places_need_no_ranking() -> None:
    found = pairwise(compared(OF, won("x", "y", 1), won("x", "y", -1))[1])
    assert (found.models, found.ranking) == (("x", "y"), None)


def test_unknown_models_are_left_out() -> None:
    found = pairwise(compared(OF, won("x", "y", 1), won(None, "y", 1), won("x", None, 1))[1])
    assert (found.models, found.ranking) == (None, None)
    mixed = ranking(won("x", "y", 1), won("y", "x", 1), won(None, "x", 1), won("x", "x", 1))
    assert (mixed.items, [entry.model for entry in mixed.models]) == (2, ["x", "y"])


def test_missing_and_flipped_pairs() -> None:
    flip = Pair({"a": [1, -1]}, models=("x", "y"))
    lost = Pair({"a": [1, None]}, models=("y", "x"))
    found = ranking(flip, lost)
    assert [(entry.model, entry.ties, entry.wins) for entry in found.models] == [("x", 1, 0), ("y", 1, 0)]


def test_pairs_of_one_request_are_resampled_together() -> None:
    chance = random.Random(5)
    outcomes = [chance.choice([1, 1, 1, -1]) for _ in range(40)]
    alone = [won("x", "y", d) if n % 2 else won("y", "x", -d) for n, d in enumerate(outcomes)]
    together = [
        Pair(pair.scores, models=pair.models, group=f"g{n // 8}") for n, pair in enumerate(sorted(alone, key=str))
    ]
    free, bound = ranking(*alone).models[0], ranking(*together).models[0]
    assert free.strength.value == bound.strength.value
    assert free.interval.low is not None
    assert free.interval.high is not None
    assert bound.interval.low is None or bound.interval.low < free.interval.low


def test_the_win_rate_is_bounded_over_requests() -> None:
    alone = [won("x", "y", d) for d in [1] * 12 + [-1] * 8]
    bound = [won("x", "y", d, f"g{n // 4}") for n, d in enumerate([1] * 12 + [-1] * 8)]
    one, other = (pairwise(compared(OF, *pairs)[1]).verdict for pairs in (alone, bound))
    assert (one.rate, other.rate.value) == (other.rate, 0.6)
    assert one.interval.method.startswith("tango")
    assert other.interval.method.startswith("cluster bootstrap")
    assert (other.interval.high - other.interval.low) > 1.5 * (one.interval.high - one.interval.low)  # type: ignore[operator]
    same = pairwise(compared(OF, *[won("x", "y", 1, "g"), won("x", "y", 1, "g")])[1]).verdict
    assert same.interval.reason
    every = pairwise(compared(OF, *[won("x", "y", 1, f"g{n // 2}") for n in range(6)])[1]).verdict
    assert every.interval.reason == "every request came to the same"


def test_requests_weigh_as_much_as_they_have_items() -> None:
    # Ten requests with six wins and a loss each, ten with a loss: 60 of 80, centred 40 over 80.
    large = [won("x", "y", d, f"large{g}") for g in range(10) for d in [1] * 6 + [-1]]
    small = [won("x", "y", -1, f"small{g}") for g in range(10)]
    found = pairwise(compared(OF, *large, *small)[1]).verdict
    clusters = mirrored_bootstrap_mean([[0.5] * 6 + [-0.5]] * 10 + [[-0.5]] * 10, seed=1)
    assert found.rate.value == 0.75
    assert found.interval.low == pytest.approx(clusters.low + 0.5, abs=0.02)  # type: ignore[operator]
    assert found.interval.high == pytest.approx(clusters.high + 0.5, abs=0.02)  # type: ignore[operator]


def test_a_crowd_of_models_is_cut_off() -> None:
    pairs = [won(f"m{n}", f"m{n + 1}", 1) for n in range(120)]
    found = pairwise(compared(OF, *pairs)[1])
    assert found.models is None
    assert found.ranking is not None
    assert len(found.ranking.models) == 50
