"""People against each other: the ceiling that a judge is held to, rater by rater and pooled."""

from __future__ import annotations

import pytest

from agentanvil.aggregate import Humans
from agentanvil.stats import cohen_kappa, fleiss_kappa, krippendorff_alpha
from tests.fakes.calibrated import Labels, calibrated
from tests.fakes.graded import ERROR, Score, rubric

SCALE = (1, 2, 3, 4, 5)
ANN = [5, 4, 3, 2, 1, 4, 5, 2, 3, 3]
BOB = [5, 5, 3, 1, 1, 4, 4, 2, 2, 3]
CYD = [4, 4, 3, 2, 2, 5, 5, 1, 3, 4]
JUDGE = [5, 4, 2, 2, 1, 4, 5, 3, 3, 5]


def people(labels: list[Labels], scores: list[Score] | None = None) -> Humans:
    rows = [({"accuracy": score}, given) for score, given in zip(scores or JUDGE, labels, strict=True)]
    found = calibrated(rubric("accuracy"), rows).dimensions[0].humans
    assert found is not None
    return found


def by_name() -> list[Labels]:
    return [{"accuracy": {"ann": a, "bob": b, "cyd": c}} for a, b, c in zip(ANN, BOB, CYD, strict=True)]


def test_each_pair_of_raters_has_its_kappa_and_the_judge_one_with_each() -> None:
    found = people(by_name())
    expected = {
        ("ann", "bob"): cohen_kappa(ANN, BOB, SCALE, "quadratic").value,
        ("ann", "cyd"): cohen_kappa(ANN, CYD, SCALE, "quadratic").value,
        ("bob", "cyd"): cohen_kappa(BOB, CYD, SCALE, "quadratic").value,
    }
    assert {(pair.a, pair.b): pair.kappa.value for pair in found.pairs} == pytest.approx(expected)
    kappas = [value for value in expected.values() if value is not None]
    assert found.mean_pair_kappa.value == pytest.approx(sum(kappas) / 3)
    assert found.mean_pair_kappa.n == 3
    assert [(each.rater, each.labels) for each in found.judge_pairs] == [("ann", 10), ("bob", 10), ("cyd", 10)]
    assert found.judge_pairs[0].kappa.value == pytest.approx(cohen_kappa(JUDGE, ANN, SCALE, "quadratic").value)


def test_fleiss_and_alpha_are_those_of_the_raters_alone() -> None:
    found = people(by_name())
    counts = [[[a, b, c].count(score) for score in SCALE] for a, b, c in zip(ANN, BOB, CYD, strict=True)]
    assert found.fleiss.value == pytest.approx(fleiss_kappa(counts).value)
    low, high = found.fleiss.interval.low, found.fleiss.interval.high
    assert low is not None
    assert high is not None
    assert low < (found.fleiss.value or 0) < high
    for level in ("nominal", "ordinal", "interval"):
        expected = krippendorff_alpha([ANN, BOB, CYD], level).value
        assert getattr(found.alpha, level).value == pytest.approx(expected)


def test_the_judge_is_one_more_rater_of_the_alpha_beside() -> None:
    rows = [({"accuracy": score}, given) for score, given in zip([*JUDGE[:-1], ERROR], by_name(), strict=True)]
    found = calibrated(rubric("accuracy"), rows).dimensions[0].alpha
    judge = [*JUDGE[:-1], None]
    for level in ("nominal", "ordinal", "interval"):
        expected = krippendorff_alpha([judge, ANN, BOB, CYD], level).value
        assert getattr(found, level).value == pytest.approx(expected)


def test_a_judge_that_is_one_of_the_raters_differs_from_the_ceiling_by_a_known_sign() -> None:
    two: list[Labels] = [{"accuracy": {"ann": a, "bob": b}} for a, b in zip(ANN, BOB, strict=True)]
    found = people(two, list(ANN))
    assert found.difference.value == pytest.approx((found.judge.value or 0) - (found.kappa.value or 0))
    assert (found.difference.value or 0) > 0
    assert found.items == 10


def test_labels_in_rows_are_told_apart_by_place_where_no_row_lacks_one() -> None:
    by_place: list[Labels] = [{"accuracy": [a, b, c]} for a, b, c in zip(ANN, BOB, CYD, strict=True)]
    assert [pair.kappa.value for pair in people(by_place).pairs] == [
        pair.kappa.value for pair in people(by_name()).pairs
    ]
    ragged: list[Labels] = [{"accuracy": [5]}, *by_place[1:-1], {"accuracy": [1, 2]}]
    found = people(ragged)
    assert [pair.kappa.n for pair in found.pairs] == [8, 8, 8]
    assert found.items == 9
    assert "2 item(s) have fewer labels" in found.notes[0]
    assert found.fleiss.value is None
    assert found.fleiss.reason


def test_a_crowd_has_pooled_figures_alone() -> None:
    crowd: list[Labels] = [{"accuracy": {f"r{n}{k}": a for k in range(4)}} for n, a in enumerate(ANN)]
    found = people(crowd)
    assert (found.raters, found.pairs, found.judge_pairs) == (40, (), ())
    assert found.kappa.value == 1
    assert found.mean_pair_kappa.value is None
    assert "too many" in found.notes[0]


def test_one_rater_is_no_ceiling() -> None:
    rows = [({"accuracy": score}, {"accuracy": {"ann": label}}) for score, label in zip(JUDGE, ANN, strict=True)]
    assert calibrated(rubric("accuracy"), rows).dimensions[0].humans is None
