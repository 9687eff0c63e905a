"""Readings of whole replies, from the judge's call to the cell."""

from __future__ import annotations

import asyncio
import json
import math
from collections.abc import Mapping
from typing import Any

import pytest

from agentanvil.client import ChatReply, TokenLogprob
from agentanvil.client.scripted import Line, ScriptedClient
from agentanvil.dataset import Contender, Row
from agentanvil.judge import CallSettings, judge
from agentanvil.plan import Order
from agentanvil.rubric import Rubric
from agentanvil.verdict import Cell, NotApplicable, Scored
from tests.fakes.prompts import pair, prompted, scale_rubric

SPLIT = scale_rubric(1, 5)
JOINT = scale_rubric(1, 10, "one", "two")
GATE = scale_rubric(1, 5, mode="gate")
QUOTED = scale_rubric(1, 5, evidence="quoted")
BARE = scale_rubric(0, 1, mode="pairwise")
PAIR = pair(response="Paris it is.", rival=Contender("It is Lyon."))


def spelt(text: str, listed: Mapping[int, Mapping[str, float]]) -> ChatReply:
    """A reply of one token a character; at some offsets these are the alternatives, the written one among them."""
    tokens: list[TokenLogprob] = []
    for at, said in enumerate(text):
        among = listed.get(at, {said: 1.0})
        top = tuple((name, math.log(p)) for name, p in among.items())
        tokens.append(TokenLogprob(at, said, math.log(among[said]), top))
    return ChatReply(text, tokens=tuple(tokens))


def cells(rubric: Rubric, script: Line | list[Line], order: Order | None = None) -> dict[str, Cell]:
    item: Row | None = PAIR if rubric.mode == "pairwise" else None
    task, prompt = prompted(rubric, item, order=order)
    return dict(asyncio.run(judge(task, prompt, ScriptedClient(script), CallSettings())).cells)


def scored(cell: Cell) -> Scored:
    assert isinstance(cell, Scored)
    return cell


def reply(value: dict[str, Any], marked: Mapping[str, Mapping[str, float]]) -> ChatReply:
    """The value as compact JSON, with alternatives at the character after each marked text."""
    text = json.dumps(value, separators=(",", ":"))
    return spelt(text, {text.index(mark) + len(mark): among for mark, among in marked.items()})


def test_a_score_stands_beside_its_expectation() -> None:
    (cell,) = cells(SPLIT, reply({"reason": "r", "score": 4}, {'"score":': {"4": 0.6, "5": 0.2, "null": 0.2}})).values()
    assert scored(cell).score == 4
    assert scored(cell).expected_score == pytest.approx(4.25)
    assert scored(cell).label_mass == pytest.approx(0.8)
    assert scored(cell).entropy == pytest.approx((0.75 * math.log(4 / 3) + 0.25 * math.log(4)) / math.log(5))


def test_every_dimension_of_a_joint_reply_is_read_at_its_own_place() -> None:
    said = {"one": {"reason": '"score":1', "score": 7}, "two": {"reason": "r", "score": 10}}
    text = json.dumps(said, separators=(",", ":"))
    first, second = text.index(":7}") + 1, text.index(":10}") + 1
    found = cells(JOINT, spelt(text, {first: {"7": 0.5, "8": 0.5}, second + 1: {"0": 0.9, "}": 0.1}}))
    assert scored(found["one"]).expected_score == pytest.approx(7.5)
    assert scored(found["two"]).expected_score == pytest.approx(9.1)


@pytest.mark.parametrize(("said", "other"), [(True, "f"), (False, "t")])
def test_a_gates_expectation_is_the_probability_of_a_pass(said: bool, other: str) -> None:
    among = {json.dumps(said)[0]: 0.75, other: 0.25}
    (cell,) = cells(GATE, reply({"reason": "r", "pass": said}, {'"pass":': among})).values()
    assert scored(cell).score == float(said)
    assert scored(cell).expected_score == pytest.approx(0.75 if said else 0.25)


@pytest.mark.parametrize("order", ["ab", "ba"])
def test_a_comparison_has_an_entropy_and_no_expected_score(order: Order) -> None:
    (cell,) = cells(BARE, reply({"winner": "A"}, {'"winner":"': {"A": 0.5, "B": 0.5}}), order).values()
    assert scored(cell).expected_score is None
    assert scored(cell).preference == pytest.approx(0.5)
    assert scored(cell).entropy == pytest.approx(math.log(2) / math.log(3))


def test_a_score_put_there_by_rule_has_no_reading_of_the_judges_own() -> None:
    said = {"evidence": [], "reason": "r", "score": 5}
    (cell,) = cells(QUOTED, reply(said, {'"score":': {"5": 0.9, "4": 0.1}})).values()
    assert scored(cell) == Scored(1.0, (), None, "r", ("no_evidence", "judge_said_5"))


def test_what_does_not_apply_has_no_reading() -> None:
    rubric = scale_rubric(1, 5, allow_na=True)
    (cell,) = cells(rubric, reply({"reason": "r", "score": None}, {'"score":': {"n": 0.9, "4": 0.1}})).values()
    assert cell == NotApplicable("r")


def test_without_log_probabilities_a_verdict_stands_alone() -> None:
    (cell,) = cells(SPLIT, '{"reason":"r","score":4}').values()
    assert cell == Scored(4.0, reason="r")


def test_a_verdict_that_was_asked_for_twice_has_no_reading() -> None:
    again = reply({"reason": "r", "score": 4}, {'"score":': {"4": 0.6, "5": 0.4}})
    (cell,) = cells(SPLIT, ["four", again]).values()
    assert cell == Scored(4.0, reason="r", flags=("reasked",))


def test_a_number_in_quotation_marks_is_read_too() -> None:
    (cell,) = cells(SPLIT, reply({"reason": "r", "score": "4"}, {'"score":"': {"4": 0.6, "5": 0.4}})).values()
    assert scored(cell).flags == ("coerced",)
    assert scored(cell).expected_score == pytest.approx(4.4)


def test_of_several_objects_the_last_is_read() -> None:
    text = '{"reason":"a","score":4} {"reason":"b","score":4}'
    among = {"4": 0.6, "5": 0.4}
    (cell,) = cells(SPLIT, spelt(text, {text.rindex("4"): among, text.index("4"): {"4": 0.5, "1": 0.5}})).values()
    assert scored(cell).expected_score == pytest.approx(4.4)
