from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentanvil.stats import clustered_se_mean, design_effect, design_effect_ratio, sample_sd

CLUSTERS = st.lists(st.lists(st.integers(1, 5).map(float), min_size=1, max_size=4), min_size=2, max_size=12)


def test_by_hand() -> None:
    # Mean 2; residual sums −2 and 2; sqrt(8) / 4, and sqrt(2) times that.
    assert clustered_se_mean([[1.0, 1.0], [3.0, 3.0]], small_sample=False).value == pytest.approx(8**0.5 / 4)
    assert clustered_se_mean([[1.0, 1.0], [3.0, 3.0]]).value == pytest.approx(1.0)
    # Naive variance 4/3 over 4 rows is 1/3; (1/2) / (1/3).
    assert design_effect_ratio([[1.0, 1.0], [3.0, 3.0]]).value == pytest.approx(1.5)
    assert design_effect(0.4, 3).value == pytest.approx(1.8)


def test_single_rows_are_no_clusters() -> None:
    rows = [1.0, 2.0, 4.0, 4.0, 5.0]
    sd = sample_sd(rows).value
    assert sd is not None
    assert clustered_se_mean([[row] for row in rows]).value == pytest.approx(sd / 5**0.5)


def test_what_cannot_be_told() -> None:
    assert clustered_se_mean([[1.0, 2.0], []]).reason == "fewer than two clusters"
    assert design_effect_ratio([[1.0, 2.0]]).reason == "fewer than two clusters"
    assert design_effect_ratio([[2.0], [2.0]]).reason == "all values are equal"
    assert design_effect(0.5, 0).reason


@given(CLUSTERS, st.floats(0.1, 9), st.floats(-5, 5))
def test_it_follows_the_scale_and_ignores_shifts_and_order(
    clusters: list[list[float]], factor: float, shift: float
) -> None:
    found = clustered_se_mean(clusters).value
    assert found is not None
    moved = clustered_se_mean([[factor * v + shift for v in rows] for rows in reversed(clusters)]).value
    assert moved == pytest.approx(factor * found, abs=1e-9)
