"""How far judges agree, by hand; and that exchanging the responses of pairs mirrors it."""

from __future__ import annotations

from typing import Any

import orjson
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from agentanvil.aggregate import JudgeAgreement, JuryTerms, PanelSummary, Summariser, Summary
from agentanvil.plan import Plan
from agentanvil.rubric import Rubric, Scale
from agentanvil.stats import krippendorff_alpha
from agentanvil.verdict import JudgeError
from tests.fakes.graded import NA, Pair, Score, plan, rubric
from tests.fakes.records import rubric as any_rubric
from tests.fakes.seated import said, seated, told

SECOND, THIRD = "openai:two", "gemini:three"


def panel(of: Rubric, shape: Plan, *judges: list[Any]) -> PanelSummary:
    """What comes of each judge's scores, an item a place."""
    summariser = Summariser(of, shape, seed=7)
    for n, scores in enumerate(zip(*judges, strict=True)):
        summariser.add(said(shape, n, *[{"a": score} for score in scores]))
    return panel_of(summariser.finish())


def panel_of(summary: Summary) -> PanelSummary:
    assert summary.panel is not None
    return summary.panel


ONE: list[Score] = [5, 4, 2, 1, 3, 5, None, 4]
TWO: list[Score] = [4, 4, 1, 1, 3, 3, 2, NA]
THREE: list[Score] = [5, 4, 2, 2, 5, 1, 2, 4]


def numbers(column: list[Score]) -> list[float | None]:
    return [score if isinstance(score, int) else None for score in column]


def test_alpha_is_that_of_the_scores() -> None:
    found = panel(of := rubric("a"), seated(plan(of), SECOND, THIRD), ONE, TWO, THREE)
    dimension, overall = found.agreement
    ratings = [numbers(column) for column in (ONE, TWO, THREE)]
    assert (dimension.id, dimension.level, overall.id, overall.level) == ("a", "ordinal", "overall", "interval")
    assert dimension.alpha.n == 8
    assert dimension.alpha.value == krippendorff_alpha(ratings, "ordinal").value
    assert overall.alpha.value == pytest.approx(krippendorff_alpha(ratings, "interval").value)
    assert dimension.interval.low is not None
    assert dimension.interval.high is not None
    assert dimension.alpha.value is not None
    assert dimension.interval.low < dimension.alpha.value < dimension.interval.high
    assert dimension.mixed == 1, "the last item: two scored it, one found that it does not apply"


def test_two_judges_by_hand() -> None:
    (pair,) = panel(of := rubric("a"), seated(plan(of), SECOND), ONE, TWO).agreement[0].pairs
    # Both scored six items: equal on 4, 1 and 3, apart by −1, −1 and −2.
    assert (pair.exact.value, pair.exact.n) == (0.5, 6)
    assert pair.difference.value == pytest.approx(-4 / 6)
    assert pair.difference.n == 6
    assert (pair.first, pair.second) == ("compat:m@http://127.0.0.1:1/v1", SECOND)
    assert pair.interval.low is not None
    assert pair.exact_interval.low is not None


def test_an_item_counts_once_however_often_it_was_asked() -> None:
    of = rubric("a")
    shape = seated(plan(of, 3), SECOND)
    found = panel(of, shape, [[5, 5, 5], [1, 2, 3]], [[5, 5, 4], [3, None, 3]]).agreement[0]
    assert found.alpha.n == 2
    # (1 + 1 + 0)/3 and (0 + 1)/2; differences −1/3 and (2 + 0)/2.
    assert found.pairs[0].exact.value == pytest.approx((2 / 3 + 1 / 2) / 2)
    assert found.pairs[0].difference.value == pytest.approx((-1 / 3 + 1) / 2)


def test_the_items_on_which_they_lie_furthest_apart_are_named() -> None:
    found = panel(of := rubric("a"), seated(plan(of), SECOND, THIRD), ONE, TWO, THREE).agreement[0]
    assert [(item.id, item.range, list(item.scores.values())) for item in found.widest] == [
        ("item-5", 4, [5, 3, 1]),
        ("item-4", 2, [3, 3, 5]),
        ("item-0", 1, [5, 4, 5]),
    ]
    assert list(found.widest[0].scores)[1:] == [SECOND, THIRD]


@pytest.mark.parametrize(
    ("one", "two", "reason"),
    [
        pytest.param([None, None], [4, 5], "no item has scores of two judges", id="one-failed"),
        pytest.param([4, 4], [4, 4], "all scores are one and the same", id="one-score"),
        pytest.param([4, None], [None, 4], "no item has scores of two judges", id="never-both"),
    ],
)
def test_what_cannot_be_told_says_why(one: list[Score], two: list[Score], reason: str) -> None:
    of = rubric("a")
    summary = Summariser(of, shape := seated(plan(of), SECOND), seed=7)
    for n, scores in enumerate(zip(one, two, strict=True)):
        summary.add(said(shape, n, *[{"a": score} for score in scores]))
    found = summary.finish()
    agreement = panel_of(found).agreement[0]
    assert (agreement.alpha.value, agreement.alpha.reason) == (None, reason)
    assert agreement.interval.reason
    assert agreement.widest == ()
    assert not [note for note in found.notes if "agree too little" in note]


def test_a_run_of_no_rows_has_a_panel() -> None:
    of = rubric("a")
    found = panel_of(Summariser(of, seated(plan(of), SECOND), seed=7).finish())
    assert [judge.items for judge in found.judges] == [0, 0]
    assert found.agreement[0].alpha.n == 0


def test_a_long_scale_is_one_of_distances() -> None:
    of = any_rubric("a", scale=Scale(0, 100), id="test")
    found = panel(of, seated(plan(of), SECOND), [0, 50, 100, 20], [0, 55, 90, 20]).agreement[0]
    assert found.level == "interval"
    assert found.alpha.value == krippendorff_alpha([[0, 50, 100, 20], [0, 55, 90, 20]], "interval").value


@pytest.mark.parametrize(
    ("second", "says"),
    [
        pytest.param([1, 5, 2, 4, 3, 1] * 5, "the judges agree too little", id="little"),
        pytest.param([5, 4, 2, 1, 3, 3] * 2, "the judges may agree too little", id="perhaps"),
        pytest.param([5, 4, 2, 1, 3, 5] * 9, None, id="enough"),
    ],
)
def test_judges_that_disagree_are_pointed_out(second: list[Score], says: str | None) -> None:
    of = rubric("a")
    summariser = Summariser(of, shape := seated(plan(of), SECOND), seed=7)
    for n, score in enumerate(second):
        summariser.add(said(shape, n, {"a": [5, 4, 2, 1, 3, 5][n % 6]}, {"a": score}))
    notes = [note for note in summariser.finish().notes if "agree too little" in note]
    assert [f"{says} to conclude anything from a (" in note for note in notes] == ([True] if says else [])
    if says:
        assert "Krippendorff's alpha" in notes[0]
        assert "does not clear 0.667" in notes[0]


LEAD = st.sampled_from([-2, -1, 0, 1, 2, None, NA, JudgeError("refusal")])


@settings(max_examples=25, deadline=None, phases=[Phase.explicit, Phase.reuse, Phase.generate])
@given(
    leads=st.lists(st.lists(st.lists(LEAD, min_size=4, max_size=4), min_size=3, max_size=3), min_size=1, max_size=6),
    rule=st.sampled_from(["median", "mean", "min", "majority"]),
)
def test_exchanging_the_responses_mirrors_a_panel(leads: list[list[list[Score]]], rule: Any) -> None:
    of = rubric("a", "b", mode="pairwise")
    shape = seated(plan(of), SECOND, THIRD)
    found = []
    for turn in (False, True):
        summariser = Summariser(of, shape, seed=7, jury=JuryTerms.of(3, rule))
        for n, judges in enumerate(leads):
            pairs = [Pair({"a": scores[:2], "b": scores[2:]}, stated=("a", "tie")) for scores in judges]
            summariser.add(told(shape, n, *[pair.turned(swap=True) if turn else pair for pair in pairs]))
        found.append(summariser.finish())
    one, other = (panel_of(summary) for summary in found)
    for here, there in zip(one.agreement, other.agreement, strict=True):
        same(here, there)
    assert [judge.states for judge in one.judges] == [judge.states for judge in other.judges]
    first, second = (summary.pairwise for summary in found)
    assert first is not None
    assert second is not None
    assert (first.verdict.wins, first.verdict.losses) == (second.verdict.losses, second.verdict.wins)
    assert (first.stated.compared, first.stated.disagreements) == (second.stated.compared, second.stated.disagreements)


def same(here: JudgeAgreement, there: JudgeAgreement) -> None:
    assert here.level == "nominal"
    assert (here.alpha, here.interval, here.mixed) == (there.alpha, there.interval, there.mixed)
    assert [(wide.id, wide.range) for wide in here.widest] == [(wide.id, wide.range) for wide in there.widest]
    for one, other in zip(here.pairs, there.pairs, strict=True):
        assert (one.exact, one.exact_interval) == (other.exact, other.exact_interval)
        assert (one.difference.value or 0) == -(other.difference.value or 0)
        assert one.interval.low == (None if other.interval.high is None else -other.interval.high)


def test_a_panel_is_strict_json() -> None:
    found = panel(of := rubric("a"), seated(plan(of), SECOND), ONE, TWO)
    assert orjson.loads(orjson.dumps(found))["agreement"][0]["id"] == "a"
