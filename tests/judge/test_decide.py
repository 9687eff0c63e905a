from __future__ import annotations

import asyncio
import itertools
import math
from collections.abc import Sequence

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from agentanvil.client import ChatReply
from agentanvil.client.decisions import Answer, AnswerKind, write_answers
from agentanvil.client.scripted import ScriptedClient
from agentanvil.errors import EndpointError, RequestTooLargeError, ServerFaultError
from agentanvil.judge import decide, read_decisions
from agentanvil.plan import Order, plan_calls
from agentanvil.prompt import Asked, QuestionRenderer
from agentanvil.rubric import Dimension, Rubric, Scale
from agentanvil.verdict import Cell, InputFault, JudgeError, NotApplicable, Outcome, Scored
from tests.fakes.prompts import tasks_of
from tests.fakes.records import rubric as make_rubric

ABSOLUTE = make_rubric(evidence="none")
ABSTAINS = make_rubric(evidence="none", allow_na=True)
GATE = make_rubric(evidence="none", mode="gate", gate={"quality": 5.0})
GATE_ABSTAINS = make_rubric(evidence="none", mode="gate", gate={"quality": 5.0}, allow_na=True)
PAIRS = make_rubric(evidence="none", mode="pairwise")
PAIRS_ABSTAIN = make_rubric(evidence="none", mode="pairwise", allow_na=True)
LEVELS = ("1", "3", "5")
PLACES = ("0", "1", "2")


def asked(of: Rubric) -> Asked:
    return QuestionRenderer(of, plan_calls(of)).render(tasks_of(of)[0])


def cells(of: Rubric, *answers: Answer, order: Order = "-") -> dict[str, Cell]:
    return read_decisions(ChatReply(write_answers(answers)), asked(of), order)


def told(
    of: Rubric, kind: AnswerKind, names: Sequence[str], shares: Sequence[float | None], order: Order = "-"
) -> Cell:
    answer = Answer("quality", kind, tuple(zip(names, shares, strict=True)))
    return cells(of, answer, order=order)["quality"]


def score(*shares: float | None, names: Sequence[str] = LEVELS) -> Cell:
    return told(ABSOLUTE, "score", names, shares)


def scored(cell: Cell) -> Scored:
    assert isinstance(cell, Scored), cell
    return cell


def code(cell: Cell) -> str:
    assert isinstance(cell, JudgeError), cell
    return cell.code


def test_a_score_is_read_on_the_rubrics_scale_by_hand() -> None:
    cell = scored(score(0.1, 0.2, 0.7))
    assert cell.score == 5
    assert cell.expected_score == pytest.approx(0.1 * 1 + 0.2 * 3 + 0.7 * 5)
    entropy = -sum(p * math.log(p) for p in (0.1, 0.2, 0.7)) / math.log(3)
    assert cell.entropy == pytest.approx(entropy)
    assert cell.label_mass == pytest.approx(1)
    assert cell.evidence == ()
    assert cell.evidence_found is None
    assert cell.preference is None


def test_a_split_between_the_ends_is_not_the_middle() -> None:
    """An index mean, as endpoints give it for `score`, would read 1 of 0..2: the level in which nobody believes."""
    cell = scored(score(0.5, 0.0, 0.5))
    assert cell.score == 1
    assert cell.expected_score == pytest.approx(3)
    assert cell.entropy == pytest.approx(math.log(2) / math.log(3))


@pytest.mark.parametrize(
    ("shares", "verdict"), [((0.4, 0.4, 0.2), 1), ((0.2, 0.4, 0.4), 3), ((1 / 3, 1 / 3, 1 / 3), 1), ((0, 0, 1), 5)]
)
def test_the_likeliest_level_is_the_verdict_and_the_lower_of_equals(shares: Sequence[float], verdict: float) -> None:
    assert scored(score(*shares)).score == verdict


@given(st.permutations(range(3)))
def test_the_order_in_which_levels_are_told_does_not_matter(order: list[int]) -> None:
    shares = (0.1, 0.2, 0.7)
    expected = score(*shares)
    for names in (LEVELS, PLACES):
        assert score(*(shares[n] for n in order), names=[names[n] for n in order]) == expected


def test_rounded_probabilities_are_made_to_sum_to_one_and_their_sum_is_kept() -> None:
    cell = scored(score(0.33, 0.33, 0.33))
    assert cell.label_mass == pytest.approx(0.99)
    assert cell.expected_score == pytest.approx(3)
    assert cell.entropy == pytest.approx(1)
    assert scored(score(0.03, 0.08, 0.91)).label_mass == 1


@given(st.lists(st.floats(0, 1), min_size=3, max_size=3), st.integers(2, 6))
def test_rounding_to_two_decimals_or_more_is_always_forgiven(raw: list[float], decimals: int) -> None:
    total = math.fsum(raw)
    assume(total > 1e-3)
    exact = [value / total for value in raw]
    cell = scored(score(*(round(p, decimals) for p in exact)))
    assert cell.expected_score == pytest.approx(sum(p * v for p, v in zip(exact, (1, 3, 5), strict=True)), abs=0.05)


@given(st.lists(st.floats(0, 1), min_size=3, max_size=3))
def test_a_reading_lies_on_the_scale(shares: list[float]) -> None:
    cell = score(*shares)
    if abs(math.fsum(shares) - 1) > 0.0301:
        assert code(cell) == "bad_probabilities"
    elif abs(math.fsum(shares) - 1) < 0.0299:
        found = scored(cell)
        assert found.expected_score is not None
        assert found.entropy is not None
        assert 1 <= found.expected_score <= 5
        assert 0 <= found.entropy <= 1
        assert max(shares) == shares[(1, 3, 5).index(int(found.score))]


@pytest.mark.parametrize(
    "shares",
    [
        (-0.1, 0.4, 0.7),
        (0.1, 0.2, None),
        (1.2, 0.0, 0.0),
        (0.0, 0.0, 0.0),
        (0.2, 0.2, 0.2),
        (0.5, 0.5, 0.5),
        (1.0, 0.0, 0.04),
        (7, 28, 65),
    ],
)
def test_what_is_no_distribution_is_an_error(shares: Sequence[float | None]) -> None:
    assert code(score(*shares)) == "bad_probabilities"


@pytest.mark.parametrize(
    "names",
    [
        ("1", "3"),
        ("1", "3", "5", "6"),
        ("1", "3", "4"),
        ("0", "1"),
        ("0", "1", "2", "3"),
        ("0", "3", "5"),
        ("1", "1", "3", "5"),
        ("low", "mid", "high"),
        (),
    ],
)
def test_options_that_were_not_asked_or_are_missing_are_an_error(names: Sequence[str]) -> None:
    cell = told(ABSOLUTE, "score", names, [1 / max(len(names), 1)] * len(names))
    assert code(cell) == "bad_probabilities"


def test_a_level_that_reads_as_a_place_and_as_a_label_means_the_same() -> None:
    of = make_rubric(evidence="none", dimensions=(Dimension("quality", "Is it good?", {}),), scale=Scale(0, 2))
    cell = scored(told(of, "score", ("2", "0", "1"), (0.7, 0.1, 0.2)))
    assert cell.score == 2
    assert cell.expected_score == pytest.approx(1.6)


@pytest.mark.parametrize("kind", ["choice", "predicate", "unknown"])
def test_an_answer_of_another_type_is_an_error(kind: AnswerKind) -> None:
    assert code(told(ABSOLUTE, kind, LEVELS, (0.1, 0.2, 0.7))) == "type"


@pytest.mark.parametrize(("p", "verdict"), [(0.0, 0), (0.4999, 0), (0.5, 1), (0.93, 1), (1.0, 1), (1.0000001, 1)])
def test_a_gate_passes_from_one_half_on(p: float, verdict: float) -> None:
    cell = scored(told(GATE, "predicate", ("true",), (p,)))
    assert cell.score == verdict
    assert cell.expected_score == pytest.approx(min(p, 1))
    share = min(p, 1.0)
    entropy = -sum(q * math.log2(q) for q in (share, 1 - share) if q)
    assert cell.entropy == pytest.approx(entropy)
    assert cell.label_mass == pytest.approx(1)


@pytest.mark.parametrize("p", [-0.01, 1.01, None])
def test_what_is_no_probability_decides_no_gate(p: float | None) -> None:
    assert code(told(GATE, "predicate", ("true",), (p,))) == "bad_probabilities"


def test_a_refused_gate_is_undecided_not_failed() -> None:
    assert cells(GATE, Answer("quality", "refusal"))["quality"] == JudgeError(
        "refusal", "the judge declined to answer this question"
    )


@pytest.mark.parametrize(
    ("shares", "verdict", "preference"),
    [
        ((0.6, 0.3, 0.1), 1, 0.65),
        ((0.3, 0.6, 0.1), -1, 0.35),
        ((0.2, 0.3, 0.5), 0, 0.45),
        ((0.45, 0.45, 0.1), 0, 0.5),
        ((0.4, 0.2, 0.4), 0, 0.6),
        ((1.0, 0.0, 0.0), 1, 1.0),
    ],
)
def test_a_comparison_says_who_is_better_in_both_orders(
    shares: Sequence[float], verdict: float, preference: float
) -> None:
    names = ("A", "B", "tie")
    shown_first = scored(told(PAIRS, "choice", names, shares, "ab"))
    assert shown_first.score == verdict
    assert shown_first.preference == pytest.approx(preference)
    assert shown_first.expected_score == pytest.approx(shares[0] - shares[1])
    shown_second = scored(told(PAIRS, "choice", names, shares, "ba"))
    assert shown_second.score == -verdict
    assert shown_second.preference == pytest.approx(1 - preference)
    assert shown_second.expected_score == pytest.approx(shares[1] - shares[0])
    assert shown_first.entropy == shown_second.entropy


def test_a_judge_may_say_that_a_dimension_does_not_apply() -> None:
    options = (
        (ABSTAINS, (*LEVELS, "N/A")),
        (GATE_ABSTAINS, ("pass", "fail", "N/A")),
        (PAIRS_ABSTAIN, ("A", "B", "tie", "N/A")),
    )
    for of, names in options:
        rest = [0.1 / (len(names) - 1)] * (len(names) - 1)
        assert told(of, "choice", names, (*rest, 0.9), "ab") == NotApplicable()
        even = [1 / len(names)] * len(names)
        assert isinstance(told(of, "choice", names, even, "ab"), Scored)


def test_a_score_is_that_of_where_the_dimension_applies() -> None:
    cell = scored(told(ABSTAINS, "choice", (*LEVELS, "N/A"), (0.1, 0.1, 0.4, 0.4)))
    assert cell.score == 5
    assert cell.expected_score == pytest.approx((0.1 * 1 + 0.1 * 3 + 0.4 * 5) / 0.6)
    entropy = -sum(p * math.log(p) for p in (0.1, 0.1, 0.4, 0.4)) / math.log(4)
    assert cell.entropy == pytest.approx(entropy)
    assert cell.label_mass == pytest.approx(1)
    gate = scored(told(GATE_ABSTAINS, "choice", ("pass", "fail", "N/A"), (0.3, 0.35, 0.35)))
    assert gate.score == 0
    assert gate.expected_score == pytest.approx(0.3 / 0.65)


def test_one_bad_answer_leaves_the_others_standing() -> None:
    of = make_rubric("a", "b", "c", evidence="none")
    good = tuple(zip(LEVELS, (0.0, 0.0, 1.0), strict=True))
    found = cells(of, Answer("c", "score", good), Answer("a", "refusal"), Answer("zzz", "score", good))
    assert list(found) == ["a", "b", "c"]
    assert [code(found["a"]), code(found["b"])] == ["refusal", "missing_verdict"]
    assert scored(found["c"]).score == 5


def test_answers_without_names_stand_as_the_questions_do() -> None:
    of = make_rubric("a", "b", evidence="none")
    low, high = (tuple(zip(LEVELS, shares, strict=True)) for shares in ((1.0, 0.0, 0.0), (0.0, 0.0, 1.0)))
    found = cells(of, Answer(None, "score", low), Answer(None, "score", high))
    assert [scored(cell).score for cell in found.values()] == [1, 5]
    short = cells(of, Answer(None, "score", low))
    assert [code(cell) for cell in short.values()] == ["missing_verdict", "missing_verdict"]


def test_two_answers_to_one_question_count_only_where_they_are_the_same() -> None:
    one = Answer("quality", "score", tuple(zip(LEVELS, (0.1, 0.2, 0.7), strict=True)))
    other = Answer("quality", "score", tuple(zip(LEVELS, (0.7, 0.2, 0.1), strict=True)))
    assert scored(cells(ABSOLUTE, one, one)["quality"]).score == 5
    assert code(cells(ABSOLUTE, one, other)["quality"]) == "ambiguous"
    assert code(cells(ABSOLUTE, one, other, one)["quality"]) == "ambiguous"


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        (ChatReply("no answers"), "unparseable"),
        (ChatReply(""), "unparseable"),
        (ChatReply("{}", stop="blocked"), "blocked"),
        (ChatReply("", stop="refusal"), "refusal"),
        (ChatReply("{}", refusal="I will not"), "refusal"),
    ],
)
def test_a_reply_that_was_withheld_is_never_read(reply: ChatReply, expected: str) -> None:
    assert code(read_decisions(reply, asked(ABSOLUTE), "-")["quality"]) == expected


NAMES = st.sampled_from((*LEVELS, *PLACES, "A", "B", "tie", "N/A", "pass", "fail", "true", ""))
SHARES = st.none() | st.floats(-1, 2) | st.sampled_from((0.0, 0.5, 1.0))


@given(
    st.lists(
        st.builds(
            Answer,
            st.none() | st.sampled_from(("quality", "other")),
            st.sampled_from(("predicate", "choice", "score", "refusal", "unknown")),
            st.lists(st.tuples(NAMES, SHARES), max_size=5).map(tuple),
        ),
        max_size=3,
    )
)
def test_any_answers_come_to_one_cell_for_each_question(answers: list[Answer]) -> None:
    for of in (ABSOLUTE, ABSTAINS, GATE, GATE_ABSTAINS, PAIRS, PAIRS_ABSTAIN):
        (cell,) = cells(of, *answers, order="ba").values()
        if isinstance(cell, Scored):
            assert cell.expected_score is not None
            assert cell.score in of.offered.values
            assert of.offered.min <= cell.expected_score <= of.offered.max
        else:
            assert isinstance(cell, JudgeError | NotApplicable)


def run(of: Rubric, client: ScriptedClient) -> Outcome:
    (task, *_) = tasks_of(of)
    return asyncio.run(decide(task, asked(of), client))


def test_an_outcome_holds_its_cells_and_the_exchange() -> None:
    text = write_answers([Answer("quality", "score", tuple(zip(LEVELS, (0.1, 0.2, 0.7), strict=True)))])
    client = ScriptedClient([ChatReply(text, model="luna")])
    outcome = run(ABSOLUTE, client)
    assert scored(outcome.cells["quality"]).score == 5
    (exchange,) = outcome.exchanges
    assert (exchange.text, exchange.model) == (text, "luna")
    assert outcome.stated is None
    (request,) = client.requests
    assert (request.sampling.temperature, request.sampling.seed, request.sampling.max_tokens) == (None, None, None)
    assert request.schema is None
    assert [question.name for question in request.questions] == ["quality"]
    assert client.confirmed == [request]


def test_a_reply_with_a_gap_is_not_kept() -> None:
    client = ScriptedClient([ChatReply(write_answers([Answer("quality", "refusal")]))])
    assert code(run(GATE, client).cells["quality"]) == "refusal"
    assert client.confirmed == []


def test_a_failed_call_is_an_outcome_and_a_lost_endpoint_ends_the_run() -> None:
    fault = ServerFaultError("down")
    fault.attempts = 3
    outcome = run(ABSOLUTE, ScriptedClient([fault]))
    assert code(outcome.cells["quality"]) == "server_error"
    assert outcome.exchanges[0].attempts == 3
    outcome = run(ABSOLUTE, ScriptedClient([RequestTooLargeError("too long")]))
    assert outcome.cells["quality"] == InputFault("request_too_large", "too long")
    with pytest.raises(EndpointError):
        run(ABSOLUTE, ScriptedClient([EndpointError("gone")]))


def test_every_order_of_options_reads_alike() -> None:
    for names in itertools.permutations(("A", "B", "tie")):
        shares = {"A": 0.6, "B": 0.3, "tie": 0.1}
        cell = scored(told(PAIRS, "choice", names, [shares[name] for name in names], "ab"))
        assert cell.preference == pytest.approx(0.65)
