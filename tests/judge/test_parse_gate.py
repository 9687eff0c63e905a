"""Replies to a gate: a boolean is read as what it is, and nothing by whether it looks true."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentanvil.judge import Parsed, ParseFault, Verdict, parse_reply
from agentanvil.prompt import Contract
from agentanvil.rubric import EvidenceMode
from tests.fakes.prompts import contract_of, scale_rubric


def gate(*names: str, allow_na: bool = False, evidence: EvidenceMode = "none") -> Contract:
    return contract_of(scale_rubric(1, 5, *names, allow_na=allow_na, evidence=evidence, mode="gate"))


ONE = gate()


def read(text: str, contract: Contract = ONE) -> Verdict:
    found = parse_reply(text, contract)
    assert isinstance(found, Parsed)
    (verdict,) = found.verdicts.values()
    assert isinstance(verdict, Verdict)
    return verdict


def fault(text: str, contract: Contract = ONE) -> str:
    found = parse_reply(text, contract)
    if isinstance(found, Parsed):
        (only,) = found.verdicts.values()
        assert isinstance(only, ParseFault)
        return only.code
    return found.code


@pytest.mark.parametrize(
    ("text", "score", "flags"),
    [
        ('{"evidence": ["q"], "reason": "r", "pass": true}', 1, ()),
        ('{"pass": false}', 0, ()),
        ('{"pass": "true"}', 1, ("coerced",)),
        ('{"pass": " False "}', 0, ("coerced",)),
        pytest.param('{"pass": "fail"}', 0, ("coerced",), id="O-A24 a closed word"),
        ('{"pass": "PASS"}', 1, ("coerced",)),
        ('```json\n{"pass": false}\n```', 0, ()),
        ('{"pass": true}{"pass": true}', 1, ()),
        ('{"pass": true, "score": 5}', 1, ()),
    ],
)
def test_a_boolean_is_the_verdict(text: str, score: int, flags: tuple[str, ...]) -> None:
    found = read(text)
    assert (found.score, found.flags) == (score, flags)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        *((f'{{"pass": {value}}}', "type") for value in ("1", "0", "1.0", '"1"', '"0"', '"0.0"', "[]", "[true]", "{}")),
        *(
            (f'{{"pass": "{word}"}}', "type")
            for word in ("yes", "no", "perhaps", "", "true!", "not true", "tru", "n/a")
        ),
        pytest.param('{"pass": null}', "missing_verdict", id="O-A27"),
        pytest.param('{"reason": "looked at it"}', "missing_verdict", id="O-A25 fail closed"),
        ('{"passed": true}', "schema_mismatch"),
        ('{"score": 5}', "schema_mismatch"),
        ('{"pass": true, "pass": false}', "duplicate_key"),
        ('{"pass": true}{"pass": false}', "ambiguous"),
        ('{"pass": NaN}', "non_finite"),
        ("It passes: true", "unparseable"),
        pytest.param('{"pass":true,"reason":"They asked for the n', "truncated", id="O-A36"),
        ("{'pass': True}", "unparseable"),
    ],
)
def test_nothing_else_is(text: str, code: str) -> None:
    assert fault(text) == code


def test_null_is_not_applicable_where_the_rubric_allows_it() -> None:
    assert read('{"reason": "r", "pass": null}', gate(allow_na=True)) == Verdict(None, (), "r")


def test_each_dimension_has_a_verdict_of_its_own() -> None:
    found = parse_reply('{"one": {"pass": true}, "two": {"pass": "maybe"}}', gate("one", "two"))
    assert isinstance(found, Parsed)
    assert found.verdicts["one"] == Verdict(1)
    assert isinstance(found.verdicts["two"], ParseFault)


@pytest.mark.parametrize(
    ("first", "second", "over_all", "flags"),
    [
        (True, True, True, ()),
        (True, False, False, ()),
        (True, False, True, ("contradiction",)),
        (True, True, False, ("contradiction",)),
    ],
)
def test_a_pass_over_all_is_noted_where_the_dimensions_do_not_give_it(
    first: bool, second: bool, over_all: bool, flags: tuple[str, ...]
) -> None:
    text = json.dumps({"one": {"pass": first}, "two": {"pass": second}, "pass": over_all})
    found = parse_reply(text, gate("one", "two"))
    assert isinstance(found, Parsed)
    assert found.flags == flags
    assert [v.score for v in found.verdicts.values() if isinstance(v, Verdict)] == [int(first), int(second)]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)


@given(JSON)
def test_whatever_stands_there_only_booleans_and_their_words_are_read(value: object) -> None:
    found = parse_reply(json.dumps({"pass": value}), ONE)
    words = value.strip().lower() if isinstance(value, str) else ""
    if isinstance(value, bool):
        assert found == Parsed({"quality": Verdict(int(value))})
    elif words in {"true", "pass", "false", "fail"}:
        assert found == Parsed({"quality": Verdict(int(words in {"true", "pass"}), flags=("coerced",))})
    else:
        assert isinstance(found, ParseFault)
