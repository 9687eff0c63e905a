from __future__ import annotations

import math
import random

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentanvil.aggregate import Summariser
from agentanvil.verdict import Exchange, JudgeError, NotRun, Outcome, Scored
from tests.fakes.graded import ERROR, NA, Score, cell, columns, grade, item, plan, rubric, shuffled

CELL = st.sampled_from([1, 2, 3, 4, 5, None, NA])
QUOTE = ("a quote",)


@pytest.mark.parametrize(
    ("scores", "mean", "n", "errors"),
    [
        pytest.param([5, None, 3], 4.0, 2, 1, id="O-E01-an-error-is-no-number"),
        pytest.param([5] * 5 + [None] * 5, 5.0, 5, 5, id="O-E03-crashes-show"),
        pytest.param([None, 2, 5], 3.5, 2, 1, id="O-E04-failure-on-the-first-row"),
        pytest.param([None, None], None, 0, 2, id="all-missing"),
        pytest.param([NA, 3], 3.0, 1, 0, id="abstained-is-counted-apart"),
    ],
)
def test_every_mean_carries_n_and_what_is_missing(scores: list[Score], mean: float | None, n: int, errors: int) -> None:
    of = rubric("a")
    _, summary = grade(of, columns(of, a=scores))
    for part in (summary.dimensions[0], summary.overall):
        assert (part.mean.value, part.mean.n) == (mean, n)
        assert part.states["judge_error"] == errors
        assert sum(part.states.values()) == len(scores)
    assert summary.dimensions[0].codes == ({"judge_error": {"timeout": errors}} if errors else {})
    if mean is None:
        assert summary.dimensions[0].mean.reason
        assert summary.dimensions[0].interval.reason


def test_missing_rows_do_not_raise_the_pass_rate_unseen() -> None:
    of = rubric("a", gate={"a": 4})
    _, summary = grade(of, columns(of, a=[5] * 80 + [1] * 10 + [None] * 10))
    gate = summary.gate
    assert (gate.passed, gate.failed, gate.undecided) == (80, 10, 10), "O-E02"
    assert gate.pass_rate.value == 80 / 90
    assert (gate.lower_bound, gate.upper_bound) == (0.8, 0.9)
    assert summary.coverage.share == 0.9
    assert gate.verdict == "fail"


@pytest.mark.parametrize(
    ("scores", "gate", "verdict"),
    [
        pytest.param([5, 5, 3], {"a": 4}, "fail", id="O-E15-one-item-fails-the-run"),
        pytest.param([5, 5, 4], {"a": 4}, "pass", id="every-item-passes"),
        pytest.param([5, None], {"a": 4}, "undecided", id="missing"),
        pytest.param([1, None], {"a": 4}, "fail", id="more-verdicts-cannot-mend-it"),
        pytest.param([NA, 5], {"a": 4}, "pass", id="not-applicable-is-left-out"),
        pytest.param([NA, NA], {"a": 4}, "undecided", id="nothing-to-gate-passes-nothing"),
        pytest.param([1], {}, "none", id="no-gate"),
        pytest.param([1], {"a": 0}, "pass", id="O-E14-threshold-zero-is-a-gate"),
    ],
)
def test_one_rule_decides_the_run(scores: list[Score], gate: dict[str, float], verdict: str) -> None:
    of = rubric("a", gate=gate)
    results, summary = grade(of, columns(of, a=scores))
    assert summary.gate.verdict == verdict
    assert summary.gate.rule == "every_item"
    assert summary.gate.failed == sum(result.passed is False for result in results)
    assert summary.gate.passed == sum(result.passed is True for result in results)


def test_an_empty_run_has_no_mean_and_passes_nothing() -> None:
    _, summary = grade(rubric("a", gate={"a": 4}), [])
    assert summary.overall.mean.value is None
    assert summary.coverage.share is None
    assert summary.gate.verdict == "undecided"


def test_a_check_has_a_pass_rate() -> None:
    of = rubric("a", checks=["c"])
    _, summary = grade(of, columns(of, a=[5, 5, 5], c=[5, 1, 5]))
    check = summary.dimensions[1]
    assert check.kind == "check"
    assert check.pass_rate is not None
    assert (check.pass_rate.value, check.pass_rate.n) == (2 / 3, 3), "O-E17"
    assert check.pass_interval is not None
    assert check.pass_interval.method == "wilson"
    assert summary.dimensions[0].pass_rate is None


def test_repeats_by_hand() -> None:
    # Within squares: [5,3,4] 2 with 2 degrees, [4,4,4] 0 with 2, [5,4,-] 0.5 with 1: sqrt(2.5 / 5).
    of = rubric("a")
    _, summary = grade(of, columns(of, 3, a=[[5, 3, 4], [4, 4, 4], [5, None, 4], [None, 2, None]]), 3)
    found = summary.dimensions[0]
    assert found.repeat_sd.value == pytest.approx(math.sqrt(0.5))
    assert found.repeat_sd.n == 3
    assert found.unanimous.value == pytest.approx(1 / 3)
    assert found.modal_agreement.value == pytest.approx((1 / 3 + 1 + 1 / 2) / 3)
    assert found.mean.value == pytest.approx((4 + 4 + 4.5 + 2) / 4)
    assert found.distribution == {"1": 0, "2": 1, "3": 1, "4": 5, "5": 2}
    assert [(s.below, s.above, s.items, s.examples) for s in found.straddled] == [(3, 5, 2, ("item-0", "item-2"))]


def test_a_mean_can_be_recomputed_from_the_rows() -> None:
    of = rubric("a", "b")
    rows = columns(of, 2, a=[[5, 4], [2, None], [None, None]], b=[[3, 3], [1, 2], [4, 5]])
    results, summary = grade(of, rows, 2)
    for place, dimension in enumerate(summary.dimensions):
        scores = [r.dimensions[place].score for r in results]
        present = [s for s in scores if s is not None]
        assert dimension.mean.n == len(present), "O-E19"
        assert dimension.mean.value == pytest.approx(sum(present) / len(present))


def test_straddled_anchors_name_the_two_earliest_items() -> None:
    of = rubric("a")
    _, summary = grade(of, columns(of, 2, a=[[4, 4], [1, 5], [2, 3], [5, 4], [1, 2]]), 2)
    table = {(s.below, s.above): (s.items, s.examples) for s in summary.dimensions[0].straddled}
    assert table == {(1, 3): (3, ("item-1", "item-2")), (3, 5): (2, ("item-1", "item-3"))}


def test_the_items_that_repeats_disagree_on_most() -> None:
    of = rubric("a")
    _, summary = grade(of, columns(of, 2, a=[[4, 4], [4, 5], [5, 1], [3, 2], [2, 4], [1, 5], [3, None]]), 2)
    widest = summary.dimensions[0].widest
    assert [(w.id, w.scores, w.population_sd, w.range) for w in widest] == [
        ("item-2", (1, 5), 2, 4),
        ("item-5", (1, 5), 2, 4),
        ("item-4", (2, 4), 1, 2),
    ]
    assert widest[0].straddles == ((1, 3), (3, 5))
    assert widest[0].sample_sd == pytest.approx(math.sqrt(8))
    assert widest[0].modal_agreement == 0.5


def test_a_deterministic_judge_is_called_so() -> None:
    of = rubric("a", "b")
    _, same = grade(of, columns(of, 2, a=[[4, 4], [2, 2]], b=[[1, 1], [5, 5]]), 2)
    assert any("deterministic" in note for note in same.notes)
    _, differs = grade(of, columns(of, 2, a=[[4, 4], [2, 2]], b=[[1, 1], [5, 4]]), 2)
    assert not differs.notes
    _, once = grade(of, columns(of, a=[4, 2], b=[1, 5]))
    assert not once.notes


def test_a_dimension_that_does_not_know_when_it_applies_is_noted() -> None:
    of = rubric("a")
    _, summary = grade(of, columns(of, 2, a=[[4, NA], [5, 4]]), 2)
    assert summary.dimensions[0].mixed == 1
    assert any("not applicable" in note for note in summary.notes)


def test_a_gate_that_applies_to_nothing_is_noted() -> None:
    of = rubric("a", gate={"a": 4})
    _, nothing = grade(of, columns(of, a=[NA, NA]))
    assert nothing.gate.verdict == "undecided"
    assert any("decided nothing" in note for note in nothing.notes)
    for scores in ([NA, 5], [NA, None], [5, 5]):
        _, something = grade(of, columns(of, a=scores))
        assert not any("decided nothing" in note for note in something.notes)


def test_the_callers_notes_stand_first() -> None:
    of = rubric("a")
    summariser = Summariser(of, plan(of), seed=1)
    assert summariser.finish(["stopped by --max-calls"]).notes == ("stopped by --max-calls",)


def test_overalls_between_two_scores_count_as_the_lower_one() -> None:
    of = rubric("a")
    _, summary = grade(of, columns(of, 2, a=[[3, 4], [5, 4], [5, 5]]), 2)
    assert summary.overall.distribution == {"1": 0, "2": 0, "3": 1, "4": 1, "5": 1}


def test_evidence_and_flags_are_counted() -> None:
    of = rubric("a")
    cells = [
        Scored(5, QUOTE, True),
        Scored(4, QUOTE, False, flags=("reasked",)),
        Scored(1, (), None, flags=("no_evidence", "reasked")),
    ]
    _, summary = grade(of, columns(of, a=cells))
    found = summary.dimensions[0]
    assert (found.evidence_found.value, found.evidence_found.n) == (0.5, 2)
    assert found.no_evidence == 1
    assert found.flags == {"no_evidence": 1, "reasked": 2}


def test_flags_of_rows_are_counted_by_item() -> None:
    of = rubric("a")
    shape = plan(of, 2)
    row = item(shape, 0, {"a": [5, 5]})
    flagged = [
        Outcome(
            o.task_id, o.row, o.item_id, o.call, o.repeat, o.order, o.judge, o.cells, flags=("surrogates_replaced",)
        )
        for o in row.outcomes
    ]
    summariser = Summariser(of, shape, seed=1)
    summariser.add(type(row)(0, "item-0", flagged))
    assert summariser.finish().flags == {"surrogates_replaced": 1}


def test_the_five_worst_items_with_what_the_judge_wrote() -> None:
    of = rubric("a", "b")
    low = Scored(1, ("not true",), False, "invented")
    scores: list[Score] = [5, 2, 3, 2, low, 4, 4, None]
    _, summary = grade(of, columns(of, a=[5] * 8, b=scores))
    assert [(w.id, w.overall) for w in summary.worst] == [
        ("item-4", 1),
        ("item-1", 2),
        ("item-3", 2),
        ("item-2", 3),
        ("item-5", 4),
    ]
    worst = summary.worst[0]
    assert (worst.dimension, worst.score, worst.evidence, worst.evidence_found, worst.reason) == (
        "b",
        1,
        ("not true",),
        False,
        "invented",
    )


def test_the_worst_repeat_of_the_worst_dimension_is_shown() -> None:
    of = rubric("a", "b")
    bad = Scored(1, QUOTE, True, "the bad repeat")
    _, summary = grade(of, columns(of, 2, a=[[3, 3]], b=[[4, bad]]), 2)
    assert summary.worst[0].reason == "the bad repeat"
    assert summary.worst[0].overall == 2.5


def test_missing_items_are_named_with_their_reason() -> None:
    of = rubric("a")
    _, summary = grade(
        of, columns(of, a=[5, None, NotRun("budget"), NA, JudgeError("refusal", "no"), 3, None, None, None])
    )
    assert [(m.id, m.state, m.code) for m in summary.missing] == [
        ("item-1", "judge_error", "timeout"),
        ("item-2", "not_run", "budget"),
        ("item-4", "judge_error", "refusal"),
        ("item-6", "judge_error", "timeout"),
        ("item-7", "judge_error", "timeout"),
    ]


def _usage(*exchanges: Exchange) -> object:
    of = rubric("a")
    shape = plan(of)
    _, summary = grade(of, [item(shape, 0, {"a": 5}, exchanges=exchanges)])
    return summary.usage


def test_usage_counts_every_exchange_of_a_reask() -> None:
    usage = _usage(
        Exchange(input_tokens=100, output_tokens=20, cost=0.1), Exchange(input_tokens=120, output_tokens=20, cost=0.2)
    )
    assert (usage.exchanges, usage.input_tokens, usage.output_tokens) == (2, 220, 40)  # type: ignore[attr-defined]
    assert usage.cost == pytest.approx(0.3)  # type: ignore[attr-defined]


def test_an_unknown_price_is_not_zero() -> None:
    usage = _usage(Exchange(input_tokens=100, output_tokens=20, cost=0.1), Exchange(input_tokens=100, output_tokens=10))
    assert (usage.cost, usage.without_price, usage.input_tokens) == (None, 1, 200)  # type: ignore[attr-defined]


def test_a_free_local_judge_costs_zero() -> None:
    assert _usage(Exchange(input_tokens=1, output_tokens=1, cost=0.0)).cost == 0  # type: ignore[attr-defined]


def test_a_failed_exchange_does_not_hide_the_price_of_the_others() -> None:
    usage = _usage(Exchange(error="timeout"), Exchange(input_tokens=5, output_tokens=1, cost=0.5))
    assert (usage.cost, usage.failed_exchanges, usage.without_tokens) == (0.5, 1, 0)  # type: ignore[attr-defined]


def test_usage_does_not_show_cache_or_retries() -> None:
    fresh = Exchange(input_tokens=5, output_tokens=1, cost=0.5, attempts=3, latency_s=2.5)
    replayed = Exchange(input_tokens=5, output_tokens=1, cost=0.5, cached=True)
    assert _usage(fresh) == _usage(replayed)


@given(st.lists(st.tuples(st.lists(CELL, min_size=2, max_size=2), CELL), min_size=1, max_size=12), st.randoms())
def test_a_summary_ignores_arrival_order(rows: list[tuple[list[Score], Score]], chance: random.Random) -> None:
    of = rubric("a", checks=["c"], gate={"overall": 3})
    shape = plan(of, 2)
    labels = {"a": (3.0, 4.0)}
    items = [item(shape, i, {"a": a, "c": c}, labels=labels) for i, (a, c) in enumerate(rows)]
    _, summary = grade(of, items, 2)
    other = [shuffled(row, chance.randrange(9)) for row in items]
    chance.shuffle(other)
    assert grade(of, other, 2)[1] == summary
    assert b"NaN" not in orjson.dumps(summary)


@given(st.lists(st.lists(CELL, min_size=3, max_size=3), min_size=1, max_size=8))
def test_no_cell_is_lost(rows: list[list[Score]]) -> None:
    of = rubric("a")
    _, summary = grade(of, columns(of, 3, a=rows), 3)
    coverage = summary.coverage
    assert coverage.expected == 3 * len(rows)
    missing = sum(score is None for row in rows for score in row)
    assert coverage.covered == coverage.expected - missing
    assert summary.dimensions[0].states["scored"] == sum(summary.dimensions[0].distribution.values())


def test_undefined_is_null_in_json_and_has_a_reason() -> None:
    of = rubric("a")
    _, summary = grade(of, columns(of, a=[5]))
    data = orjson.loads(orjson.dumps(summary))["dimensions"][0]
    assert data["repeat_sd"] == {"value": None, "n": 0, "reason": "no item with two values"}, "O-F14"
    assert data["interval"]["low"] is None
    assert data["interval"]["reason"]


def test_cells_helper_makes_errors() -> None:
    assert cell(None) is ERROR
