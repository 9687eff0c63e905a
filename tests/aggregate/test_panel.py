"""Several judges → one result an item: juries, cross judges, and judges that are escalated to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import orjson
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from agentanvil.aggregate import ItemOutcomes, ItemResult, JuryTerms, Reading, Summariser, Summary
from agentanvil.plan import Plan
from agentanvil.rubric import Rubric
from agentanvil.verdict import Exchange, JudgeError, NotRun, Scored
from tests.fakes.graded import NA, Pair, Score, plan, rubric, shuffled
from tests.fakes.seated import because, said, seated, told

SCORE = st.sampled_from([1, 2, 3, 4, 5, None, NA])
FIRST, SECOND, THIRD = "compat:m@http://127.0.0.1:1/v1", "openai:two", "gemini:three"


def run(
    of: Rubric,
    shape: Plan,
    *rows: ItemOutcomes,
    jury: JuryTerms | None = None,
    reading: Reading = "verdict",
) -> tuple[list[ItemResult], Summary]:
    summariser = Summariser(of, shape, seed=7, jury=jury, reading=reading)
    results = [summariser.add(row) for row in rows]
    return results, summariser.finish()


def data(summary: Summary, *without: str) -> dict[str, Any]:
    found: dict[str, Any] = orjson.loads(orjson.dumps(summary))
    for name in ("notes", "panel", "usage", *without):
        found.pop(name)
    # Every judge's readings are in it, whoever decides.
    for scores in (found["overall"], *found["dimensions"]):
        scores.pop("variance")
    return found


def test_a_jury_decides_each_dimension_of_each_call() -> None:
    of = rubric("a", "b", checks=["c"], gate={"overall": 3})
    shape = seated(plan(of, 2), SECOND, THIRD)
    row = said(
        shape,
        0,
        {"a": [5, 4], "b": [2, 3]},
        {"a": [3, 4], "b": [4, None]},
        {"a": [1, 5], "b": [5, 4]},
        checks={"c": 5},
    )
    (result,), summary = run(of, shape, row)
    assert {d.id: d.spread and d.spread.scores for d in result.dimensions} == {"a": (3, 4), "b": (3.5, 4), "c": (5,)}
    assert (result.overall, result.passed) == (3.5, True)
    assert summary.dimensions[1].distribution == {"1": 0, "2": 0, "3": 0, "4": 2, "5": 0}, "halfway counts as higher"
    assert [len(seat) for seat in result.others] == [3, 3]
    assert summary.coverage.share == 1
    assert summary.panel is not None
    assert (summary.panel.role, summary.panel.rule, summary.panel.quorum) == ("jury", "median", 2)
    assert [judge.judge for judge in summary.panel.judges] == [FIRST, SECOND, THIRD]


def test_a_judge_that_fails_everywhere_is_seen_although_nothing_is_missing() -> None:
    of = rubric("a")
    shape = seated(plan(of), SECOND, THIRD)
    rows = [said(shape, n, {"a": 4}, {"a": 3}, {"a": JudgeError("refusal", "no")}) for n in range(4)]
    results, summary = run(of, shape, *rows)
    assert [result.overall for result in results] == [3.5] * 4
    assert summary.coverage.share == 1
    assert summary.panel is not None
    third = summary.panel.judges[2]
    assert (third.states["scored"], third.states["judge_error"]) == (0, 4)
    assert third.codes == {"judge_error": {"refusal": 4}}
    assert f"{THIRD} brought no verdict at all on 4 item(s)" in summary.notes
    assert summary.panel.agreement[0].pairs[1].exact.value is None


def test_a_jury_without_quorum_is_missing() -> None:
    of = rubric("a", gate={"a": 3})
    shape = seated(plan(of), SECOND, THIRD)
    (result,), summary = run(of, shape, said(shape, 0, {"a": 4}, {"a": None}, {"a": None}))
    assert (result.overall, result.passed, result.gap and result.gap.code) == (None, None, "quorum")
    assert summary.coverage.share == 0
    assert summary.dimensions[0].codes == {"judge_error": {"quorum": 1}}
    (result,), _ = run(of, shape, said(shape, 0, {"a": 4}, {"a": None}, {"a": None}), jury=JuryTerms("median", 1))
    assert (result.overall, result.passed) == (4, True)


def test_a_split_gate_is_undecided() -> None:
    of = rubric("a", mode="gate")
    shape = seated(plan(of), SECOND)
    (result,), summary = run(of, shape, said(shape, 0, {"a": 1}, {"a": 0}))
    assert (result.passed, result.gap and result.gap.code) == (None, "no_majority")
    assert summary.gate.verdict == "undecided"


def test_a_jury_is_held_against_hand_grades_and_so_is_each_judge() -> None:
    of = rubric("a")
    shape = seated(plan(of), SECOND)
    scores = [(5, 4), (4, 4), (2, 1), (1, 3), (3, 3), (5, 5)]
    rows = [said(shape, n, {"a": one}, {"a": two}, labels={"a": (float(one),)}) for n, (one, two) in enumerate(scores)]
    _, summary = run(of, shape, *rows)
    assert summary.panel is not None
    first, second = summary.panel.judges
    assert (first.labels["a"].exact.value, second.labels["a"].exact.value) == (1, 0.5)
    # 4.5, 4, 1.5, 2, 3, 5 count as 5, 4, 2, 2, 3, 5.
    agreement = summary.dimensions[0].agreement
    assert agreement is not None
    assert agreement.exact.value == 5 / 6


def test_both_ways_of_asking_are_compared_within_the_first_judge() -> None:
    of = rubric("a", "b")
    shape = seated(plan(of, ways="both"), SECOND)
    row = said(shape, 0, {"a": 5, "b": 4}, {"a": 1, "b": 2})
    (result,), summary = run(of, shape, row)
    assert result.overall == 3
    assert [(ways.joint.value, ways.split.value) for ways in summary.call_ways] == [(5, 5), (4, 4)]


def test_a_cross_judge_decides_nothing() -> None:
    of = rubric("a", gate={"a": 3})
    shape = seated(plan(of), SECOND, role="cross", share=0.5)
    rows = [said(shape, n, {"a": 4}, {"a": 1} if n % 2 else None) for n in range(6)]
    results, summary = run(of, shape, *rows)
    alone, single = run(of, shape.first, *[said(shape.first, n, {"a": 4}) for n in range(6)])
    assert data(summary) == data(single)
    assert [result.overall for result in results] == [result.overall for result in alone]
    panel = summary.panel
    assert panel is not None
    assert (panel.role, panel.rule, panel.quorum, panel.agreement_over) == ("cross", None, None, "every item")
    assert [(judge.role, judge.share, judge.items) for judge in panel.judges] == [("first", None, 6), ("cross", 0.5, 3)]
    (pair,) = panel.agreement[0].pairs
    assert (pair.exact.value, pair.exact.n, pair.difference.value) == (0, 3, -3)


@pytest.mark.parametrize(
    ("reason", "first", "second", "overall"),
    [
        pytest.param("unsure", 4, 2, 2, id="unsure"),
        pytest.param("missing", None, 2, 2, id="missing"),
        pytest.param("share", 4, 2, 4, id="the-random-share-decides-nothing"),
        pytest.param("unsure", 4, None, 4, id="the-second-brought-nothing"),
        pytest.param("unsure", 4, NotRun(), 4, id="the-second-was-not-asked"),
        pytest.param("unsure", 4, NA, None, id="not-applicable-is-a-verdict"),
        pytest.param("missing", None, None, None, id="nobody"),
    ],
)
def test_who_decides_where_a_second_judge_was_due(
    reason: Any, first: Score, second: Score, overall: float | None
) -> None:
    of = rubric("a")
    shape = seated(plan(of), SECOND, role="escalation")
    row = because(said(shape, 0, {"a": first}, {"a": second}), SECOND, reason)
    (result,), _ = run(of, shape, row)
    assert result.overall == overall


def test_a_second_judge_decides_a_pair_in_both_orders_or_not_at_all() -> None:
    of = rubric("a", mode="pairwise")
    shape = seated(plan(of), SECOND, role="escalation")
    for second, winner in (([-1, -2], "b"), ([-4, None], "a")):
        row = told(shape, 0, Pair({"a": [1, 2]}), Pair({"a": second}))
        (result,), _ = run(of, shape, because(row, SECOND, "unsure"))
        assert result.pair is not None
        assert result.pair.winner == winner


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(lambda row: row.outcomes[1:], id="the-first-lacks"),
        pytest.param(lambda row: row.outcomes[:-1], id="a-juror-lacks"),
        pytest.param(lambda row: [*row.outcomes, row.outcomes[-1]], id="twice"),
        pytest.param(lambda row: [*row.outcomes, replace(row.outcomes[-1], call="other")], id="no-such-call"),
    ],
)
def test_outcomes_that_are_not_the_plans_are_refused(change: Any) -> None:
    of = rubric("a")
    shape = seated(plan(of), SECOND)
    row = said(shape, 0, {"a": 4}, {"a": 4})
    with pytest.raises(ValueError, match="item-0"):
        run(of, shape, replace(row, outcomes=change(row)))


ROWS = st.lists(st.lists(st.lists(SCORE, min_size=4, max_size=4), min_size=3, max_size=3), min_size=1, max_size=6)


def rows_of(shape: Plan, scores: list[list[list[Score]]], order: tuple[int, ...] = (0, 1, 2)) -> list[ItemOutcomes]:
    return [
        said(shape, n, *[{"a": judges[seat][:2], "b": judges[seat][2:]} for seat in order])
        for n, judges in enumerate(scores)
    ]


def numbers(panel: Mapping[str, Any]) -> Any:
    """What a panel found, whoever sat where."""
    agreement = [
        {key: found[key] for key in ("id", "level", "alpha", "interval", "mixed")} for found in panel["agreement"]
    ]
    widths = [[(wide["id"], wide["range"]) for wide in found["widest"]] for found in panel["agreement"]]
    judges = {judge["judge"]: judge["states"] for judge in panel["judges"]}
    return agreement, widths, judges


@settings(max_examples=25, deadline=None, phases=[Phase.explicit, Phase.reuse, Phase.generate])
@given(scores=ROWS, seed=st.integers(0, 99), rule=st.sampled_from(["median", "mean", "min", "majority"]))
def test_seats_and_arrival_order_do_not_matter(scores: list[list[list[Score]]], seed: int, rule: Any) -> None:
    of = rubric("a", "b")
    shape = seated(plan(of, 2), SECOND, THIRD)
    turned = replace(seated(plan(of, 2), THIRD, FIRST), judge=SECOND)
    terms = JuryTerms.of(3, rule)
    _, one = run(of, shape, *rows_of(shape, scores), jury=terms)
    _, two = run(of, shape, *[shuffled(row, seed) for row in rows_of(shape, scores)], jury=terms)
    assert orjson.dumps(one) == orjson.dumps(two)
    _, three = run(of, turned, *rows_of(turned, scores, (1, 2, 0)), jury=terms)
    # Examples show the words of one judge, and failures name the judges in their order.
    assert data(one, "judge", "worst", "missing") == data(three, "judge", "worst", "missing")
    first, second = (orjson.loads(orjson.dumps(summary.panel)) for summary in (one, three))
    assert numbers(first) == numbers(second)


@settings(max_examples=25, deadline=None, phases=[Phase.explicit, Phase.reuse, Phase.generate])
@given(scores=ROWS, rule=st.sampled_from(["median", "mean", "min", "majority"]))
def test_judges_who_say_the_same_are_one_judge(scores: list[list[list[Score]]], rule: Any) -> None:
    of = rubric("a", "b", gate={"overall": 3})
    shape = seated(plan(of, 2), SECOND, THIRD)
    same = [[judges[0]] * 3 for judges in scores]
    results, jury = run(of, shape, *rows_of(shape, same), jury=JuryTerms.of(3, rule))
    alone = [said(shape.first, n, {"a": j[0][:2], "b": j[0][2:]}) for n, j in enumerate(scores)]
    singles, single = run(of, shape.first, *alone)
    # A missing verdict is told in other words, and under another code.
    for summary, other in ((data(jury, "missing"), data(single, "missing")),):
        for dimension in (*summary["dimensions"], *other["dimensions"]):
            dimension.pop("codes")
        assert summary == other
    assert [(r.overall, r.passed, r.state) for r in results] == [(r.overall, r.passed, r.state) for r in singles]
    assert jury.panel is not None
    assert all(found.alpha.value in (None, 1) for found in jury.panel.agreement)


def test_the_reading_of_a_jury_is_the_expected_score_of_its_judges() -> None:
    of = rubric("a")
    shape = seated(plan(of), SECOND)
    row = said(shape, 0, {"a": Scored(4, expected_score=3.5)}, {"a": Scored(3, expected_score=3.25)})
    (result,), summary = run(of, shape, row, reading="expected")
    assert result.overall == 3.375
    assert summary.panel is not None
    assert summary.panel.agreement[0].pairs[0].difference.value == -1, "of the verdicts"
    assert summary.panel.agreement[1].pairs[0].difference.value == -0.25, "of what is read"


def test_in_a_gate_judges_agree_on_what_holds_in_all_repeats() -> None:
    of = rubric("a", "b", mode="gate")
    shape = seated(plan(of, 2), SECOND)
    holds, wavers = {"a": [1, 1], "b": [1, 1]}, {"a": [1, 0], "b": [1, 1]}
    rows = [said(shape, 0, holds, holds), said(shape, 1, wavers, holds), said(shape, 2, wavers, wavers)]
    _, summary = run(of, shape, *rows)
    assert summary.panel is not None
    first, _, overall = summary.panel.agreement
    assert first.level == "nominal"
    assert first.pairs[0].exact.value == pytest.approx((1 + 0.5 + 1) / 3)
    assert (overall.level, overall.pairs[0].exact.value) == ("nominal", 2 / 3)


def test_a_pair_that_was_put_to_the_second_judge_in_one_order_stays_with_the_first() -> None:
    of = rubric("a", mode="pairwise")
    shape = seated(plan(of), SECOND, role="escalation")
    row = because(told(shape, 0, Pair({"a": [1, 2]}), Pair({"a": [-1, -2]})), SECOND, "unsure")
    (result,), _ = run(of, shape, replace(row, outcomes=row.outcomes[:-1]))
    assert result.pair is not None
    assert result.pair.winner == "a"


def test_what_a_jury_took_stays_with_its_judges() -> None:
    of = rubric("a")
    shape = seated(plan(of), SECOND)
    took = Exchange(input_tokens=10, output_tokens=1, cost=0.5)
    row = said(shape, 0, {"a": 4}, {"a": 4}, exchanges=(took,))
    (result,), summary = run(of, shape, row)
    assert [outcome.exchanges for outcome in result.outcomes] == [()]
    assert [outcome.exchanges for outcome in result.asked] == [(took,), (took,)]
    assert (summary.usage.exchanges, summary.usage.cost) == (2, 1.0)


def test_leads_halfway_count_away_from_the_tie_for_both_sides() -> None:
    of = rubric("a", mode="pairwise")
    shape = seated(plan(of), SECOND)
    rows = [told(shape, n, Pair({"a": [lead, lead]}), Pair({"a": [0, 0]})) for n, lead in enumerate((1, -1))]
    _, summary = run(of, shape, *rows)
    counts = summary.dimensions[0].distribution
    assert (counts["1"], counts["-1"], counts["0"]) == (2, 2, 0)
