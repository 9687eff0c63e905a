from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentanvil.stats import least_detectable_difference_paired, required_n_paired


def test_the_normal_approximation_by_hand() -> None:
    # (1.959964 + 0.841621) * 0.5 / 10.
    found = least_detectable_difference_paired(100, 0.5, kind="z")
    assert found.value == pytest.approx(0.140079, abs=1e-6)
    assert found.n == 100


def test_cohens_table() -> None:
    # Cohen (1988), table 2.4.1 for one sample: d = 0.5 at alpha .05, power .80 takes 34 pairs; d = 0.2 takes 199.
    assert required_n_paired(0.5, 1.0).n == 34
    assert required_n_paired(0.2, 1.0).n == 199
    assert required_n_paired(-0.2, 1.0).n == 199


@given(
    st.integers(2, 5_000), st.floats(0.01, 10), st.sampled_from([0.01, 0.05, 0.1]), st.sampled_from([0.5, 0.8, 0.95])
)
def test_the_two_answer_each_other(n: int, sd: float, alpha: float, power: float) -> None:
    least = least_detectable_difference_paired(n, sd, alpha=alpha, power=power).value
    assert least is not None
    needed = required_n_paired(least, sd, alpha=alpha, power=power)
    assert needed.n_real == pytest.approx(n, rel=1e-4)
    normal = least_detectable_difference_paired(n, sd, alpha=alpha, power=power, kind="z").value
    assert normal is not None
    assert least > normal or least == pytest.approx(normal, rel=1e-3)


def test_many_pairs_make_the_approximation_exact() -> None:
    by_t = least_detectable_difference_paired(100_000, 1.3).value
    assert by_t == pytest.approx(least_detectable_difference_paired(100_000, 1.3, kind="z").value, rel=2e-5)


def test_what_cannot_be_told() -> None:
    assert least_detectable_difference_paired(1, 1.0).reason == "fewer than two pairs"
    assert least_detectable_difference_paired(0, 1.0, kind="z").reason == "no pairs"
    assert least_detectable_difference_paired(9, 0.0).value == 0.0
    assert required_n_paired(0, 1.0).reason
    assert required_n_paired(0.3, 0.0).n == 2
    assert math.isfinite(required_n_paired(1e-5, 3.0).n_real or math.inf)
    with pytest.raises(ValueError, match="alpha"):
        least_detectable_difference_paired(9, 1.0, alpha=0.9)
