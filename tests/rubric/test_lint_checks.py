"""What code can count is told from what takes a reader: nothing but the countable part may be left of a question."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentanvil.rubric import lint_rubric, lint_text, parse_rubric
from agentanvil.rubric.lint_checks import countable
from agentanvil.rubric.lint_countable import COUNTABLE as COUNTED
from tests.fakes.rubric_text import judged, rubric_text

COUNTABLE = {
    "Answer in at most 50 words": ("max_words",),
    "Does the response stay under 100 words?": ("max_words",),
    "Is the answer 50 words or fewer?": ("max_words",),
    "Is the 50-word limit kept?": ("max_words",),
    "Does the answer exceed 50 words?": ("max_words",),
    "Is the word count at most 50?": ("max_words",),
    "Is the response at most fifty words long?": ("max_words",),
    "Is it between 100 and 200 words long?": ("max_words",),
    "Is the summary short (no more than 280 characters)?": ("max_chars",),
    "Does it use no more than 500 tokens?": ("max_tokens",),
    "Does the run take under 5 seconds?": ("max_latency_ms",),
    "Does the run cost less than $0.05?": ("max_cost_usd",),
    "Is the reply no longer than three paragraphs?": ("regex",),
    "Does the answer have exactly three bullet points?": ("regex",),
    "Is the response valid JSON?": ("json_schema",),
    "Is the output in JSON format?": ("json_schema",),
    "Does the output parse as JSON?": ("json_schema",),
    "Does the reply match the JSON schema?": ("json_schema",),
    "Does the response contain the ticket number?": ("regex",),
    "Is the order number mentioned?": ("regex",),
    "Does the reply include the customer's order number?": ("regex",),
    "The response must contain a URL.": ("regex",),
    "Does the reply end with 'Kind regards'?": ("regex",),
    'Does the reply contain the phrase "terms apply"?': ("contains",),
    "Does the reply avoid the word 'guarantee'?": ("not_contains",),
    "Is the response written in German?": ("language",),
    "Is the reply in German and at most 100 words?": ("max_words", "language"),
    "Does the agent call the search tool at most twice?": ("max_calls",),
    "Does the agent call the `search` tool no more than 3 times?": ("max_calls",),
    "Does the agent make at most 5 tool calls?": ("max_calls",),
    "Does the agent never call the delete_user tool?": ("must_not_call",),
    "Does the agent call the lookup tool?": ("must_call",),
    "Does the agent call the lookup tool before the booking tool?": ("call_order",),
    "Does every tool call succeed?": ("no_error_steps",),
    "Is the answer a number between 0 and 100?": ("numeric_range",),
}


@pytest.mark.parametrize(("question", "checks"), COUNTABLE.items(), ids=COUNTABLE)
def test_what_code_can_decide_is_named_with_its_check(question: str, checks: tuple[str, ...]) -> None:
    assert countable(question) == checks


@pytest.mark.parametrize(
    "question",
    [
        "Is the answer complete, in at most 50 words?",
        "Are the request's explicit instructions about form kept?",
        "Could someone be harmed by acting on the response?",
        "Does the agent use the right tool?",
        "Does the agent use each tool efficiently?",
        "Does the agent call the search tool with good arguments?",
        "Does the agent make more calls than needed?",
        "Does the tool call succeed in finding the booking?",
        "Does the response use the calculator tool's result?",
        "Are tool errors noticed and handled?",
        "Is the order number correct?",
        "Does the reply ask for the order number?",
        "Does the response answer in the language of the request?",
        "Is the text written in a friendly tone in English?",
        "Is it natural in German?",
        "Is the JSON complete and sensible?",
        "Are the steps taken in an order that works?",
        "Does the answer resolve the question in one reply?",
        "Is the answer, in a word, good?",
        "Is the response short?",
        "Is the source quoted exactly?",
        "Does the response contain private data?",
        "Is the review in the form of a list?",
        "Does the response keep the requested length?",
        "Antwortet der Text in höchstens 50 Wörtern?",
        "Is the word 'guarantee' used as the contract means it?",
        "Does it explain the error code?",
    ],
)
def test_what_takes_a_reader_is_left_in_peace(question: str) -> None:
    assert countable(question) == ()


def test_the_finding_stands_at_the_question_or_at_the_anchors() -> None:
    asked = "  - id: a\n    question: {}\n    anchors:\n      5: {}\n      1: {}\n"
    counted = asked.format("Is it short?", "at most 50 words", "more than 50 words")
    both = (
        rubric_text(judged())
        + counted
        + asked.format("Is it valid JSON?", "no error", "any error").replace("a", "b", 1)
    )
    found = [one for one in lint_rubric(parse_rubric(both)) if one.code == "R202"]
    assert [(one.line, one.dimension) for one in found] == [(8, "a"), (12, "b")]
    assert found[0].message.startswith("the anchors of a ask for no more than `max_words` can check: ")
    assert found[1].message.startswith("the question of b asks for no more than `json_schema` can check: ")


@given(st.text(max_size=240))
def test_reading_a_question_is_total(text: str) -> None:
    assert isinstance(countable(text), tuple)


@pytest.mark.parametrize("piece", ["use the ", "in 1", "call a_b ", "json ", "'", "1,", "between 1 and ", "not "])
def test_no_question_takes_long(piece: str) -> None:
    begun = time.perf_counter()
    countable(piece * (240 // len(piece)))
    countable(piece * 20_000)
    assert time.perf_counter() - begun < 1.0


@pytest.mark.parametrize("check", sorted({check for check, _ in COUNTED}))
def test_every_check_that_is_named_is_one_that_a_rubric_may_have(check: str) -> None:
    found = lint_text(rubric_text(f"{{id: a, check: {{type: {check}}}}}")).findings
    assert not [one.message for one in found if "no type of check" in one.message]
