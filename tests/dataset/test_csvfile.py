from __future__ import annotations

import csv
import io
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentanvil.dataset import open_dataset
from agentanvil.errors import DatasetError
from tests.fakes.dataset_files import read_rows, refused

HEAD = "id,request,response"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "rows.csv"


def test_cells_are_text_and_columns_are_fields(file: Path) -> None:
    (only,) = read_rows(
        file,
        "id,request,response,source,model,labels.tone,labels.style,meta.lang,topic,gold\n"
        '1,"What, ""exactly""?",{},src,m1,4,,de,,42\n',
    )
    assert (only.id, only.request, only.response) == ("1", 'What, "exactly"?', "{}")
    assert (only.source, only.model) == (("src",), "m1")
    assert (only.labels, only.meta) == ({"tone": (4.0,)}, {"lang": "de"})
    assert only.expected == "42"
    assert only.extra == {"topic": "", "gold": "42"}


def test_a_cell_that_holds_json_stays_text(file: Path) -> None:
    (only,) = read_rows(file, f'{HEAD},source\na,"[{{""role"":""user"",""content"":""x""}}]","[1] see [2]","[""p""]"')
    assert only.request == '[{"role":"user","content":"x"}]'
    assert only.response == "[1] see [2]"
    assert only.source == ('["p"]',)


def test_objects_in_cells(file: Path) -> None:
    (only,) = read_rows(file, f'{HEAD},labels,meta\na,q,r,"{{""tone"": [4, 5]}}","{{""k"": 1}}"')
    assert (only.labels, only.meta) == ({"tone": (4.0, 5.0)}, {"k": 1})


def test_mapping_by_column(file: Path) -> None:
    text = "nr,prompt,out.text,score\n7,q,r,3.5\n"
    (only,) = read_rows(file, text, "id=nr", "request=prompt", r"response=out\.text", "labels.tone=score", "meta.nr=nr")
    assert (only.id, only.response, only.labels, only.meta) == ("7", "r", {"tone": (3.5,)}, {"nr": "7"})
    assert only.extra == {}
    error = refused(file, text, "id=nr", "request=prompt", "response=out.text")
    assert "--map 'response=\"out.text\"'" in (error.hint or "")


@pytest.mark.parametrize(
    ("content", "response"),
    [
        pytest.param(f"{HEAD}\na,q,r", "r", id="no final newline"),
        pytest.param(f"{HEAD}\r\na,q,r\r\n", "r", id="CRLF"),
        pytest.param(f"\n\n{HEAD}\n\n \na,q,r\n\n", "r", id="blank lines"),
        pytest.param(f"\ufeff{HEAD}\na,q,r", "r", id="O-B01 byte order mark"),
        pytest.param('\ufeff"id",request,response\na,q,r', "r", id="mark before a quote"),
        pytest.param(f'{HEAD}\na,q,"one\ntwo"', "one\ntwo", id="line break in a cell"),
        pytest.param(f'{HEAD}\na,q,"one\r\n\r\ntwo"', "one\r\n\r\ntwo", id="CRLF and a blank line in a cell"),
        pytest.param(f"{HEAD}\na,q,x\u2028y\u0085z", "x\u2028y\u0085z", id="other separators"),
        pytest.param(f'{HEAD}\na,q,"x\ry"', "x\ry", id="CR in a quoted cell"),
        pytest.param(f"{HEAD}\na,q,=HYPERLINK(1)", "=HYPERLINK(1)", id="formula"),
        pytest.param(f"{HEAD}\na,q, r ", " r ", id="spaces"),
        pytest.param(f'{HEAD}\na,q,"{"x" * 400_000}"', "x" * 400_000, id="above the csv module's own limit"),
    ],
)
def test_lines_and_cells(file: Path, content: str, response: str) -> None:
    (only,) = read_rows(file, content)
    assert only.response == response


@pytest.mark.parametrize(
    ("content", "line", "message"),
    [
        ("", None, "no header"),
        ("\n\n", None, "no header"),
        (f"{HEAD}\n", None, "0 rows"),
        ("id,,response\na,q,r", 1, "column 2 of the header has no name"),
        ("\nid,request,response,id\na,q,r,b", 2, "`id` more than once"),
        ("id,request,response,labels,labels.x\na,q,r,,4", 1, "`labels` and labels.NAME"),
        ("id;request;response\na;q;r", 1, "the header is one column"),
        ("id\trequest\tresponse\na\tq\tr", 1, "the header is one column"),
        (f"{HEAD}\na,q,r\n\nb,q\n", 4, "2 cells, the header 3"),
        (f"{HEAD}\na,q,r,s\n", 2, "4 cells, the header 3"),
        (f'{HEAD}\na,q,"one\ntwo"\nb,q\n', 4, "2 cells"),
        (f'{HEAD}\na,q,r\nb,q,"never\nclosed\n', 3, "never closed"),
        (f'{HEAD}\na,q,"x"y\n', 2, "not CSV"),
        (f"{HEAD}\na,q,x\ry\n", 2, "not CSV"),
        (f"{HEAD}\na,q,x\x00y\n", 2, "NUL byte"),
        (f"{HEAD}\na,q,\n", 2, "is empty"),
        (f"{HEAD}\na, ,r\n", 2, "is empty"),
        (f"{HEAD}\n,q,r\n", 2, "is empty"),
        ("id,request,answer\na,q,r\n", 2, "did you mean `answer`"),
        (f"{HEAD},labels.tone\na,q,r,good\n", 2, "`good` is not a number"),
        (f"{HEAD},labels.tone\na,q,r,NaN\n", 2, "`NaN` is not a number"),
        (f"{HEAD},labels\na,q,r,4\n", 2, "is a number"),
        (f'{HEAD},meta\na,q,r,"{{""k"":1,""k"":2}}"\n', 2, "`k` stands twice"),
        (f"{HEAD},lables.tone\na,q,r,4\n", 2, "did you mean `labels`"),
        (f'{HEAD}\na,q,"one\ntwo"\na,q,r\n', 4, "line 2 already"),
    ],
)
def test_broken_files_are_named(file: Path, content: str, line: int | None, message: str) -> None:
    error = refused(file, content)
    assert message in error.message
    assert error.where is not None
    assert error.where.line == line


def test_bad_bytes(file: Path) -> None:
    error = refused(file, f"{HEAD}\na,q,".encode() + b"\xe9t\xe9")
    assert "byte 0xe9 at offset 4 of the line (24 of the file)" in error.message
    assert "UTF-16" in refused(file, f"{HEAD}\na,q,r".encode("utf-16")).message


def test_an_empty_source_cell(file: Path) -> None:
    content = f"{HEAD},source\na,q,r,s\nb,q,r,\n"
    assert [each.source for each in read_rows(file, content)] == [("s",), ()]
    error = refused(file, content, needs_source=True)
    assert error.where is not None
    assert (error.where.line, error.where.key) == (3, "source")
    assert len(read_rows(file, f"{HEAD},source,sources\na,q,r,,x\n")) == 1


def test_blank_lines_are_counted(file: Path) -> None:
    file.write_text(f'{HEAD}\n\na,q,"x\n\ny"\n\n', encoding="utf-8")
    assert open_dataset(file).scan().blank_lines == 2


CELLS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), min_size=1).filter(
    lambda text: text.strip().strip("\u200b\u200c\u200d\u2060\ufeff\u00ad") != ""
)


@given(st.lists(st.tuples(CELLS, CELLS), min_size=1, max_size=6), st.sampled_from(["\n", "\r\n"]))
def test_cells_come_back_as_they_were_written(
    tmp_path_factory: pytest.TempPathFactory, cells: list[tuple[str, str]], end: str
) -> None:
    written = io.StringIO()
    writer = csv.writer(written, lineterminator=end, quoting=csv.QUOTE_ALL)
    writer.writerow(["id", "request", "response"])
    writer.writerows((number, *pair) for number, pair in enumerate(cells))
    rows = read_rows(tmp_path_factory.mktemp("trip") / "rows.csv", written.getvalue())
    assert [(each.request, each.response) for each in rows] == cells
    assert [each.id for each in rows] == [str(number) for number in range(len(cells))]


@given(st.binary(max_size=100).map(lambda noise: f"{HEAD}\na,q,r\n".encode() + noise))
def test_any_bytes_are_read_or_refused(tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
    with suppress(DatasetError):
        read_rows(tmp_path_factory.mktemp("noise") / "rows.csv", content)
