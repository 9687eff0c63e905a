from __future__ import annotations

import json
from pathlib import Path

import pytest

from agentanvil.dataset import Asked, Row, open_dataset, parse_map
from agentanvil.errors import DatasetError

RECORD = {
    "question_id": 7,
    "turns": ["first", "second"],
    "output": {"choices": [{"message": {"role": "assistant", "content": "hi"}}]},
    "scores": {"tone": {"ann": 5, "bob": None}, "style": None},
    "info": {"lang": "de"},
}
MAPS = ("id=question_id", "request=turns.0", "response=output.choices.0.message.content")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "rows.jsonl"


def read(file: Path, record: object, *maps: str, needs_source: bool = False) -> Row:
    file.write_text(json.dumps(record), encoding="utf-8")
    (only,) = open_dataset(file, parse_map(maps), Asked(needs_source=needs_source)).rows()
    return only


def test_other_peoples_names(file: Path) -> None:
    row = read(file, RECORD, *MAPS)
    assert (row.id, row.request, row.response) == ("7", "first", "hi")
    assert set(row.extra) == {"turns", "output", "scores", "info"}


def test_a_mapped_message_is_rendered(file: Path) -> None:
    row = read(file, RECORD, "id=question_id", "request=turns", "response=output.choices.0.message")
    assert (row.request, row.response) == ('["first","second"]', "hi")


def test_single_labels_and_meta(file: Path) -> None:
    row = read(file, RECORD, *MAPS, "labels.tone=scores.tone", "labels.style=scores.style", "meta.lang=info.lang")
    assert (row.labels, row.meta) == ({"tone": (5.0,)}, {"lang": "de"})


def test_whole_labels_and_meta(file: Path) -> None:
    row = read(file, RECORD, *MAPS, "labels=scores", "meta=info", "labels.lang_n=question_id")
    assert (row.labels, row.meta) == ({"tone": (5.0,), "lang_n": (7.0,)}, {"lang": "de"})
    assert set(row.extra) == {"turns", "output"}


def test_the_mapping_wins_over_the_rows_own_field(file: Path) -> None:
    row = read(file, {"id": "a", "request": "q", "response": "old", "answer": "new"}, "response=answer")
    assert (row.response, row.extra) == ("new", {"response": "old"})


@pytest.mark.parametrize(
    ("maps", "key", "message"),
    [
        (("response=output.text",), "response (output.text)", "`output` has no `text`; its keys are `choices`"),
        (("response=output.choices.3",), "response (output.choices.3)", "is a list of 1"),
        (("response=answer",), "response (answer)", "the row has no `answer`; its keys are `question_id`"),
        (("model=info.model",), "model (info.model)", "`info` has no `model`"),
        (("labels.tone=scores.tome",), "labels.tone (scores.tome)", "`scores` has no `tome`"),
        (("meta.x=info.x",), "meta.x (info.x)", "`info` has no `x`"),
        (("expected=info.gold",), "expected (info.gold)", "`info` has no `gold`"),
        (("source=info.doc",), "source (info.doc)", "`info` has no `doc`"),
        (("labels.tone=info.lang",), "labels.tone (info.lang)", "is text"),
        (("id=scores.style",), "id (scores.style)", "is null"),
    ],
)
def test_a_path_that_is_absent_is_an_error(file: Path, maps: tuple[str, ...], key: str, message: str) -> None:
    targets = {entry.partition("=")[0] for entry in maps}
    others = [entry for entry in MAPS if entry.partition("=")[0] not in targets]
    with pytest.raises(DatasetError) as caught:
        read(file, RECORD, *others, *maps)
    assert caught.value.where is not None
    assert (caught.value.where.line, caught.value.where.key) == (1, key)
    assert message in caught.value.message


PLAIN = {"id": "a", "request": "q", "response": "r"}


@pytest.mark.parametrize(
    ("fields", "maps", "expected"),
    [
        ({}, (), None),
        ({"expected": "42"}, (), "42"),
        ({"gold": ["4", "2"]}, (), ["4", "2"]),
        ({"reference_answer": "x"}, (), "x"),
        ({"target": {"k": 1}}, (), {"k": 1}),
        ({"gold": "1", "ideal": "2"}, (), {"gold": "1", "ideal": "2"}),
        ({"gold": "1", "expected": "2"}, (), "2"),
        ({"gold": "1", "key": {"a": "3"}}, ("expected=key.a",), "3"),
        ({"gold": "1"}, ("expected=gold",), "1"),
    ],
)
def test_the_expected_answer_is_kept_apart(
    file: Path, fields: dict[str, object], maps: tuple[str, ...], expected: object
) -> None:
    row = read(file, PLAIN | fields, *maps)
    assert row.expected == expected
    assert (row.request, row.response, row.source) == ("q", "r", ())


def test_hidden_fields_are_named(file: Path) -> None:
    lines = [PLAIN | {"gold": "1"}, PLAIN | {"id": "b", "ideal": "2", "topic": "t"}]
    file.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    assert open_dataset(file).scan().hidden_fields == ("gold", "ideal")
    mapped = open_dataset(file, parse_map(["expected=id"]))
    assert mapped.scan().hidden_fields == ("gold", "id", "ideal")


def test_a_hidden_name_that_the_user_maps_is_not_hidden(file: Path) -> None:
    row = read(file, {"id": "a", "request": "q", "target": "r"}, "response=target")
    assert (row.response, row.expected, row.extra) == ("r", None, {})
    assert open_dataset(file, parse_map(["response=target"])).scan().hidden_fields == ()


def test_a_slip_can_be_declared_on_purpose(file: Path) -> None:
    record = PLAIN | {"label": "spam"}
    with pytest.raises(DatasetError) as caught:
        read(file, record)
    hint = caught.value.hint or ""
    assert "--map 'meta.label=label'" in hint
    assert read(file, record, "meta.label=label").meta == {"label": "spam"}


def test_a_source_is_taken_even_where_none_is_needed(file: Path) -> None:
    assert read(file, PLAIN | {"source": ["a", {"text": "b"}]}).source == ("a", "b")
    assert read(file, PLAIN | {"docs": "x"}, "source=docs", needs_source=True).source == ("x",)


def test_names_near_a_mapped_field_are_kept(file: Path) -> None:
    record = {"id": "a", "request": "q", "response1": "r", "response2": "s"}
    assert read(file, record, "response=response1").extra == {"response2": "s"}
