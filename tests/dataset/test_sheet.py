"""Filled sheets as spreadsheets save them, what is refused with its cell named, and the key that belongs to them."""

from __future__ import annotations

import csv
import io
import json
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentanvil.dataset.sheet import SheetAnswers, SheetForm, read_sheet
from agentanvil.dataset.sheet_key import (
    DrawnRow,
    DrawsFile,
    SheetKey,
    SheetSubject,
    as_json,
    codes,
    draws_path,
    key_path,
    read_draws,
    read_key,
)
from agentanvil.errors import DatasetError

SCORES = SheetForm.of("absolute", ["accuracy", "coverage"], (1, 5))
GATE = SheetForm.of("gate", ["accuracy"], (1, 5))
PAIRS = SheetForm.of("pairwise", ["accuracy"], (1, 5))
SUBJECT = SheetSubject("d" * 32, "r" * 32, "absolute", "quoted", 100, (), (), None)


def sheet_key(*orders: str) -> SheetKey:
    rows = [
        DrawnRow(f"kvtr-{n}", f"gpt-4/{n}", 0.25, order, "random")  # type: ignore[arg-type]
        for n, order in enumerate(orders or "---", 1)
    ]
    return SheetKey(1, SUBJECT, 0.5, 7, ("known",), tuple(rows))


def read(folder: Path, text: str | bytes, form: SheetForm = SCORES, key: SheetKey | None = None) -> SheetAnswers:
    path = folder / "sheet.csv"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return read_sheet(path, form, key or sheet_key())


def refusal(folder: Path, text: str | bytes, form: SheetForm = SCORES, key: SheetKey | None = None) -> DatasetError:
    with pytest.raises(DatasetError) as caught:
        read(folder, text, form, key)
    return caught.value


def test_a_sheet_as_it_was_written_and_filled_in(tmp_path: Path) -> None:
    head = "\ufeffid,request,response,accuracy,coverage,note\r\n"
    found = read(tmp_path, f"{head}kvtr-2,q,r,4,5,odd one\r\nkvtr-1,q,r,,,\r\nkvtr-3,q,r,,1,\r\n")
    first, second = found.answers
    assert (first.id, first.line, first.labels, first.note) == ("gpt-4/2", 2, {"accuracy": 4, "coverage": 5}, "odd one")
    assert (second.id, second.labels) == ("gpt-4/3", {"coverage": 1})
    assert (found.blank, found.absent, found.partial, found.ignored) == (1, 0, 1, ())


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("id;accuracy;coverage\nkvtr-1;4;5\n", id="semicolons"),
        pytest.param("id\taccuracy\tcoverage\nkvtr-1\t4\t5\n", id="tabs"),
        pytest.param("sep=;\nid;accuracy;coverage\nkvtr-1;4;5\n", id="sep-line"),
        pytest.param('\ufeff"sep=,"\r\nid,accuracy,coverage\r\nkvtr-1,4,5\r\n', id="quoted-sep-line"),
        pytest.param('"id","accuracy","coverage"\n"kvtr-1","4","5"\n', id="all-quoted"),
        pytest.param("coverage,note,id,accuracy\n5,,kvtr-1,4\n", id="reordered"),
        pytest.param("id,accuracy,coverage\nkvtr-1,4.0,5.\n", id="decimals"),
        pytest.param("id;accuracy;coverage\nkvtr-1;4,00;+5\n", id="decimal-comma"),
        pytest.param(" id , accuracy,coverage\n kvtr-1 , 4 ,5 \n", id="spaces"),
        pytest.param("id,accuracy,coverage\nkvtr-1,4,5\n,,\n\n,,\n", id="empty-rows-at-the-end"),
        pytest.param("id,accuracy,coverage\rkvtr-1,4,5".replace("\r", "\n"), id="no-last-line-end"),
    ],
)
def test_spreadsheets_habits(tmp_path: Path, text: str) -> None:
    found = read(tmp_path, text)
    assert [(answer.id, answer.labels) for answer in found.answers] == [("gpt-4/1", {"accuracy": 4, "coverage": 5})]
    assert (found.blank, found.absent) == (0, 2)


def test_columns_that_somebody_added_are_named(tmp_path: Path) -> None:
    found = read(tmp_path, "id,mine,accuracy,coverage,meta.x\nkvtr-1,4,4,5,\n")
    assert found.ignored[0] == "mine"


@pytest.mark.parametrize(
    ("text", "place", "message"),
    [
        ("id,accuracy,coverage\nkvtr-9,4,5\n", "2: id", "no row of this sheet"),
        ("id,accuracy,coverage\n,4,5\n", "2: id", "is empty"),
        ("id,accuracy,coverage\nkvtr-1,4,5\nkvtr-1,4,5\n", "3: id", "on line 2 already"),
        ("id,accuracy,coverage\nkvtr-1,6,5\n", "2: accuracy", "`6` is not a whole number from 1 to 5"),
        ("id,accuracy,coverage\nkvtr-1,0,5\n", "2: accuracy", "from 1 to 5"),
        ("id,accuracy,coverage\nkvtr-1,4,3.5\n", "2: coverage", "`3.5` is not a whole number"),
        ("id,accuracy,coverage\nkvtr-1,four,5\n", "2: accuracy", "`four`"),
        ("id,accuracy,coverage\nkvtr-1,true,5\n", "2: accuracy", "`true`"),
        ("id,accuracy,coverage\nkvtr-1,٤,5\n", "2: accuracy", "not a whole number"),
        ("id,accuracy,coverage\nkvtr-1," + "9" * 5000 + ",5\n", "2: accuracy", "not a whole number"),
        ("id,acuracy,coverage\nkvtr-1,4,5\n", "1", "no `accuracy`; is it `acuracy`?"),
        ("code,accuracy,coverage\nkvtr-1,4,5\n", "1", "no `id`"),
        ("id,accuracy,coverage\nkvtr-1,4\n", "2", "2 cells"),
        ("id,accuracy,accuracy,coverage\nkvtr-1,4,4,5\n", "1", "more than once"),
        ('id,accuracy,coverage\nkvtr-1,"4,5\n', "2", "never closed"),
        ("id,accuracy,coverage\nkvtr-1,,\n", "sheet.csv", "no row has a label"),
        ("id,accuracy,coverage\n", "sheet.csv", "no row has a label"),
        ("", "sheet.csv", "empty"),
        (b"id,accuracy,coverage,note\nkvtr-1,4,5,caf\xe9\n", "2", "not UTF-8"),
        ("id,accuracy,coverage\n".encode("utf-16"), "sheet.csv", "UTF-16"),
        (b"PK\x03\x04", "sheet.csv", "spreadsheet"),
    ],
)
def test_every_fault_names_its_cell(tmp_path: Path, text: str | bytes, place: str, message: str) -> None:
    error = refusal(tmp_path, text)
    assert str(error.where).endswith(place)
    assert message in error.message


def test_a_gates_labels_are_true_and_false(tmp_path: Path) -> None:
    found = read(tmp_path, "id,accuracy\nkvtr-1,TRUE\nkvtr-2,false\n", GATE)
    assert [answer.labels["accuracy"] for answer in found.answers] == [True, False]
    assert all(isinstance(answer.labels["accuracy"], bool) for answer in found.answers)
    for cell in ("1", "yes", "wahr", "4"):
        assert "is not true or false" in refusal(tmp_path, f"id,accuracy\nkvtr-1,{cell}\n", GATE).message


def test_winners_are_turned_back_to_the_sides_of_the_data(tmp_path: Path) -> None:
    key = sheet_key("ab", "ba", "ab", "ba", "ba")
    found = read(tmp_path, "id,winner\nkvtr-1,a\nkvtr-2,A\nkvtr-3,b\nkvtr-4,B\nkvtr-5, Tie \n", PAIRS, key)
    assert [answer.labels["winner"] for answer in found.answers] == [1, -1, -1, 1, 0]
    assert "is not a, b or tie" in refusal(tmp_path, "id,winner\nkvtr-1,1\n", PAIRS, key).message


def test_a_dimension_may_be_named_like_a_column_of_the_sheet(tmp_path: Path) -> None:
    form = SheetForm.of("absolute", ["response", "tone"], (1, 5))
    assert dict(form.columns) == {"response": "response (label)", "tone": "tone"}
    found = read(tmp_path, "id,request,response,response (label),tone\nkvtr-1,q,r,2,3\n", form)
    assert found.answers[0].labels == {"response": 2, "tone": 3}


CELL = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=12)


@given(
    scores=st.lists(
        st.tuples(st.sampled_from(["", "1", "5", "3.0"]), st.sampled_from(["", "2", "4"]), CELL), min_size=3, max_size=3
    ),
    order=st.permutations(range(5)),
    mark=st.sampled_from(",;\t"),
    end=st.sampled_from(["\n", "\r\n"]),
    bom=st.booleans(),
)
def test_whatever_saved_it_a_sheet_says_the_same(
    tmp_path_factory: pytest.TempPathFactory,
    scores: list[tuple[str, str, str]],
    order: list[int],
    mark: str,
    end: str,
    bom: bool,
) -> None:
    names = ("id", "accuracy", "coverage", "note", "request")
    file = io.StringIO()
    rows = csv.writer(file, delimiter=mark, lineterminator="\r\n")
    lines = [names, *((f"kvtr-{n}", one, two, note, "q") for n, (one, two, note) in enumerate(scores, 1))]
    for line in lines:
        rows.writerow([line[place] for place in order])
    text = file.getvalue() if end == "\r\n" else file.getvalue().replace("\r\n", "\n")
    path = tmp_path_factory.mktemp("sheet") / "sheet.csv"
    path.write_bytes((("\ufeff" if bom else "") + text).encode())
    given_labels = {f"gpt-4/{n}": (one, two) for n, (one, two, _) in enumerate(scores, 1) if one or two}
    if not given_labels:
        return
    found = read_sheet(path, SCORES, sheet_key())
    assert {answer.id: answer.labels for answer in found.answers} == {
        name: {d: float(cell) for d, cell in zip(("accuracy", "coverage"), cells, strict=True) if cell}
        for name, cells in given_labels.items()
    }
    assert found.blank == 3 - len(given_labels)


@given(
    st.binary(max_size=200)
    | st.text(alphabet='id,;\t"\naccuracy,coverage kvtr-1234.0sep=', max_size=200).map(str.encode)
)
def test_no_file_does_more_than_be_refused(tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
    path = tmp_path_factory.mktemp("sheet") / "sheet.csv"
    path.write_bytes(content)
    with suppress(DatasetError):
        assert read_sheet(path, SCORES, sheet_key()).answers


def test_a_missing_sheet(tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match="cannot be opened"):
        read_sheet(tmp_path / "none.csv", SCORES, sheet_key())


def test_a_key_and_the_draws_are_had_back_as_they_were(tmp_path: Path) -> None:
    key = sheet_key("ab", "ba")
    path = key_path(tmp_path / "my.sheet.csv")
    assert path.name == "my.sheet.key.json"
    path.write_text(as_json(key), encoding="utf-8")
    assert read_key(path) == key
    draws = draws_path(tmp_path / "labels.csv")
    assert draws.name == "labels.csv.draws.json"
    assert read_draws(draws) == DrawsFile(1, ())
    draws.write_text(as_json(DrawsFile(1, (key, key))), encoding="utf-8")
    assert read_draws(draws) == DrawsFile(1, (key, key))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"format": 2}, "`format`"),
        ({"rows": []}, "`rows`"),
        ({"random": 0}, "`random`"),
        ({"rows": [{"code": "x", "id": "y", "probability": 0, "order": "-", "reason": ""}]}, "`rows.0.probability`"),
        ({"rows": [{"code": "x", "id": "y", "probability": 1.5, "order": "-", "reason": ""}]}, "`rows.0.probability`"),
        ({"rows": [{"code": "x", "id": "y", "probability": 0.5, "order": "c", "reason": ""}]}, "`rows.0.order`"),
        ({"rows": [{"code": "x", "id": n, "probability": 0.5, "order": "-", "reason": ""} for n in "ab"]}, "one code"),
        ({"rows": [{"code": n, "id": "y", "probability": 0.5, "order": "-", "reason": ""} for n in "ab"]}, "one id"),
    ],
)
def test_a_damaged_key_is_refused(tmp_path: Path, change: dict[str, Any], message: str) -> None:
    path = tmp_path / "s.key.json"
    path.write_text(json.dumps({**json.loads(as_json(sheet_key())), **change}), encoding="utf-8")
    with pytest.raises(DatasetError) as caught:
        read_key(path)
    assert message in caught.value.message


@pytest.mark.parametrize("content", [b"", b"[]", b"{", b"\xff\xfe", b'{"format": NaN}', b"null"])
def test_no_json_is_no_key(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "s.key.json"
    path.write_bytes(content)
    with pytest.raises(DatasetError, match="not as"):
        read_key(path)
    with pytest.raises(DatasetError, match="not as"):
        read_draws(path)
    with pytest.raises(DatasetError, match="cannot be opened"):
        read_key(tmp_path / "none.key.json")


def test_codes_tell_sheets_apart_and_no_spreadsheet_makes_numbers_or_dates_of_them() -> None:
    first, second = codes(120, "one"), codes(3, "another")
    assert len(set(first)) == 120
    assert first == codes(120, "one")
    assert not set(first) & set(second)
    mark, _, number = first[0].partition("-")
    assert (len(mark), number, second[0][-2:]) == (4, "001", "-1")
    assert not set(mark) & set("aeiouy0123456789")
