from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentanvil.client.decisions import Answer, AnswerKind, number, read_answers, write_answers
from tests.fakes.json_values import JSON_VALUES

KINDS: tuple[AnswerKind, ...] = ("predicate", "choice", "score", "refusal", "unknown")
TEXT = st.text(st.characters(codec="utf-8"), max_size=12)
ANSWERS = st.builds(
    Answer,
    st.none() | TEXT,
    st.sampled_from(KINDS),
    st.lists(st.tuples(TEXT, st.none() | st.floats(allow_nan=False, allow_infinity=False))).map(tuple),
)


@given(st.lists(ANSWERS, max_size=5))
def test_answers_come_back_as_they_were_written(answers: list[Answer]) -> None:
    assert read_answers(write_answers(answers)) == tuple(answers)


@given(JSON_VALUES.map(json.dumps) | st.text(max_size=50))
def test_any_other_text_is_no_answer(text: str) -> None:
    found = read_answers(text)
    assert found is None or json.loads(text)["answers"] is not None


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        '{"answers": {}}',
        '{"answers": [1]}',
        '{"answers": [{"kind": "score", "probabilities": []}]}',
        '{"answers": [{"name": 1, "kind": "score", "probabilities": []}]}',
        '{"answers": [{"name": "a", "kind": "score", "probabilities": {}}]}',
        '{"answers": [{"name": "a", "kind": "score", "probabilities": [[0, 1]]}]}',
        '{"answers": [{"name": "a", "kind": "score", "probabilities": [["0", 1, 2]]}]}',
    ],
)
def test_a_text_of_another_shape_is_no_answer(text: str) -> None:
    assert read_answers(text) is None


def test_only_finite_numbers_are_numbers() -> None:
    assert number(1) == 1.0
    assert number(0.25) == 0.25
    for value in (True, None, "0.5", float("nan"), float("-inf"), 10**400, [0.5]):
        assert number(value) is None
