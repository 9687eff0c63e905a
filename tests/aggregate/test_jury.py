"""What several judges' verdicts on one thing come to, by hand."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentanvil.aggregate import JuryRule, JuryTerms
from agentanvil.aggregate.jury import stated_by
from agentanvil.rubric import Mode
from agentanvil.verdict import NO_EVIDENCE, Cell, InputFault, JudgeError, NotApplicable, NotRun, Scored, Winner
from tests.fakes.graded import NA, Score, cell

RULES: tuple[JuryRule, ...] = get_args(JuryRule)
FAULT = InputFault("too_long", "does not fit")


def decided(rule: JuryRule, *scores: Score, mode: Mode = "absolute", quorum: int | None = None) -> Cell:
    terms = JuryTerms.of(len(scores), rule, quorum)
    return terms.decide(mode, [(f"judge-{place}", cell(score)) for place, score in enumerate(scores)])


def score_of(found: Cell) -> float | str:
    """The score, or the code of what is missing."""
    if isinstance(found, Scored):
        return found.score
    return found.state if isinstance(found, NotApplicable) else found.code


@pytest.mark.parametrize(("judges", "quorum"), [(1, 1), (2, 2), (3, 2), (4, 3), (5, 3)], ids=str)
def test_a_quorum_is_more_than_half_and_the_rule_the_median(judges: int, quorum: int) -> None:
    assert JuryTerms.of(judges) == JuryTerms("median", quorum)
    assert JuryTerms.of(judges, "min", 1) == JuryTerms("min", 1)


@pytest.mark.parametrize(
    ("rule", "scores", "result"),
    [
        ("median", [5, 1, 2], 2),
        ("median", [4, 3], 3.5),
        ("median", [1, 2, 4, 5], 3),
        ("mean", [5, 4, 4], 13 / 3),
        ("mean", [4, 4, 4], 4),
        ("min", [5, 2, 4], 2),
        ("majority", [4, 4, 1], 4),
        ("majority", [4, 4, 1, 1], "no_majority"),
        ("majority", [3, 4, 5], "no_majority"),
        # One that brought no verdict has no vote.
        ("median", [5, None, 3], 4),
        ("majority", [4, 4, None], 4),
        # 2 of 4 said that it does not apply: not more than half.
        ("median", [NA, NA, 5, 4], 4.5),
        ("median", [NA, NA, 5], "not_applicable"),
        ("majority", [NA, NA, None], "not_applicable"),
        ("mean", [NA, 5, None], 5),
    ],
)
def test_scores(rule: JuryRule, scores: list[Score], result: float | str) -> None:
    assert score_of(decided(rule, *scores)) == result


@pytest.mark.parametrize(
    ("rule", "scores", "result"),
    [
        *((rule, [1, 1, 0], 1.0) for rule in ("median", "mean", "majority")),
        *((rule, [0, 1, 0], 0.0) for rule in ("median", "mean", "majority")),
        *((rule, [1, 0], "no_majority") for rule in ("median", "mean", "majority")),
        ("min", [1, 1, 0], 0.0),
        ("min", [1, 1], 1.0),
    ],
)
def test_a_gate_is_true_or_false_and_nothing_between(rule: JuryRule, scores: list[Score], result: float | str) -> None:
    assert score_of(decided(rule, *scores, mode="gate")) == result


@pytest.mark.parametrize(
    ("rule", "leads", "result"),
    [
        ("median", [2, -1], 0.5),
        ("mean", [2, 2, -1], 1.0),
        ("min", [3, 1, -1], 1.0),
        ("majority", [1, 3, -2], 2.0),
        ("majority", [1, 4, 2], 2.0),
        ("majority", [1, 0, -1], "no_majority"),
        ("majority", [0, 0, 2], 0.0),
    ],
)
def test_leads(rule: JuryRule, leads: list[Score], result: float | str) -> None:
    assert score_of(decided(rule, *leads, mode="pairwise")) == result


@pytest.mark.parametrize(
    ("scores", "result"),
    [
        pytest.param([5, None, None], "quorum", id="one-of-three"),
        pytest.param([None, None, None], "quorum", id="none"),
        pytest.param([5, FAULT, FAULT], "quorum", id="one-of-three-could-be-judged"),
        pytest.param([FAULT, FAULT, FAULT], "too_long", id="the-row-itself"),
        pytest.param([5, NotRun(), None], "not_reached", id="it-can-still-be-made"),
        pytest.param([None, NotRun(), None], "quorum", id="it-cannot-be-made-any-more"),
        pytest.param([5, 4, NotRun()], 4.5, id="it-is-made-already"),
    ],
)
def test_too_few_verdicts(scores: list[Score], result: float | str) -> None:
    assert score_of(decided("median", *scores)) == result


def test_what_kept_a_verdict_away_is_told_judge_by_judge() -> None:
    found = decided("median", 4, None, JudgeError("refusal", "no"))
    assert found == JudgeError("quorum", "1 of 3 judges brought a verdict, 2 must: judge-1 timeout; judge-2 refusal")
    split = decided("majority", 4, 3, NA)
    assert split == JudgeError(
        "no_majority", "no verdict has more than half of the votes: judge-0 4; judge-1 3; judge-2 not_applicable"
    )


def test_the_words_are_those_of_the_judge_nearest_to_the_result() -> None:
    one, two = Scored(5, ("five",), True, "good", ("reasked",)), Scored(2, ("two",), False, "bad")
    found = decided("median", one, Scored(3, (), None, "so so", (NO_EVIDENCE,)), two)
    assert found == Scored(3, (), None, "so so", (NO_EVIDENCE,))
    # Of two that are equally near, one that gives evidence.
    assert decided("median", Scored(2), one, two, Scored(5)) == Scored(3.5, ("five",), True, "good", ("reasked",))


@pytest.mark.parametrize(("rule", "expected"), [("median", 3.5), ("mean", 3.6), ("min", 2.3), ("majority", 3.5)])
def test_expected_scores_go_by_the_same_rule(rule: JuryRule, expected: float) -> None:
    cells = [
        Scored(4, expected_score=value, entropy=entropy, label_mass=mass)
        for value, entropy, mass in ((3.5, 0.2, 0.9), (5.0, 0.6, 1.0), (2.3, 0.1, 0.8))
    ]
    found = decided(rule, *cells)
    assert isinstance(found, Scored)
    assert found.expected_score == pytest.approx(expected)
    assert found.entropy == pytest.approx(0.3)
    assert found.label_mass == pytest.approx(0.9)


def test_probabilities_need_a_quorum_too() -> None:
    read = Scored(4, expected_score=3.5, entropy=0.2, label_mass=0.9, preference=0.8)
    found = decided("median", read, Scored(4), Scored(4))
    assert isinstance(found, Scored)
    assert (found.expected_score, found.entropy, found.label_mass, found.preference) == (None, None, None, None)


def test_a_score_that_stands_by_rule_is_certain_beside_expected_ones() -> None:
    found = decided("mean", Scored(4, expected_score=3.5), Scored(1, flags=(NO_EVIDENCE,)))
    assert isinstance(found, Scored)
    assert found.expected_score == 2.25


def test_preferences_are_combined_in_log_odds() -> None:
    # ln(0.8/0.2) = 1.386 and ln(0.5/0.5) = 0: the mean is ln 2, so 2/3.
    found = decided("min", Scored(2, preference=0.8), Scored(1, preference=0.5), mode="pairwise")
    assert isinstance(found, Scored)
    assert found.preference == pytest.approx(2 / 3)


@pytest.mark.parametrize(
    ("winners", "result"),
    [
        (["a", "a", "b"], "a"),
        (["a", "b"], None),
        (["tie", None, None], "tie"),
        ([None, None], None),
        ([], None),
    ],
)
def test_the_winner_that_most_stated(winners: Sequence[Winner | None], result: Winner | None) -> None:
    assert stated_by(winners) == result


VOTE = st.sampled_from([1, 2, 3, 4, 5, None, NA, NotRun(), FAULT])


@pytest.mark.parametrize("rule", RULES)
@given(votes=st.lists(VOTE, min_size=2, max_size=5), seed=st.integers(0, 99))
def test_who_said_what_first_does_not_matter(rule: JuryRule, votes: list[Score], seed: int) -> None:
    other = random.Random(seed).sample(votes, len(votes))
    one, two = decided(rule, *votes), decided(rule, *other)
    assert (one.state, score_of(one)) == (two.state, score_of(two))
    if isinstance(one, Scored):
        scores = [vote for vote in votes if isinstance(vote, int | float)]
        assert min(scores) <= one.score <= max(scores)


@pytest.mark.parametrize("mode", ["absolute", "gate", "pairwise"])
@pytest.mark.parametrize("rule", RULES)
@given(
    score=st.sampled_from([0, 1]),
    read=st.none() | st.floats(0, 1),
    judges=st.integers(2, 5),
)
def test_judges_who_say_the_same_come_to_that(
    rule: JuryRule, mode: Mode, score: int, read: float | None, judges: int
) -> None:
    voice = Scored(score, ("q",), True, "r", (), expected_score=read, entropy=read, label_mass=read)
    assert decided(rule, *[voice] * judges, mode=mode) == voice


@pytest.mark.parametrize("rule", RULES)
@given(leads=st.lists(st.tuples(st.integers(-4, 4), st.floats(0, 1)), min_size=2, max_size=5))
def test_exchanging_the_responses_mirrors_a_lead(rule: JuryRule, leads: list[tuple[int, float]]) -> None:
    one = decided(rule, *[Scored(lead, preference=p) for lead, p in leads], mode="pairwise")
    other = decided(rule, *[Scored(-lead, preference=1 - p) for lead, p in leads], mode="pairwise")
    assert one.state == other.state
    if isinstance(one, Scored) and isinstance(other, Scored):
        assert one.score == -other.score
        assert one.preference is not None
        assert one.preference == pytest.approx(1 - (other.preference or 0), abs=1e-12)
