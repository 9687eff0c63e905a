"""Marked replies: whole tokens from a closed list, and nothing found by searching prose."""

from __future__ import annotations

import pytest

from agentanvil.judge import Parsed, ParseFault, Verdict, parse_reply
from agentanvil.rubric import ReplyFormat
from tests.fakes.prompts import label_contract, labels

GRADES = {"C": 1, "correct": 1, "I": 0, "incorrect": 0}
HELP = {"helpful": 1, "unhelpful": 0}


def outcome(text: str, reply: ReplyFormat, low: int = 1, high: int = 5, *, allow_na: bool = False) -> int | str | None:
    read = parse_reply(text, label_contract(low, high, reply, allow_na=allow_na))
    if isinstance(read, ParseFault):
        return read.code
    assert isinstance(read, Parsed)
    found = read.verdicts["quality"]
    assert isinstance(found, Verdict)
    assert (found.evidence, found.flags) == ((), ())
    return found.score


SCORE = labels("Score:")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("Evidence matches.\nScore: 10.0", 10, id="O-A13 a decimal is one token"),
        pytest.param("Score: 10", 10, id="two digits"),
        pytest.param("Score:7", 7, id="no blank"),
        pytest.param("Score :  7 ", 7, id="blanks"),
        pytest.param("Score:\n\n7\n", 7, id="on the next line"),
        pytest.param("score: 7", 7, id="letter case"),
        pytest.param("**Score:** 7", 7, id="emphasis around the marker"),
        pytest.param("**Score**: **7**.", 7, id="emphasis around both"),
        pytest.param("_Score:_ 7", 7, id="underscores around the marker"),
        pytest.param("so __Score__: __7__", 7, id="two underscores around both"),
        pytest.param("sub_score: 3. score_sum: 4. Score: 7", 7, id="names with an underscore"),
        pytest.param("Score: `7`", 7, id="code"),
        pytest.param('Score: "7"', 7, id="quotation marks"),
        pytest.param("Score: [7]", 7, id="bracket"),
        pytest.param("Score：７", 7, id="full-width"),
        pytest.param("Solid. Score: 7. It omits the year 1998.", 7, id="within a line"),
        pytest.param("Score: 7 - clear and short", 7, id="a dash after it"),
        pytest.param("Score: 7 (of ten)", 7, id="a bracket after it"),
        pytest.param("Score: 7/10", 7, id="over the top of the scale"),
        pytest.param("Score: 7 out of 10", 7, id="out of the top of the scale"),
        pytest.param("Score: 7\nScore: 7.0", 7, id="equal twice"),
        pytest.param("Score: 11", "out_of_range", id="above"),
        pytest.param("Score: 0", "out_of_range", id="below"),
        pytest.param("Score: -7", "out_of_range", id="negative"),
        pytest.param("Score: 7.5", "out_of_range", id="between"),
        pytest.param("Score: 1998", "out_of_range", id="a year is one token"),
        pytest.param("Score: 85%", "out_of_range", id="percent"),
        pytest.param("Score: 7 percent", "out_of_range", id="percent in words"),
        pytest.param("Score: 7/100", "out_of_range", id="over another scale"),
        pytest.param("Score: 3 out of 5", "out_of_range", id="out of another scale"),
        pytest.param("Score: 4,5", "bad_label", id="decimal comma"),
        pytest.param("Score: 1.2.3", "bad_label", id="version"),
        pytest.param("Score: 7th", "bad_label", id="ordinal"),
        pytest.param("Score: 7-8", "bad_label", id="range"),
        pytest.param("Score: 7 to 8", "bad_label", id="range in words"),
        pytest.param("Score: 7 or 8", "bad_label", id="alternatives in words"),
        pytest.param("Score: between 1 and 3", "bad_label", id="never the smallest number in a phrase"),
        pytest.param("Score: seven", "bad_label", id="a number in words"),
        pytest.param("Score: nan", "bad_label", id="nan"),
        pytest.param("Score: X", "bad_label", id="echo of the form"),
        pytest.param("Score: ", "bad_label", id="nothing"),
        pytest.param("Score: 7, 8", "ambiguous", id="alternatives"),
        pytest.param("Score: 3\nOn reflection.\nScore: 7", "ambiguous", id="two that differ"),
        pytest.param("Score: ?\nScore: 7", "bad_label", id="unreadable, then sound"),
        pytest.param("Subscore: 3. Score: 7", 7, id="a word that ends in the marker"),
        pytest.param("sub-score: 3. Score: 7", 7, id="a compound that ends in the marker"),
        pytest.param("Scores: 3. Score: 7", 7, id="a word that begins with it"),
        pytest.param("The score 3 was near. Score: 7", 7, id="the marker's word in prose"),
        pytest.param("Close to the reference, so 8.\nIt omits the founding year 1998", "unparseable", id="O-A12"),
        pytest.param("Found 6 strong points, so 8 it is.", "unparseable", id="O-A15"),
        pytest.param("I would rather not say.", "unparseable", id="O-A15 no number"),
        pytest.param('{"score": 7}', "bad_label", id="JSON where a label was asked"),
        pytest.param("I'm sorry, I can't assist with that.", "refusal", id="O-A43"),
    ],
)
def test_numbers_after_a_marker(text: str, expected: int | str) -> None:
    assert outcome(text, SCORE, 1, 10) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("GRADE: C. Nothing made me downgrade: it holds up.", 1, id="O-A19 word boundary"),
        pytest.param("GRADE: CI", "bad_label", id="O-A20 malformed"),
        pytest.param("GRADE: Correct", 1, id="O-A20 declared alias"),
        pytest.param("GRADE: Corr", "bad_label", id="a prefix of an alias"),
        pytest.param("GRADE: incorrect", 0, id="a label that ends in another"),
        pytest.param("GRADE: I", 0, id="one letter"),
        pytest.param("GRADE: I think it is correct", "bad_label", id="a pronoun is no label"),
        pytest.param("GRADE: Incorrectly phrased", "bad_label", id="a label that begins a word"),
        pytest.param("GRADE: C++", "bad_label", id="a label that begins a name"),
        pytest.param("GRADE: C's", "bad_label", id="a label that begins a genitive"),
        pytest.param("GRADE C", 1, id="the colon is optional where none was declared"),
        pytest.param("I grade this with care. GRADE: C", 1, id="the marker's word in prose"),
        pytest.param("GRADE = I", 0, id="equals sign"),
        pytest.param("GRADE: C\nGRADE: correct", 1, id="an alias repeats its label"),
        pytest.param("GRADE: C\nGRADE: I", "ambiguous", id="two that differ"),
        pytest.param("GRADE: 1", "bad_label", id="a score where labels were declared"),
        pytest.param("Result => correct", "unparseable", id="O-A29"),
        pytest.param("The response is", "unparseable", id="O-A30"),
        pytest.param("A correct answer", "unparseable", id="a label in prose"),
        pytest.param("As a judge I must decline.", "unparseable", id="not in the list of refusals"),
    ],
)
def test_words_after_a_marker(text: str, expected: int | str) -> None:
    assert outcome(text, labels("GRADE", GRADES), 0, 1) == expected


def test_the_explanation_is_not_searched() -> None:
    """O-A22."""
    text = "label: unhelpful, explanation: a helpful reply would cite the manual"
    assert outcome(text, labels("label:", HELP), 0, 1) == 0
    assert outcome("label: helpful; an unhelpful one would not", labels("label", HELP), 0, 1) == 1


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("B", 0, id="the label alone"),
        pytest.param(" **b**. ", 0, id="emphasis"),
        pytest.param("Answer: B", "unparseable", id="O-A21 never the A of Answer"),
        pytest.param("A good answer is B", "unparseable", id="an article is no label"),
        pytest.param("B is better", "unparseable", id="more than the label"),
    ],
)
def test_without_a_marker_the_whole_reply_is_the_token(text: str, expected: int | str) -> None:
    assert outcome(text, labels("", {"A": 1, "B": 0}), 0, 1) == expected


def test_labels_that_differ_in_case_alone_are_told_apart() -> None:
    reply = labels("Grade:", {"a": 0, "A": 1})
    assert [outcome(f"grade: {label}", reply, 0, 1) for label in ("a", "A")] == [0, 1]


def test_labels_may_hold_blanks_signs_and_other_scripts() -> None:
    reply = labels("评分：", {"很好": 5, "very good": 5, "A+": 5, "A": 4, "1st class": 5, "2": 2})
    replies = ("评分：很好", "评分: Very good.", "评分：A+", "评分：A", "评分：1st class", "评分：2", "评分：3")
    assert [outcome(text, reply) for text in replies] == [5, 5, 5, 4, 5, 2, "out_of_range"]


BRACKETS = ReplyFormat("brackets")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("Rating: [[7]]", 7, id="plain"),
        pytest.param("[[ 7.0 ]]", 7, id="blanks and decimals"),
        pytest.param("[[**7**]]", 7, id="emphasis"),
        pytest.param("[[7/10]]", 7, id="over the top of the scale"),
        pytest.param("[[7]] and again [[7]]", 7, id="equal twice"),
        pytest.param("Solid work. Rating: [[85]]", "out_of_range", id="O-A14"),
        pytest.param("Rating: [[7%]]", "out_of_range", id="percent"),
        pytest.param("[[seven]]", "bad_label", id="a word"),
        pytest.param("[[7 or 8]]", "bad_label", id="two numbers"),
        pytest.param("[[7", "bad_label", id="never closed"),
        pytest.param("At first glance [[3]], but the proof holds. Final: [[7]]", "ambiguous", id="O-A16"),
        pytest.param("Rating: [7]", "unparseable", id="single brackets"),
        pytest.param("Rating: 7", "unparseable", id="no brackets"),
    ],
)
def test_brackets(text: str, expected: int | str) -> None:
    assert outcome(text, BRACKETS, 1, 10) == expected


def test_a_declared_marker_binds_the_brackets() -> None:
    reply = ReplyFormat("brackets", "Rating:")
    assert outcome("see [[1]]. **Rating:** [[4]]", reply) == 4
    assert outcome("see [[1]]", reply) == "unparseable"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("At first glance [[3]], but the proof holds. Final: [[7]]", 7, id="O-A16"),
        pytest.param("[[7]], no: [[85]]", "out_of_range", id="the last, readable or not"),
        pytest.param("[[85]], no: [[7]]", 7, id="earlier ones do not count"),
    ],
)
def test_the_last_counts_only_where_it_is_declared(text: str, expected: int | str) -> None:
    assert outcome(text, ReplyFormat("brackets", select="last"), 1, 10) == expected


def test_not_applicable_is_on_offer_only_where_the_rubric_allows_it() -> None:
    assert outcome("Score: N/A", SCORE, allow_na=True) is None
    assert outcome("Score: n/a.", SCORE, allow_na=True) is None
    assert outcome("Score: N/A", SCORE) == "bad_label"


PHRASES = {"(a) is better": 1, "(b) is better": 0}


@pytest.mark.parametrize(
    ("select", "text", "expected"),
    [
        pytest.param("only", "Output (a) is better as it says so.", 1, id="a statement of its own"),
        pytest.param("only", "Output (a) is betterment.", "unparseable", id="never inside a word"),
        pytest.param("only", "Output (a) is better-looking.", "unparseable", id="never inside a compound"),
        pytest.param("only", "_Output (a) is better_ - by far", 1, id="emphasis within a line"),
        pytest.param("only", "Output (a) is long. So Output (b) is better.", 0, id="the marker's word in prose"),
        pytest.param("only", "**Output (b) is better**", 0, id="emphasis around"),
        pytest.param("only", "Output **(b) is better**.", 0, id="emphasis before a bracket of its own"),
        pytest.param("only", "Output (a) is better. Output (b) is better.", "ambiguous", id="two that differ"),
        pytest.param("first", "Output (a) is better. Output (b) is better.", 1, id="the first"),
        pytest.param("last", "Output (a) is better. Output (b) is better.", 0, id="the last"),
    ],
)
def test_a_label_of_several_words_ends_where_a_word_does(select: str, text: str, expected: int | str) -> None:
    assert outcome(text, labels("Output", PHRASES, select=select), 0, 1) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("Response 1 is better because it says so", 1, id="a statement of its own"),
        pytest.param("**Response 2 is\n  better** as it says so", 0, id="a blank is a blank, however wide"),
        pytest.param("Response 1 is betterment", "unparseable", id="never inside a word"),
        pytest.param("Response: 1 is as good", "bad_label", id="the number alone is no label"),
    ],
)
def test_a_label_of_several_words_may_begin_with_a_number(text: str, expected: int | str) -> None:
    assert outcome(text, labels("Response", {"1 is better": 1, "2 is better": 0}), 0, 1) == expected


@pytest.mark.parametrize("said", ["t\u0131e", "(t\u0131e)", "t\u0131e is what I say"])
def test_letters_that_only_look_alike_are_no_label(said: str) -> None:
    """A pattern that passes over case takes the dotless i for an i, but it folds to another letter."""
    assert outcome(f"Better: {said}", labels("Better:", {"tie": 0, "A": 1}), 0, 1) == "bad_label"


@pytest.mark.parametrize(
    ("select", "text", "expected"),
    [
        pytest.param("first", "B\n\nA is short, B is right.", 0, id="verdict first"),
        pytest.param("last", "A is short.\nSo:\n  **B**.", 0, id="verdict last"),
        pytest.param("first", "A good answer is B.", "unparseable", id="an article is no label"),
        pytest.param("last", "The better one: B", "unparseable", id="not at a line's begin"),
        pytest.param("only", "B\n\nA is short, B is right.", "unparseable", id="the whole reply, else"),
    ],
)
def test_without_a_marker_a_selected_token_begins_a_line(select: str, text: str, expected: int | str) -> None:
    assert outcome(text, labels("", {"A": 1, "B": 0}, select=select), 0, 1) == expected


def test_runs_of_opening_marks_take_linear_time() -> None:
    assert outcome("Score: " + "(" * 200_000 + "7", SCORE) == "out_of_range"
    assert outcome("Score: (" * 20_000, SCORE) == "bad_label"
    assert outcome("[[ " * 20_000, BRACKETS) == "bad_label"
    assert outcome("[[ " * 20_000 + "4]]", BRACKETS) == "bad_label"


@pytest.mark.parametrize("run", ["*", "_", " *", ") ", "-", "1,", " \t"])
def test_runs_of_closing_marks_take_linear_time(run: str) -> None:
    assert isinstance(outcome("7" + run * 100_000 + "x", labels("")), str)
    assert isinstance(outcome("Score: 7" + run * 100_000 + "x", SCORE), str)


def test_marks_stacked_on_a_letter_take_linear_time() -> None:
    assert outcome("Score: 4\na" + "\u0301\u0316" * 100_000, SCORE) == 4
