from __future__ import annotations

import itertools
import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentanvil.stats import (
    SignificanceTest,
    discordant,
    mcnemar_exact,
    mcnemar_midp,
    paired_differences,
    paired_permutation_test,
    wilcoxon_signed_rank,
)
from agentanvil.stats.hypothesis import ZeroMethod

STEPS = st.lists(st.integers(-4, 4).map(float), min_size=1, max_size=9)
COUNT = st.integers(0, 60)


def _by_hand(differences: list[float]) -> float:
    """Every flip, one by one, in integers."""
    observed = abs(sum(differences))
    totals = [
        abs(sum(sign * value for sign, value in zip(signs, differences, strict=True)))
        for signs in itertools.product((1, -1), repeat=len(differences))
    ]
    return sum(total >= observed for total in totals) / len(totals)


def test_fishers_own_example() -> None:
    # Darwin's maize in eighths of an inch, by Fisher (1935, section 21): of the 32,768 sums 863 reach 314 on one side
    # and 863 do on the other, he counts 1,726, so that p = .05267.
    maize = [49.0, -67, 8, 16, 6, 23, 28, 41, 14, 29, 56, 24, 75, 60, -48]
    found = paired_permutation_test(maize, seed=1)
    assert found.p_value == 1726 / 32768
    assert found.statistic == pytest.approx(314 / 15)
    assert (found.method, found.standard_error) == ("exact sign flips", None)


@given(STEPS)
def test_it_is_the_share_of_all_flips(differences: list[float]) -> None:
    assert paired_permutation_test(differences, seed=0).p_value == pytest.approx(_by_hand(differences), abs=1e-15)


@given(COUNT, COUNT)
def test_differences_of_one_step_are_mcnemars(ups: int, downs: int) -> None:
    found = paired_permutation_test([1.0, -1.0, 0.0], [ups, downs, 5], seed=0)
    assert found.p_value == pytest.approx(mcnemar_exact(ups, downs).p_value, abs=1e-12)


def test_the_distribution_of_sums_is_that_of_the_flips() -> None:
    differences = [1.0, 2, 2, 3, -1, -2, 1, 1, 0.5, 2.5, -0.5, 1, 3, -2, 1, 0.5]
    sums: dict[int, int] = {0: 1}
    for value in [*differences, 1.0, 1.0, 1.0, 1.0, 1.0]:
        step = round(2 * abs(value))
        grown: dict[int, int] = {}
        for total, ways in sums.items():
            for moved in (total + step, total - step):
                grown[moved] = grown.get(moved, 0) + ways
        sums = grown
    observed = round(2 * (sum(differences) + 5))
    wanted = sum(ways for total, ways in sums.items() if abs(total) >= observed) / 2**21
    found = paired_permutation_test([*differences, 1.0], [1] * 16 + [5], seed=0)
    assert found.p_value == pytest.approx(wanted, abs=1e-13)


@pytest.mark.parametrize("sign", [1, -1])
def test_one_sided_tails_overlap_in_the_observed_total(sign: int) -> None:
    differences = [sign * float(v) for v in (1, 2, 2, 3, -1, -2, 1, 1, 3, 1, 3, -2, 1, 2, 4, -4, 2, 1, 1, -1, 2)]
    up = paired_permutation_test(differences, alternative="greater", seed=0).p_value
    down = paired_permutation_test(differences, alternative="less", seed=0).p_value
    two = paired_permutation_test(differences, seed=0).p_value
    assert up is not None
    assert down is not None
    assert two == pytest.approx(2 * min(up, down), abs=1e-13)
    assert 1 < up + down < 1.2


def test_what_is_no_multiple_of_a_step_is_drawn() -> None:
    rng = random.Random(5)
    differences = [rng.gauss(0.2, 1) for _ in range(60)]
    found = paired_permutation_test(differences, seed=3)
    mean = math.fsum(differences) / 60
    sd = math.sqrt(math.fsum(v * v for v in differences)) / 60
    assert found.method == "sign flips, 9,999 drawn"
    assert found.standard_error is not None
    # The flips' mean is all but normal.
    assert found.p_value == pytest.approx(math.erfc(abs(mean) / sd / math.sqrt(2)), abs=4 * found.standard_error + 0.01)
    assert found == paired_permutation_test(differences[::-1], seed=3)
    assert found.p_value == paired_permutation_test([-v for v in differences], seed=3).p_value
    assert found != paired_permutation_test(differences, seed=4)


def test_a_drawn_p_is_never_nought() -> None:
    found = paired_permutation_test([1 + i / 777 + 1e-6 * i * i for i in range(40)], seed=1)
    assert found.p_value == 1 / 10_000
    assert paired_permutation_test([1.0], [4_000], seed=1).p_value == 1e-12


def test_a_hundred_thousand_pairs_are_still_exact() -> None:
    # Thirds, as three repeats bring them: var = 2/9 * 2/3, so z = 1.96 at a surplus of 1.96 * sqrt(2/3 * 100,000).
    found = paired_permutation_test([1 / 3, -1 / 3, 0.0, 2 / 3 - 1 / 3], [33_000, 33_000, 33_494, 506], seed=1)
    z = 506 / math.sqrt(66_506)
    assert found.method == "exact sign flips"
    assert found.p_value == pytest.approx(math.erfc((z - 0.5 * 2 / math.sqrt(66_506)) / math.sqrt(2)), abs=2e-4)


def test_rounding_makes_no_difference() -> None:
    # 0.3 − 0.1 is not 0.2 in floating point, and 0.1 + 0.2 − 0.3 is not 0.
    assert paired_permutation_test([0.3 - 0.1, -0.2, 0.1 + 0.2 - 0.3], seed=0).p_value == 1.0
    assert wilcoxon_signed_rank([0.3 - 0.1, -0.2, 0.1 + 0.2 - 0.3], seed=0).p_value == 1.0


@given(STEPS, st.integers(-6, 6), st.randoms())
def test_scale_and_order_change_nothing_and_names_mirror(
    differences: list[float], power: int, rng: random.Random
) -> None:
    found = paired_permutation_test(differences, seed=0)
    shuffled = rng.sample(differences, len(differences))
    assert paired_permutation_test([v * 2.0**power for v in shuffled], seed=0).p_value == found.p_value
    turned = paired_permutation_test([-v for v in differences], seed=0)
    assert turned.statistic == -found.statistic + 0.0  # type: ignore[operator]
    assert turned.p_value == found.p_value
    up = paired_permutation_test(differences, alternative="greater", seed=0).p_value
    assert paired_permutation_test([-v for v in differences], alternative="less", seed=0).p_value == up


def test_without_pairs_there_is_no_p() -> None:
    assert paired_permutation_test([], seed=0) == SignificanceTest(None, None, 0, "exact sign flips", "no pairs")
    assert paired_permutation_test([3.0], [0], seed=0).reason == "no pairs"
    assert paired_permutation_test([0.0], [5], seed=0).p_value == 1.0
    assert paired_differences([1, None, 3], [0, 1, None]) == [1]


def test_wilcoxons_own_example() -> None:
    # Darwin's maize again, in Wilcoxon (1945): 48 and 67 are the tenth and the fourteenth of the fifteen sizes, and 24
    # is below the 25 that the usual tables give for 5 % at n = 15.
    maize = [49.0, -67, 8, 16, 6, 23, 28, 41, 14, 29, 56, 24, 75, 60, -48]
    found = wilcoxon_signed_rank(maize, seed=1)
    assert found.statistic == 10 + 14
    assert found.p_value == pytest.approx(0.0413, abs=5e-5)


@given(STEPS)
def test_wilcoxon_flips_mean_ranks(differences: list[float]) -> None:
    sizes = sorted(abs(v) for v in differences if v)
    ranks = [math.copysign((2 * sizes.index(abs(v)) + 1 + sizes.count(abs(v))) / 2, v) for v in differences if v]
    found = wilcoxon_signed_rank(differences, seed=0)
    if not ranks:
        assert found.reason == "all differences are zero"
        return
    assert found.statistic == min(sum(r for r in ranks if r > 0), -sum(r for r in ranks if r < 0))
    assert found.p_value == pytest.approx(_by_hand(ranks), abs=1e-15)


def test_the_normal_approximation_meets_the_exact_ranks() -> None:
    rng = random.Random(1)
    differences = [float(rng.choice([-2, -1, 0, 1, 1, 2])) for _ in range(400)]
    methods: tuple[ZeroMethod, ...] = ("wilcox", "pratt")
    for zero_method in methods:
        exact = wilcoxon_signed_rank(differences, zero_method=zero_method, seed=1)
        normal = wilcoxon_signed_rank(differences, zero_method=zero_method, asymptotic=True, seed=1)
        assert exact.p_value == pytest.approx(normal.p_value, abs=0.005)
        assert exact.statistic == normal.statistic


def test_mcnemar_by_hand() -> None:
    # 1 against 6: 2 (1 + 7) / 128 and (2 + 7) / 128.
    assert mcnemar_exact(1, 6).p_value == pytest.approx(16 / 128)
    assert mcnemar_midp(1, 6).p_value == pytest.approx(9 / 128)
    assert mcnemar_exact(0, 0).p_value == mcnemar_midp(0, 0).p_value == 1.0
    assert discordant([1, 1, 0, None, 1], [0, 1, 1, 1, None]) == (1, 1)


@given(COUNT, COUNT)
def test_mcnemar_mirrors_and_mid_p_is_the_smaller(b: int, c: int) -> None:
    assert mcnemar_exact(b, c) == mcnemar_exact(c, b)
    assert mcnemar_midp(b, c) == mcnemar_midp(c, b)
    exact, mid = mcnemar_exact(b, c).p_value, mcnemar_midp(b, c).p_value
    assert exact is not None
    assert mid is not None
    assert 0 < mid <= exact <= 1
    assert exact == pytest.approx(min(1.0, 2 * sum(math.comb(b + c, k) for k in range(min(b, c) + 1)) / 2 ** (b + c)))
