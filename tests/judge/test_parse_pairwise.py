"""Replies to a comparison: which slot is better and by how much, read strictly, as the judge saw the slots."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentanvil.judge import Parsed, ParseFault, Verdict, parse_reply
from agentanvil.prompt import Contract
from agentanvil.rubric import ReplyFormat
from tests.fakes.prompts import contract_of, labels, scale_rubric


def compared(*names: str, high: int = 5, **changes: object) -> Contract:
    return contract_of(scale_rubric(1, high, *names, mode="pairwise", **changes))  # type: ignore[arg-type]


WIDE = compared()
NARROW = compared(high=2)


def read(text: str, contract: Contract = WIDE) -> Verdict:
    found = parse_reply(text, contract)
    assert isinstance(found, Parsed)
    (verdict,) = found.verdicts.values()
    assert isinstance(verdict, Verdict)
    return verdict


def fault(text: str, contract: Contract = WIDE) -> str:
    found = parse_reply(text, contract)
    assert isinstance(found, ParseFault)
    return found.code


@pytest.mark.parametrize(
    ("text", "score", "flags"),
    [
        ('{"winner": "A", "margin": 3}', 3, ()),
        ('{"winner": "B", "margin": 4}', -4, ()),
        ('{"winner": "B", "margin": 1.0}', -1, ()),
        ('{"winner": "tie", "margin": 1}', 0, ()),
        ('{"winner": "tie"}', 0, ()),
        ('{"winner": "tie", "margin": 99}', 0, ()),
        ('{"winner": "tie", "margin": null}', 0, ()),
        ('{"winner": "b", "margin": 2}', -2, ("coerced",)),
        ('{"winner": " Tie "}', 0, ("coerced",)),
        ('{"winner": "A", "margin": "2"}', 2, ("coerced",)),
        ('Sure.\n```json\n{"winner": "A", "margin": 2}\n```', 2, ()),
    ],
)
def test_the_better_slot_and_the_margin_make_a_signed_number(text: str, score: int, flags: tuple[str, ...]) -> None:
    found = read(text)
    assert (found.score, found.flags) == (score, flags)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ('{"winner": "A"}', "missing_verdict"),
        ('{"winner": "A", "margin": null}', "missing_verdict"),
        ('{"winner": "A", "margin": 0}', "out_of_range"),
        ('{"winner": "A", "margin": 5}', "out_of_range"),
        ('{"winner": "A", "margin": -1}', "out_of_range"),
        ('{"winner": "A", "margin": 1.5}', "out_of_range"),
        ('{"winner": "A", "margin": true}', "type"),
        ('{"winner": "A", "margin": "much"}', "type"),
        ('{"winner": "A", "margin": "nan"}', "non_finite"),
        ('{"winner": "Response A is better", "margin": 1}', "type"),
        ('{"winner": "A or B", "margin": 1}', "type"),
        ('{"winner": "AB", "margin": 1}', "type"),
        ('{"winner": "", "margin": 1}', "type"),
        ('{"winner": 1, "margin": 1}', "type"),
        ('{"winner": true, "margin": 1}', "type"),
        ('{"winner": ["A"], "margin": 1}', "type"),
        ('{"winner": null, "margin": 1}', "missing_verdict"),
        ('{"margin": 1}', "missing_verdict"),
        ('{"preferred": "A"}', "schema_mismatch"),
        ('{"winner": "A", "margin": 1}{"winner": "B", "margin": 1}', "ambiguous"),
        ('{"winner": "A", "winner": "B", "margin": 1}', "duplicate_key"),
        ("A is better.", "unparseable"),
    ],
)
def test_nothing_else_does(text: str, code: str) -> None:
    assert fault(text) == code


@pytest.mark.parametrize(("text", "score"), [('{"winner": "A"}', 1), ('{"winner": "B", "margin": 9}', -1)])
def test_where_only_one_margin_is_possible_none_is_asked_for(text: str, score: int) -> None:
    assert read(text, NARROW).score == score


def test_each_slots_evidence_is_kept_apart() -> None:
    text = '{"evidence_a": ["one", "two"], "evidence_b": "three", "reason": "r", "winner": "B", "margin": 1}'
    found = read(text, compared(evidence="quoted"))
    assert found == Verdict(-1, ("one", "two"), "r", (), ("three",))


def test_null_is_not_applicable_where_the_rubric_allows_it() -> None:
    assert read('{"winner": null, "margin": 1}', compared(allow_na=True)) == Verdict(None)


@pytest.mark.parametrize(
    ("winner", "stated", "flags"),
    [
        ('"A"', "A", ()),
        ('"b"', "B", ()),
        ('"tie"', "tie", ()),
        ('"neither"', None, ("winner_unstated",)),
        ("null", None, ("winner_unstated",)),
        ("1", None, ("winner_unstated",)),
    ],
)
def test_a_joint_reply_states_its_winner_and_a_bad_one_harms_no_dimension(
    winner: str, stated: str | None, flags: tuple[str, ...]
) -> None:
    text = f'{{"one": {{"winner": "A", "margin": 1}}, "two": {{"winner": "tie", "margin": 1}}, "winner": {winner}}}'
    found = parse_reply(text, compared("one", "two"))
    assert isinstance(found, Parsed)
    assert found.complete
    assert (found.stated, found.flags) == (stated, flags)


def test_a_joint_reply_may_lack_the_winner_or_a_dimension() -> None:
    found = parse_reply('{"one": {"winner": "A", "margin": 1}, "winner": "A"}', compared("one", "two"))
    assert isinstance(found, Parsed)
    assert found.verdicts["two"] == ParseFault("missing_verdict", "the reply has nothing for `two`")
    assert (found.stated, found.flags) == ("A", ())
    unstated = parse_reply('{"one": {"winner": "A", "margin": 1}}', compared("one", "two"))
    assert isinstance(unstated, Parsed)
    assert unstated.flags == ("winner_unstated",)


OUTPUTS = labels("", {"Output (a)": 1, "Output (b)": -1})


@pytest.mark.parametrize(
    ("text", "score"), [("Output (a)", 1), ("output (b).", -1), ("**Output (a)**", 1), (" Output (b)\n", -1)]
)
def test_a_label_stands_for_a_signed_number(text: str, score: int) -> None:
    assert read(text, compared(high=2, reply=OUTPUTS)) == Verdict(score)


ARGUED = ReplyFormat("label", "Output", {"(a) is better": 1, "(b) is better": -1}, select="last")


@pytest.mark.parametrize(
    ("text", "score"),
    [
        ("Output (a) is short. Output (b) is right. Therefore, Output (b) is better.", -1),
        ("Output (a) is better.", 1),
        ("Output (a) is better than its rival in style.\nOutput (b) is better.", -1),
    ],
)
def test_a_label_may_end_a_sentence_that_opens_with_a_bracket(text: str, score: int) -> None:
    assert read(text, compared(high=2, reply=ARGUED)) == Verdict(score)


def test_signed_numbers_are_the_labels_where_none_are_declared() -> None:
    contract = compared(high=3, reply=labels("Delta:"))
    assert read("Delta: -2", contract).score == -2
    assert read("Delta: +1", contract).score == 1
    assert fault("Delta: 3", contract) == "out_of_range"


JSON = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()


@given(JSON, JSON)
def test_whatever_stands_there_only_what_is_on_offer_is_read(winner: object, margin: object) -> None:
    found = parse_reply(json.dumps({"winner": winner, "margin": margin}), WIDE)
    if isinstance(found, Parsed):
        (verdict,) = found.verdicts.values()
        assert isinstance(verdict, Verdict)
        assert isinstance(winner, str)
        assert winner.strip().lower() in {"a", "b", "tie"}
        assert verdict.score in WIDE.dimensions[0].scores


@given(st.sampled_from(["A", "B", "tie"]), st.integers(1, 4))
def test_exchanging_the_slots_turns_the_verdict_round(winner: str, margin: int) -> None:
    other = {"A": "B", "B": "A", "tie": "tie"}[winner]
    one = read(json.dumps({"winner": winner, "margin": margin}))
    two = read(json.dumps({"winner": other, "margin": margin}))
    assert one.score is not None
    assert two.score is not None
    assert one.score == -two.score
