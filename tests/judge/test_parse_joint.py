"""A joint reply: cells are independent once the object is sound."""

from __future__ import annotations

import json

import pytest

from agentanvil.judge import Parsed, ParseFault, Verdict, parse_reply
from agentanvil.rubric import Overall
from tests.fakes.prompts import contract_of, scale_rubric

JOINT = contract_of(scale_rubric(1, 5, "one", "two", gate={"one": 4.0}))


def codes(text: str) -> dict[str, object]:
    read = parse_reply(text, JOINT)
    assert isinstance(read, Parsed), read
    return {name: v.code if isinstance(v, ParseFault) else v.score for name, v in read.verdicts.items()}


def test_both_verdicts_are_read_in_the_contracts_order() -> None:
    read = parse_reply('{"two": {"reason": "b", "score": 1}, "one": {"reason": "a", "score": 4}}', JOINT)
    assert read == Parsed({"one": Verdict(4, (), "a"), "two": Verdict(1, (), "b")})
    assert isinstance(read, Parsed)
    assert read.complete
    assert list(read.verdicts) == ["one", "two"]


@pytest.mark.parametrize(
    ("second", "expected"),
    [
        pytest.param('{"score": 9}', "out_of_range", id="off the scale"),
        pytest.param('{"score": "x"}', "type", id="a word"),
        pytest.param('{"score": null}', "missing_verdict", id="null score"),
        pytest.param('{"grade": 3}', "schema_mismatch", id="other key"),
        pytest.param('{"reason": "x"}', "missing_verdict", id="no score"),
        pytest.param("3", "schema_mismatch", id="a bare number"),
        pytest.param('"3"', "schema_mismatch", id="a string"),
        pytest.param("[]", "schema_mismatch", id="a list"),
        pytest.param("null", "missing_verdict", id="null"),
    ],
)
def test_one_unsound_dimension_leaves_the_other_its_verdict(second: str, expected: str) -> None:
    assert codes(f'{{"one": {{"score": 4}}, "two": {second}}}') == {"one": 4, "two": expected}


def test_a_dimension_left_out_is_told_from_one_under_another_name() -> None:
    assert codes('{"one": {"score": 4}}') == {"one": 4, "two": "missing_verdict"}
    assert codes('{"one": {"score": 4}, "Two": {"score": 3}}') == {"one": 4, "two": "schema_mismatch"}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param('{"score": 4, "reason": "x"}', "missing_verdict", id="flat, as if one were asked"),
        pytest.param('{"One": {"score": 4}, "Two": {"score": 3}}', "schema_mismatch", id="other letter case"),
        pytest.param('{"scores": {"one": {"score": 4}}}', "schema_mismatch", id="wrapped"),
        pytest.param('{"one": {"score": 4}, "one": {"score": 3}}', "duplicate_key", id="a dimension twice"),
        pytest.param('{"one": {"score": 4, "score": 4}, "two": {"score": 1}}', "duplicate_key", id="twice inside one"),
        pytest.param('{"one": {"score": 4}, "two": {"score": NaN}}', "non_finite", id="NaN anywhere"),
        pytest.param('{"one": {"score": 4}, "two": {"sco', "truncated", id="cut after the first"),
        pytest.param('{"one": {"score": 4}} {"one": {"score": 3}}', "ambiguous", id="two that differ"),
        pytest.param('{"one": {"score": 4}}, {"two": {"score": 3}}', "schema_mismatch", id="one object each"),
    ],
)
def test_faults_of_the_whole_reply(text: str, expected: str) -> None:
    read = parse_reply(text, JOINT)
    assert isinstance(read, ParseFault), read
    assert read.code == expected


def joint(**extra: object) -> str:
    return json.dumps({"one": {"score": 5}, "two": {"score": 3}, **extra})


@pytest.mark.parametrize(
    ("extra", "flags"),
    [
        pytest.param({}, (), id="nothing volunteered"),
        pytest.param({"overall": 3}, (), id="the minimum"),
        pytest.param({"overall": 4}, ("contradiction",), id="the mean"),
        pytest.param({"overall": "good"}, (), id="no number"),
        pytest.param({"overall": True}, (), id="boolean"),
        pytest.param({"pass": True}, (), id="pass, and nothing fails"),
        pytest.param({"pass": False}, (), id="fail, and one may"),
        pytest.param({"pass": "yes"}, (), id="pass in words"),
    ],
)
def test_what_a_judge_computes_itself_is_ignored_and_noted(extra: dict[str, object], flags: tuple[str, ...]) -> None:
    read = parse_reply(joint(**extra), JOINT)
    assert read == Parsed({"one": Verdict(5), "two": Verdict(3)}, flags)


def test_a_pass_over_a_failing_dimension_is_a_contradiction() -> None:
    read = parse_reply('{"one": {"score": 3}, "two": {"score": 3}, "pass": true}', JOINT)
    assert isinstance(read, Parsed)
    assert read.flags == ("contradiction",)


def test_overall_is_not_held_against_a_weighted_rubric() -> None:
    weighted = contract_of(scale_rubric(1, 5, "one", "two", overall=Overall("weighted", {"one": 1.0})))
    assert parse_reply(joint(overall=4), weighted) == Parsed({"one": Verdict(5), "two": Verdict(3)})


GATED = contract_of(scale_rubric(0, 4, gate={"quality": 2.0}))
OPEN = contract_of(scale_rubric(0, 4))


@pytest.mark.parametrize(
    ("text", "gated", "ungated"),
    [
        pytest.param('{"score": 3, "pass": false}', True, False, id="O-A26 fails above the threshold"),
        pytest.param('{"score": 0, "pass": true}', True, True, id="O-A26 passes with the lowest"),
        pytest.param('{"score": 4, "pass": false}', True, True, id="fails with the highest"),
        pytest.param('{"score": 2, "pass": true}', False, False, id="passes at the threshold"),
        pytest.param('{"score": 1, "pass": false}', False, False, id="fails below it"),
        pytest.param('{"score": 3, "overall": 2}', True, True, id="overall is another number"),
        pytest.param('{"score": 3, "pass": "false"}', False, False, id="a word is no boolean"),
    ],
)
def test_pass_is_computed_by_code_and_a_judge_that_disagrees_is_flagged(text: str, gated: bool, ungated: bool) -> None:
    for contract, flagged in ((GATED, gated), (OPEN, ungated)):
        read = parse_reply(text, contract)
        assert isinstance(read, Parsed)
        found = read.verdicts["quality"]
        assert isinstance(found, Verdict)
        assert found.flags == (("contradiction",) if flagged else ())
