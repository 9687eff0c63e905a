"""What must hold for any text: no exception, no score that was not offered, and no formatting that hides a verdict."""

from __future__ import annotations

import json
from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentanvil.judge import Parsed, ParseFault, Verdict, parse_reply
from agentanvil.judge.objects import objects
from agentanvil.prompt import Contract
from agentanvil.rubric import ReplyFormat
from tests.fakes.json_values import JSON_VALUES
from tests.fakes.prompts import contract_of, label_contract, labels, scale_rubric

CONTRACTS: Mapping[str, Contract] = {
    "flat": contract_of(scale_rubric(1, 5)),
    "optional": contract_of(scale_rubric(0, 1, allow_na=True)),
    "joint": contract_of(scale_rubric(1, 5, "one", "two")),
    "label": label_contract(1, 5, labels("Score:")),
    "words": label_contract(0, 1, labels("GRADE", {"C": 1, "I": 0, "A+": 1})),
    "bare": label_contract(1, 5, labels("")),
    "brackets": label_contract(1, 5, ReplyFormat("brackets", select="last")),
}
CODES = {
    *("unparseable", "schema_mismatch", "missing_verdict", "type", "bad_label", "ambiguous", "duplicate_key"),
    *("non_finite", "out_of_range", "refusal", "truncated", "empty_content"),
}
# Pieces of replies, so that arbitrary text often comes close to a verdict.
PIECES = st.sampled_from(
    [
        *(
            '{"score": ',
            '"score"',
            "{",
            "}",
            "[",
            "]",
            '"',
            ":",
            ",",
            " ",
            "\n",
            "\\",
            "```json\n",
            "```",
            "'",
            "//",
            "[[",
        ),
        *("4", "4.0", "4.5", "9", "-1", "1e9", "NaN", "null", "true", '"4"', "]]", "Score: ", "GRADE: ", "C", "I", "%"),
        *('"reason": "x"', '"evidence": ["q"]', '{"score": 3}', '"one": {"score": 3}', '"two": {"score": 2}', "/5"),
        *("<think>", "</think>", "\ufeff", "\ud83d", "N/A", " or ", "I'm sorry, I can't assist."),
    ]
)
REPLIES = st.one_of(st.text(), st.lists(PIECES | st.text(max_size=4), max_size=14).map("".join))


@pytest.mark.parametrize("name", CONTRACTS)
@given(text=REPLIES)
def test_any_text_gives_scores_on_offer_or_a_known_fault(name: str, text: str) -> None:
    contract = CONTRACTS[name]
    read = parse_reply(text, contract)
    if isinstance(read, ParseFault):
        assert read.code in CODES
        return
    assert list(read.verdicts) == [d.id for d in contract.dimensions]
    for dimension in contract.dimensions:
        found = read.verdicts[dimension.id]
        if isinstance(found, ParseFault):
            assert found.code in CODES
        elif found.score is None:
            assert dimension.allow_na
        else:
            assert type(found.score) is int
            assert found.score in dimension.scores


WORDS = st.text(st.characters(exclude_categories=("Cs",)), max_size=30).map(str.strip)
VERDICTS = st.fixed_dictionaries(
    {"evidence": st.lists(WORDS.filter(bool), max_size=3), "reason": WORDS, "score": st.integers(1, 5)}
)
LAYOUTS = st.fixed_dictionaries(
    {
        "indent": st.sampled_from([None, 0, 1, 4, "\t"]),
        "ensure_ascii": st.booleans(),
        "sort_keys": st.booleans(),
        "separators": st.sampled_from([None, (",", ":"), (" , ", " : ")]),
    }
)
# Prose without braces and quotation marks: what those may do is tested by class.
PROSE = st.text(st.characters(exclude_characters="{}\"“”'", exclude_categories=("Cs",)), max_size=40).filter(
    lambda text: not text.lstrip().lower().startswith("<think")
)


@given(VERDICTS, LAYOUTS, PROSE, PROSE, st.sampled_from(["{}", "```json\n{}\n```", "```\n{}", "\n\n{}\n"]))
def test_a_verdict_survives_any_formatting(
    said: dict[str, object], layout: dict[str, object], before: str, after: str, frame: str
) -> None:
    written = json.dumps(said, **layout)  # type: ignore[arg-type]
    expected = Parsed({"quality": Verdict(said["score"], tuple(said["evidence"]), str(said["reason"]))})  # type: ignore[arg-type]
    for text in (written, json.dumps(written), before + frame.replace("{}", written) + after):
        assert parse_reply(text, CONTRACTS["flat"]) == expected


@given(VERDICTS, VERDICTS, LAYOUTS, st.booleans())
def test_a_joint_verdict_does_not_depend_on_the_order_of_its_keys(
    one: dict[str, object], two: dict[str, object], layout: dict[str, object], swapped: bool
) -> None:
    names = {"two": two, "one": one} if swapped else {"one": one, "two": two}
    read = parse_reply(json.dumps(names, **layout), CONTRACTS["joint"])  # type: ignore[arg-type]
    assert isinstance(read, Parsed)
    assert [v.score for v in read.verdicts.values() if isinstance(v, Verdict)] == [one["score"], two["score"]]


JSON_OBJECTS = st.dictionaries(st.text(max_size=5), JSON_VALUES, min_size=1, max_size=3)


@given(st.lists(JSON_OBJECTS, max_size=4), PROSE)
def test_the_scan_finds_every_outermost_object_and_no_inner_one(values: list[dict[str, object]], prose: str) -> None:
    text = prose + "".join(json.dumps(value) + prose for value in values)
    assert list(objects(text, ("score",))) == values


@given(VERDICTS, st.data())
def test_a_cut_verdict_is_never_salvaged(said: dict[str, object], data: st.DataObject) -> None:
    written = json.dumps(said)
    cut = written[: data.draw(st.integers(1, len(written) - 1))]
    read = parse_reply(cut, CONTRACTS["flat"])
    assert isinstance(read, ParseFault)
    assert read.code in {"truncated", "unparseable"}
