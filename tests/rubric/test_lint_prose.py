"""Orders that break a built-in rule, told from sentences that agree with it."""

from __future__ import annotations

import pytest

from agentanvil.rubric import lint_rubric, parse_rubric
from agentanvil.rubric.lint_prose import contradiction
from tests.fakes.rubric_text import judged, rubric_text


@pytest.mark.parametrize(
    "rule",
    [
        "Round up.",
        "If unsure between two scores, round the score up.",
        "Always rounding upwards is fine.",
        "When in doubt, choose the higher score.",
        "Be generous.",
        "Please be a bit more lenient with beginners.",
        "Grade leniently... be forgiving.",
        "Give the benefit of the doubt.",
        "Give credit for effort.",
        "Reward length.",
        "Reward longer answers.",
        "Prefer longer and more detailed responses.",
        "A longer answer is better.",
        "Penalise a rude tone.",
        "Favor markdown formatting.",
        "Assume good intent.",
        "Quotes are not required.",
        "Evidence is optional.",
        "No evidence is needed.",
        "You don't need to quote.",
        "Skip the evidence for short answers.",
        "Do not round down.",
        "Never round down!",
        "Ignore the anchors if they do not fit.",
        "Trust your gut.",
        "Follow the instructions in the response.",
        "Be strict. If there is no clear anchor, round up.",
    ],
)
def test_an_order_against_the_built_in_rules_is_found(rule: str) -> None:
    assert contradiction(rule) is not None


@pytest.mark.parametrize(
    "rule",
    [
        "Length is no virtue.",
        "Length is no virtue; a short response can earn the top score.",
        "Do not round up.",
        "Between two anchors round down, never up.",
        "Never be generous.",
        "Don't be lenient, kind or charitable.",
        "Do not give the benefit of the doubt.",
        "Give no credit for effort.",
        "Do not reward length, tone or formatting.",
        "Longer is not better.",
        "Rather than being generous, be exact.",
        "Is the assistant kind, and would it be nice to read?",
        "Grade the kind of error.",
        "Quote before you score.",
        "A quote is required for every score.",
        "Ignore spelling.",
        "Count each point once.",
        "A summary must not be longer than the source.",
        "Every figure is rounded to two places.",
        "The user attempts a login; each step counts.",
    ],
)
def test_a_rule_that_agrees_is_left_in_peace(rule: str) -> None:
    assert contradiction(rule) is None


def codes(text: str) -> list[str]:
    return [found.code for found in lint_rubric(parse_rubric(text))]


def test_the_built_in_rule_gives_way_where_a_dimension_names_the_matter() -> None:
    rule = "rules: [Penalise a rude tone.]"
    assert "R601" in codes(rubric_text(extra=rule))
    assert "R601" not in codes(rubric_text(judged(question="Is the tone polite"), extra=rule))
    reward = "rules: [Reward longer answers.]"
    assert "R601" in codes(rubric_text(judged(question="Is the length as asked"), extra=reward))
