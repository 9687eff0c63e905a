"""Expected scores: beside the verdicts, and in their place where they are what is read."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentanvil.aggregate import ItemOutcomes, ItemResult, Reading, Summariser, Summary
from agentanvil.aggregate.as_read import NO_READING, as_expected, nearest
from agentanvil.aggregate.scores import ScoreTally
from agentanvil.rubric import Rubric
from agentanvil.verdict import JudgeError, Scored
from tests.fakes.graded import NA, Score, cell, columns, grade, grade_by, item, plan, rubric

ABSOLUTE = rubric("a")
GATED = rubric("a", gate={"a": 4, "overall": 3})
GATE = rubric("a", checks=["c"], mode="gate")


def said(score: float, expected: float | None, entropy: float = 0.5, mass: float = 0.9) -> Scored:
    """A verdict with its reading, without one where nothing is expected."""
    if expected is None:
        return Scored(score)
    return Scored(score, expected_score=expected, entropy=entropy, label_mass=mass)


def read(
    of: Rubric, rows: Sequence[ItemOutcomes], repeats: int = 1, reading: Reading = "expected"
) -> tuple[list[ItemResult], Summary]:
    return grade_by(Summariser(of, plan(of, repeats), seed=7, reading=reading), rows)


def test_expected_scores_are_the_items_scores() -> None:
    results, summary = read(ABSOLUTE, columns(ABSOLUTE, a=[said(4, 4.25), said(2, 1.5)]))
    assert [result.overall for result in results] == [4.25, 1.5]
    assert [result.dimensions[0].score for result in results] == [4.25, 1.5]
    assert (summary.reading, summary.overall.mean.value) == ("expected", 2.875)
    assert summary.dimensions[0].mean.value == 2.875
    assert summary.worst[0].score == 1.5
    assert results[0].outcomes[0].cells["a"] == said(4, 4.25), "what the judge said stays as it was"


def test_by_verdict_they_only_stand_beside() -> None:
    results, summary = grade(ABSOLUTE, columns(ABSOLUTE, a=[said(4, 4.25), said(2, 1.5)]))
    assert [result.overall for result in results] == [4, 2]
    assert summary.reading == "verdict"
    readings = summary.dimensions[0].readings
    assert readings is not None
    assert readings.expected_score.value == 2.875
    assert readings.score.value == 3


def test_the_readings_of_a_dimension_by_hand() -> None:
    rows: list[dict[str, list[Score]]] = [
        {"a": [said(4, 4.5, 0.2, 0.8), said(4, 3.5, 0.4, 0.6)]},  # expects 4, entropy 0.3, outside 0.3
        {"a": [said(2, 2.5, 0.9, 1.0), said(3, None)]},  # expects 2.5, entropy 0.9, outside 0
        {"a": [said(5, None), NA]},
    ]
    of = plan(ABSOLUTE, 2)
    _, summary = grade(ABSOLUTE, [item(of, i, row) for i, row in enumerate(rows)], 2)
    readings = summary.dimensions[0].readings
    assert readings is not None
    assert (readings.share.value, readings.share.n) == (3 / 5, 5)
    assert (readings.expected_score.value, readings.expected_score.n) == (3.25, 2)
    assert readings.score.value == 3
    assert readings.entropy.value == pytest.approx(0.6)
    assert readings.outside.value == pytest.approx(0.15)
    assert [(i.id, i.entropy, i.expected_score, i.score) for i in readings.uncertain] == [
        ("item-1", 0.9, 2.5, 2),
        ("item-0", pytest.approx(0.3), 4, 4),
    ]


def test_the_three_least_certain_items_are_named() -> None:
    entropies = [0.1, 0.7, 0.0, 0.7, 0.9, 0.2]
    rows = columns(ABSOLUTE, a=[said(3, 3.0, entropy) for entropy in entropies])
    for arrived in (rows, rows[::-1], [*rows[3:], *rows[:3]]):
        readings = grade(ABSOLUTE, arrived)[1].dimensions[0].readings
        assert readings is not None
        assert [found.id for found in readings.uncertain] == ["item-4", "item-1", "item-3"]


def test_without_probabilities_every_figure_is_undefined_with_a_reason() -> None:
    readings = grade(ABSOLUTE, columns(ABSOLUTE, a=[4, 2]))[1].dimensions[0].readings
    assert readings is not None
    assert (readings.share.value, readings.share.n) == (0, 2)
    for estimate in (readings.expected_score, readings.score, readings.entropy, readings.outside):
        assert (estimate.value, estimate.reason) == (None, "no verdict came with probabilities")
    assert readings.uncertain == ()


def test_a_check_has_no_readings() -> None:
    assert grade(GATE, columns(GATE, a=[1], c=[1]))[1].dimensions[1].readings is None


def test_a_verdict_without_a_reading_is_missing() -> None:
    results, summary = read(GATED, columns(GATED, a=[said(5, 4.5), said(5, None), NA]))
    assert [result.state for result in results] == ["scored", "judge_error", "not_applicable"]
    assert [result.passed for result in results] == [True, None, None]
    assert results[1].gap is not None
    assert results[1].gap.code == NO_READING
    assert summary.dimensions[0].codes == {"judge_error": {NO_READING: 1}}
    assert (summary.coverage.covered, summary.coverage.expected) == (2, 3)
    assert any(note.startswith("a: 1 verdict(s) came without probabilities") for note in summary.notes)


def test_a_score_that_stands_by_rule_is_certain() -> None:
    ruled = Scored(1.0, (), None, "r", ("no_evidence", "judge_said_5"))
    (result,), summary = read(GATED, columns(GATED, a=[ruled]))
    assert (result.overall, result.passed) == (1, False)
    assert summary.coverage.share == 1


def test_probabilities_beside_the_verdicts_on_offer_are_noted() -> None:
    _, summary = grade(ABSOLUTE, columns(ABSOLUTE, a=[said(4, 4.0, 0.1, 0.2)]))
    assert any(note.startswith("a: only 20% of the probability") for note in summary.notes)
    _, sound = grade(ABSOLUTE, columns(ABSOLUTE, a=[said(4, 4.0, 0.1, 0.6)]))
    assert sound.notes == ()


@pytest.mark.parametrize(
    ("expected", "passed"), [(4.0, True), (3.999, False), (3.9999999999999996, True), (4.2, True), (2.9, False)]
)
def test_thresholds_hold_what_is_expected(expected: float, passed: bool) -> None:
    (result,), _ = read(GATED, columns(GATED, a=[said(5, expected)]))
    assert result.passed is passed
    if not passed:
        assert result.shortfalls[0].text.endswith("is below 4")


@pytest.mark.parametrize(
    ("expected", "passed"), [([0.5], True), ([0.499], False), ([0.9, 0.2], True), ([0.9, 0.04], False)]
)
def test_a_gate_holds_from_a_probability_of_one_half_on(expected: list[float], passed: bool) -> None:
    cells = [said(round(p), p) for p in expected]
    repeats = len(cells)
    (result,), summary = read(GATE, columns(GATE, repeats, a=[cells], c=[1]), repeats)
    assert result.passed is passed
    (rate, certain) = (summary.dimensions[0].pass_rate, summary.dimensions[1].pass_rate)
    assert rate is not None
    assert certain is not None
    assert (rate.value, certain.value) == (float(passed), 1)
    assert summary.gate.verdict == ("pass" if passed else "fail")
    if not passed:
        assert result.shortfalls[0].text in ("a 0.499 is below 0.5", "a 0.47 is below 0.5")


def test_a_failed_check_fails_the_gate_in_either_reading() -> None:
    (result,), _ = read(GATE, columns(GATE, a=[said(1, 0.9)], c=[0]))
    assert result.passed is False


def test_distributions_count_at_the_nearest_verdict() -> None:
    rows = columns(ABSOLUTE, a=[said(4, 3.5), said(3, 3.49), said(5, 4.997), said(1, 1.0)])
    _, summary = read(ABSOLUTE, rows)
    counted = {"1": 1, "2": 0, "3": 1, "4": 1, "5": 1}
    assert summary.dimensions[0].distribution == counted
    assert summary.overall.distribution == counted
    _, passes = read(GATE, columns(GATE, a=[said(1, 0.497), said(1, 0.5)], c=[1, 1]))
    assert passes.dimensions[0].distribution == {"0": 1, "1": 1}


def test_repeats_straddle_anchors_by_their_nearest_verdicts() -> None:
    cells = [[said(4, 3.9), said(4, 4.1)], [said(3, 3.4), said(4, 3.6)]]
    _, summary = read(ABSOLUTE, columns(ABSOLUTE, 2, a=cells), 2)
    assert [(s.below, s.above, s.items) for s in summary.dimensions[0].straddled] == [(3, 5, 1)]


def test_labels_are_held_against_the_nearest_verdict() -> None:
    shape = plan(ABSOLUTE)
    pairs = [(4.4, 4), (4.6, 4), (2.2, 2)]
    rows = [item(shape, i, {"a": said(3, e)}, labels={"a": (label,)}) for i, (e, label) in enumerate(pairs)]
    _, summary = read(ABSOLUTE, rows)
    for agreement in (summary.dimensions[0].agreement, summary.overall.agreement):
        assert agreement is not None
        assert (agreement.exact.value, agreement.exact.n) == (2 / 3, 3)


PATTERNS = st.lists(st.lists(st.floats(1, 5), min_size=1, max_size=4).map(sorted), min_size=1, max_size=30)


@given(PATTERNS)
def test_sums_come_to_what_patterns_come_to(patterns: list[list[float]]) -> None:
    summed, counted = ScoreTally(continuous=True), ScoreTally()
    for pattern in patterns:
        for tally in (summed, counted):
            tally.add(statistics.fmean(pattern), tuple(pattern))
    for figure in ("mean", "repeat_sd", "unanimous", "modal_agreement"):
        one, other = getattr(summed, figure)(), getattr(counted, figure)()
        assert (one.value, one.n, one.reason) == (pytest.approx(other.value, abs=1e-9), other.n, other.reason)
    low = summed.interval(1).low
    assert low is None or math.isfinite(low)


def test_no_pattern_of_repeats_is_kept() -> None:
    tally = ScoreTally(continuous=True)
    for n in range(5000):
        tally.add(1 + n / 1250, (1 + n / 2000, 1 + n / 1000))
    assert len(tally.patterns()) == 1


@given(PATTERNS)
def test_the_order_of_items_does_not_matter(patterns: list[list[float]]) -> None:
    one, other = ScoreTally(continuous=True), ScoreTally(continuous=True)
    for forth, back in zip(patterns, reversed(patterns), strict=True):
        one.add(statistics.fmean(forth), tuple(forth))
        other.add(statistics.fmean(back), tuple(back))
    for figure in ("mean", "repeat_sd", "unanimous", "modal_agreement"):
        assert getattr(one, figure)() == getattr(other, figure)()


@given(st.floats(1, 5))
def test_the_nearest_verdict_is_within_one_half(score: float) -> None:
    assert abs(nearest(score) - score) <= 0.5


def test_other_cells_are_read_as_they_are() -> None:
    error = JudgeError("timeout")
    assert (as_expected(NA), as_expected(error)) == (NA, error)
    assert as_expected(cell(4)) == JudgeError(
        NO_READING, "the verdict came without the probabilities that the reading needs"
    )
