"""Calibrations of items that were drawn with unequal probabilities: what holds of all items, not of those drawn."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentanvil.aggregate import CalibrationFigures, DimensionCalibration
from agentanvil.verdict import Scored
from tests.fakes.calibrated import Labels, calibrated, calibrated_pairs
from tests.fakes.graded import ERROR, Pair, Score, rubric

Row = tuple[Mapping[str, Sequence[Score] | Score], Labels]
ABSOLUTE = rubric("accuracy")
GATE = rubric("accuracy", mode="gate", gate={"accuracy": 4}, allow_na=False)
PAIRS = rubric("accuracy", mode="pairwise")


def scored(n: int, seed: int) -> list[Row]:
    """Two repeats and two raters an item, some of them missing."""
    rng = random.Random(seed)
    rows: list[Row] = []
    for _ in range(n):
        label = rng.randint(1, 5)
        near = [min(5, max(1, label + rng.choice((-1, 0, 0, 0, 1)))) for _ in range(3)]
        scores: list[Score] = [near[0], near[1] if rng.random() < 0.9 else ERROR]
        raters = {"ann": label, "bob": near[2]} if rng.random() < 0.8 else {"ann": label}
        rows.append(({"accuracy": scores}, {"accuracy": raters}))
    return rows


def values(found: Any, path: str = "") -> Iterator[tuple[str, float | None]]:
    """Walk all figures and counts of a calibration but those that tell numbers of items, or depend on these."""
    if isinstance(found, Mapping):
        for key, inner in found.items():
            if key not in {"interval", "alpha", "n", "confusion", "labels", "items", "missing", "split", "further"}:
                yield from values(inner, f"{path}.{key}")
    elif isinstance(found, list | tuple):
        for place, inner in enumerate(found):
            yield from values(inner, f"{path}.{place}")
    elif found is None or isinstance(found, float):
        yield path, found


def of(found: CalibrationFigures) -> DimensionCalibration:
    return found.overall if found.overall is not None and found.overall.kind == "winner" else found.dimensions[0]


def drawn(mode: str, rows: Sequence[Any], weights: Sequence[float | None] = ()) -> DimensionCalibration:
    if mode == "pairwise":
        return of(calibrated_pairs(PAIRS, rows, weights=weights))
    return of(calibrated(GATE if mode == "gate" else ABSOLUTE, rows, repeats=2, weights=weights))


def rows_of(mode: str, n: int, seed: int) -> list[Any]:
    rng = random.Random(seed)
    if mode == "absolute":
        return list(scored(n, seed))
    signs = [rng.choice((-1, 0, 1)) for _ in range(n)]
    if mode == "pairwise":
        deltas = [sign * 2 if rng.random() < 0.8 else 1 for sign in signs]
        return [Pair({"accuracy": [d]}, labels={"winner": (s,)}) for d, s in zip(deltas, signs, strict=True)]
    truths = [rng.random() < 0.6 for _ in range(n)]
    return [
        ({"accuracy": [int(t if rng.random() < 0.8 else not t) for _ in range(2)]}, {"accuracy": {"ann": t}})
        for t in truths
    ]


@pytest.mark.parametrize("mode", ["absolute", "gate", "pairwise"])
def test_a_weight_of_three_counts_as_three_such_items_would(mode: str) -> None:
    rows, rng = rows_of(mode, 40, 1), random.Random(2)
    weights = [float(rng.choice((1, 2, 3))) for _ in rows]
    repeated = [row for row, weight in zip(rows, weights, strict=True) for _ in range(int(weight))]
    found, wanted = drawn(mode, rows, weights), drawn(mode, repeated)
    assert (found.weighted, found.labelled, found.unweighted) == (True, 40, 0)
    compared = dict(values(asdict(replace(found, effective_n=None))))
    assert len(compared) > 15
    assert compared == pytest.approx(dict(values(asdict(wanted))), abs=1e-9, nan_ok=False)
    assert sum(map(sum, found.confusion.counts)) == pytest.approx(40)
    for alpha, other in zip(asdict(found.alpha).values(), asdict(wanted.alpha).values(), strict=True):
        assert alpha["value"] == pytest.approx(other["value"], abs=0.01)


@pytest.mark.parametrize("mode", ["absolute", "gate", "pairwise"])
@pytest.mark.parametrize("weight", [1.0, 20.3])
def test_equal_weights_change_nothing(mode: str, weight: float) -> None:
    rows = rows_of(mode, 30, 4)
    found, plain = drawn(mode, rows, [weight] * 30), drawn(mode, rows)
    assert replace(found, weighted=False, effective_n=None) == plain
    assert found.effective_n == found.kappa.n


def test_n_is_of_items_and_what_is_effective_is_kishs() -> None:
    rows = scored(60, 7)
    found = drawn("absolute", rows, [1.0, 3.0] * 30)
    plain = drawn("absolute", rows)
    assert (found.kappa.n, found.exact.n, found.spearman.n) == (60, 60, 60)
    assert found.effective_n == pytest.approx((30 + 90) ** 2 / (30 + 270))
    assert plain.effective_n is None
    for measured in (found.kappa, found.exact, found.adjacent, found.pearson, found.bias, found.alpha.ordinal):
        assert measured.interval.method.endswith(", sampling weights")
    assert found.humans is not None
    assert found.humans.kappa.interval.method.endswith(", sampling weights")


def test_the_verdict_is_of_all_items_not_of_the_disputed_ones_that_were_drawn() -> None:
    # Forty of a thousand items are disputed, and half of the labels are of these; the judge is right on the others.
    easy: list[Row] = [({"accuracy": n % 5 + 1}, {"accuracy": [n % 5 + 1]}) for n in range(40)]
    disputed: list[Row] = [({"accuracy": n % 5 + 1}, {"accuracy": [(n + 2) % 5 + 1]}) for n in range(40)]
    weights = [24.0] * 40 + [1.0] * 40
    plain = calibrated(ABSOLUTE, [*easy, *disputed]).dimensions[0]
    found = calibrated(ABSOLUTE, [*easy, *disputed], weights=weights).dimensions[0]
    assert (plain.verdict, found.verdict) == ("UNTRUSTED", "TRUSTED")
    assert found.exact.value == pytest.approx(0.96)


def test_items_without_a_weight_where_others_have_one_are_left_out_and_counted() -> None:
    rows = scored(40, 9)
    weights: list[float | None] = [float(1 + place % 3) for place in range(30)]
    found = drawn("absolute", rows, [*weights, *[None] * 10])
    fewer = drawn("absolute", rows[:30], weights)
    assert (found.labelled, found.unweighted, fewer.unweighted) == (40, 10, 0)
    assert (found.kappa, found.bias, found.alpha, found.confusion) == (
        fewer.kappa,
        fewer.bias,
        fewer.alpha,
        fewer.confusion,
    )
    assert found.humans is not None
    assert fewer.humans is not None
    assert (found.humans.kappa, found.humans.pairs) == (fewer.humans.kappa, fewer.humans.pairs)


@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 99), order=st.randoms(use_true_random=False))
def test_the_order_of_items_means_nothing(seed: int, order: random.Random) -> None:
    rows = scored(12, seed)
    pairs = [(row, float(1 + seed % 7 + place % 4)) for place, row in enumerate(rows)]
    shuffled = order.sample(pairs, len(pairs))
    one = drawn("absolute", [row for row, _ in pairs], [weight for _, weight in pairs])
    other = drawn("absolute", [row for row, _ in shuffled], [weight for _, weight in shuffled])
    assert one == other


def test_brier_score_and_calibration_error_count_by_weight() -> None:
    read = [Scored(1.0, expected_score=0.9), Scored(0.0, expected_score=0.4)]
    rows: list[Row] = [
        ({"accuracy": score}, {"accuracy": [label]}) for score, label in zip(read, (True, False), strict=True)
    ]
    found = calibrated(GATE, rows, weights=[1, 3]).dimensions[0].probabilities
    assert found is not None
    assert found.brier is not None
    assert found.calibration_error is not None
    assert found.brier.value == pytest.approx((0.01 + 3 * 0.16) / 4)
    assert found.calibration_error.value == pytest.approx((0.1 + 3 * 0.4) / 4)


@pytest.mark.parametrize("mode", ["absolute", "gate", "pairwise"])
@settings(max_examples=15, deadline=None)
@given(
    seed=st.integers(0, 99),
    weights=st.lists(st.floats(5e-324, 1.7e308) | st.floats(1, 100) | st.none(), min_size=9, max_size=9),
)
def test_weights_of_any_size_leave_every_interval_around_its_figure(
    mode: str, seed: int, weights: list[float | None]
) -> None:
    found = drawn(mode, rows_of(mode, 9, seed), weights)
    for measured in (
        found.kappa,
        found.exact,
        found.pearson,
        found.mean_absolute_error,
        found.bias,
        found.alpha.interval,
    ):
        low, high, value = measured.interval.low, measured.interval.high, measured.value
        assert (value is None) == (measured.reason is not None)
        if low is not None and high is not None and value is not None:
            assert low <= value + 1e-6
            assert value <= high + 1e-6
