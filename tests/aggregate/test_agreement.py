from __future__ import annotations

import random

import pytest

from agentanvil.aggregate import Agreement, Summary
from agentanvil.rubric import Rubric
from tests.fakes.graded import NA, Score, grade, item, plan, rubric

Labels = dict[str, tuple[float, ...]]


def graded(of: Rubric, rows: list[tuple[dict[str, list[Score] | Score], Labels]], repeats: int = 1) -> Summary:
    shape = plan(of, repeats)
    return grade(of, [item(shape, i, scores, labels=labels) for i, (scores, labels) in enumerate(rows)], repeats)[1]


def one(judge: list[Score], human: list[float], of: Rubric | None = None) -> Agreement:
    of = of or rubric("a")
    found = graded(of, [({"a": j}, {"a": (h,)}) for j, h in zip(judge, human, strict=True)]).dimensions[0].agreement
    assert found is not None
    return found


def test_without_labels_there_is_no_agreement() -> None:
    summary = graded(rubric("a"), [({"a": 5}, {})])
    assert summary.dimensions[0].agreement is None
    assert summary.overall.agreement is None


def test_one_label_everywhere_has_agreement_and_no_kappa() -> None:
    found = one([1, 1, 1], [1, 1, 1])
    assert (found.exact.value, found.kappa.value, found.kappa.n) == (1.0, None, 3), "O-E10"
    assert found.kappa.reason
    assert found.verdict == "INCONCLUSIVE"
    assert found.reading.startswith("kappa cannot be told: judge and labels are one and the same score")


def test_an_always_pass_judge_is_seen_through() -> None:
    found = one([5] * 10, [5] * 9 + [1])
    assert (found.exact.value, found.kappa.value) == (0.9, 0.0), "O-E11"
    assert found.verdict == "INCONCLUSIVE", "ten items cannot tell"
    assert found.reading.startswith("kappa cannot be told: without one item")
    assert one([5] * 200, [*[5] * 180, *[1] * 20]).verdict == "UNTRUSTED"


def test_a_judge_that_agrees_is_trusted_only_when_the_interval_clears_the_bar() -> None:
    rng = random.Random(1)
    human = [float(rng.randint(1, 5)) for _ in range(60)]
    good = one([*human], human)
    assert good.verdict == "TRUSTED"
    assert good.reading.startswith("kappa 1 ")
    assert good.reading.endswith("reaches 0.6")
    weak = one([float(min(5, max(1, h + rng.choice((-2, -1, 0, 1, 2))))) for h in human], human)
    assert weak.kappa.value is not None
    assert weak.kappa_interval.low is not None
    assert weak.kappa_interval.low < 0.6
    assert weak.verdict != "TRUSTED"


@pytest.mark.parametrize(("items", "verdict"), [(3, "INCONCLUSIVE"), (8, "INCONCLUSIVE"), (20, "TRUSTED")])
def test_agreement_throughout_is_believed_only_of_enough_items(items: int, verdict: str) -> None:
    human = [(1.0, 5.0)[n % 2] for n in range(items)]
    found = one([*human], human)
    assert found.kappa.value == 1
    assert found.verdict == verdict
    assert found.kappa_interval.low is not None
    assert found.kappa_interval.low < 1


def test_kappa_by_hand_over_one_repeat_and_one_rater() -> None:
    # Pairs (1,1) (2,3) (3,3) on 1..5: 1 − 1 / 5, as in the tests of kappa itself.
    found = one([1, 2, 3], [1, 3, 3])
    assert found.kappa.value == pytest.approx(0.8)
    assert found.exact.value == pytest.approx(2 / 3)
    assert found.adjacent.value == 1
    assert found.kappa_weights == "quadratic"


def test_repeats_and_raters_are_all_compared_and_each_item_counts_once() -> None:
    # Item 0: repeats 5 and 4 against 5: half agree. Item 1: 3 and 3 against raters 3 and 1: half. Item 2: all.
    rows: list[tuple[dict[str, list[Score] | Score], Labels]] = [
        ({"a": [5, 4]}, {"a": (5,)}),
        ({"a": [3, 3]}, {"a": (3, 1)}),
        ({"a": [1, None]}, {"a": (1, 1, 1)}),
        ({"a": [None, None]}, {"a": (2,)}),
    ]
    found = graded(rubric("a"), rows, 2).dimensions[0].agreement
    assert found is not None
    assert (found.labelled, found.exact.n) == (4, 3)
    assert found.exact.value == pytest.approx((0.5 + 0.5 + 1) / 3)


def test_labels_off_the_scale_are_counted_and_not_compared() -> None:
    found = one([5, 4, 3], [5, 3.5, 9])
    assert (found.labelled, found.off_scale, found.exact.n) == (3, 2, 1)


def test_labels_without_any_verdict_say_so() -> None:
    found = one([None, None], [5, 4])
    assert (found.exact.value, found.kappa.value, found.labelled) == (None, None, 2)
    assert found.reading == "kappa cannot be told: no item has both a score and a label"


def test_overall_compares_minima() -> None:
    rows: list[tuple[dict[str, list[Score] | Score], Labels]] = [
        ({"a": 5, "b": 3}, {"a": (5,), "b": (2,)}),
        ({"a": 4, "b": 4}, {"a": (4,), "b": (5,)}),
    ]
    found = graded(rubric("a", "b"), rows).overall.agreement
    assert found is not None
    assert found.exact.value == 0.5
    assert found.adjacent.value == 1


def test_overall_leaves_checks_out_and_needs_comparable_sides() -> None:
    rows: list[tuple[dict[str, list[Score] | Score], Labels]] = [
        ({"a": 5, "b": NA, "c": 1}, {"a": (5,)}),
        ({"a": 4, "b": None, "c": 1}, {"a": (4,), "b": (5,)}),
        ({"a": 4, "b": 2, "c": 1}, {"a": (4, 4), "b": (5,)}),
    ]
    found = graded(rubric("a", "b", checks=["c"]), rows).overall.agreement
    assert found is not None
    # The second row has a missing verdict, the third an unknown pairing of raters.
    assert (found.labelled, found.exact.n, found.exact.value) == (2, 1, 1.0)


def test_a_weighted_overall_has_no_categories_to_compare() -> None:
    rows: list[tuple[dict[str, list[Score] | Score], Labels]] = [({"a": 5, "b": 3}, {"a": (5,), "b": (2,)})]
    assert graded(rubric("a", "b", weights={"a": 1, "b": 2}), rows).overall.agreement is None


def test_a_much_labelled_item_weighs_no_more_in_kappa() -> None:
    # As judge 1 5 5 against 1 1 5: observed 16, expected (1·1 + 2·2)·16 / 3 = 80/3, kappa 1 − 48/80 = 0.4.
    rows: list[tuple[dict[str, list[Score] | Score], Labels]] = [
        ({"a": 1}, {"a": (1, 1, 1)}),
        ({"a": 5}, {"a": (1,)}),
        ({"a": 5}, {"a": (5, 5)}),
    ]
    found = graded(rubric("a"), rows).dimensions[0].agreement
    assert found is not None
    assert found.kappa.value == pytest.approx(0.4)


def test_a_label_may_be_absent_only_where_a_dimension_may_be_not_applicable() -> None:
    rows: list[tuple[dict[str, list[Score] | Score], Labels]] = [({"a": 5, "b": 3}, {"a": (5,)})]
    assert graded(rubric("a", "b", allow_na=False), rows).overall.agreement is None
    assert graded(rubric("a", "b", allow_na=True), rows).overall.agreement is not None
