from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentanvil.aggregate import Frame, ItemOutcomes, ItemResult, reduce_item
from agentanvil.rubric import Rubric
from agentanvil.verdict import InputFault, JudgeError, NotRun
from tests.fakes.graded import ERROR, NA, Score, item, plan, rubric, shuffled

FAULT = InputFault("too_long", "the row does not fit")
NOT_RUN = NotRun()


def reduced(of: Rubric, repeats: int = 1, **scores: list[Score] | Score) -> ItemResult:
    shape = plan(of, repeats)
    return reduce_item(Frame.of(of, shape), item(shape, 0, scores))


def test_overall_is_the_minimum_of_the_dimensions() -> None:
    result = reduced(rubric("a", "b", "c"), a=5, b=2, c=4)
    assert (result.state, result.overall) == ("scored", 2)


def test_item_scores_are_means_over_repeats_and_the_rule_comes_after() -> None:
    # Item scores 4 and 4; each repeat alone would give 3.
    result = reduced(rubric("a", "b"), 2, a=[5, 3], b=[3, 5])
    assert [d.score for d in result.dimensions] == [4, 4]
    assert result.overall == 4
    assert result.repeat_overalls == (3, 3)


@pytest.mark.parametrize(
    ("cells", "state"),
    [
        pytest.param([None, 4, None], "scored", id="any-score-is-a-score"),
        pytest.param([NA, 4, NA], "scored", id="a-score-beats-not-applicable"),
        pytest.param([ERROR, NA, NOT_RUN], "not_applicable", id="a-verdict-beats-none"),
        pytest.param([NOT_RUN, FAULT, ERROR], "judge_error", id="the-judge-before-the-row"),
        pytest.param([NOT_RUN, FAULT, NOT_RUN], "input_error", id="the-row-before-the-run"),
        pytest.param([NOT_RUN, NOT_RUN, NOT_RUN], "not_run", id="nobody-asked"),
    ],
)
def test_state_over_repeats(cells: list[Score], state: str) -> None:
    result = reduced(rubric("a"), 3, a=cells)
    assert result.dimensions[0].state == state
    assert result.state == state
    assert len(result.dimensions[0].cells) == 3


@pytest.mark.parametrize("weights", [None, {"a": 1, "b": 2}], ids=["min", "weighted"])
def test_a_missing_dimension_leaves_the_overall_missing_with_its_reason(weights: dict[str, float] | None) -> None:
    result = reduced(rubric("a", "b", weights=weights), a=5, b=None)
    assert (result.state, result.overall, result.passed) == ("judge_error", None, None), "O-E18"
    assert result.dimensions[1].score is None
    assert result.gap is not None
    assert (result.gap.dimension, result.gap.state, result.gap.code) == ("b", "judge_error", "timeout")


@pytest.mark.parametrize("weights", [None, {"a": 1, "b": 3}], ids=["min", "weighted"])
def test_what_is_not_applicable_drops_out(weights: dict[str, float] | None) -> None:
    assert reduced(rubric("a", "b", weights=weights), a=4, b=NA).overall == 4
    nothing = reduced(rubric("a", "b", weights=weights), a=NA, b=NA)
    assert (nothing.state, nothing.overall, nothing.gap) == ("not_applicable", None, None)


def test_weights_by_hand() -> None:
    # (2·5 + 1·2) / 3 = 4; c has no weight, so its missing verdict takes nothing from the overall.
    result = reduced(rubric("a", "b", "c", weights={"a": 2, "b": 1}), a=5, b=2, c=None)
    assert (result.state, result.overall) == ("scored", 4)
    assert result.gap is not None


@given(st.lists(st.floats(0.01, 9).map(lambda w: round(w, 2)), min_size=2, max_size=5), st.integers(1, 5))
def test_equal_scores_give_that_score_whatever_the_weights(weights: list[float], score: int) -> None:
    names = [f"d{i}" for i in range(len(weights))]
    of = rubric(*names, weights=dict(zip(names, weights, strict=True)), gate={"overall": score})
    result = reduced(of, **dict.fromkeys(names, score))
    assert result.overall == score
    assert result.passed is True


def test_decimal_weights_mean_what_is_written() -> None:
    # 0.1·5 + 0.2·4 + 0.7·4 = 4.1, which binary arithmetic misses.
    of = rubric("a", "b", "c", weights={"a": 0.1, "b": 0.2, "c": 0.7}, gate={"overall": 4.1})
    result = reduced(of, a=5, b=4, c=4)
    assert (result.overall, result.passed) == (4.1, True)


def test_thirds_that_meet_at_a_threshold_pass() -> None:
    # Means 11/3 and 10/3 with equal weights are exactly 3.5.
    of = rubric("a", "b", weights={"a": 1, "b": 1}, gate={"overall": 3.5})
    assert reduced(of, 3, a=[4, 4, 3], b=[3, 3, 4]).passed is True


@pytest.mark.parametrize(
    ("scores", "gate", "passed", "texts"),
    [
        pytest.param({"a": [4, 4, 3]}, {"a": 3.67}, False, ["a 3.667 is below 3.67"], id="O-E13-digits-that-tell"),
        pytest.param({"a": [4, 4, 3]}, {"a": 4}, False, ["a 3.67 is below 4"], id="two-digits-suffice"),
        pytest.param({"a": 1}, {"a": 0}, True, [], id="O-E14-zero-is-a-threshold"),
        pytest.param({"a": 4}, {"a": 4}, True, [], id="equal-passes"),
        pytest.param({"a": 4, "b": 5}, {"overall": 4, "b": 5}, True, [], id="both"),
        pytest.param(
            {"a": 3, "b": 4},
            {"overall": 4, "b": 5},
            False,
            ["overall 3 is below 4", "b 4 is below 5"],
            id="every-shortfall-is-named",
        ),
        pytest.param({"a": None, "b": 5}, {"overall": 4}, None, [], id="missing-is-undecided"),
        pytest.param({"a": None, "b": 5}, {"a": 4, "b": 5}, None, [], id="one-met-one-missing-is-undecided"),
        pytest.param({"a": None, "b": 5}, {"b": 5}, True, [], id="what-is-missing-is-not-gated"),
        pytest.param({"a": None, "b": 4}, {"a": 4, "b": 5}, False, ["b 4 is below 5"], id="a-failure-is-a-failure"),
        pytest.param({"a": NA, "b": 5}, {"a": 4, "b": 5}, True, [], id="not-applicable-is-left-out"),
        pytest.param({"a": NA}, {"a": 4}, None, [], id="nothing-applicable-passes-nothing"),
        pytest.param({"a": 1}, {}, None, [], id="no-gate"),
    ],
)
def test_gate_of_an_item(
    scores: dict[str, list[Score] | Score], gate: dict[str, float], passed: bool | None, texts: list[str]
) -> None:
    repeats = max(len(s) if isinstance(s, list) else 1 for s in scores.values())
    result = reduced(rubric(*scores, gate=gate), repeats, **scores)
    assert result.passed is passed
    assert [shortfall.text for shortfall in result.shortfalls] == texts


def test_a_check_runs_once_and_counts_in_every_repeat() -> None:
    result = reduced(rubric("a", checks=["c"]), 3, a=[5, 4, 5], c=1)
    assert result.overall == 1
    assert result.repeat_overalls == (1, 1, 1)
    assert result.dimensions[1].spread is not None
    assert result.dimensions[1].spread.n == 1


@pytest.mark.parametrize("calls", ["joint", "split"])
def test_arrival_order_does_not_show(calls: str) -> None:
    of = rubric("a", "b", checks=["c"], calls=calls)
    shape = plan(of, 3)
    row = item(shape, 0, {"a": [5, NA, 3], "b": [1, None, 2], "c": 5})
    for seed in range(5):
        assert reduce_item(Frame.of(of, shape), shuffled(row, seed)) == reduce_item(Frame.of(of, shape), row)


@pytest.mark.parametrize("change", ["drop", "double"])
def test_outcomes_must_be_those_of_the_plan(change: str) -> None:
    of = rubric("a")
    shape = plan(of, 2)
    row = item(shape, 0, {"a": [5, 4]})
    outcomes = row.outcomes[:1] if change == "drop" else [*row.outcomes, row.outcomes[0]]
    with pytest.raises(ValueError, match="item-0"):
        reduce_item(Frame.of(of, shape), ItemOutcomes(0, "item-0", outcomes))


def test_the_most_telling_gap_is_kept() -> None:
    refusal = JudgeError("refusal", "I cannot")
    result = reduced(rubric("a", "b"), 2, a=[4, NOT_RUN], b=[FAULT, refusal])
    assert result.gap is not None
    assert (result.gap.dimension, result.gap.code, result.gap.message) == ("b", "refusal", "I cannot")
