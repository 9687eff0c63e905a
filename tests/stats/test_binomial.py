from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import betainc

from agentanvil.stats import binomial_test, clopper_pearson_interval
from agentanvil.stats.binomial import beta_share

COUNTS = st.integers(0, 60).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))


def _exact(successes: int, n: int, probability: Fraction) -> float:
    """The definition, in whole numbers: all outcomes that are no likelier than the observed one."""
    masses = [math.comb(n, k) * probability**k * (1 - probability) ** (n - k) for k in range(n + 1)]
    return float(sum(mass for mass in masses if mass <= masses[successes]))


def test_two_sided_by_hand() -> None:
    # 8, 9, 10 of 10 and their mirror: 2 (45 + 10 + 1) / 1024.
    assert binomial_test(8, 10).p_value == pytest.approx(112 / 1024)
    assert binomial_test(5, 10).p_value == 1
    assert binomial_test(0, 6).p_value == pytest.approx(2 / 64)


def test_a_published_figure() -> None:
    # Conover (1971, p. 97): Mendel's 682 of 925 under 3/4, the example of R's binom.test.
    assert binomial_test(682, 925, 0.75).p_value == pytest.approx(0.3825, abs=5e-5)
    interval = clopper_pearson_interval(682, 925)
    assert interval.low == pytest.approx(0.7076683, abs=5e-8)
    assert interval.high == pytest.approx(0.7654066, abs=5e-8)


@given(COUNTS.filter(lambda pair: pair[1] > 0), st.sampled_from([1, 5, 10, 15, 17, 19]))
def test_the_test_is_its_definition(counts: tuple[int, int], twentieths: int) -> None:
    successes, n = counts
    found = binomial_test(successes, n, twentieths / 20)
    assert found.p_value == pytest.approx(_exact(successes, n, Fraction(twentieths, 20)), rel=1e-9)


@given(COUNTS.filter(lambda pair: pair[1] > 0))
def test_successes_and_failures_exchanged(counts: tuple[int, int]) -> None:
    successes, n = counts
    assert binomial_test(successes, n).p_value == binomial_test(n - successes, n).p_value
    one, other = clopper_pearson_interval(successes, n), clopper_pearson_interval(n - successes, n)
    assert one.low is not None
    assert other.high is not None
    assert one.low == pytest.approx(1 - other.high, abs=1e-15)


@given(COUNTS.filter(lambda pair: 0 < pair[0] < pair[1]))
def test_the_interval_is_where_the_tails_hold_their_share(counts: tuple[int, int]) -> None:
    successes, n = counts
    interval = clopper_pearson_interval(successes, n)
    assert interval.low is not None
    assert interval.high is not None
    upper = sum(math.comb(n, k) * interval.low**k * (1 - interval.low) ** (n - k) for k in range(successes, n + 1))
    lower = sum(math.comb(n, k) * interval.high**k * (1 - interval.high) ** (n - k) for k in range(successes + 1))
    assert (upper, lower) == pytest.approx((0.025, 0.025))


@given(st.floats(0.5, 1e6), st.floats(0.5, 1e6), st.floats(0, 1))
def test_the_incomplete_beta_function_is_the_published_one(a: float, b: float, x: float) -> None:
    assert beta_share(x, a, b) == pytest.approx(betainc(a, b, x), rel=1e-8, abs=1e-10)


def test_many_trials_are_no_trouble() -> None:
    found = binomial_test(501_000, 1_000_000)
    # z = 2 with continuity correction 1.999: 2 (1 − Φ(1.999)) = 0.0456.
    assert found.p_value == pytest.approx(0.0456, abs=1e-4)
    interval = clopper_pearson_interval(501_000, 1_000_000)
    assert interval.low == pytest.approx(0.501 - 1.96 * 0.0005, abs=2e-6)


def test_no_trials_prove_nothing() -> None:
    found, interval = binomial_test(0, 0), clopper_pearson_interval(0, 0)
    assert (found.p_value, interval.low, interval.high) == (None, None, None)
    assert found.reason
    assert interval.reason
    with pytest.raises(ValueError, match="between 0 and 1"):
        binomial_test(1, 2, 1.0)
