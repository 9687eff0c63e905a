"""A second judge that is asked where the first was unsure: counts, costs, and an agreement without selection."""

from __future__ import annotations

from dataclasses import replace

import pytest

from agentanvil.aggregate import Escalation, PanelSummary, Summariser, Summary
from agentanvil.plan import Plan
from agentanvil.rubric import Rubric
from agentanvil.verdict import Because, Exchange, NotRun
from tests.fakes.graded import NA, Score, plan, rubric
from tests.fakes.seated import because, said, seated

SECOND = "openai:two"


def shape_of(of: Rubric, share: float = 0.0, repeats: int = 1) -> Plan:
    return seated(plan(of, repeats), SECOND, role="escalation", share=share)


def run(
    of: Rubric,
    shape: Plan,
    *rows: tuple[Score, Score | None, Because],
    prices: tuple[float | None, float | None] = (0.001, 0.1),
) -> Summary:
    """Each row: what the first said, what the second said (None: not asked), and why it was asked."""
    summariser = Summariser(of, shape, seed=7)
    for n, (one, two, reason) in enumerate(rows):
        row = said(shape, n, {"a": one}, {"a": two} if reason else None)
        first, second = (Exchange(input_tokens=10, output_tokens=5, cost=price) for price in prices)
        row = because(row, shape.judge, "", first)
        asked = () if isinstance(two, NotRun) else (second,)
        summariser.add(because(row, SECOND, reason, *asked))
    return summariser.finish()


def panel_of(summary: Summary) -> PanelSummary:
    assert summary.panel is not None
    return summary.panel


def escalation_of(summary: Summary) -> Escalation:
    found = panel_of(summary).escalation
    assert found is not None
    return found


ROWS: list[tuple[Score, Score | None, Because]] = [
    (4, None, ""),
    (4, 2, "unsure"),
    (4, 4, "unsure"),
    (3, NA, "unsure"),
    (None, 5, "missing"),
    (4, 1, "share"),
    (2, NotRun(), "unsure"),
    (2, None, ""),
]


def test_what_was_asked_and_what_it_changed() -> None:
    of = rubric("a", gate={"a": 3})
    found = escalation_of(run(of, shape_of(of), *ROWS))
    assert found.items == {"unsure": 3, "missing": 1, "share": 1}
    assert found.calls == found.items
    assert found.left_out == {"unsure": 1, "missing": 0, "share": 0}
    # Replaced: 2 for 4, 4 for 4, not applicable for 3, 5 for nothing.
    assert (found.replaced, found.changed, found.filled) == (4, 2, 1)
    # 4 passed and 2 does not; 3 passed and is not gated any more; nothing was undecided and 5 passes.
    assert found.decided_otherwise == 3


def test_what_it_cost_and_what_it_saved() -> None:
    of = rubric("a")
    summary = run(of, shape_of(of), *ROWS)
    found = escalation_of(summary)
    assert found.first_cost == pytest.approx(8 * 0.001)
    assert found.second_cost == pytest.approx(5 * 0.1)
    assert found.everything_cost == pytest.approx(8 * 0.1)
    assert found.saved == pytest.approx(3 * 0.1 - 8 * 0.001)
    assert summary.usage.cost == pytest.approx(8 * 0.001 + 5 * 0.1)
    first, second = panel_of(summary).judges
    assert (first.usage.exchanges, second.usage.exchanges, summary.usage.exchanges) == (8, 5, 13)
    assert (first.usage.input_tokens, second.usage.input_tokens) == (80, 50)
    assert (
        "1 call(s) that should have gone to the second judge were not made, so the first one's stand" in summary.notes
    )


@pytest.mark.parametrize(
    ("rows", "prices", "costs"),
    [
        pytest.param(ROWS, (0.001, None), (0.008, None, None, None), id="the-second-has-no-price"),
        pytest.param(ROWS, (None, 0.1), (None, 0.5, 0.8, None), id="the-first-has-no-price"),
        pytest.param([(4, None, "")], (0.001, 0.1), (0.001, 0.0, None, None), id="it-was-never-asked"),
    ],
)
def test_an_unknown_price_is_unknown(
    rows: list[tuple[Score, Score | None, Because]],
    prices: tuple[float | None, float | None],
    costs: tuple[float | None, ...],
) -> None:
    of = rubric("a")
    found = escalation_of(run(of, shape_of(of), *rows, prices=prices))
    told = (found.first_cost, found.second_cost, found.everything_cost, found.saved)
    for value, expected in zip(told, costs, strict=True):
        assert value == (None if expected is None else pytest.approx(expected))


def test_agreement_is_that_of_the_random_share_whatever_the_first_said_there() -> None:
    """Of items that are drawn those with an unsure verdict belong to the sample; of others none does."""
    of = rubric("a")
    shape = shape_of(of, share=0.5)
    drawn = [n for n in range(40) if shape.is_drawn(1, f"item-{n}")]
    assert 10 < len(drawn) < 30
    rows: list[tuple[Score, Score | None, Because]] = []
    for n in range(40):
        # The second judge differs on every item that the first is unsure of, a third of all.
        unsure = n % 3 == 0
        reason: Because = "unsure" if unsure else "share" if n in drawn else ""
        rows.append((2, 5 if unsure else 2, reason))
    summary = run(of, shape, *rows)
    panel = panel_of(summary)
    (pair,) = panel.agreement[0].pairs
    fair = [n for n in drawn if n % 3]
    assert panel.agreement_over == "random share"
    assert pair.exact.n == len(drawn)
    assert pair.exact.value == pytest.approx(len(fair) / len(drawn))
    assert escalation_of(summary).drawn == len(drawn)


def test_hand_grades_hold_the_second_judge_to_its_fair_share() -> None:
    of = rubric("a")
    shape = shape_of(of, share=0.5)
    summariser = Summariser(of, shape, seed=7)
    for n in range(20):
        row = said(shape, n, {"a": 4}, {"a": 5}, labels={"a": (4.0,)})
        summariser.add(because(row, SECOND, "unsure"))
    first, second = panel_of(summariser.finish()).judges
    drawn = sum(shape.is_drawn(1, f"item-{n}") for n in range(20))
    assert (first.labels["a"].labelled, second.labels["a"].labelled) == (20, drawn)


def test_calls_of_one_item_can_be_asked_for_different_reasons() -> None:
    of = rubric("a")
    shape = shape_of(of, repeats=3)
    row = said(shape, 0, {"a": [4, None, 4]}, {"a": [2, 3, 1]})
    reasons: tuple[Because, ...] = ("", "", "", "unsure", "missing", "share")
    outcomes = [replace(outcome, because=why) for outcome, why in zip(row.outcomes, reasons, strict=True)]
    summariser = Summariser(of, shape, seed=7)
    result = summariser.add(replace(row, outcomes=outcomes))
    found = escalation_of(summariser.finish())
    assert result.overall == pytest.approx((2 + 3 + 4) / 3)
    assert found.items == {"unsure": 0, "missing": 1, "share": 0}
    assert found.calls == {"unsure": 1, "missing": 1, "share": 1}


def test_a_dimension_without_a_second_verdict_stays_with_the_first() -> None:
    of = rubric("a", "b")
    shape = shape_of(of)
    row = because(said(shape, 0, {"a": 4, "b": 4}, {"a": 2, "b": None}), SECOND, "unsure")
    summariser = Summariser(of, shape, seed=7)
    result = summariser.add(row)
    found = escalation_of(summariser.finish())
    assert [dimension.score for dimension in result.dimensions] == [2, 4]
    assert (found.replaced, found.changed, found.filled) == (1, 1, 0)


def test_what_was_not_due_is_no_missing_verdict_of_the_second_judge() -> None:
    of = rubric("a")
    shape = shape_of(of, repeats=3)
    row = because(said(shape, 0, {"a": [4, 4, 4]}, {"a": [2, 2, 2]}), SECOND, "unsure")
    summariser = Summariser(of, shape, seed=7)
    summariser.add(replace(row, outcomes=row.outcomes[:-2]))
    first, second = panel_of(summariser.finish()).judges
    assert sum(first.states.values()) == 3
    assert (second.states["scored"], sum(second.states.values()), second.codes) == (1, 1, {})
