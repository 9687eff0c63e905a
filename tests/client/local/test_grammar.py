from __future__ import annotations

import json
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentanvil.client.local.grammar import compact_grammar


def as_pattern(grammar: str) -> re.Pattern[str]:
    """Turn the part of GBNF that the grammar uses into a regular expression: rules named, literals, groups, counts."""
    rules = dict(line.split(" ::= ", 1) for line in grammar.rstrip("\n").split("\n"))
    return re.compile(_expression(rules["root"], rules))


def _expression(rule: str, rules: dict[str, str]) -> str:
    tokens = re.findall(r'"(?:[^"\\]|\\.)*"|\[(?:[^\]\\]|\\.)*\]|\w+(?!\})|\{[\d,]+\}|[()|?]', rule)
    parts = []
    for token in tokens:
        if token[0] == '"':
            parts.append(f"(?:{re.escape(json.loads(token))})")
        elif token[0].isalpha():
            parts.append(f"(?:{_expression(rules[token], rules)})")
        elif token == "(":
            parts.append("(?:")
        else:
            parts.append(token)
    return "".join(parts)


def verdict(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": [*properties], "additionalProperties": False}


QUOTES = {"type": "array", "items": {"type": "string", "maxLength": 33}, "minItems": 1, "maxItems": 1}
SCORE = {"type": "integer", "enum": [1, 2, 3]}
SCHEMA = verdict(evidence=QUOTES, reason={"type": "string", "maxLength": 10}, score=SCORE)


@pytest.mark.parametrize(
    "text",
    [
        '{"evidence":["one two three"],"reason":"so be","score":3}',
        '{"evidence":[""],"reason":"","score":1}',
        '{"evidence":["' + "é" * 33 + '"],"reason":"0123456789","score":1}',
        r'{"evidence":["a \"quoted\" \\word"],"reason":"line\nend \u00e9","score":2}',
        '{"evidence":["日本で一番長い川は信濃川です。"],"reason":"är så","score":2}',
    ],
)
def test_a_verdict_without_white_space_fits(text: str) -> None:
    json.loads(text)
    assert as_pattern(compact_grammar(SCHEMA) or "").fullmatch(text)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param('{"evidence": ["one"],"reason":"so","score":3}', id="a blank between tokens"),
        pytest.param('{\n"evidence":["one"],"reason":"so","score":3}', id="a line end"),
        pytest.param('{"reason":"so","evidence":["one"],"score":3}', id="another order"),
        pytest.param('{"evidence":["one"],"reason":"so"}', id="a key is missing"),
        pytest.param('{"evidence":["one"],"reason":"so","score":4}', id="a score that was not offered"),
        pytest.param('{"evidence":["one"],"reason":"so","score":"3"}', id="a score as text"),
        pytest.param('{"evidence":["one","two"],"reason":"so","score":3}', id="one quote too many"),
        pytest.param('{"evidence":[],"reason":"so","score":3}', id="no quote"),
        pytest.param('{"evidence":["' + "x" * 34 + '"],"reason":"so","score":3}', id="a quote that is too long"),
        pytest.param('{"evidence":["one"],"reason":"eleven char","score":3}', id="a reason that is too long"),
        pytest.param('{"evidence":["a"b"],"reason":"so","score":3}', id="an open quote mark"),
    ],
)
def test_what_breaks_the_contract_does_not_fit(text: str) -> None:
    assert not as_pattern(compact_grammar(SCHEMA) or "").fullmatch(text)


def test_a_verdict_that_need_not_apply_may_be_null() -> None:
    schema = verdict(score={"type": ["integer", "null"], "enum": [0, 1, None]})
    fits = as_pattern(compact_grammar(schema) or "")
    assert [bool(fits.fullmatch(f'{{"score":{value}}}')) for value in ("0", "1", "null", "2", "None")] == [
        True,
        True,
        True,
        False,
        False,
    ]


@pytest.mark.parametrize(("kind", "fitting"), [("boolean", 2), (["boolean", "null"], 3)])
def test_a_gate_is_true_or_false(kind: object, fitting: int) -> None:
    fits = as_pattern(compact_grammar(verdict(**{"pass": {"type": kind}})) or "")
    texts = [f'{{"pass":{value}}}' for value in ("true", "false", "null", '"true"', "1", " true")]
    assert [bool(fits.fullmatch(text)) for text in texts] == [True] * fitting + [False] * (6 - fitting)


def test_a_choice_of_words_may_have_one_blank_before_it() -> None:
    """The token that names it is then one that the model writes by itself, and its log-probabilities mean something."""
    fits = as_pattern(
        compact_grammar(verdict(winner={"type": "string", "enum": ["A", "B", "tie"]}, margin=SCORE)) or ""
    )
    texts = ('{"winner":"A","margin":1}', '{"winner": "tie","margin":1}')
    assert all(fits.fullmatch(text) for text in texts)
    odd = ('{"winner":  "A","margin":1}', '{"winner": "A", "margin":1}', '{"winner":"A","margin": 1}')
    assert not any(fits.fullmatch(text) for text in odd)


@pytest.mark.parametrize(
    ("least", "most", "fitting"), [(0, 1, {0, 1}), (0, 3, {0, 1, 2, 3}), (1, 2, {1, 2}), (2, 3, {2, 3})]
)
def test_the_bounds_of_an_array_are_kept(least: int, most: int, fitting: set[int]) -> None:
    items = {"type": "array", "items": {"enum": [7]}, "minItems": least, "maxItems": most}
    fits = as_pattern(compact_grammar(verdict(a=items)) or "")
    assert {n for n in range(6) if fits.fullmatch(json.dumps({"a": [7] * n}, separators=(",", ":")))} == fitting


@given(st.text(min_size=1), st.text(), st.sampled_from(["yes", 'a "b"', "é\\n", "\n"]))
def test_any_name_and_label_is_written_as_json_writes_it(name: str, other: str, label: str) -> None:
    schema = verdict(**{name: {"enum": [label]}, f"{name}{other}+": {"enum": [True]}})
    fits = as_pattern(compact_grammar(schema) or "")
    written = json.dumps({name: label, f"{name}{other}+": True}, ensure_ascii=False, separators=(",", ":"))
    assert fits.fullmatch(written)


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "number"},
        {"type": "string"},
        {"type": "string", "maxLength": 5, "pattern": "^a$"},
        {"type": "array", "items": {"enum": [1]}},
        {"type": "array", "items": {"type": "number"}, "maxItems": 2},
        {"type": "array", "items": {"enum": [1]}, "minItems": 3, "maxItems": 2},
        {"enum": []},
        {"enum": 5},
        {"type": "object", "properties": {}, "required": []},
        {"type": "object", "properties": {"a": {"enum": [1]}}, "required": []},
        {"type": "object", "properties": {"a": {"enum": [1]}}},
        {"type": "object", "properties": {"a": True}, "required": ["a"]},
        {"anyOf": [{"enum": [1]}]},
    ],
)
def test_what_it_does_not_read_is_left_to_llama_cpp(schema: dict[str, Any]) -> None:
    assert compact_grammar(schema) is None
    assert compact_grammar(verdict(a=schema)) is None
