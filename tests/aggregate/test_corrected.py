"""Corrected estimates from rows: which rows count where, for each dimension and for the overall."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentanvil.aggregate import (
    CorrectedDimension,
    CorrectedFigure,
    CorrectedSummary,
    CorrectedTally,
    Frame,
    reduce_item,
)
from agentanvil.rubric import Rubric
from agentanvil.stats import corrected_mean, corrected_pass_rate, weighted_corrected_mean
from tests.fakes.graded import NA, Pair, Score, compare, item, plan, rubric

Labels = Mapping[str, Sequence[float | None]]
Row = tuple[Mapping[str, Sequence[Score] | Score], Labels]
WeightedRow = tuple[Mapping[str, Sequence[Score] | Score], Labels, float | None]


def corrected(of: Rubric, rows: Sequence[Row | WeightedRow], repeats: int = 1) -> CorrectedSummary:
    shape = plan(of, repeats)
    frame = Frame.of(of, shape)
    tally = CorrectedTally(frame)
    for index, (scores, labels, *weight) in enumerate(rows):
        tally.add(reduce_item(frame, item(shape, index, scores)), labels, *weight)
    return tally.result()


def only(summary: CorrectedSummary) -> CorrectedDimension:
    (found,) = summary.dimensions
    return found


def overall(summary: CorrectedSummary) -> CorrectedDimension:
    assert summary.overall is not None
    return summary.overall


def figure(found: CorrectedFigure | None) -> CorrectedFigure:
    assert found is not None
    return found


def codes(found: CorrectedDimension | CorrectedFigure | None) -> list[str]:
    assert found is not None
    return [caution.code for caution in found.cautions]


def random_rows(n: int, labelled: int, seed: int = 1, *, raise_labelled: int = 0) -> list[Row]:
    """Rows of dimension `a` on which the judge is right or one off; the first ones are labelled."""
    rng = random.Random(seed)
    rows: list[Row] = []
    for index in range(n):
        human = rng.randint(1, 5)
        if index < labelled:
            human = min(5, human + raise_labelled)
        judge = min(5, max(1, human + rng.choice([0, 0, 1])))
        rows.append(({"a": judge}, {"a": (float(human),)} if index < labelled else {}))
    return rows


def test_a_mean_and_a_pass_rate_are_those_of_the_statistics() -> None:
    rows = random_rows(300, 80)
    human = [float(labels["a"][0] or 0) for _, labels in rows[:80]]
    judge = [float(scores["a"]) for scores, _ in rows]  # type: ignore[arg-type]
    found = only(corrected(rubric("a", gate={"a": 4}), rows))
    assert (found.labelled, found.unlabelled, found.threshold) == (80, 220, 4)
    mean, passing = figure(found.mean), figure(found.pass_rate)
    of_mean = corrected_mean(human, judge[:80], judge[80:])
    assert mean.population == of_mean.population.estimate
    assert mean.population_interval == of_mean.population.interval
    assert mean.items_interval == of_mean.items.interval
    assert mean.labels.value == pytest.approx(sum(human) / 80)
    assert mean.judge.value == pytest.approx(sum(judge[80:]) / 220), "the unlabelled rows alone"
    passes = [[float(score >= 4) for score in column] for column in (human, judge[:80], judge[80:])]
    of_rate = corrected_pass_rate(*passes)
    assert passing.population == of_rate.population.estimate
    assert passing.items_interval == of_rate.items.interval
    assert passing.judge.value == pytest.approx(sum(passes[2]) / 220)


def test_a_missing_verdict_is_counted_and_never_imputed() -> None:
    rows = random_rows(60, 20)
    gaps: list[Row] = [({"a": None}, {"a": (1.0,)}), ({"a": None}, {}), ({"a": None}, {}), ({"a": NA}, {"a": (5.0,)})]
    found, without = only(corrected(rubric("a"), [*rows, *gaps])), only(corrected(rubric("a"), rows))
    assert (found.labelled_missing, found.unlabelled_missing, found.not_applicable) == (1, 2, 1)
    assert (found.labelled, found.unlabelled, found.mean) == (20, 40, without.mean)
    assert codes(found) == ["missing_verdicts"]
    assert "3 row(s) have no verdict" in found.cautions[0].text


def test_repeats_and_raters_of_one_item_are_one_row() -> None:
    rows: list[Row] = [({"a": [4, 2]}, {"a": (5.0, 2.0)}), ({"a": [3, None]}, {"a": (None, 3.0)}), ({"a": [1, 2]}, {})]
    found = figure(only(corrected(rubric("a"), rows, 2)).mean)
    assert found.labels.value == pytest.approx((3.5 + 3) / 2)
    assert (found.judge.value, found.labelled, found.unlabelled) == (1.5, 2, 1)


def test_labels_outside_the_scale_are_counted_and_left_out() -> None:
    found = only(
        corrected(rubric("a"), [({"a": 3}, {"a": (9.0,)}), ({"a": 3}, {"a": (0.0, 4.5)}), *random_rows(40, 20)])
    )
    assert (found.off_scale, found.labelled, found.unlabelled) == (2, 21, 21)
    assert codes(found) == ["off_scale"]


def test_without_labels_there_is_nothing_to_correct_and_with_all_labelled_no_need() -> None:
    nothing = only(corrected(rubric("a", gate={"a": 4}), random_rows(40, 0)))
    assert (nothing.mean, nothing.pass_rate, codes(nothing)) == (None, None, ["nothing_labelled"])
    everything = only(corrected(rubric("a"), random_rows(40, 40)))
    assert codes(everything) == ["nothing_unlabelled"]
    assert figure(everything.mean).population.value is None
    assert figure(everything.mean).labels.value is not None
    assert codes(everything.mean) == []


def test_a_shift_is_warned_of_and_none_is_made_up() -> None:
    of = rubric("a", gate={"a": 4})
    same, shifted = (
        only(corrected(of, random_rows(400, 100))),
        only(corrected(of, random_rows(400, 100, raise_labelled=2))),
    )
    assert codes(same.mean) == codes(same.pass_rate) == []
    assert codes(shifted.mean) == codes(shifted.pass_rate) == ["shift"]
    assert "a mean corrected by them is off" in figure(shifted.mean).cautions[0].text
    assert "only if the judge errs alike on both" in figure(shifted.pass_rate).cautions[0].text
    assert (figure(shifted.mean).shift.value or 0) > 0.5


def test_few_labels_near_the_ceiling_are_doubted() -> None:
    rng = random.Random(4)
    rows: list[Row] = []
    for index in range(500):
        human = rng.choices([1, 2, 3, 4, 5], [1, 2, 4, 13, 80])[0]
        rows.append(({"a": min(5, human + rng.randint(0, 1))}, {"a": (float(human),)} if index < 50 else {}))
    found = only(corrected(rubric("a", gate={"a": 3}), rows))
    assert "few_labels" in codes(found.mean)
    assert "skewed" in figure(found.mean).cautions[0].text
    assert set(codes(found.pass_rate)) & {"few_labels", "no_interval"}


def test_a_correction_that_leaves_the_scale_is_cut_and_said() -> None:
    rows: list[Row] = [({"a": 1 + n % 2}, {"a": (4.0 + n % 2,)}) for n in range(40)]
    rows += [({"a": 5}, {}) for _ in range(400)]
    found = figure(only(corrected(rubric("a"), rows)).mean)
    assert found.population.value == 5
    assert "outside_scale" in codes(found)
    assert found.population_interval.high == 5


def test_a_gate_has_pass_rates_and_no_means() -> None:
    human = [n % 4 > 0 for n in range(60)]
    judge = [passes != (n % 7 == 0) for n, passes in enumerate(human)]
    rows: list[Row] = [({"a": float(j)}, {"a": (h,)}) for h, j in zip(human, judge, strict=True)]
    rows += [({"a": float(n % 3 > 0)}, {}) for n in range(90)]
    summary = corrected(rubric("a", mode="gate", allow_na=False), rows)
    found = only(summary)
    assert (found.mean, overall(summary).mean) == (None, None)
    expected = corrected_pass_rate(list(map(float, human)), list(map(float, judge)), [1.0] * 60 + [0.0] * 30)
    assert figure(found.pass_rate).population == expected.population.estimate
    assert figure(found.pass_rate) == figure(overall(summary).pass_rate)


def test_a_gate_over_repeats_holds_where_all_of_them_do() -> None:
    rows: list[Row] = [
        ({"a": [1, 0]}, {}),
        ({"a": [1, 1]}, {}),
        ({"a": [1, 1]}, {"a": (True, False)}),
        ({"a": [0, 0]}, {"a": (False,)}),
    ]
    found = figure(only(corrected(rubric("a", mode="gate"), rows, 2)).pass_rate)
    assert found.judge.value == pytest.approx(0.5)
    assert found.labels.value == pytest.approx(0.25), "half of one item's raters pass it"


def test_the_overall_is_the_minimum_by_rater_and_by_judge() -> None:
    rows: list[Row] = [
        ({"a": 5, "b": 3}, {"a": (4.0, 5.0), "b": (5.0, 2.0)}),
        ({"a": 2, "b": 4}, {"a": (3.0, None), "b": (4.0, 1.0)}),
        ({"a": 5, "b": 4}, {}),
    ]
    found = overall(corrected(rubric("a", "b", gate={"overall": 3, "b": 5}), rows))
    assert (found.labelled, found.unlabelled, found.threshold) == (2, 1, "gate")
    mean = figure(found.mean)
    assert mean.labels.value == pytest.approx(((4 + 2) / 2 + 3) / 2)
    assert mean.judge.value == 4
    assert figure(found.pass_rate).labels.value == pytest.approx((0.5 + 0) / 2), "only one rater gave b a 5"


def test_the_overall_takes_code_at_its_word_and_drops_what_does_not_apply() -> None:
    of = rubric("a", "b", checks=["c"])
    rows: list[Row] = [
        ({"a": 5, "b": 5, "c": 1}, {"a": (4.0,), "b": (4.0,)}),
        ({"a": 5, "b": NA, "c": 5}, {"a": (4.0,)}),
        ({"a": 2, "b": 5, "c": 5}, {}),
    ]
    summary = corrected(of, rows)
    assert figure(overall(summary).mean).labels.value == pytest.approx((1 + 4) / 2)
    assert [found.id for found in summary.dimensions] == ["a", "b"], "nobody labelled the check"


def test_a_weighted_overall_weighs_labels_as_it_weighs_scores() -> None:
    rows: list[Row] = [({"a": 5, "b": 1}, {"a": (4.0,), "b": (2.0,)}), ({"a": 3, "b": 3}, {})]
    found = figure(overall(corrected(rubric("a", "b", weights={"a": 3, "b": 1}), rows)).mean)
    assert found.labels.value == pytest.approx(3.5)


def test_an_overall_of_peoples_own_goes_before_the_minimum() -> None:
    rows: list[Row] = [
        ({"a": 5, "b": 3}, {"a": (4.0,), "b": (4.0,), "overall": (2.0,)}),
        ({"a": 5, "b": 3}, {"a": (4.0,), "b": (4.0,)}),
        ({"a": 5, "b": 4}, {}),
    ]
    found = overall(corrected(rubric("a", "b"), rows))
    assert (found.labelled, found.unlabelled, found.incomplete) == (1, 2, 1)
    assert figure(found.mean).labels.value == 2


def test_raters_that_cannot_be_told_apart_leave_the_overall_unlabelled() -> None:
    rows: list[Row] = [({"a": 5, "b": 3}, {"a": (4.0, 3.0), "b": (4.0,)}), ({"a": 5, "b": 4}, {})]
    summary = corrected(rubric("a", "b"), rows)
    assert (overall(summary).labelled, overall(summary).incomplete) == (0, 1)
    assert [found.labelled for found in summary.dimensions] == [1, 1]


def test_an_item_that_fails_while_a_verdict_is_missing_counts_no_more_than_one_that_passes() -> None:
    of = rubric("a", "b", gate={"a": 4, "b": 4})
    rows: list[Row] = [
        ({"a": 1, "b": None}, {}),
        ({"a": 5, "b": None}, {}),
        ({"a": 5, "b": 5}, {}),
        ({"a": 5, "b": 5}, {"a": (5.0,), "b": (5.0,)}),
    ]
    found = overall(corrected(of, rows))
    assert (found.unlabelled, found.unlabelled_missing) == (1, 2)
    assert figure(found.pass_rate).judge.value == 1


def test_what_only_the_gate_needs_may_be_missing_too() -> None:
    of = rubric("a", "b", weights={"a": 1}, gate={"b": 4})
    rows: list[Row] = [
        ({"a": 5, "b": 5}, {"a": (5.0,), "b": (5.0,)}),
        ({"a": 5, "b": None}, {}),
        ({"a": 5, "b": 2}, {}),
    ]
    found = overall(corrected(of, rows))
    assert (found.labelled, found.unlabelled, found.unlabelled_missing) == (1, 1, 1)
    assert figure(found.pass_rate).judge.value == 0


def test_weights_make_the_labelled_rows_stand_for_all() -> None:
    rows: list[WeightedRow] = []
    for index, (scores, labels) in enumerate(random_rows(400, 100)):
        rows.append((scores, labels, 1.0 + index % 5 if labels else None))
    summary = corrected(rubric("a"), rows)
    human = [float(labels["a"][0] or 0) for _, labels, _ in rows[:100]]
    judge = [float(scores["a"]) for scores, _, _ in rows]  # type: ignore[arg-type]
    weights = [float(weight or 0) for _, _, weight in rows[:100]]
    found = figure(only(summary).mean)
    assert summary.weighted
    assert "all these rows" in summary.targets.items
    expected = weighted_corrected_mean(human, judge[:100], weights, judge[100:])
    assert found.population == expected.population.estimate
    assert found.items_interval == expected.items.interval
    assert found.judge.value == pytest.approx(sum(judge) / 400), "all rows"


def test_weights_that_do_not_fit_are_said() -> None:
    rng = random.Random(6)
    rows: list[WeightedRow] = []
    for index in range(600):
        judge = rng.randint(1, 5)
        rows.append(
            ({"a": judge}, {"a": (float(judge),)}, 1.0 + 5 * (judge > 3)) if index < 120 else ({"a": judge}, {}, None)
        )
    assert "weights_do_not_fit" in codes(only(corrected(rubric("a"), rows)).mean)


def test_labels_without_a_weight_beside_others_count_as_unlabelled() -> None:
    rows: list[WeightedRow] = [
        (s, labels, 2.0 if n < 30 else None) for n, (s, labels) in enumerate(random_rows(90, 40))
    ]
    found = only(corrected(rubric("a"), rows))
    assert (found.labelled, found.unlabelled, found.unweighted) == (30, 60, 10)
    assert codes(found) == ["unweighted_labels"]
    assert figure(found.mean).unlabelled == 60


@pytest.mark.parametrize("weight", [0.0, -1.0, float("nan"), float("inf")])
def test_a_weight_that_is_none_is_refused(weight: float) -> None:
    with pytest.raises(ValueError, match="positive and finite"):
        corrected(rubric("a"), [({"a": 3}, {"a": (3.0,)}, weight)])


def test_pairs_have_no_scores_to_correct() -> None:
    of = rubric("a", mode="pairwise")
    shape = plan(of)
    frame = Frame.of(of, shape)
    tally = CorrectedTally(frame)
    tally.add(reduce_item(frame, compare(shape, 0, Pair({"a": [1, 1]}))), {"a": (1.0,)})
    found = tally.result()
    assert (found.dimensions, found.overall) == ((), None)
    assert found.reason


SCORE: st.SearchStrategy[Score] = st.sampled_from([1, 2, 3, 4, 5, None, NA])
LABEL = st.sampled_from([1.0, 3.0, 4.5, 5.0, 9.0, None])
ROW = st.tuples(
    st.fixed_dictionaries({"a": SCORE, "b": SCORE}),
    st.dictionaries(st.sampled_from(["a", "b", "overall", "unknown"]), st.lists(LABEL, max_size=3), max_size=3),
    st.sampled_from([None, 1.0, 7.5]),
)


@settings(max_examples=60)
@given(st.lists(ROW, max_size=12), st.randoms(use_true_random=False))
def test_any_rows_give_a_summary_that_is_json_and_does_not_depend_on_their_order(
    rows: list[WeightedRow], rng: random.Random
) -> None:
    of = rubric("a", "b", gate={"overall": 3, "a": 4})
    found = corrected(of, rows)
    written = orjson.dumps(found)
    assert orjson.dumps(corrected(of, rng.sample(rows, len(rows)))) == written
    assert b"NaN" not in written
    for dimension in (*found.dimensions, overall(found)):
        parts = dimension.labelled, dimension.unlabelled, dimension.labelled_missing, dimension.unlabelled_missing
        assert sum(parts) + dimension.not_applicable == len(rows)
