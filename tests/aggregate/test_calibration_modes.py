"""Calibration of gates and pairs, of both readings, and the examples that are told."""

from __future__ import annotations

import pytest

from agentanvil.aggregate import CalibrationFigures
from agentanvil.verdict import Scored
from tests.fakes.calibrated import calibrated, calibrated_pairs
from tests.fakes.graded import ERROR, Pair, rubric

GATE = rubric("accuracy", mode="gate", gate={"accuracy": 4}, allow_na=False)
PAIRS = rubric("accuracy", mode="pairwise")


def winners(*pairs: tuple[float | None, float]) -> CalibrationFigures:
    """Pairs of the judge's delta and the label of the winner."""
    return calibrated_pairs(PAIRS, [Pair({"accuracy": [delta]}, labels={"winner": (label,)}) for delta, label in pairs])


def test_a_gate_compares_booleans_whether_people_gave_them_or_scores() -> None:
    # The dimension passes from 4 on: labels true, 4 and 5 pass, false and 3 do not.
    labels = [True, 4.0, 5.0, False, 3.0, True]
    verdicts = [1, 1, 0, 0, 0, ERROR]
    rows = [({"accuracy": score}, {"accuracy": [label]}) for score, label in zip(verdicts, labels, strict=True)]
    found = calibrated(GATE, rows).dimensions[0]
    assert found.confusion.values == ("false", "true")
    assert found.confusion.counts == ((2, 1), (0, 2), (0, 1))
    assert (found.kappa_weights, found.adjacent.value) == ("none", None)
    # Of five, four agree; by chance 2/5 · 3/5 + 3/5 · 2/5 = 12/25. Kappa (0.8 − 0.48) / 0.52.
    assert found.kappa.value == pytest.approx(0.32 / 0.52)
    assert found.classes is not None
    assert found.classes.answered.accuracy.value == 0.8
    # A verdict that is missing passes nothing: of six, four agree.
    assert found.classes.counted.accuracy.value == pytest.approx(4 / 6)
    assert "false" in found.classes.counted.policy
    true = found.classes.answered.classes[1]
    assert (true.value, true.precision.value, true.recall.value) == ("true", 1, pytest.approx(2 / 3))


def test_winners_have_both_policies_for_missing_verdicts() -> None:
    found = winners((2, 1), (1, 1), (-3, -1), (0, 0), (-1, 1), (None, 0), (None, 1)).overall
    assert found is not None
    assert (found.id, found.kind) == ("winner", "winner")
    assert found.confusion.values == ("b", "tie", "a")
    assert found.confusion.counts == ((1, 0, 1), (0, 1, 0), (0, 0, 2), (0, 1, 1))
    assert found.classes is not None
    assert found.classes.answered.accuracy.value == 0.8
    # As ties, one of the two is right: five of seven.
    assert found.classes.counted.accuracy.value == pytest.approx(5 / 7)
    assert "tie" in found.classes.counted.policy
    # F1 of b: 2·1/(2+1); of tie: 2·1/(1+1); of a: 2·2/(2+3).
    assert found.classes.answered.macro_f1.value == pytest.approx((2 / 3 + 1 + 4 / 5) / 3)
    assert found.classes.majority is None
    many = winners(*[(2, 1), (-3, -1), (0, 0), (-1, 1)] * 20).overall
    assert many is not None
    assert many.classes is not None
    assert many.classes.answered.macro_f1.interval.low is not None


def test_the_majority_of_several_raters_is_a_reading_of_its_own() -> None:
    # Of the second row's three and the last row's two raters no more than half say the same.
    labels = [(1.0, 1.0, -1.0), (1.0, 0.0, -1.0), (-1.0, -1.0, -1.0), (0.0, 0.0, 1.0), (1.0, -1.0)]
    pairs = [
        Pair({"accuracy": [d]}, labels={"winner": each}) for d, each in zip((1, 1, -1, None, 1), labels, strict=True)
    ]
    found = calibrated_pairs(PAIRS, pairs).overall
    assert found is not None
    assert found.classes is not None
    assert found.classes.split == 2
    assert found.classes.majority is not None
    assert (found.classes.majority.accuracy.value, found.classes.majority.accuracy.n) == (1, 2)
    assert found.classes.majority_counted is not None
    assert (found.classes.majority_counted.accuracy.value, found.classes.majority_counted.accuracy.n) == (1, 3)


def test_exchanging_the_sides_mirrors_every_figure() -> None:
    deltas = (2, 1, -3, 0, -1, 1, 2, None, -2, 1, 0, 4)
    labels = (1, 1, -1, 0, 1, 1, -1, 1, -1, 1, -1, 1)
    pairs = [
        Pair({"accuracy": [d]}, labels={"winner": (float(label),), "accuracy": (2.0 * label,)})
        for d, label in zip(deltas, labels, strict=True)
    ]
    one = calibrated_pairs(PAIRS, pairs)
    other = calibrated_pairs(PAIRS, [pair.turned(swap=False) for pair in pairs])
    for mine, turned in ((one.overall, other.overall), (one.dimensions[0], other.dimensions[0])):
        assert mine is not None
        assert turned is not None
        for name in ("kappa", "exact", "spearman", "kendall_tau_b", "pearson", "mean_absolute_error", "alpha"):
            assert getattr(mine, name) == getattr(turned, name), name
        assert mine.bias.value == pytest.approx(-(turned.bias.value or 0))
        assert mine.bias.interval.low == pytest.approx(-(turned.bias.interval.high or 0))
        assert mine.confusion.counts == tuple(
            row[::-1] for row in (*turned.confusion.counts[2::-1], turned.confusion.counts[3])
        )
        assert mine.verdict == turned.verdict


def test_pairs_of_a_dimension_are_numbers_and_their_signs_categories() -> None:
    pairs = [Pair({"accuracy": [d]}, labels={"accuracy": (float(label),)}) for d, label in ((4, 1), (-2, -2), (1, 3))]
    found = calibrated_pairs(PAIRS, pairs).dimensions[0]
    assert (found.exact.value, found.mean_absolute_error.value) == (1, pytest.approx(5 / 3))
    assert calibrated_pairs(PAIRS, pairs).overall is None


def test_the_other_reading_of_the_same_calls_is_told_beside() -> None:
    read = [Scored(4.0, expected_score=e) for e in (4.4, 3.6, 3.9, 4.1)]
    rows = [({"accuracy": cell}, {"accuracy": [label]}) for cell, label in zip(read, (5, 3, 4, 4.5), strict=True)]
    found = calibrated(rubric("accuracy"), rows).dimensions[0]
    assert found.spearman.value is None
    assert found.probabilities is not None
    # Ranks 4 1 2 3 and 4 1 2 3.
    assert found.probabilities.spearman.value == 1
    assert found.probabilities.mean_absolute_error.value == pytest.approx((0.6 + 0.6 + 0.1 + 0.4) / 4)
    by_expected = calibrated(rubric("accuracy"), rows, reading="expected").dimensions[0]
    assert by_expected.probabilities is None
    assert by_expected.spearman.value == found.probabilities.spearman.value
    assert by_expected.kappa.n == 3  # 4.5 is no category


def test_a_gates_probabilities_have_a_brier_score() -> None:
    read = [Scored(1.0, expected_score=0.9), Scored(1.0, expected_score=0.6), Scored(0.0, expected_score=0.2)]
    rows = [({"accuracy": cell}, {"accuracy": [label]}) for cell, label in zip(read, (True, False, False), strict=True)]
    found = calibrated(GATE, rows).dimensions[0].probabilities
    assert found is not None
    assert found.brier is not None
    assert found.brier.value == pytest.approx((0.01 + 0.36 + 0.04) / 3)
    assert found.calibration_error is not None
    assert found.calibration_error.value == pytest.approx((0.1 + 0.6 + 0.2) / 3)


def test_the_worst_disagreements_are_ten_furthest_apart_first() -> None:
    rows = [({"accuracy": 5, "tone": 3}, {"accuracy": [label], "tone": [3, 4]}) for label in (1, 2, 5, 4, 3) * 4]
    found = calibrated(rubric("accuracy", "tone"), rows).disagreements
    assert len(found) == 10
    assert [example.distance for example in found] == [1] * 4 + [0.75] * 4 + [0.5] * 2
    assert [example.index for example in found] == [0, 5, 10, 15, 1, 6, 11, 16, 4, 9]
    first = found[0]
    assert (first.id, first.dimension, first.score, first.label) == ("item-0", "accuracy", 5, 1)
    assert (first.evidence, first.evidence_found, first.reason) == (("a quote",), True, "because")
    assert [(rating.rater, rating.label) for rating in first.labels] == [("1", 1)]


def test_where_all_agree_there_is_no_disagreement_to_show() -> None:
    rows = [({"accuracy": n}, {"accuracy": [n]}) for n in (1, 2, 3)]
    assert calibrated(rubric("accuracy"), rows).disagreements == ()
