"""The interval that a judge's verdict rests on: by hand, at its edges, and by simulated coverage."""

from __future__ import annotations

import math
import random
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentanvil.stats import kappa_features, kappa_items_interval, kappa_of_features

SCALE = (1, 2, 3, 4, 5)
BOOLEANS = (0, 1)
Pairs = list[tuple[int, int]]


def interval_of(
    counts: dict[tuple[int, int], int], scale: tuple[int, ...] = SCALE, level: float = 0.95
) -> tuple[float, float]:
    found = kappa_items_interval(
        [[pair] for pair in counts], scale, list(counts.values()), quadratic=len(scale) > 2, level=level
    )
    assert found.low is not None
    assert found.high is not None
    return found.low, found.high


def kappa_of(counts: Counter[tuple[int, int]] | dict[tuple[int, int], int], scale: tuple[int, ...] = SCALE) -> float:
    features = [kappa_features([pair], scale, quadratic=len(scale) > 2) for pair in counts]
    value = kappa_of_features(features, list(counts.values()), quadratic=len(scale) > 2).value
    assert value is not None
    return value


def test_the_jackknife_by_hand() -> None:
    # One item is left out at a time, and artanh of what kappa is then; t with 9 degrees of freedom is 2.262.
    items = [(1, 1), (2, 3), (3, 3), (4, 2), (5, 5), (1, 2), (2, 2), (3, 4), (4, 4), (5, 4)]
    z = [math.atanh(kappa_of(Counter(items[:place] + items[place + 1 :]))) for place in range(10)]
    mean = sum(z) / 10
    error = math.sqrt(9 / 10 * sum((each - mean) ** 2 for each in z))
    centre = math.atanh(kappa_of(Counter(items)))
    low, high = interval_of(Counter(items))
    assert low == pytest.approx(math.tanh(centre - 2.262157 * error), abs=1e-6)
    assert high == pytest.approx(math.tanh(centre + 2.262157 * error), abs=1e-6)


@pytest.mark.parametrize(("n", "low"), [(5, 0.0), (8, 0.262), (20, 0.663), (100, 0.928)])
def test_agreement_throughout_is_worth_as_much_as_its_number(n: int, low: float) -> None:
    # Half are 1 and half 5 (or 2 and 3 of five): by chance they agree in one half of the cases or a little more.
    chance = ((n // 2) / n) ** 2 + ((n - n // 2) / n) ** 2
    expected = 1 - (1 - 0.025 ** (1 / n)) / (1 - chance)
    found = interval_of({(1, 1): n // 2, (5, 5): n - n // 2})
    assert found == (pytest.approx(expected, abs=1e-6), 1)
    assert found[0] == pytest.approx(low, abs=0.1)


def test_one_disagreement_among_few_items_proves_little() -> None:
    low, high = interval_of({(1, 1): 5, (3, 3): 5, (5, 4): 1})
    assert low < 0.6 < high
    low, high = interval_of({(1, 1): 50, (3, 3): 50, (5, 4): 1})
    assert low > 0.6


def test_a_judge_that_always_passes_is_no_better_known_than_its_failures_are_many() -> None:
    # Of 40 items people fail 4, the judge none: kappa is 0 in every sample, but of 4 failures 60 % may be found
    # elsewhere (0.025^(1/4) = 0.398). Then 4 · 1.602 / 2 of 40 labels are off "true", and kappa is
    # 1 − 0.398 / 1.602 / (1 − 0.0801) = 0.730. Of 40 failures among 400 next to none can be.
    low, high = interval_of({(1, 1): 36, (1, 0): 4}, BOOLEANS)
    assert low == 0
    assert high == pytest.approx(0.730, abs=1e-3)
    low, high = interval_of({(1, 1): 360, (1, 0): 40}, BOOLEANS)
    assert high < 0.3
    assert interval_of({(0, 0): 360, (0, 1): 40}, BOOLEANS) == interval_of({(1, 1): 360, (1, 0): 40}, BOOLEANS)


def test_opposite_answers_are_held_by_their_interval() -> None:
    low, high = interval_of({(1, 0): 20, (0, 1): 20}, BOOLEANS)
    assert low == -1
    assert high < 0


def test_what_has_no_interval_says_why() -> None:
    for counts, says in (
        ({(1, 1): 1}, "fewer than two items"),
        ({(1, 1): 9}, "one and the same label"),
        ({(5, 5): 9, (1, 2): 1}, "without one item"),
    ):
        found = kappa_items_interval([[pair] for pair in counts], SCALE, list(counts.values()), quadratic=True)
        assert found.low is None
        assert says in (found.reason or "")
    with pytest.raises(ValueError, match="scale"):
        kappa_items_interval([[(0, 1)]], SCALE, [3], quadratic=True)


@given(
    st.lists(st.lists(st.tuples(st.sampled_from(SCALE), st.sampled_from(SCALE)), max_size=3), min_size=1, max_size=12),
    st.randoms(use_true_random=False),
)
def test_the_order_of_items_and_the_direction_of_the_scale_mean_nothing(
    items: list[Pairs], order: random.Random
) -> None:
    turned = [[(6 - x, 6 - y) for x, y in pairs] for pairs in items]
    order.shuffle(turned)
    times = [1] * len(items)
    one = kappa_items_interval(items, SCALE, times, quadratic=True)
    other = kappa_items_interval(turned, SCALE, times, quadratic=True)
    assert one.reason == other.reason
    assert (one.low is None) == (one.reason is not None)
    if one.low is not None and one.high is not None:
        assert (one.low, one.high) == (pytest.approx(other.low, abs=1e-6), pytest.approx(other.high, abs=1e-6))
        assert -1 <= one.low <= one.high <= 1


@pytest.mark.slow
@pytest.mark.parametrize("n", [10, 20, 50, 200])
@pytest.mark.parametrize("of", ["chance", "noise", "booleans", "rare"])
def test_no_end_lies_on_the_wrong_side_of_the_truth_oftener_than_it_may(of: str, n: int) -> None:
    draw = random.Random(f"{of} {n}")
    scale = BOOLEANS if of in ("booleans", "rare") else SCALE
    shares = {"booleans": (1, 2), "rare": (1, 9)}.get(of, (2, 3, 4, 5, 6))

    def item() -> tuple[int, int]:
        (label,) = draw.choices(scale, shares)
        if of == "noise":
            return min(5, max(1, round(label + draw.gauss(0, 1.37)))), label
        return label if draw.random() < 0.7 else draw.choices(scale, shares)[0], label

    truth = kappa_of(Counter(item() for _ in range(200_000)), scale)
    found = [interval_or_all(Counter(item() for _ in range(n)), scale) for _ in range(1_000)]
    # 2.5 % and two Monte-Carlo errors of a thousand draws; the upper end is allowed twice as much.
    assert sum(low > truth for low, _ in found) <= 35
    assert sum(high < truth for _, high in found) <= 64


def interval_or_all(counts: Counter[tuple[int, int]], scale: tuple[int, ...]) -> tuple[float, float]:
    found = kappa_items_interval([[pair] for pair in counts], scale, list(counts.values()), quadratic=len(scale) > 2)
    return (-1.0, 1.0) if found.low is None or found.high is None else (found.low, found.high)
