from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentanvil.stats import mean_pass_at_k, mean_pass_hat_k, pass_at_k, pass_hat_k

TRIALS = st.integers(1, 7).flatmap(lambda n: st.tuples(st.just(n), st.integers(0, n), st.integers(1, n)))


def test_by_hand() -> None:
    # Four attempts, two successes, two at a time: of six pairs one fails throughout and one succeeds throughout.
    assert pass_at_k(4, 2, 2).value == pytest.approx(5 / 6)
    assert pass_hat_k(4, 2, 2).value == pytest.approx(1 / 6)


@given(TRIALS)
def test_the_definition(trial: tuple[int, int, int]) -> None:
    n, c, k = trial
    draws = list(combinations([True] * c + [False] * (n - c), k))
    assert pass_at_k(n, c, k).value == pytest.approx(sum(map(any, draws)) / len(draws))
    assert pass_hat_k(n, c, k).value == pytest.approx(sum(map(all, draws)) / len(draws))


def test_many_attempts_lose_no_digits() -> None:
    assert pass_at_k(1_000, 999, 1_000).value == 1
    assert pass_hat_k(1_000, 999, 999).value == pytest.approx(1 / 1_000)


def test_tasks_are_averaged_not_pooled() -> None:
    # pass@2 is 1 and 0; two of four attempts together would give 5/6.
    assert mean_pass_at_k([(2, 2), (2, 0)], 2).value == pytest.approx(0.5)
    assert mean_pass_hat_k([(2, 2), (2, 1)], 2).value == pytest.approx(0.5)
    assert mean_pass_hat_k([(2, 2), (2, 1)], 2).n == 2


@pytest.mark.parametrize(("n", "c", "k"), [(3, 2, 5), (3, 2, 0), (3, 2, -1), (3, 4, 2), (3, -1, 2), (0, 0, 1)])
def test_undefined_with_a_reason(n: int, c: int, k: int) -> None:
    for found in (pass_at_k(n, c, k), pass_hat_k(n, c, k), mean_pass_at_k([(5, 5), (n, c)], k)):
        assert found.value is None
        assert found.reason


def test_no_tasks() -> None:
    assert mean_pass_at_k([], 1).reason == mean_pass_hat_k([], 1).reason == "no tasks"
