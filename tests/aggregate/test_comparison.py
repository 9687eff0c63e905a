"""Two runs side by side: what is paired, what is left out, and what follows."""

from __future__ import annotations

import math
import random
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentanvil.aggregate.comparison.figure import adjusted, finding
from agentanvil.aggregate.comparison.gate import regression_gate
from agentanvil.aggregate.comparison.items import regression, worst_fallen
from agentanvil.aggregate.comparison.tally import ComparedFigure, Unpaired
from agentanvil.stats import Estimate, Interval, least_detectable_difference_paired
from tests.fakes.compared_runs import Rows, Side, figures, joined
from tests.fakes.graded import ERROR, NA, Pair, Score, rubric

SCORE = st.one_of(st.integers(1, 5).map(float), st.none(), st.just(NA))
TABLE = st.dictionaries(st.sampled_from("abcdefgh"), st.fixed_dictionaries({"x": SCORE, "y": SCORE}), max_size=8)
OF = rubric("x", "y")


def one_column(values: list[Score]) -> Rows:
    return {f"i{n}": {"x": value} for n, value in enumerate(values)}


def of_x(a: list[Score], b: list[Score], margin: float = 0.0) -> ComparedFigure:
    only = rubric("x")
    return figures(Side.of(only, one_column(a)), Side.of(only, one_column(b)), margin)["x"]


def test_a_difference_by_hand() -> None:
    found = of_x([4, 4, 3, 5], [5, 4, 1, 4])
    # Means 4 and 3.5; differences +1, 0, −2, −1: 14 of the 16 flips reach a total of 2 or more either way.
    assert (found.n, found.mean_a.value, found.mean_b.value, found.difference.value) == (4, 4.0, 3.5, -0.5)
    assert (found.wins, found.ties, found.losses) == (1, 1, 2)
    assert found.test.p_value == 0.75
    assert found.test.method == "exact sign flips"
    sd = math.sqrt((1.5**2 + 0.5**2 + 1.5**2 + 0.5**2) / 3)
    assert found.least_detectable.value == pytest.approx(least_detectable_difference_paired(4, sd).value)


def test_items_are_joined_by_id_and_not_by_place() -> None:
    a = Side.of(OF, {"p": {"x": 1, "y": 1}, "q": {"x": 5, "y": 4}, "gone": {"x": 2, "y": 2}})
    b = Side.of(OF, {"new": {"x": 3, "y": 3}, "q": {"x": 5, "y": 4}, "p": {"x": 1, "y": 2}})
    both = joined(a, b)
    assert (both.only_a(), both.only_b()) == (["gone"], ["new"])
    found = figures(a, b)
    assert [found["y"].n, found["y"].difference.value] == [2, 0.5]
    assert found["x"].ties == 2


def test_what_is_missing_is_counted_and_bounded_and_never_guessed() -> None:
    # Paired: +1. B lacks 4 (1 to 5: −3 … +1), A lacks 2 (2 − 5 … 2 − 1), both lack one (−4 … +4), two not applicable.
    found = of_x([3, 4, ERROR, None, NA, 3], [4, ERROR, 2, None, 5, NA])
    assert found.n == 1
    assert found.unpaired == Unpaired(a=1, b=1, both=1, not_applicable=2)
    assert found.bounds.low == pytest.approx((1 - 3 - 3 - 4) / 4)
    assert found.bounds.high == pytest.approx((1 + 1 + 1 + 4) / 4)


def test_without_a_pair_every_figure_says_why_it_is_undefined() -> None:
    found = of_x([None], [3])
    told = (found.mean_a, found.difference, found.interval, found.test, found.least_detectable, found.correlation)
    assert all(figure.reason for figure in told)
    assert found.test.p_value is None
    assert found.finding == "inconclusive"
    assert of_x([NA], [NA]).bounds.reason


def test_booleans_are_tested_by_mcnemar() -> None:
    gate = rubric("x", mode="gate")
    a = Side.of(gate, one_column([1, 1, 1, 0, 0, 1, 1, 1]))
    b = Side.of(gate, one_column([0, 0, 0, 1, 0, 1, 0, 0]))
    found = figures(a, b)
    # Five passed in A alone and one in B alone: 2 (1 + 6) / 64.
    for figure in (found["x"], found["overall"]):
        assert figure.test.method == "mcnemar exact"
        assert figure.test.p_value == pytest.approx(14 / 64)
        assert (figure.mean_a.value, figure.mean_b.value) == (0.75, 0.25)


def test_repeats_of_an_item_are_one_reading() -> None:
    a = Side.of(rubric("x"), {f"i{n}": {"x": [1, 5, 3]} for n in range(6)}, repeats=3)
    b = Side.of(rubric("x"), {f"i{n}": {"x": [3, 4, 3]} for n in range(6)}, repeats=3)
    found = figures(a, b)["x"]
    assert (found.n, found.clusters) == (6, 6)
    assert found.difference.value == pytest.approx(1 / 3)
    assert found.test.p_value == pytest.approx(2 / 64)


def test_a_rubric_with_a_gate_has_a_pass_rate_outside_the_family() -> None:
    gated = rubric("x", gate={"x": 4})
    a, b = Side.of(gated, one_column([4, 4, 3])), Side.of(gated, one_column([4, 3, 5]))
    found = figures(a, b)
    assert [found["pass rate"].mean_a.value, found["pass rate"].losses, found["pass rate"].wins] == [2 / 3, 1, 1]
    assert found["pass rate"].adjusted_p is None
    assert not found["pass rate"].tested
    assert "pass rate" not in figures(a, Side.of(rubric("x"), one_column([4])))


def test_pairs_compare_win_rates_and_preferences_request_by_request() -> None:
    pairs = rubric("x", mode="pairwise")

    def said(delta: int, preference: float, group: str) -> Pair:
        return Pair({"x": [delta, delta]}, preferences=[preference] * 2, group=group)

    a = Side.of_pairs(pairs, {"p": said(2, 0.9, "g"), "q": said(0, 0.5, "g"), "r": said(-1, 0.2, "h")})
    b = Side.of_pairs(pairs, {"p": said(-2, 0.1, "g"), "q": said(1, 0.6, "g"), "r": said(-1, 0.2, "h")})
    found = figures(a, b)
    assert (found["overall"].mean_a.value, found["overall"].mean_b.value) == (1 / 2, 1 / 3)
    assert (found["overall"].wins, found["overall"].ties, found["overall"].losses) == (1, 1, 1)
    assert (found["overall"].n, found["overall"].clusters) == (3, 2)
    assert found["preference"].difference.value == pytest.approx((-0.8 + 0.1) / 3)
    assert found["x"].difference.value == pytest.approx(-1.0)


def test_other_scales_are_put_on_nought_to_one() -> None:
    wide = replace(rubric("x"), scale=type(OF.scale)(0, 10))
    found = figures(Side.of(rubric("x"), one_column([5, 3])), Side.of(wide, one_column([10, 2.5])))["x"]
    assert (found.mean_a.value, found.mean_b.value) == (0.75, 0.625)


def test_only_shared_dimensions_are_compared() -> None:
    a = Side.of(rubric("x", "old"), {"i": {"x": 3, "old": 3}})
    b = Side.of(rubric("new", "x"), {"i": {"x": 4, "new": 2}})
    assert list(figures(a, b)) == ["overall", "x"]


def _mirrored(one: ComparedFigure, other: ComparedFigure) -> None:
    assert (one.n, one.wins, one.ties, one.losses) == (other.n, other.losses, other.ties, other.wins)
    assert (one.mean_a, one.mean_b) == (other.mean_b, other.mean_a)
    if one.difference.value is not None:
        assert one.difference.value == -other.difference.value + 0.0  # type: ignore[operator]
    if one.interval.low is not None:
        assert (one.interval.low, one.interval.high) == (-other.interval.high, -other.interval.low)  # type: ignore[operator]
    assert one.test.p_value == other.test.p_value
    assert one.adjusted_p == other.adjusted_p
    assert one.least_detectable == other.least_detectable
    assert one.correlation.value == pytest.approx(other.correlation.value, abs=1e-9)
    assert (one.unpaired.a, one.unpaired.b) == (other.unpaired.b, other.unpaired.a)
    if one.bounds.low is not None:
        assert one.bounds.low == pytest.approx(-other.bounds.high)  # type: ignore[operator]


@settings(max_examples=40)
@given(TABLE, TABLE, st.randoms())
def test_exchanging_the_runs_mirrors_and_the_order_of_rows_is_no_matter(a: Rows, b: Rows, rng: random.Random) -> None:
    found, turned = figures(Side.of(OF, a), Side.of(OF, b)), figures(Side.of(OF, b), Side.of(OF, a))
    for name, figure in found.items():
        _mirrored(figure, turned[name])
    shuffled = dict(rng.sample(list(b.items()), len(b)))
    assert figures(Side.of(OF, a), Side.of(OF, shuffled)) == found


@pytest.mark.parametrize(
    ("low", "high", "p_value", "margin", "wanted"),
    [
        (-0.9, -0.1, 0.01, 0.0, "worse"),
        (-0.9, -0.1, 0.06, 0.0, "inconclusive"),
        (-0.9, -0.1, None, 0.0, "inconclusive"),
        (-0.9, 0.0, 0.01, 0.0, "inconclusive"),
        (-0.1, 0.4, 0.5, 0.0, "inconclusive"),
        (0.0, 0.4, 0.5, 0.0, "no_worse"),
        (0.0, 0.0, 1.0, 0.0, "no_worse"),
        (-0.1, 0.4, 0.5, 0.1, "no_worse"),
        (-0.9, -0.1, 0.01, 0.2, "inconclusive"),
        (-0.9, -0.3, 0.01, 0.2, "worse"),
        (None, None, 0.01, 0.2, "inconclusive"),
    ],
)
def test_what_an_interval_says_of_a_drop(
    low: float | None, high: float | None, p_value: float | None, margin: float, wanted: str
) -> None:
    interval = Interval(low, high, 0.95, "bootstrap", None if low is not None else "too few")
    assert finding(interval, p_value, margin, 6) == wanted
    assert finding(interval, p_value, margin, 5) == "inconclusive"


def test_a_margin_moves_the_test_too() -> None:
    values: list[Score] = [5, 4, 5, 4, 5, 4, 5, 4, 5, 4]
    dropped: list[Score] = [3, 2, 3, 2, 4, 2, 3, 2, 3, 2]  # by 2, once by 1
    assert of_x(values, dropped, 0.5).finding == "worse"
    assert of_x(values, dropped, 2.0).finding == "no_worse"
    assert of_x(values, dropped, 1.0).test.p_value == pytest.approx(2 / 2**9)  # nine drops beyond the margin, one on it
    assert of_x([5, 4, 5], [4, 3, 4]).finding == "inconclusive"  # three items that fell alike: p = 1/4


def test_what_could_never_show_a_drop_rules_none_out() -> None:
    """Of five items all may drop, and p is still 2 / 32."""
    few = of_x([3, 3, 4, 2, 3], [4, 4, 5, 3, 4])
    assert (few.interval.low, few.finding) == (1.0, "inconclusive")
    assert of_x([3, 4, 5, 2, 1], [3, 4, 5, 2, 1]).finding == "inconclusive"
    assert of_x([3, 4, 5, 2, 1, 4], [3, 4, 5, 2, 1, 4]).finding == "no_worse"
    gate = regression_gate([few], 0.0, 1.0, only_a=0)
    assert gate.verdict == "inconclusive"
    assert gate.reasons == ("x is inconclusive: 5 paired items could show no drop, whatever they are; 6 is the least",)


def figure(name: str, found: str = "no_worse", n: int = 100, missing: int = 0, tested: bool = True) -> ComparedFigure:
    of = of_x([4, 4, 3, 5], [5, 4, 1, 4])
    return replace(
        of,
        id=name,
        n=n,
        clusters=n,
        tested=tested,
        adjusted_p=0.01,
        finding=found,  # type: ignore[arg-type]
        unpaired=Unpaired(0, missing, 0, 7),
        interval=Interval(-0.9, -0.1, 0.95, "bootstrap"),
        difference=Estimate(-0.5, n),
    )


def test_the_gate_puts_a_regression_before_what_is_missing_and_that_before_doubt() -> None:
    fine, worse, torn = figure("a"), figure("b", "worse"), figure("c", "inconclusive")
    short = figure("d", missing=25)
    assert regression_gate([fine], 0, 1.0, only_a=0).verdict == "pass"
    assert regression_gate([fine, worse, short, torn], 0, 1.0, only_a=0).verdict == "fail"
    found = regression_gate([fine, short, torn], 0, 1.0, only_a=0)
    assert (found.verdict, found.coverage) == ("missing", 0.8)
    assert regression_gate([fine, short, torn], 0, 0.8, only_a=0).verdict == "inconclusive"
    assert regression_gate([fine], 0, 1.0, only_a=1).verdict == "missing"
    assert regression_gate([], 0, 1.0, only_a=0).verdict == "inconclusive"
    assert regression_gate([fine, figure("e", "worse", tested=False)], 0, 1.0, only_a=0).verdict == "pass"


def test_a_dimension_that_applies_to_no_item_leaves_nothing_open() -> None:
    nowhere = of_x([NA, NA], [NA, NA])
    assert nowhere.finding == "inconclusive"
    assert regression_gate([figure("a"), nowhere], 0, 1.0, only_a=0).verdict == "pass"
    assert regression_gate([nowhere], 0, 1.0, only_a=0).verdict == "inconclusive"
    assert regression_gate([figure("a"), of_x([NA, None], [NA, 3])], 0, 1.0, only_a=0).verdict == "missing"


def test_the_gate_says_why() -> None:
    found = regression_gate(
        [figure("b", "worse"), figure("c", "inconclusive"), figure("d", missing=25)], 0, 1, only_a=0
    )
    assert found.reasons == (
        "b is worse: -0.50 [-0.90, -0.10], adjusted p = 0.01",
        "d: 0.80 of A's items have a pair, below 1",
        "c is inconclusive: -0.50 [-0.90, -0.10]; 100 items find a difference from 2.7 on",
    )


def test_holm_counts_what_decides() -> None:
    found = [replace(figure(name), test=replace(figure(name).test, p_value=0.01)) for name in "abc"]
    extra = replace(found[0], tested=False)
    assert adjusted([*found, extra]) == pytest.approx([0.03, 0.03, 0.03, None])


def test_the_worst_are_those_whose_overall_fell_furthest() -> None:
    a = Side.of(
        OF,
        {
            "up": {"x": 1, "y": 1},
            "one": {"x": 5, "y": 4},
            "two": {"x": 5, "y": 5},
            "side": {"x": 2, "y": 5},
            "lost": {"x": 5, "y": 5},
            "same": {"x": 3, "y": 3},
        },
    )
    b = Side.of(
        OF,
        {
            "up": {"x": 5, "y": 5},
            "one": {"x": 5, "y": 3},
            "two": {"x": 1, "y": 5},
            "side": {"x": 2, "y": 3},
            "lost": {"x": 1, "y": None},
            "same": {"x": 3, "y": 3},
        },
    )
    fallen = worst_fallen(joined(a, b))
    results_a, results_b = a.results(), b.results()
    told = [regression(item, results_a[item.row_a], results_b[item.row_b], (a.frame, b.frame)) for item in fallen]
    assert [(found.id, found.drop, found.dimension) for found in told] == [
        ("two", 4.0, "x"),
        ("one", 1.0, "y"),
        ("lost", None, "x"),
        ("side", 0.0, "y"),
    ]
    assert (told[0].a.score, told[0].b.score, told[0].a.evidence, told[0].b.reason) == (5, 1, ("a quote",), "because")


def test_ten_of_many_regressions_are_kept() -> None:
    many = 40
    a = Side.of(rubric("x"), one_column([5.0] * many))
    b = Side.of(rubric("x"), one_column([float(1 + n % 4) for n in range(many)]))
    fallen = worst_fallen(joined(a, b))
    assert [item.row_a for item in fallen] == [4 * n for n in range(10)]
    assert all(item.drop == 4 for item in fallen)


def _noisy(rng: random.Random, drop: float) -> tuple[Side, Side]:
    """Sixty items of two dimensions, graded by the same judge twice; in the second run `y` drops that often by 1."""

    def graded(truth: float, fall: float = 0.0) -> float:
        return min(5.0, max(1.0, truth + rng.choice([-1, 0, 0, 0, 1]) - (rng.random() < fall)))

    truths = [rng.randint(1, 5) for _ in range(60)]
    a = {f"i{n}": {"x": graded(t), "y": graded(t)} for n, t in enumerate(truths)}
    b = {f"i{n}": {"x": graded(t), "y": graded(t, drop)} for n, t in enumerate(truths)}
    return Side.of(OF, a), Side.of(OF, b)


@pytest.mark.slow
def test_false_alarms_stay_at_their_rate_and_a_planted_drop_is_found() -> None:
    alarms = found = others = 0
    for seed in range(200):
        same = figures(*_noisy(random.Random(seed), 0.0))
        alarms += any(figure.finding == "worse" for figure in same.values())
        worse = figures(*_noisy(random.Random(seed), 0.6))
        found += worse["y"].finding == "worse"
        others += worse["x"].finding == "worse"
    # 5 % two-sided is 2.5 % on the bad side; two Monte Carlo errors of it are 2.2 %.
    assert alarms <= 200 * 0.047
    assert others <= 200 * 0.047
    assert found >= 180
