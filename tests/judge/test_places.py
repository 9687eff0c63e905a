"""Where the verdicts stand in a reply's text."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from agentanvil.judge.places import value_places


@pytest.mark.parametrize(
    ("text", "path", "rest"),
    [
        ('{"winner":"A"}', ("winner",), 'A"}'),
        (' {\n "winner" :\t" A" }', ("winner",), 'A" }'),
        ('{"x":{"winner":"A"},"y":{"winner":"B"},"winner":"tie"}', ("y", "winner"), 'B"},"winner":"tie"}'),
        ('{"x":{"winner":"A"},"y":{"winner":"B"},"winner":"tie"}', ("winner",), 'tie"}'),
        ('{"evidence_a":["{\\"better\\":\\"B\\"}"],"winner":"A"}', ("winner",), 'A"}'),
        ('{"q":[{"winner":"B"},1.5,null,true],"winner":"A"}', ("winner",), 'A"}'),
        ('{"\\u0077inner":"A"}', ("winner",), 'A"}'),
        ('Here {so}:\n```json\n{"winner":"A"}\n```', ("winner",), 'A"}\n```'),
        ('<think>{"winner":"B"}</think>{"winner":"A"}', ("winner",), 'A"}'),
        ('{"winner":"A"} and {"other":1}', ("winner",), 'A"} and {"other":1}'),
        ('{"score": 4}', ("score",), "4}"),
        ('{"score":-2.0 ,"z":[]}', ("score",), '-2.0 ,"z":[]}'),
        ('{"reason":"score: 3","pass" : true}', ("pass",), "true}"),
        ('{"x":{"score":5,"reason":{"score":1}},"y":{"a":{},"score":2}}', ("y", "score"), "2}}"),
        ('{"score":3} or rather {"score":null} {"score":3}', ("score",), "3}"),
    ],
)
def test_where_the_verdict_stands(text: str, path: tuple[str, ...], rest: str) -> None:
    at = value_places(text, [path])[path]
    assert text[at:] == rest


@pytest.mark.parametrize(
    "text",
    [
        "",
        "A",
        "{",
        '{"winner":"A"',
        '{"winner":null}',
        '{"winner":["A"]}',
        '{"x":{"winner":"A"}}',
        '["winner"]',
        '{"winner":"A","winner":"A"}',
        '"{\\"better\\":\\"A\\"}"',
    ],
)
def test_where_no_verdict_stands(text: str) -> None:
    assert value_places(text, [("winner",)]) == {}


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(st.text(max_size=4), VALUES, max_size=5), st.text(min_size=1, max_size=4), st.booleans())
def test_the_place_is_found_in_any_object(others: dict[str, object], name: str, nested: bool) -> None:
    assume(name not in others)
    verdict: dict[str, object] = {**others, "winner": "A"}
    whole: dict[str, object] = {**others, name: verdict, "z": 1} if nested else verdict
    path: Sequence[str] = (name, "winner") if nested else ("winner",)
    for text in (json.dumps(whole), json.dumps(whole, indent=1, ensure_ascii=False)):
        at = value_places(text, [tuple(path)])[tuple(path)]
        assert text[at - 1 : at + 2] == '"A"'


@given(st.text(alphabet='{}[]",: abetr\\', max_size=40))
def test_whatever_a_reply_holds_is_no_error(text: str) -> None:
    found = value_places(text, [("winner",), ("a", "b")])
    assert all(0 < at <= len(text) for at in found.values())


def test_many_braces_take_no_long() -> None:
    started = time.perf_counter()
    for text in ("{" * 200_000, '{"a":' * 200_000, '{"a":1}' * 50_000):
        assert value_places(text, [("winner",), ("a", "b")]) == {}
    assert time.perf_counter() - started < 5


def test_all_places_are_found_at_once() -> None:
    text = '{"x":{"score":5},"y":{"score":2},"z":{"score":null},"score":1}'
    found = value_places(text, [("x", "score"), ("y", "score"), ("z", "score"), ("score",)])
    assert {path: text[at] for path, at in found.items()} == {("x", "score"): "5", ("y", "score"): "2", ("score",): "1"}
