"""When a judge counts as unsure: what can be written, and what it is true of."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentanvil.errors import UsageError
from agentanvil.plan import idle_terms, parse_condition, usual_condition
from agentanvil.plan.condition import MARKS, MEASURES, OPERATORS, Reading
from tests.fakes.records import rubric

TERMS = st.sampled_from(MARKS) | st.builds(
    "{}{}{}".format, st.sampled_from(MEASURES), st.sampled_from(sorted(OPERATORS)), st.floats(0, 1).map("{:.8f}".format)
)
TEXTS = st.recursive(
    TERMS,
    lambda inner: (
        st.builds("not ({})".format, inner)
        | st.builds("({}) and ({})".format, inner, inner)
        | st.builds("({}) or ({})".format, inner, inner)
    ),
    max_leaves=6,
)
NUMBERS = st.none() | st.floats(0, 1)
READINGS = st.builds(
    Reading,
    entropy=NUMBERS,
    margin=NUMBERS,
    near_gate=st.none() | st.booleans(),
    no_evidence=st.none() | st.booleans(),
    missing=st.booleans(),
)


def holds(text: str, **said: object) -> bool:
    return parse_condition(text).holds(Reading(**said))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("entropy>0.6 or near_gate", "entropy>0.6 or near_gate"),
        ("  ENTROPY  >=  .50  ", "entropy>=0.5"),
        ("margin<1", "margin<1"),
        ("entropy>0.00000001", "entropy>0.00000001"),
        ("entropy>0", "entropy>0"),
        ("entropy>.5or(missing)and not(margin<1.)", "entropy>0.5 or missing and not margin<1"),
        ("((missing))", "missing"),
        ("missing or (near_gate or no_evidence)", "missing or near_gate or no_evidence"),
        ("(missing or near_gate) and no_evidence", "(missing or near_gate) and no_evidence"),
        ("missing or near_gate and no_evidence", "missing or near_gate and no_evidence"),
        ("not (missing or near_gate)", "not (missing or near_gate)"),
        ("not not missing", "not not missing"),
    ],
)
def test_a_condition_is_written_in_one_way(text: str, written: str) -> None:
    assert str(parse_condition(text)) == written


@pytest.mark.parametrize(
    ("text", "column", "says"),
    [
        ("", 1, "a term is missing"),
        ("   ", 4, "a term is missing"),
        ("near_gate and", 14, "a term is missing"),
        ("near_gate missing", 11, "'missing' is not expected"),
        ("confidence<0.5", 1, "'confidence' is no term"),
        ("entropy", 8, "after entropy stands one of"),
        ("entropy=0.5", 8, "'=' is not part"),
        ("entropy>>0.5", 9, "stands a number"),
        ("entropy>", 9, "stands a number"),
        ("entropy>near_gate", 9, "stands a number"),
        ("entropy>-1", 9, "'-' is not part"),
        ("entropy>2", 9, "lies between 0 and 1"),
        ("entropy>60%", 11, "'%' is not part"),
        ("entropy>0.6.1", 12, "not expected"),
        ("(missing", 9, "closing parenthesis is missing for the one in column 1"),
        ("missing)", 8, "')' is not expected"),
        ("entropy>0.123456789", 9, "a number of at most 10 characters"),
        ("entropy>1e-3", 11, "'-' is not part"),
        ("missing; drop", 8, "';' is not part"),
        ("near_gate ou missing", 11, "'ou' is not expected"),
        ("é", 1, "'é' is not part"),
        ("not " * 31 + "missing", 121, "more than 30 levels"),
        ("(" * 40 + "missing" + ")" * 40, 31, "more than 30 levels"),
    ],
)
def test_what_cannot_be_read_is_told_by_its_column(text: str, column: int, says: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_condition(text)
    assert f"--escalate-when, column {column}: " in caught.value.message
    assert says in caught.value.message


def test_a_condition_has_an_end() -> None:
    for text in ("missing or " * 100 + "missing", "or ".join(["margin>.5"] * 41)):
        with pytest.raises(UsageError, match="longer than 500"):
            parse_condition(text)


@given(TEXTS, READINGS)
def test_what_is_written_is_read_as_the_same(text: str, reading: Reading) -> None:
    condition = parse_condition(text)
    again = parse_condition(str(condition))
    assert again == condition
    assert again.holds(reading) == condition.holds(reading)


@given(st.text(st.sampled_from("entropymarginotd<>=.()0123456789 _é%"), max_size=40) | st.text(max_size=40))
def test_nothing_else_than_a_condition_or_an_error_comes_of_any_text(text: str) -> None:
    try:
        condition = parse_condition(text)
    except UsageError:
        return
    assert parse_condition(str(condition)) == condition


@given(TEXTS, TEXTS, READINGS)
def test_the_words_mean_what_logic_means_by_them(one: str, other: str, reading: Reading) -> None:
    a, b = (parse_condition(text).root.holds(reading) for text in (one, other))
    found = {word: parse_condition(f"({one}) {word} ({other})").root.holds(reading) for word in ("and", "or")}
    assert found["or"] is (True if True in (a, b) else None if None in (a, b) else False)
    assert found["and"] is (False if False in (a, b) else None if None in (a, b) else True)
    assert parse_condition(f"not ({one})").root.holds(reading) is (None if a is None else not a)


@pytest.mark.parametrize(
    ("sign", "expected"), [(">", (0, 0, 1)), (">=", (0, 1, 1)), ("<", (1, 0, 0)), ("<=", (1, 1, 0))]
)
def test_bounds_are_inside_where_they_are_said_to_be(sign: str, expected: tuple[int, int, int]) -> None:
    for name in MEASURES:
        found = tuple(holds(f"{name}{sign}0.5", **{name: value}) for value in (0.4, 0.5, 0.6))
        assert found == tuple(map(bool, expected))


def test_what_a_verdict_did_not_bring_makes_nobody_unsure() -> None:
    for text, reading in product(("entropy>0", "not entropy>0", "margin<1", "near_gate", "not near_gate"), [Reading()]):
        assert not parse_condition(text).holds(reading)
    assert holds("entropy>0.6 or no_evidence", no_evidence=True)
    assert not holds("entropy>0.6 and no_evidence", no_evidence=True)


def test_terms_that_say_nothing_in_a_run_are_told_with_the_reason() -> None:
    every = parse_condition("entropy>0.6 or margin<0.2 or near_gate or no_evidence or missing")
    gated = rubric(gate={"overall": 4})
    assert idle_terms(every, gated).keys() == {"margin"}
    assert idle_terms(every, rubric()).keys() == {"margin", "near_gate"}
    assert idle_terms(every, rubric(mode="gate", evidence="none")).keys() == {"margin", "no_evidence"}
    assert idle_terms(every, rubric(mode="pairwise")).keys() == {"near_gate"}
    assert not idle_terms(parse_condition("entropy>0.6"), rubric())


def test_what_is_asked_unless_the_user_says_otherwise_means_something_in_every_mode() -> None:
    for mode, text in {
        "absolute": "entropy>0.6 or near_gate",
        "gate": "entropy>0.6 or near_gate",
        "pairwise": "entropy>0.6 or margin<0.2",
    }.items():
        found = rubric(mode=mode, gate={"overall": 4})
        assert str(usual_condition(found)) == text
        assert not idle_terms(usual_condition(found), found)
