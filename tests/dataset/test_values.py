from __future__ import annotations

import pytest

from agentanvil.dataset.faults import FieldError
from agentanvil.dataset.values import LabelForm, read_id, read_model, read_object, read_scores, read_source, read_text


@pytest.mark.parametrize(("value", "text"), [("a", "a"), (1, "1"), (0, "0"), (-7, "-7"), (10**30, "1" + "0" * 30)])
def test_ids(value: object, text: str) -> None:
    assert read_id(value) == text  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (None, "is null"),
        (True, "is true or false"),
        (1.0, "is a fraction"),
        ([], "is a list"),
        ({}, "is an object"),
        ("", "is empty"),
        (" \t", "is empty"),
    ],
)
def test_what_is_no_id(value: object, message: str) -> None:
    with pytest.raises(FieldError, match=message):
        read_id(value)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("file:///etc/hostname", "file:///etc/hostname"),
        ("{{ user }} {0} {% raw %}", "{{ user }} {0} {% raw %}"),
        (" kept \n", " kept \n"),
        ({"b": 1, "a": [True, None]}, '{"a":[true,null],"b":1}'),
        (["a", "b"], '["a","b"]'),
        (0, "0"),
        (False, "false"),
        (1.5, "1.5"),
        ({"role": "assistant", "content": "hi"}, "hi"),
        ([{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}], "[user]\na\n\n[assistant]\nb"),
    ],
)
def test_texts(value: object, text: str) -> None:
    assert read_text(value, "response", "assistant") == text  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "value",
    [None, "", " \n", "\u200b", [], {}, {"role": "assistant", "content": " "}, [{"role": "user", "content": ""}]],
)
def test_what_is_no_text(value: object) -> None:
    with pytest.raises(FieldError, match=r"is (null|empty)"):
        read_text(value, "response", "assistant")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("value", "passages"),
    [
        (None, ()),
        ("", ()),
        ([], ()),
        (["", "  "], ()),
        ("one", ("one",)),
        (["one", "", "two"], ("one", "two")),
        ([{"title": "t", "text": "one"}, "two"], ("one", "two")),
        ({"page_content": "one"}, ("one",)),
        ([{"content": "one"}], ("one",)),
    ],
)
def test_sources(value: object, passages: tuple[str, ...]) -> None:
    assert read_source(value) == passages  # type: ignore[arg-type]


@pytest.mark.parametrize("value", [5, True, [1], [["nested"]], [None], {}, {"text": 5}, [{"title": "t"}]])
def test_what_is_no_source(value: object) -> None:
    with pytest.raises(FieldError, match="passage"):
        read_source(value)  # type: ignore[arg-type]


def test_models() -> None:
    assert read_model("gpt") == "gpt"
    assert read_model(None) is None
    assert read_model(" ") is None
    with pytest.raises(FieldError, match="is a list"):
        read_model(["a"])


@pytest.mark.parametrize(
    ("value", "scores"),
    [
        (4, (4.0,)),
        (4.5, (4.5,)),
        ([4, 5], (4.0, 5.0)),
        ([4, None, 5], (4.0, 5.0)),
        ({"zoe": 3, "ann": 5}, (5.0, 3.0)),
        ({"ann": None}, ()),
        (None, ()),
        ([], ()),
    ],
)
def test_scores(value: object, scores: tuple[float, ...]) -> None:
    assert read_scores(value, "labels.tone", LabelForm()) == scores  # type: ignore[arg-type]


@pytest.mark.parametrize("value", [True, "4", "good", [True], [[4]], {"ann": {"x": 1}}, 10**400])
def test_what_is_no_score(value: object) -> None:
    with pytest.raises(FieldError) as caught:
        read_scores(value, "labels.tone", LabelForm())  # type: ignore[arg-type]
    assert caught.value.field == "labels.tone"


@pytest.mark.parametrize(
    ("cell", "scores"),
    [("4", (4.0,)), (" 4.50 ", (4.5,)), ("-1", (-1.0,)), (".5", (0.5,)), ("1e1", (10.0,)), ("", ()), (" ", ())],
)
def test_scores_in_cells(cell: str, scores: tuple[float, ...]) -> None:
    assert read_scores(cell, "labels.tone", LabelForm(cells=True)) == scores


@pytest.mark.parametrize("cell", ["nan", "inf", "1_0", "4,5", "٤", "four", "0x4", "1e999", "4 5"])
def test_what_is_no_score_in_a_cell(cell: str) -> None:
    with pytest.raises(FieldError):
        read_scores(cell, "labels.tone", LabelForm(cells=True))


def test_objects() -> None:
    assert read_object({"a": 1}, "meta", cells=False) == {"a": 1}
    assert read_object(None, "meta", cells=False) == {}
    assert read_object('{"a": 1}', "meta", cells=True) == {"a": 1}
    assert read_object(" ", "meta", cells=True) == {}


@pytest.mark.parametrize(
    ("value", "cells"),
    [
        ('{"a": 1}', False),
        ([], False),
        (5, False),
        ("a", True),
        ("[1]", True),
        ('{"a": NaN}', True),
        ('{"a":1,"a":2}', True),
    ],
)
def test_what_is_no_object(value: object, cells: bool) -> None:
    with pytest.raises(FieldError) as caught:
        read_object(value, "meta", cells)  # type: ignore[arg-type]
    assert caught.value.field == "meta"
