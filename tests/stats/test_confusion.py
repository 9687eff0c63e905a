from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentanvil.stats import Confusion, confusion_matrix, confusion_of_items, exact_agreement, macro_f1_interval

LABELS = ("A", "B", "tie")
VERDICT = st.sampled_from(LABELS)
PAIRS = st.lists(st.tuples(VERDICT, VERDICT), min_size=2, max_size=30)


def _rows(found: Confusion[str]) -> list[list[float]]:
    return [list(row) for row in found.table]


def test_by_hand() -> None:
    human = ["A", "A", "A", "B", "B", "tie"]
    judge = ["A", "A", "B", "B", "A", "B"]
    found = confusion_matrix(judge, human, LABELS)
    assert _rows(found) == [[2, 1, 0, 0], [1, 1, 0, 0], [0, 1, 0, 0], [0, 0, 0, 0]]
    assert found.accuracy.value == pytest.approx(3 / 6)
    a, b, tie = found.classes
    assert (a.precision.value, a.recall.value, a.f1.value) == pytest.approx((2 / 3, 2 / 3, 2 / 3))
    assert (b.precision.value, b.recall.value, b.f1.value) == pytest.approx((1 / 3, 1 / 2, 2 / 5))
    # The judge never said "tie": its precision is 0/0, which counts as 0 in the mean, and that is said.
    assert (tie.precision.value, tie.recall.value, tie.f1.value) == (None, 0, 0)
    assert tie.precision.reason
    assert found.undefined == ("tie",)
    assert found.macro_precision.value == pytest.approx((2 / 3 + 1 / 3 + 0) / 3)
    assert found.macro_recall.value == pytest.approx((2 / 3 + 1 / 2 + 0) / 3)
    assert found.macro_f1.value == pytest.approx((2 / 3 + 2 / 5 + 0) / 3)


def test_published_figures() -> None:
    # GPT-3.5 against the people of the PandaLM test set (tie, first, second), failures read as ties.
    rows = ((18, 42, 45), (19, 332, 71), (26, 86, 360))
    items = [[(judge, human)] for human in range(3) for judge in range(3)]
    found = confusion_of_items(items, (0, 1, 2), [n for row in rows for n in row])
    assert tuple(row[:3] for row in found.table[:3]) == rows
    assert found.accuracy.value == pytest.approx(0.710711, abs=5e-7)
    assert found.macro_precision.value == pytest.approx(0.587919, abs=5e-7)
    assert found.macro_recall.value == pytest.approx(0.573623, abs=5e-7)
    assert found.macro_f1.value == pytest.approx(0.575538, abs=5e-7)


def test_labels_that_nobody_used_do_not_pull_the_mean_down() -> None:
    found = confusion_matrix(["A", "B"], ["A", "B"], LABELS)
    assert (found.macro_f1.value, found.macro_recall.value, found.undefined) == (1, 1, ())
    assert found.classes[2].f1.value is None


def test_labels_of_one_side_alone_are_named() -> None:
    assert confusion_matrix(["A", "tie"], ["A", "A"], LABELS).undefined == ("tie",)
    assert confusion_matrix(["A", "A"], ["A", "tie"], LABELS).undefined == ("tie",)


def test_missing_verdicts_are_shown_and_left_out() -> None:
    found = confusion_matrix(["A", None, "B", None], ["A", "A", None, None], LABELS)
    assert _rows(found) == [[1, 0, 0, 1], [0, 0, 0, 0], [0, 0, 0, 0], [0, 1, 0, 1]]
    assert (found.accuracy.value, found.accuracy.n) == (1, 1)


def test_an_item_counts_once_however_often_it_was_read() -> None:
    items = [[("A", "A"), ("B", "A")], [("B", "B")]]
    found = confusion_of_items(items, LABELS, [1, 3])
    assert found.table[0][:2] == (0.5, 0.5)
    assert found.table[1][:2] == (0, 3)
    assert (found.accuracy.value, found.accuracy.n) == (3.5 / 4, 4)


def test_nothing_to_confuse() -> None:
    for found in (confusion_matrix([], [], LABELS), confusion_matrix([None], ["A"], LABELS)):
        assert (found.accuracy.value, found.accuracy.n, found.macro_f1.value) == (None, 0, None)
        assert found.accuracy.reason
        assert found.macro_f1.reason
    with pytest.raises(ValueError, match="declared scale"):
        confusion_matrix(["C"], ["A"], LABELS)


@given(PAIRS)
def test_sides_exchanged(pairs: list[tuple[str, str]]) -> None:
    judge, human = [one for one, _ in pairs], [other for _, other in pairs]
    found, turned = confusion_matrix(judge, human, LABELS), confusion_matrix(human, judge, LABELS)
    assert turned.table == tuple(zip(*found.table, strict=True))
    assert turned.macro_precision == found.macro_recall
    assert turned.macro_f1 == found.macro_f1
    assert found.accuracy.value == pytest.approx(exact_agreement(judge, human).value)
    assert sum(map(sum, found.table)) == len(pairs)


@settings(max_examples=25)
@given(PAIRS, st.integers(0, 99))
def test_the_interval_of_macro_f1(pairs: list[tuple[str, str]], seed: int) -> None:
    items = [[pair] for pair in pairs]
    interval = macro_f1_interval(items, LABELS, seed=seed)
    assert interval == macro_f1_interval(items[::-1], LABELS, seed=seed)
    if interval.low is None or interval.high is None:
        assert interval.reason
    else:
        assert 0 <= interval.low <= interval.high <= 1


def test_a_rare_label_has_no_interval() -> None:
    # One of 30 items has it: (29 / 30)^30 = 36 % of the resamples lack it.
    interval = macro_f1_interval([[("A", "A")], [("B", "B")], [("tie", "tie")]], LABELS, [14, 15, 1], seed=3)
    assert "a label is missing from" in (interval.reason or "")


def test_the_interval_holds_the_estimate_and_needs_two_items() -> None:
    items: list[list[tuple[str | None, str | None]]] = [
        [("A", "A")],
        [("B", "B")],
        [("A", "B")],
        [("tie", "A")],
        [(None, "A")],
    ]
    times = [30, 20, 10, 5, 9]
    found = confusion_of_items(items, LABELS, times).macro_f1
    interval = macro_f1_interval(items, LABELS, times, seed=3)
    assert found.n == 65
    assert found.value is not None
    assert interval.low is not None
    assert interval.high is not None
    assert interval.low < found.value < interval.high
    assert macro_f1_interval([[("A", "A")], [(None, "A")]], LABELS, seed=3).reason == "fewer than two items"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("prior", "right", "items", "floor"),
    [
        ((0.4, 0.4, 0.2), 0.7, 30, 0.90),
        ((0.4, 0.4, 0.2), 0.7, 100, 0.93),
        ((0.5, 0.45, 0.05), 0.8, 100, 0.92),
        ((0.9, 0.1), 0.95, 100, 0.87),
        ((0.03, 0.05, 0.1, 0.22, 0.6), 0.7, 100, 0.87),
    ],
)
def test_coverage_of_macro_f1(prior: tuple[float, ...], right: float, items: int, floor: float) -> None:
    """Nominal 95 %; about 90 where a label has ten items or fewer."""
    size = len(prior)
    labels = range(size)
    shares = right * np.diag(prior) + (1 - right) * np.outer(prior, np.full(size, 1 / size))
    patterns: list[list[tuple[float | None, float | None]]] = [[(j, h)] for h in labels for j in labels]
    population = np.round(shares.ravel() * 1_000_000).astype(int).tolist()
    truth = confusion_of_items(patterns, labels, population).macro_f1.value
    assert truth is not None
    held = told = 0
    for seed, drawn in enumerate(np.random.default_rng(5).multinomial(items, shares.ravel(), size=600).tolist()):
        interval = macro_f1_interval(patterns, labels, drawn, seed=seed)
        if interval.low is not None and interval.high is not None:
            told += 1
            held += interval.low <= truth <= interval.high
    assert held / told >= floor, (held, told)
