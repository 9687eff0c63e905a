from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from agentanvil.stats.influence import rank_correlation, tau_b
from agentanvil.stats.points import gather

ROWS = st.lists(
    st.tuples(st.integers(1, 4).map(float), st.integers(1, 4).map(float), st.floats(0.2, 3)), min_size=3, max_size=20
)
NUDGE = 1e-6


@pytest.mark.parametrize("measure", [rank_correlation, tau_b])
@given(rows=ROWS)
def test_influence_is_the_derivative(measure: object, rows: list[tuple[float, float, float]]) -> None:
    assert measure in (rank_correlation, tau_b)
    of = rank_correlation if measure is rank_correlation else tau_b
    x, y, weight = (np.array(column) for column in zip(*rows, strict=True))
    points = gather(x, y, weight)
    assume(len(points.x_values) > 1 and len(points.y_values) > 1)
    value, influence = of(points)
    share = points.weight / points.weight.sum()
    for place, wanted in enumerate(influence):
        moved = share * (1 - NUDGE)
        moved[place] += NUDGE
        assert (of(replace(points, weight=moved))[0] - value) / NUDGE == pytest.approx(wanted, abs=2e-3)


@given(rows=ROWS)
def test_all_influence_adds_up_to_none(rows: list[tuple[float, float, float]]) -> None:
    x, y, weight = (np.array(column) for column in zip(*rows, strict=True))
    points = gather(x, y, weight)
    assume(len(points.x_values) > 1 and len(points.y_values) > 1)
    for measure in (rank_correlation, tau_b):
        _, influence = measure(points)
        assert float(points.weight @ influence) == pytest.approx(0, abs=1e-9)
