"""Unknown keys, wrong values and keys that do not fit together: each is named with line and key."""

from __future__ import annotations

import pytest

from agentanvil.errors import RubricError
from agentanvil.rubric import parse_rubric
from tests.fakes.rubric_text import HEAD, judged, rubric_text


def error_of(text: str) -> RubricError:
    with pytest.raises(RubricError) as caught:
        parse_rubric(text, "r.yaml")
    return caught.value


def place_of(error: RubricError) -> tuple[str | None, int | None, str | None]:
    assert error.where is not None
    return error.where.file, error.where.line, error.where.key


UNKNOWN_KEYS = [
    pytest.param(
        "criteria: [{name: a, scale: [1,5], treshold: 3}]", 4, "criteria", "dimensions", id="O-B22 as reported"
    ),
    pytest.param("treshold: 3", 4, "treshold", "gate", id="O-B22 misspelt and misplaced"),
    pytest.param("weights: {accuracy: 2}", 4, "weights", "belongs under `overall`", id="O-B22 misplaced"),
    pytest.param("overal: {rule: min}", 4, "overal", "did you mean `overall`?", id="O-B22 misspelt"),
    pytest.param("Rules: [a]", 4, "Rules", "did you mean `rules`?", id="O-B22 capital"),
    pytest.param("overall: {rule: min, weigths: {a: 1}}", 4, "overall.weigths", "did you mean `weights`?", id="nested"),
    pytest.param("reply: {format: label, marker: x, lables: [a]}", 4, "reply.lables", "`labels`", id="in reply"),
    pytest.param("scale2: 1", 4, "scale2", "did you mean `scale`?", id="with a digit"),
    pytest.param("<<: {rules: [a]}", 4, "<<", "the keys here are", id="a merge key"),
    pytest.param("7: x", 4, "[7]", "the keys here are", id="a number"),
]


@pytest.mark.parametrize(("line", "number", "key", "advice"), UNKNOWN_KEYS)
def test_an_unknown_key_is_named_with_a_suggestion(line: str, number: int, key: str, advice: str) -> None:
    error = error_of(rubric_text(extra=line))
    assert place_of(error) == ("r.yaml", number, key)
    assert "unknown key" in error.message
    assert advice in (error.hint or "")


@pytest.mark.parametrize(
    ("dimension", "key", "advice"),
    [
        ("{id: a, question: q, anchor: {5: x}}", "anchor", "did you mean `anchors`?"),
        ("{id: a, question: q, weight: 3}", "weight", "`weight` belongs under `overall`"),
        ("{id: a, question: q, scope: {exclude: [x]}}", "scope.exclude", "the keys here are: in, out"),
        ("{id: a, question: q, scope: {out: [{what: x, judgedby: b}]}}", "scope.out[0].judgedby", "`judged_by`"),
        ("{id: a, question: q, chek: {type: regex, pattern: x}}", "chek", "`check`"),
        ("{id: a, question: q, check: {type: max_words, limit: 3}}", "question", "in one of `dimensions`"),
        ("{id: a, check: {type: max_words, limt: 3}}", "check.limt", "did you mean `limit`?"),
        ("{id: a, check: {type: regex, pattern: x, limit: 3}}", "check.limit", "of type max_words"),
    ],
)
def test_an_unknown_key_in_a_dimension(dimension: str, key: str, advice: str) -> None:
    error = error_of(rubric_text(dimension))
    assert place_of(error) == ("r.yaml", 5, f"dimensions[0].{key}")
    assert advice in (error.hint or "")


@pytest.mark.parametrize(
    ("extra", "key", "said"),
    [
        pytest.param(
            "overall: {rule: weighted, weights: {accuracy: 0}}", "overall.weights", "all weights are 0", id="O-E16"
        ),
        pytest.param(
            "overall: {rule: weighted, weights: {accuracy: 0.0}}",
            "overall.weights",
            "all weights are 0",
            id="O-E16 float",
        ),
        pytest.param(
            "overall: {rule: weighted, weights: {accuracy: -1}}", "overall.weights.accuracy", "-1", id="O-E16 negative"
        ),
        pytest.param(
            "overall: {rule: weighted, weights: {accuracy: 1e300}}",
            "overall.weights.accuracy",
            "1e+300",
            id="O-E16 huge",
        ),
        pytest.param(
            "overall: {rule: weighted, weights: {accuracy: .inf}}", "overall.weights.accuracy", "`.inf`", id="O-E16 inf"
        ),
        pytest.param(
            "overall: {rule: weighted, weights: {accuracy: .nan}}", "overall.weights.accuracy", "`.nan`", id="O-E16 nan"
        ),
        pytest.param(
            "overall: {rule: weighted, weights: {accuracy: '2'}}", "overall.weights.accuracy", "number", id="O-E16 text"
        ),
        pytest.param(
            "overall: {rule: weighted, weights: {accuracy: true}}",
            "overall.weights.accuracy",
            "boolean",
            id="O-E16 bool",
        ),
        pytest.param(
            "overall: {rule: weighted, weights: {clarity: 2}}",
            "overall.weights.clarity",
            "no dimension",
            id="unknown weight",
        ),
        pytest.param("overall: {rule: weighted, weights: {}}", "overall", "needs weights", id="no weights"),
        pytest.param("overall: {rule: weighted}", "overall", "needs weights", id="weights absent"),
        pytest.param(
            "overall: {rule: min, weights: {accuracy: 2}}", "overall.weights", "no weights", id="min with weights"
        ),
        pytest.param("overall: min", "overall", "must be a mapping", id="overall as text"),
        pytest.param("overall: {rule: mean}", "overall.rule", "not known", id="unknown rule"),
        pytest.param("gate: {accurcy: 4}", "gate.accurcy", "no dimension", id="gate unknown"),
        pytest.param("gate: {accuracy: 6}", "gate.accuracy", "6 is not on the scale 1 to 5", id="gate high"),
        pytest.param("gate: {overall: 0.5}", "gate.overall", "0.5 is not on the scale", id="gate low"),
        pytest.param("gate: {accuracy: '4'}", "gate.accuracy", "must be a number", id="gate text"),
        pytest.param("gate: {5: 4}", "gate.5", "a key must be text", id="gate key"),
        pytest.param("gate: 4", "gate", "must be a mapping", id="gate number"),
        pytest.param("calls: Joint", "calls", "not known", id="calls"),
        pytest.param("evidence: quote", "evidence", "not known", id="evidence"),
        pytest.param("rules: one rule", "rules", "must be a list", id="rules as text"),
        pytest.param("rules: [Note: be exact]", "rules[0]", "not a mapping", id="a colon in a rule"),
        pytest.param("rules: [5]", "rules[0]", "must be text, not the number 5", id="number as text"),
        pytest.param("rules: ['']", "rules[0]", "empty", id="empty rule"),
        pytest.param("rules:", "rules", "an empty value", id="key without value"),
        pytest.param("needs_source: yes", "needs_source", "true or false", id="yes as a boolean"),
        pytest.param("allow_expected: 1", "allow_expected", "true or false", id="1 as a boolean"),
    ],
)
def test_a_wrong_value_is_named(extra: str, key: str, said: str) -> None:
    error = error_of(rubric_text(extra=extra))
    assert place_of(error) == ("r.yaml", 4, key)
    assert said in error.message


@pytest.mark.parametrize(
    ("dimension", "key", "said"),
    [
        ("{id: Accuracy, question: q}", "id", "not allowed"),
        ("{id: '', question: q}", "id", "not allowed"),
        ("{id: a-b, question: q}", "id", "not allowed"),
        ("{id: 'a\n', question: q}", "id", "not allowed"),
        ("{id: ä, question: q}", "id", "not allowed"),
        ("{id: 1, question: q}", "id", "must be text"),
        ("{id: overall, question: q}", "id", "cannot be a dimension"),
        ("{id: state, question: q}", "id", "cannot be a dimension"),
        ("{question: q}", "id", "`id` is missing"),
        ("{id: a}", "question", "`question` is missing"),
        ("{id: a, question: '  '}", "question", "empty"),
        ("{id: a, question: 5}", "question", "must be text"),
        ("{id: a, question: q, anchors: {6: x}}", "anchors.6", "not on the scale 1 to 5"),
        ("{id: a, question: q, anchors: {0: x}}", "anchors.0", "not on the scale"),
        ("{id: a, question: q, anchors: {-1: x}}", "anchors.-1", "not on the scale"),
        ("{id: a, question: q, anchors: {best: x}}", "anchors.best", "whole number"),
        ("{id: a, question: q, anchors: {'5': x}}", "anchors.5", "whole number"),
        ("{id: a, question: q, anchors: {5: }}", "anchors.5", "an empty value"),
        ("{id: a, question: q, anchors: {5: 5}}", "anchors.5", "must be text"),
        ("{id: a, question: q, anchors: [x]}", "anchors", "must be a mapping"),
        ("{id: a, question: q, scope: {in: x}}", "scope.in", "must be a list"),
        ("{id: a, question: q, scope: {out: [x]}}", "scope.out[0]", "must be a mapping"),
        ("{id: a, question: q, scope: {out: [{judged_by: b}]}}", "scope.out[0].what", "missing"),
        ("{id: a, question: q, allow_na: 'true'}", "allow_na", "true or false"),
    ],
)
def test_a_wrong_dimension_is_named(dimension: str, key: str, said: str) -> None:
    error = error_of(rubric_text(dimension))
    assert error.where is not None
    assert error.where.key == f"dimensions[0].{key}"
    assert said in error.message


@pytest.mark.parametrize(
    ("head", "key", "said"),
    [
        ("id: a\nscale: {min: 1, max: 5}", "version", "missing"),
        ("version: 2\nid: a\nscale: {min: 1, max: 5}", "version", "version 1, not 2"),
        ("version: '1'\nid: a\nscale: {min: 1, max: 5}", "version", "whole number"),
        ("version: 1.0\nid: a\nscale: {min: 1, max: 5}", "version", "whole number"),
        ("version: true\nid: a\nscale: {min: 1, max: 5}", "version", "whole number"),
        ("version: 1\nscale: {min: 1, max: 5}", "id", "missing"),
        ("version: 1\nid: ../x\nscale: {min: 1, max: 5}", "id", "not allowed"),
        ("version: 1\nid: a", "scale", "missing"),
        ("version: 1\nid: a\nscale: {min: 5, max: 1}", "scale", "less than max"),
        ("version: 1\nid: a\nscale: {min: 3, max: 3}", "scale", "less than max"),
        ("version: 1\nid: a\nscale: {min: 0, max: 1000000}", "scale", "1000001 scores"),
        ("version: 1\nid: a\nscale: {min: 1}", "scale.max", "missing"),
        ("version: 1\nid: a\nscale: {min: 1.5, max: 5}", "scale.min", "whole number"),
        ("version: 1\nid: a\nscale: [1, 5]", "scale", "must be a mapping"),
        ("version: 1\nid: a\nscale: 1-5", "scale", "must be a mapping"),
    ],
)
def test_a_wrong_head_is_named(head: str, key: str, said: str) -> None:
    error = error_of(rubric_text(head=head))
    assert error.where is not None
    assert error.where.key == key
    assert said in error.message


def test_ids_are_unique_and_leave_the_report_its_columns() -> None:
    twice = error_of(rubric_text(judged("a"), judged("b"), judged("a")))
    assert place_of(twice) == ("r.yaml", 7, "dimensions[2].id")
    column = error_of(rubric_text(judged("a_sd"), judged("a")))
    assert "column of `a`" in column.message


def test_a_rubric_needs_a_dimension() -> None:
    assert "empty" in error_of(HEAD + "dimensions: []\n").message
    assert "missing" in error_of(HEAD).message


def test_the_first_problem_stands_in_front_and_the_others_are_counted() -> None:
    error = error_of("version: 1\nid: a\nscale: {min: 0}\ncalls: x\ndimensions: [{id: A, question: q}]\n")
    assert place_of(error) == ("r.yaml", 3, "scale.max")
    assert "(2 more: line 4 calls, line 5 dimensions[0].id)" in error.message
