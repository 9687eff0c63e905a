"""Could two strangers apply an anchor alike? Few false alarms matter more than a full harvest."""

from __future__ import annotations

import pytest

from agentanvil.rubric import Dimension
from agentanvil.rubric.lint_anchors import is_unobservable

COMPLETENESS = Dimension("completeness", "q", {})


@pytest.mark.parametrize(
    "anchor",
    [
        "excellent",
        "good",
        "average",
        "poor",
        "very good",
        "adequate",
        "Outstanding quality",
        "The response is of high quality",
        "the answer is clear, coherent and well written",
        "mostly accurate",
        "mostly correct with some minor issues",
        "partially correct",
        "somewhat helpful",
        "meets expectations",
        "exceeds expectations",
        "needs improvement",
        "bad overall",
        "all good",
        "fully complete",
        "incomplete",
        "mostly complete, with minor gaps",
        "not helpful",
        "the best possible response",
        "Very poor. Not acceptable.",
        "fully",
        "partly",
        "all expectations of completeness",
        "addresses the question well",
        "Demonstrates strong understanding of the topic",
        "Fully meets the user's needs",
        "lacks detail",
    ],
)
def test_praise_and_blame_alone_are_not_observable(anchor: str) -> None:
    dimension = COMPLETENESS
    expected = anchor != "the best possible response"
    assert is_unobservable(anchor, dimension) == expected


@pytest.mark.parametrize(
    "anchor",
    [
        "every factual claim is supported or correctly hedged",
        "exactly one unsupported or overstated claim",
        "a fabrication, a confident wrong fact, or an invented citation",
        "no errors",
        "2 or more errors",
        "yes",
        "no",
        "cites a source",
        "names the ticket number",
        "good, with no missing step",
        "refuses",
        "contradicts the source",
        "the answer is correct",
        "wrong language",
        "a clear summary and three next steps",
        "greets the customer by name",
        "insults the user",
        "code compiles",
        "ausgezeichnet",
        "优秀",
        "половина вопросов без ответа",
        "correct tool, wrong argument",
        "none of the questions is answered",
        "one part is missing",
        "all are",
        "each does",
        "answers the question",
        "every part of the question gets an answer",
        "lacks the ticket number",
        "shows the working",
    ],
)
def test_what_can_be_counted_or_found_is_observable(anchor: str) -> None:
    assert not is_unobservable(anchor, COMPLETENESS)
