"""Judge and people within groups: correlations, the best response found, and tries of one task."""

from __future__ import annotations

import pytest

from agentanvil.aggregate import GroupedDimension
from tests.fakes.calibrated import calibrated
from tests.fakes.graded import ERROR, Score, rubric


def grouped(
    scores: list[list[Score]], labels: list[float], groups: list[str | None], gate: float | None = None
) -> GroupedDimension:
    of = rubric("accuracy", gate={} if gate is None else {"accuracy": gate})
    rows = [({"accuracy": row}, {"accuracy": [label]}) for row, label in zip(scores, labels, strict=True)]
    found = calibrated(of, rows, repeats=len(scores[0]), groups=groups).groups
    assert found is not None
    return found.dimensions[0]


def test_correlations_are_means_over_the_groups_that_have_one() -> None:
    # a: perfectly in order. b: reversed in one of three pairs, tau 1/3. c: the judge is constant. d: one item.
    scores = [[n] for n in (1, 2, 3, 1, 2, 3, 4, 4, 5)]
    found = grouped(scores, [1, 2, 3, 1, 3, 2, 1, 2, 5], ["a"] * 3 + ["b"] * 3 + ["c"] * 2 + ["d"])
    assert (found.groups, found.kendall_tau_b.mean.n, found.kendall_tau_b.undefined) == (4, 2, 2)
    assert found.kendall_tau_b.mean.value == pytest.approx((1 + 1 / 3) / 2)
    assert found.spearman.mean.value == pytest.approx((1 + 0.5) / 2)
    assert found.pearson.mean.value == pytest.approx((1 + 0.5) / 2)
    assert found.kendall_tau_b.mean.interval.low is not None


def test_the_best_response_is_found_where_its_mean_alone_is_highest() -> None:
    # By the first repeat group a ties, by both it is right. b is wrong by both. c lacks a first score and has a second.
    scores: list[list[Score]] = [[4, 5], [4, 3], [2, 2], [3, 3], [ERROR, 5], [4, 4]]
    found = grouped(scores, [1, 0, 1, 0, 1, 0], ["a", "a", "b", "b", "c", "c"])
    first, both = found.top_one
    assert (first.k, first.groups, first.dropped, first.correct, first.tied) == (1, 2, 1, 0, 1)
    assert (both.k, both.groups, both.dropped, both.correct, both.tied) == (2, 3, 0, 2, 0)
    assert both.accuracy.value == pytest.approx(2 / 3)
    assert first.tie_rate.value == 0.5
    assert both.accuracy.interval.low is not None


def test_a_group_without_a_best_response_is_no_question() -> None:
    found = grouped([[5], [4], [3]], [2, 2, 5], ["a", "a", "b"])
    assert (found.top_one[0].groups, found.top_one[0].dropped) == (0, 0)
    assert found.top_one[0].accuracy.value is None
    assert found.top_one[0].accuracy.reason


def test_tries_of_a_task_by_judge_and_by_labels() -> None:
    # Task a: labels pass 1 of 2, the judge 2 of 2; task b: none and one.
    found = grouped([[5], [4], [1], [5]], [5, 1, 1, 2], ["a", "a", "b", "b"], gate=4)
    assert found.threshold == 4
    one, two = found.trials
    assert (one.label_pass_hat.value, one.label_pass_at.value) == (0.25, 0.25)
    assert (one.judge_pass_hat.value, one.judge_pass_at.value) == (0.75, 0.75)
    assert (two.label_pass_hat.value, two.label_pass_at.value) == (0, 0.5)
    assert (two.judge_pass_hat.value, two.judge_pass_at.value) == (0.5, 1)
    assert two.label_pass_at.interval.low is not None


def test_tries_need_a_threshold_and_as_many_in_every_group() -> None:
    assert grouped([[5], [4]], [5, 1], ["a", "a"]).trials == ()
    found = grouped([[5], [4], [5]], [5, 1, 5], ["a", "a", "b"], gate=4)
    assert found.trials[0].label_pass_hat.value == 0.75
    assert found.trials[1].label_pass_hat.value is None
    assert found.trials[1].label_pass_hat.reason
    assert found.trials[1].label_pass_hat.interval.low is None


def test_booleans_of_a_gate_are_tries() -> None:
    of = rubric("accuracy", mode="gate")
    rows = [({"accuracy": ERROR}, {"accuracy": [label]}) for label in (True, True, False, False)]
    found = calibrated(of, rows, groups=["a", "a", "b", "b"]).groups
    assert found is not None
    two = found.dimensions[0].trials[1]
    assert (two.label_pass_hat.value, two.judge_pass_hat.value) == (0.5, None)


def test_rows_in_no_group_are_counted() -> None:
    rows = [({"accuracy": n}, {"accuracy": [n]}) for n in (1, 2, 3)]
    found = calibrated(rubric("accuracy"), rows, groups=["a", None, "a"]).groups
    assert found is not None
    assert (found.field, found.groups, found.items, found.without) == ("meta.task", 1, 2, 1)
    assert [each.id for each in found.dimensions] == ["accuracy", "overall"]


def test_the_overalls_repeats_count_in_their_order() -> None:
    # The minimum by repeat: 1 then 5 against 3 then 3. By the first repeat the second response is ahead.
    rows = [
        ({"accuracy": [1, 5], "tone": [5, 5]}, {"accuracy": [5], "tone": [5]}),
        ({"accuracy": [3, 3], "tone": [5, 3]}, {"accuracy": [1], "tone": [5]}),
    ]
    found = calibrated(rubric("accuracy", "tone"), rows, repeats=2, groups=["a", "a"]).groups
    assert found is not None
    overall = next(each for each in found.dimensions if each.id == "overall")
    assert [(top.correct, top.tied) for top in overall.top_one] == [(0, 0), (0, 1)]
