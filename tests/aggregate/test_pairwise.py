from __future__ import annotations

import math
import random
from dataclasses import replace

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentanvil.aggregate import PairResult, Pairwise, Summariser, Summary
from agentanvil.aggregate.pair_notes import pair_notes
from agentanvil.stats import Estimate, win_rate_interval
from agentanvil.verdict import NotRun
from tests.fakes.graded import NA, Pair, Score, compare, compared, grade_by, plan, rubric, shuffled

OF = rubric("a", mode="pairwise")
TWO = rubric("a", "b", mode="pairwise")
CHECKED = rubric("a", checks=["c"], mode="pairwise")
SCORE = st.sampled_from([-4, -1, 0, 1, 4, None, NA])
PREFERENCE = st.floats(0, 1)
LABEL = st.sampled_from([-1.0, 0.0, 1.0])


def pair_of(result: object) -> PairResult:
    pair = result.pair  # type: ignore[attr-defined]
    assert isinstance(pair, PairResult)
    return pair


def pairwise(summary: Summary) -> Pairwise:
    assert summary.pairwise is not None
    return summary.pairwise


@pytest.mark.parametrize(
    ("first", "second", "winner", "consistency"),
    [
        pytest.param(2, 1, "a", "consistent", id="O-E07-won-in-both-games"),
        pytest.param(-1, -3, "b", "consistent", id="lost-in-both-games"),
        pytest.param(0, 0, "tie", "consistent", id="tied-in-both-games"),
        pytest.param(0, 2, "a", "partial", id="O-E09-tie-and-win"),
        pytest.param(-2, 0, "b", "partial", id="O-E09-mirrored"),
        pytest.param(3, -1, "tie", "inconsistent", id="O-E08-a-flip-is-no-tie-of-the-judge"),
        pytest.param(-3, 1, "tie", "inconsistent", id="O-E08-mirrored"),
        pytest.param(3, None, None, None, id="a-missing-order-leaves-no-winner"),
        pytest.param(NA, NA, None, None, id="not-applicable"),
    ],
)
def test_two_orders_make_one_winner(first: Score, second: Score, winner: str | None, consistency: str | None) -> None:
    (result,), summary = compared(OF, Pair({"a": [first, second]}))
    pair = pair_of(result)
    assert (pair.winner, pair.consistency, pair.result) == (winner, consistency, winner)
    counts = pairwise(summary).agreement
    assert (counts.consistent, counts.partial, counts.inconsistent) == tuple(
        int(consistency == kind) for kind in ("consistent", "partial", "inconsistent")
    )
    assert pairwise(summary).verdict.missing == (winner is None)


def test_the_mean_of_both_orders_is_the_score() -> None:
    (result, lost), summary = compared(OF, Pair({"a": [3, -2]}), Pair({"a": [4, None]}))
    assert (result.state, result.overall, result.dimensions[0].score) == ("scored", 0.5, 0.5)
    assert (lost.state, lost.overall, lost.dimensions[0].state) == ("judge_error", None, "judge_error")
    assert lost.gap is not None
    dimension = summary.dimensions[0]
    assert (dimension.mean.value, dimension.mean.n) == (0.5, 1)
    assert dimension.states["scored"] == 3
    assert {score: n for score, n in dimension.distribution.items() if n} == {"-2": 1, "3": 1, "4": 1}
    assert list(dimension.distribution) == [str(value) for value in range(-4, 5)]
    assert summary.coverage.share == 0.75
    assert not dimension.straddled
    assert not summary.worst


@pytest.mark.parametrize(
    ("deltas", "weights", "overall"),
    [
        # Each side's worst defeat: -1 against -3 on the other side.
        pytest.param([3, -1], {}, 1, id="min-of-both-sides"),
        pytest.param([-3, 1], {}, -1, id="min-mirrored"),
        pytest.param([2, -2], {}, 0, id="equal-defeats-tie"),
        pytest.param([3, -1], {"a": 1, "b": 3}, 0, id="weighted"),
        pytest.param([3, NA], {}, 3, id="not-applicable-drops-out"),
        pytest.param([3, None], {"a": 1}, 3, id="no-weight-is-not-missed"),
    ],
)
def test_the_overall_follows_the_rule(deltas: list[Score], weights: dict[str, float], overall: float) -> None:
    of = rubric("a", "b", mode="pairwise", weights=weights)
    (result,), _ = compared(of, Pair({"a": [deltas[0]] * 2, "b": [deltas[1]] * 2}))
    assert result.overall == overall
    assert pair_of(result).winner == ("a" if overall > 0 else "b" if overall < 0 else "tie")


def test_repeats_are_averaged_in_points() -> None:
    # Repeats: a, tie (flip), b: points 1, ½, 0.
    (result,), summary = compared(OF, Pair({"a": [4, 4, 1, -1, -1, -1]}), repeats=3)
    assert pair_of(result).winner == "tie"
    assert pair_of(result).consistency == "inconsistent"
    assert [repeat.winner for repeat in pair_of(result).repeats] == ["a", "tie", "b"]
    found = pairwise(summary).agreement
    assert (found.consistent, found.inconsistent, found.flip_rate.value) == (2, 1, 1 / 3)
    assert (result.overall, result.repeat_overalls) == (1, (-1, 0, 4))
    (more,), _ = compared(OF, Pair({"a": [4, 4, 1, -1, None, -1]}), repeats=3)
    assert pair_of(more).winner == "a"
    assert more.dimensions[0].spread is not None
    assert more.dimensions[0].spread.scores == (0, 4)


def test_checks_count_in_every_call() -> None:
    (result,), summary = compared(CHECKED, Pair({"a": [1, 1], "c": [-4]}))
    assert (result.overall, pair_of(result).winner) == (-1.5, "b")
    assert summary.dimensions[1].pass_rate is None
    (only,), summary = compared(rubric(checks=["c"], mode="pairwise"), Pair({"c": [4]}))
    assert (pair_of(only).winner, pair_of(only).consistency) == ("a", "single")
    assert pairwise(summary).position.rate.value is None


def test_ties_are_half_a_win() -> None:
    pairs = [Pair({"a": [1, 1]}), Pair({"a": [-1, -1]}), *[Pair({"a": [0, 0]})] * 98]
    found = pairwise(compared(OF, *pairs)[1]).result
    assert (found.wins, found.ties, found.losses, found.rate.value, found.rate.n) == (1, 98, 1, 0.5, 100), "O-E05"
    assert found.interval == win_rate_interval(1, 98, 1)


def test_unjudged_items_are_no_ties() -> None:
    found = pairwise(compared(OF, *(Pair({"a": [d, d]}) for d in (2, -1, 0, None)))[1]).result
    assert (found.rate.value, found.rate.n, found.missing) == (0.5, 3, 1), "O-E06"


def test_an_empty_run_has_no_rates() -> None:
    found = pairwise(compared(OF)[1])
    assert found.result.rate.value is None
    assert found.agreement.flip_rate.value is None
    assert found.position.test.reason
    assert found.models is None
    assert found.labels is None


def test_preferences_are_combined_in_log_odds() -> None:
    # Odds 9 and 1/3: their geometric mean is √3.
    (result,), summary = compared(OF, Pair({"a": [1, -1]}, preferences=[0.9, 0.25]), reading="expected")
    pair = pair_of(result)
    assert pair.preference == pytest.approx(math.sqrt(3) / (1 + math.sqrt(3)))
    assert (pair.p_ab, pair.p_ba) == (pytest.approx(0.9), pytest.approx(0.25))
    assert (pair.winner, pair.expected, pair.result) == ("tie", "a", "a")
    found = pairwise(summary)
    assert (found.verdict.ties, found.expected.wins, found.result.wins) == (1, 1, 1)
    assert (found.preferences.cells, found.preferences.without) == (2, 0)
    assert found.preferences.label_mass.value == pytest.approx(0.9)


def test_dimensions_combine_by_the_same_rule_in_log_odds() -> None:
    shape = rubric("a", "b", mode="pairwise", weights={"a": 3, "b": 1})
    (result,), _ = compared(shape, Pair({"a": [1, 1], "b": [1, 1]}, preferences=[0.8, 0.8]))
    assert pair_of(result).preference == pytest.approx(0.8)
    (checked,), _ = compared(CHECKED, Pair({"a": [1, 1], "c": [-4]}, preferences=[0.8, 0.8]))
    assert pair_of(checked).preference == pytest.approx(0.8), "a check has no probability to combine"


@pytest.mark.parametrize("preferences", [[0.9, None], [None, None], ()])
def test_without_log_probabilities_the_expected_reading_misses_the_item(preferences: list[float | None]) -> None:
    (result,), summary = compared(OF, Pair({"a": [1, 1]}, preferences=preferences), reading="expected")
    assert (result.state, pair_of(result).result) == ("scored", None)
    found = pairwise(summary)
    assert (found.result.missing, found.verdict.wins, found.expected.rate.value) == (1, 1, None)
    assert any("log-probabilities" in note for note in summary.notes)


def test_certainty_in_one_order_does_not_drown_the_other() -> None:
    pairs = [Pair({"a": [1, -1]}, preferences=[1.0, 0.0]), Pair({"a": [1, 1]}, preferences=[1.0, 1e-300])]
    results, _ = compared(OF, *pairs)
    assert [pair_of(result).preference for result in results] == [0.5, 0.5]
    assert pair_of(results[0]).expected == "tie"


def test_the_judges_own_winner_is_held_against_the_computed_one() -> None:
    results, summary = compared(
        TWO,
        Pair({"a": [1, 1], "b": [1, 1]}, stated=["a", "a"]),
        Pair({"a": [1, 1], "b": [1, -1]}, stated=["b", "tie"]),
        Pair({"a": [1, 1], "b": [1, None]}, stated=[None, "a"]),
    )
    assert [pair_of(result).stated for result in results] == ["a", "b", None]
    found = pairwise(summary).stated
    assert (found.compared, found.disagreements, found.examples) == (4, 1, ("item-1",))


def test_a_judge_that_picks_the_first_place_is_found_out() -> None:
    # Ten items won by whoever stood first, two consistent ones, one tie.
    pairs = [*[Pair({"a": [2, -2]}, preferences=[0.9, 0.2])] * 10, Pair({"a": [1, 1]}), Pair({"a": [-1, -1]})]
    _, summary = compared(OF, *pairs, Pair({"a": [0, 0]}))
    position = pairwise(summary).position
    assert (position.first, position.second, position.tie) == (22, 2, 2)
    assert position.rate.value == 22 / 24
    assert (position.test.successes, position.test.n) == (10, 10)
    assert position.test.p_value == pytest.approx(2 / 1024)
    assert "sign test" in position.test.method
    assert pairwise(summary).shown_first == {"a": 13, "b": 13}
    (note,) = [note for note in summary.notes if "position" in note]
    assert note.startswith("the judge picked the first response in 91.7% of calls [")
    assert "(p = 0.002): single verdicts measure position; the combined preference" in note
    assert pairwise(summary).agreement.same_winner.value == 3 / 13
    assert pairwise(summary).agreement.examples == tuple(f"item-{n}" for n in range(5))


@pytest.mark.parametrize("partial", [[0, 1], [1, 0], [0, -1], [-1, 0]])
def test_only_flips_tell_of_the_place_where_both_orders_are_asked(partial: list[Score]) -> None:
    position = pairwise(compared(OF, Pair({"a": partial}), Pair({"a": [2, -1]}))[1]).position
    assert (position.test.successes, position.test.n) == (1, 1)


def test_one_order_a_call_is_tested_call_by_call() -> None:
    pairs = [Pair({"a": [1 if order == "ab" else -1]}, [order]) for order in ["ab", "ba"] * 3]
    _, summary = compared(OF, *pairs, Pair({"a": [0]}, ["ab"]), Pair({"a": [-1]}, ["ab"]), orders="random")
    position = pairwise(summary).position
    assert (position.first, position.second, position.tie) == (6, 1, 1)
    assert (position.test.successes, position.test.n) == (6, 7)
    assert position.test.p_value == pytest.approx(2 * 8 / 128)
    assert position.interval.method == "clopper-pearson"
    assert pairwise(summary).agreement.single == 8
    assert pairwise(summary).agreement.flip_rate.reason
    assert not [note for note in summary.notes if "position" in note]


def test_calls_of_one_item_are_no_independent_evidence() -> None:
    once = pairwise(compared(OF, *[Pair({"a": [2, -2]})] * 10)[1]).position
    thrice = pairwise(compared(OF, *[Pair({"a": [2, -2] * 3})] * 10, repeats=3)[1]).position
    assert (thrice.first, thrice.test, thrice.interval) == (60, once.test, once.interval)


def test_a_fixed_order_proves_nothing_about_the_place() -> None:
    _, summary = compared(OF, *[Pair({"a": [2]})] * 20, orders="fixed")
    found = pairwise(summary)
    assert (found.position.rate.value, found.position.test.p_value) == (1, None)
    assert found.position.test.reason
    assert any("always stood first" in note for note in summary.notes)
    assert found.shown_first == {"a": 20, "b": 0}


def test_labels_of_winners() -> None:
    def labelled(label: tuple[float, ...], deltas: list[Score], preferences: list[float | None]) -> Pair:
        return Pair({"a": deltas}, preferences=preferences, labels={"winner": label, "a": label})

    _, summary = compared(
        OF,
        labelled((1,), [1, -1], [0.9, 0.4]),  # one call of two right; a flip; the preference is right
        labelled((-1, 0), [-1, -1], [0.1, 0.1]),  # right for one of two raters
        labelled((1, 7), [0, None], [0.5, None]),  # half missing; 7 is no winner
        Pair({"a": [1, 1]}),  # unlabelled
    )
    labels = pairwise(summary).labels
    assert labels is not None
    assert labels.calls.labelled == labels.verdict.labelled == labels.expected.labelled == 3
    assert (labels.calls.exact.value, labels.calls.exact.n) == (pytest.approx((1 / 2 + 1 / 2 + 0) / 3), 3)
    assert (labels.verdict.exact.value, labels.verdict.exact.n) == (pytest.approx((0 + 1 / 2) / 2), 2)
    assert (labels.expected.exact.value, labels.expected.exact.n) == (pytest.approx((1 + 1 / 2) / 2), 2)
    assert labels.verdict.kappa_weights == "none"
    assert labels.calls.off_scale == 1
    assert summary.overall.agreement == labels.verdict
    assert summary.dimensions[0].agreement is not None
    assert summary.dimensions[0].agreement.exact.n == 2


def test_llmbars_accuracy_and_agreement_by_hand() -> None:
    # Correct in both orders, in one of them, in none: accuracy (2 + 1 + 0) / 6, positional agreement 2 / 3.
    pairs = [Pair({"a": deltas}, labels={"winner": (1,)}) for deltas in ([4, 4], [4, -4], [-4, -4])]
    found = pairwise(compared(OF, *pairs)[1])
    assert found.labels is not None
    assert found.labels.calls.exact.value == 0.5
    assert found.agreement.same_winner.value == pytest.approx(2 / 3)


def test_a_gate_is_not_applied_to_a_comparison() -> None:
    of = replace(OF, gate={"overall": 4, "a": 3})
    (result,), summary = compared(of, Pair({"a": [-4, -4]}))
    assert (result.passed, summary.gate.verdict, summary.gate.thresholds) == (None, "none", {})
    assert any("gate is not applied" in note for note in summary.notes)


@given(st.lists(st.tuples(SCORE, SCORE, PREFERENCE, PREFERENCE, LABEL), min_size=1, max_size=8), st.randoms())
def test_a_summary_ignores_arrival_order(
    found: list[tuple[Score, Score, float, float, float]], chance: random.Random
) -> None:
    shape = plan(OF)
    rows = [
        compare(shape, i, Pair({"a": [one, two]}, preferences=[p, q], labels={"winner": (label,)}, models=("x", "y")))
        for i, (one, two, p, q, label) in enumerate(found)
    ]
    other = [shuffled(row, chance.randrange(9)) for row in rows]
    chance.shuffle(other)
    summaries = [grade_by(Summariser(OF, shape, seed=2), order)[1] for order in (rows, other)]
    assert summaries[0] == summaries[1]
    assert b"NaN" not in orjson.dumps(summaries[0])


def test_rows_that_were_never_run_are_missing() -> None:
    (result,), summary = compared(OF, Pair({"a": [NotRun()]}, ["-"]), orders="random")
    assert (result.state, pair_of(result).result) == ("not_run", None)
    assert pairwise(summary).position.first == 0
    assert b"NaN" not in orjson.dumps(summary)


@pytest.mark.parametrize(("mass", "told"), [(0.5, False), (0.49, True), (None, False)])
def test_probabilities_that_lie_beside_the_answers_are_told(mass: float | None, told: bool) -> None:
    found = pairwise(compared(OF, Pair({"a": [1, 1]}, preferences=[0.8, 0.8]))[1])
    measured = replace(found.preferences, label_mass=Estimate(mass, 2))
    notes = pair_notes(replace(found, preferences=measured), gated=False)
    assert any("mean little" in note for note in notes) is told
