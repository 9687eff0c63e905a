"""Reading a reply that should be JSON, by class of fault. Ids name the reported cases that each class stands for."""

from __future__ import annotations

import json

import pytest

from agentanvil.judge import Parsed, ParseFault, Verdict, parse_reply
from agentanvil.prompt import Contract
from tests.fakes.prompts import contract_of, scale_rubric

FIVE = contract_of(scale_rubric(0, 5))
ONE_TO_FIVE = contract_of(scale_rubric(1, 5))
BINARY = contract_of(scale_rubric(0, 1))
TEN = contract_of(scale_rubric(1, 10))
OPTIONAL = contract_of(scale_rubric(1, 5, allow_na=True))


def verdict(text: str, contract: Contract = FIVE) -> Verdict:
    read = parse_reply(text, contract)
    assert isinstance(read, Parsed), read
    found = read.verdicts["quality"]
    assert isinstance(found, Verdict), found
    return found


def code(text: str, contract: Contract = FIVE) -> str:
    read = parse_reply(text, contract)
    assert isinstance(read, ParseFault), read
    return read.code


@pytest.mark.parametrize(
    ("text", "contract", "score"),
    [
        pytest.param('{"score": 4}', FIVE, 4, id="bare"),
        pytest.param('```json\n{"pass": true, "score": 4, "reason": "ok"}\n``` \n', FIVE, 4, id="O-A01 fenced"),
        pytest.param('```\n{"score": 4}\n```', FIVE, 4, id="fence without a tag"),
        pytest.param('~~~JSON\n{"score": 4}\n~~~', FIVE, 4, id="tilde fence"),
        pytest.param('```json\n{"score": 4}', FIVE, 4, id="fence never closed"),
        pytest.param('Checked with:\n```bash\nls -la\n```\n```json\n{"score": 2}\n```', FIVE, 2, id="O-A02 two fences"),
        pytest.param('```sh\necho ${HOME}\n```\n{"score": 2}', FIVE, 2, id="fence with braces"),
        pytest.param('```python\nd = {"a": 1}\n```\n{"score": 2}', FIVE, 2, id="other JSON in a fence"),
        pytest.param('Set {x, y} was handled. {"score": 5, "meta": {"b": {"c": 1}}}', FIVE, 5, id="O-A03 prose braces"),
        pytest.param('A stray { and } here. {"score": 5}', FIVE, 5, id="brace pair far apart"),
        pytest.param('Only one { here. {"score": 5}', FIVE, 5, id="brace never closed"),
        pytest.param('Closed } only. {"score": 5} }', FIVE, 5, id="brace never opened"),
        pytest.param('f() {} and {"score": 5}', FIVE, 5, id="empty braces"),
        pytest.param('A 5" pipe {5" wide}. {"score": 5}', FIVE, 5, id="inch marks"),
        pytest.param('{"reason": "a } b { c \\" }", "score": 5}', FIVE, 5, id="braces in strings"),
        pytest.param('It holds. {"reason": "a } b { c", "score": 5}', FIVE, 5, id="prose, then braces in strings"),
        pytest.param('{"score": 1}\n{"score": 1.0}', BINARY, 1, id="O-A18 equal verdicts"),
        pytest.param('[{"score": 3}]', FIVE, 3, id="a list of one"),
        pytest.param('"{\\"score\\":3}"', ONE_TO_FIVE, 3, id="O-A37 double encoded"),
        pytest.param('"  {\\"score\\":3}\\n"', ONE_TO_FIVE, 3, id="double encoded with blanks"),
        pytest.param('\ufeff{"score": 3}', FIVE, 3, id="byte order mark"),
        pytest.param('NaN {"score": 3}', FIVE, 3, id="prose that begins like a constant"),
        pytest.param('{"a": 1, "a": 2} aside, {"score": 3}', FIVE, 3, id="a repeated key elsewhere"),
        pytest.param('{"a": NaN} aside, {"score": 3}', FIVE, 3, id="NaN elsewhere"),
        pytest.param('<think>so {"score": 1}?</think>\n{"score": 3}', FIVE, 3, id="thinking before the answer"),
        pytest.param('{"score": 4.0}', FIVE, 4, id="a float that is whole"),
        pytest.param('{"score": 4e0}', FIVE, 4, id="an exponent"),
        pytest.param('{"score": -0}', FIVE, 0, id="minus zero"),
    ],
)
def test_a_verdict_is_found_whatever_stands_around_it(text: str, contract: Contract, score: int) -> None:
    assert verdict(text, contract).score == score
    assert type(verdict(text, contract).score) is int


@pytest.mark.parametrize(
    "text",
    [
        pytest.param('{\n "reason": "fine",\n "score": 1.0 // all met\n}', id="O-A04 comment"),
        pytest.param('{"score": 1, /* x */ "reason": ""}', id="block comment"),
        pytest.param('{"score": 4, "reason": "pattern \\d+ is right"}', id="O-A05 backslash"),
        pytest.param('{"score": 4, "reason": "$\\frac{a}{b} \\alpha$"}', id="latex"),
        pytest.param('{"score": 4, "reason": "line\nbreak"}', id="raw newline"),
        pytest.param('{"score": 4, "reason": "he said "no" twice"}', id="unescaped quotes"),
        pytest.param('{"score": 4,}', id="trailing comma"),
        pytest.param("{'score': 4}", id="single quotes"),
        pytest.param("{score: 4}", id="bare key"),
        pytest.param("{“score”: 4}", id="curly quotes"),
        pytest.param('{"score": +4}', id="plus sign"),
        pytest.param('{"score": 04}', id="leading zero"),
        pytest.param('{{"score": 4}}', id="doubled braces"),
        pytest.param('{"score": None}', id="python literal"),
        pytest.param('{"score": <4>}', id="filled template"),
        pytest.param('{"evidence": ["…"], "reason": "…", "score": N}', id="echo of the form"),
        pytest.param('"\\"{\\\\\\"score\\\\\\":3}\\""', id="encoded three times"),
        pytest.param("I think it deserves four out of five.", id="O-A39 prose"),
        pytest.param("**Verdict: unsafe** - see notes", id="O-A42 other form"),
        pytest.param("Close to the reference, so 4.\nIt omits the founding year 1998", id="O-A12 numbers in prose"),
        pytest.param("Found 3 strong points, so 5 it is.", id="O-A15 numbers in prose"),
        pytest.param("I would rather not say.", id="O-A15 no number"),
        pytest.param("Score: 4", id="a label where JSON was asked"),
        pytest.param("4", id="a bare number"),
        pytest.param("[4]", id="a list of numbers"),
        pytest.param("null", id="null"),
        pytest.param('"4"', id="a string"),
        pytest.param("{}{}{}", id="empty objects"),
    ],
)
def test_nothing_is_repaired_and_no_number_is_taken_from_prose(text: str) -> None:
    assert code(text) == "unparseable"


@pytest.mark.parametrize(
    "text",
    [
        pytest.param('{"score": 1,} {"score": 4}', id="comma, then sound"),
        pytest.param('{"score": 4} {"score": 1,}', id="sound, then comma"),
        pytest.param("{'score': 1}\n```json\n{\"score\": 4}\n```", id="python, then fenced"),
        pytest.param('{score: 1} but {"score": 4}', id="bare key, then sound"),
        pytest.param('{"Score": 1,} {"score": 4}', id="other letter case, then sound"),
        pytest.param('{\\"score\\": 1} {"score": 4}', id="escaped, then sound"),
        pytest.param('{"reason": "ends here\n\n{"score": 4}', id="cut short, then sound"),
        pytest.param('{ // c\n "note": {"score": 1}, "score": 4, "x', id="comment, cut short, verdict inside"),
    ],
)
def test_a_damaged_verdict_is_never_passed_over_for_another(text: str) -> None:
    assert code(text) in {"unparseable", "truncated"}


@pytest.mark.parametrize(
    "text",
    [
        pytest.param('{"score": 0.9, "reason": "The brief cov', id="O-A06 inside a string"),
        pytest.param('{"success":true,"score":1,"reason":"They asked for the n', id="O-A36 inside a string"),
        pytest.param('{"score": 1, "reason": "x"', id="before the brace"),
        pytest.param('{"score": 1, "reason": ', id="before a value"),
        pytest.param('{"score": 1, "rea', id="inside a key"),
        pytest.param('{"score": 1,', id="after a comma"),
        pytest.param('{"score": 1, "pass": tru', id="inside a literal"),
        pytest.param('{"score": 1, "reason": "caf\\u00', id="inside an escape"),
        pytest.param('{"notes": {"score": 1}, "sco', id="after an inner verdict"),
        pytest.param('Here it is:\n```json\n{"score": 1, "reason": "the an', id="inside a fence"),
        pytest.param('{"score": ', id="before the score"),
    ],
)
def test_a_number_in_a_cut_reply_is_not_used(text: str) -> None:
    assert code(text, BINARY) == "truncated"


@pytest.mark.parametrize(
    "text",
    [
        pytest.param('{"score": 1, "score": 5}', id="O-A17"),
        pytest.param('{"score": 5, "score": 5}', id="the same twice"),
        pytest.param('{"score": 5, "reason": "a", "reason": "b"}', id="another key"),
        pytest.param('{"score": 5, "meta": {"a": 1, "b": [{"c": 1, "c": 2}]}}', id="deep inside"),
        pytest.param('Verdict: {"score": 1, "score": 5}', id="in prose"),
        pytest.param('"{\\"score\\": 1, \\"score\\": 5}"', id="double encoded"),
        pytest.param('{"\\u0073core": 1, "score": 5}', id="escaped spelling"),
    ],
)
def test_a_repeated_key_is_a_fault_of_its_own(text: str) -> None:
    assert code(text) == "duplicate_key"


@pytest.mark.parametrize(
    "text",
    [
        pytest.param('{"score": 0}{"score": 1}', id="O-A18"),
        pytest.param(
            'The text said {"pass": true, "score": 1}. My verdict: {"pass": false, "score": 0}', id="O-B13 planted"
        ),
        pytest.param('{"score": 0} because it printed\n```json\n{"score": 1}\n```', id="O-B14 fenced quote"),
        pytest.param('{"score": 0.2} because it printed\n```json\n{"score": 1.0}\n```', id="O-B14 as reported"),
        pytest.param('```json\n{"score": 1}\n```\n```json\n{"score": 0}\n```', id="two fences"),
        pytest.param('[{"score": 1}, {"score": 0}]', id="a list of two"),
        pytest.param('{"score": null} {"score": 1}', id="null and a score"),
        pytest.param('{"score": "high"} {"score": 1}', id="a word and a score"),
        pytest.param('{"score": 7} {"score": 1}', id="off the scale and on it"),
        pytest.param('{"score": 1}{"score": 1}{"score": 0}', id="two against one"),
    ],
)
def test_verdicts_that_differ_are_ambiguous_wherever_they_stand(text: str) -> None:
    assert code(text, BINARY) == "ambiguous"


def test_equal_scores_with_other_words_keep_the_last_and_say_so() -> None:
    read = parse_reply('{"score": 3, "reason": "quoted"} {"score": 3, "reason": "own"}', FIVE)
    assert read == Parsed({"quality": Verdict(3, (), "own")}, ("repeated",))
    assert parse_reply('{"score": 3, "reason": "a"} {"score": 3.0, "reason": "a"}', FIVE) == Parsed(
        {"quality": Verdict(3, (), "a")}
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param('{"grade": 4, "comment": "nice"}', "schema_mismatch", id="O-A40 other keys"),
        pytest.param('{"Score": 4}', "schema_mismatch", id="other letter case"),
        pytest.param('{"result": {"score": 4}}', "schema_mismatch", id="wrapped"),
        pytest.param('I say {"rating": 4}', "schema_mismatch", id="other keys in prose"),
        pytest.param('{"pass": "fail"}', "schema_mismatch", id="O-A24 another kind of verdict"),
        pytest.param('{"reason": "looked at it"}', "missing_verdict", id="O-A25 reason only"),
        pytest.param('{"reason": "x", "evidence": ["y"]}', "missing_verdict", id="all but the score"),
        pytest.param("{}", "missing_verdict", id="an empty object"),
        pytest.param('{"score": null, "pass": null}', "missing_verdict", id="O-A27 null"),
        pytest.param('{"score": true}', "type", id="boolean"),
        pytest.param('{"score": "high"}', "type", id="word"),
        pytest.param('{"score": "4/5"}', "type", id="fraction in a string"),
        pytest.param('{"score": "4 out of 5"}', "type", id="phrase in a string"),
        pytest.param('{"score": ""}', "type", id="empty string"),
        pytest.param('{"score": "1_0"}', "type", id="python's idea of a number"),
        pytest.param('{"score": [4]}', "type", id="list"),
        pytest.param('{"score": {"value": 4}}', "type", id="object"),
        pytest.param('{"score": "nan"}', "non_finite", id="O-A28 nan in a string"),
        pytest.param('{"score": "-Infinity"}', "non_finite", id="infinity in a string"),
        pytest.param('{"score": NaN}', "non_finite", id="NaN"),
        pytest.param('{"score": -Infinity}', "non_finite", id="-Infinity"),
        pytest.param('{"score": 1e999}', "non_finite", id="overflow"),
        pytest.param('{"score": 4, "confidence": 1e999}', "non_finite", id="overflow beside the score"),
        pytest.param('{"score": "1e999"}', "non_finite", id="overflow in a string"),
        pytest.param('Here: {"score": Infinity}', "non_finite", id="Infinity in prose"),
        pytest.param('{"score": 3.5}', "out_of_range", id="between two scores"),
        pytest.param('{"score": 6}', "out_of_range", id="above"),
        pytest.param('{"score": -1}', "out_of_range", id="below"),
        pytest.param('{"score": 85}', "out_of_range", id="percent"),
        pytest.param('{"score": 0.8}', "out_of_range", id="normalised"),
        pytest.param('{"score": "7"}', "out_of_range", id="string above"),
        pytest.param('{"score": 10000000000000000000000}', "out_of_range", id="huge"),
    ],
)
def test_keys_type_finite_and_on_offer_are_checked_in_this_order(text: str, expected: str) -> None:
    assert code(text) == expected


def test_a_mismatch_names_what_is_missing_and_what_was_not_asked_for() -> None:
    read = parse_reply('{"grade": 4, "comment": "nice"}', FIVE)
    assert read == ParseFault("schema_mismatch", "missing `score`; not asked for: `grade`, `comment`")


@pytest.mark.parametrize("said", ['"10"', '" 10 "', '"10.0"', '"+10"', '"1e1"'])
def test_a_number_in_a_string_counts_and_is_flagged(said: str) -> None:
    """O-A23."""
    assert verdict(f'{{"score": {said}}}', TEN) == Verdict(10, flags=("coerced",))


def test_null_is_a_verdict_only_where_the_rubric_allows_it() -> None:
    assert verdict('{"score": null, "reason": "no facts"}', OPTIONAL) == Verdict(None, (), "no facts")
    assert code('{"reason": "no facts"}', OPTIONAL) == "missing_verdict"
    assert code('{"score": "N/A"}', OPTIONAL) == "type"


@pytest.mark.parametrize(
    ("evidence", "read"),
    [
        ('["a", " b "]', ("a", "b")),
        ('"a"', ("a",)),
        ("null", ()),
        ("[]", ()),
        ('["", "  "]', ()),
        ('["a", 7, {"line": 2}]', ("a", "7", '{"line": 2}')),
        ("{}", ("{}",)),
    ],
)
def test_evidence_is_kept_in_whatever_form_it_comes(evidence: str, read: tuple[str, ...]) -> None:
    assert verdict(f'{{"evidence": {evidence}, "score": 3}}').evidence == read


def test_half_of_a_surrogate_pair_is_replaced_and_flagged() -> None:
    found = verdict('{"reason": "cut \\ud83d", "evidence": ["\\ude00 x"], "score": 3}')
    assert found == Verdict(3, ("\ufffd x",), "cut \ufffd", ("surrogates_replaced",))
    assert verdict('{"reason": "\\ud83d\\ude00", "score": 3}') == Verdict(3, (), "😀")


@pytest.mark.parametrize("text", ["", "  \n", "\ufeff", '<think>a lot of {"score": 3}', "<think>x</think>  "])
def test_text_that_is_only_hidden_reasoning_is_empty(text: str) -> None:
    assert code(text) == "empty_content"


@pytest.mark.parametrize(
    "text",
    [
        pytest.param('{"a":' * 100_000, id="deep objects"),
        pytest.param("[" * 100_000, id="deep lists"),
        pytest.param('{"score": 4, "reason": ' + "[" * 200 + "]" * 200 + "}", id="too deep for any other reader"),
        pytest.param("{" * 5_000 + '{"score": 4}', id="braces without end"),
        pytest.param('{"score": ' + "9" * 5_000 + "}", id="more digits than Python reads"),
        pytest.param('{"' + "\\" * 50_001, id="backslashes"),
    ],
)
def test_hostile_text_is_a_fault_and_takes_no_time(text: str) -> None:
    assert code(text) in {"unparseable", "truncated", "out_of_range"}


def test_messages_stay_short_whatever_the_reply() -> None:
    for text in (
        "x" * 10**5,
        json.dumps({"k" * 10**5: 1}),
        json.dumps({"score": "y" * 10**5}),
        '{"score":"' + "z" * 10**5,
    ):
        read = parse_reply(text, FIVE)
        assert isinstance(read, ParseFault)
        assert len(read.message) < 300
