from __future__ import annotations

import json
from pathlib import Path

import pytest

from agentanvil.dataset import open_dataset
from tests.fakes.dataset_files import read_rows, refused, row_line

A = '{"id":"a","request":"q","response":"hi"}'
B = '{"id":"b","request":"q","response":"ho"}'


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "rows.jsonl"


@pytest.mark.parametrize(
    ("content", "ids"),
    [
        pytest.param(b"\xef\xbb\xbf" + A.encode(), ["a"], id="O-B01 byte order mark"),
        pytest.param(b"\xef\xbb\xbf" + A.encode() + b"\r\n" + B.encode(), ["a", "b"], id="mark and CRLF"),
        pytest.param(b"\xef\xbb\xbf\n" + A.encode(), ["a"], id="mark on a blank line"),
        pytest.param(f"{A}\r\n\r\n{B}", ["a", "b"], id="O-B04 CRLF, blank line, no final newline"),
        pytest.param(f"\n \t\n{A}\n\n", ["a"], id="blank lines around"),
        pytest.param(f"  {A}  \n", ["a"], id="spaces around"),
        pytest.param(f"{A}\r", ["a"], id="a lone CR at the end"),
    ],
)
def test_line_ends(file: Path, content: str | bytes, ids: list[str]) -> None:
    assert [each.id for each in read_rows(file, content)] == ids


@pytest.mark.parametrize(
    ("content", "line", "message"),
    [
        pytest.param(f'{A}\n\n{{"id":"b", }}\n', 3, "not JSON", id="O-B20 physical line"),
        pytest.param(f"{A}\n{A[:-5]}", 2, "not JSON", id="cut short"),
        pytest.param(f'{A}\n{B[:-1]}, "x": NaN}}', 2, "NaN is not JSON", id="NaN"),
        pytest.param(f'{B[:-1]}, "x": [{{"y": -Infinity}}]}}', 1, "-Infinity is not JSON", id="Infinity deep down"),
        pytest.param(f'{B[:-1]}, "meta": {{"k": 1, "k": 2}}}}', 1, "`k` stands twice", id="duplicate key deep down"),
        pytest.param(
            '{"id":"a","request":"q","response":"x","response":"y"}', 1, "`response` stands twice", id="twice"
        ),
        pytest.param(f"{A}\n[1]\n", 2, "holds a list", id="list"),
        pytest.param(f'{A}\n"text"\n', 2, "holds text", id="text"),
        pytest.param("null", 1, "holds null", id="null"),
        pytest.param("5", 1, "holds a number", id="number"),
        pytest.param(f"{A}{B}", 1, "more text follows", id="two on a line"),
        pytest.param(f"{A}\r{B}", 1, "more text follows", id="CR alone is no line end"),
        pytest.param(b"\xef\xbb\xbf\xef\xbb\xbf" + A.encode(), 1, "not JSON", id="two marks"),
        pytest.param(A.encode() + b"\n\xef\xbb\xbf" + B.encode(), 2, "not JSON", id="a mark in the middle"),
        pytest.param("\x0c\n" + A, 1, "not JSON", id="a form feed is not blank"),
        pytest.param('{"id":' + "[" * 100_000, 1, "nested deeper", id="very deep"),
        pytest.param(row_line(meta={"n": [[]]}).replace("[[]]", "[" * 200 + "]" * 200), 1, "nested deeper", id="deep"),
        pytest.param(f"{A}\n".encode() + b'{"id":"\xff"}', 2, "byte 0xff at offset 7 of the line (48", id="bad byte"),
        pytest.param(b'\xef\xbb\xbf{"id":"\xe9"}', 1, "byte 0xe9 at offset 7 of the line (10", id="Latin-1 after mark"),
        pytest.param(A.encode() + b"\n" + B.encode().replace(b"ho", b"\xed\xa0\xbd"), 2, "is not UTF-8", id="CESU-8"),
        pytest.param(A.replace("hi", "h\x00i"), 1, "NUL byte", id="NUL"),
        pytest.param(A.encode("utf-16-le"), 1, "NUL byte", id="UTF-16 without a mark"),
    ],
)
def test_broken_lines_are_named(file: Path, content: str | bytes, line: int, message: str) -> None:
    error = refused(file, content)
    assert error.where is not None
    assert error.where.line == line
    assert message in error.message


@pytest.mark.parametrize(
    ("content", "message", "hint"),
    [
        pytest.param(A.encode("utf-16"), "UTF-16", "iconv", id="UTF-16"),
        pytest.param(b"\xfe\xff" + A.encode("utf-16-be"), "UTF-16", "iconv", id="UTF-16 big-endian"),
        pytest.param(b"\x1f\x8b\x08rest", "gzip", "gunzip", id="gzip"),
        pytest.param(b"PK\x03\x04rest", "spreadsheet", "CSV", id="xlsx"),
        pytest.param(b"PAR1rest", "Parquet", "JSONL", id="Parquet"),
        pytest.param(f"[{A},\n{B}]", "not JSON", "jq -c '.[]'", id="array over lines"),
        pytest.param(f"[{A}, {B}]", "holds a list", "jq -c '.[]'", id="array on one line"),
        pytest.param(json.dumps(json.loads(A), indent=1), "not JSON", "jq -c .", id="pretty-printed"),
        pytest.param(f"{A} {B}", "more text", "break the line", id="two on a line"),
        pytest.param(f"{A}\n\ufeff{B}", "not JSON", "joined files", id="a mark in the middle"),
        pytest.param(f'{A}\n{B[:-1]},"x":NaN}}', "NaN", "write null", id="NaN"),
        pytest.param(f'{A}\n{B[:-1]},"x":1e999}}', "too large", "write null", id="a number beyond a double"),
        pytest.param("", "0 rows", "at least one", id="O-F05 empty file"),
        pytest.param("\n \n\t\r\n", "0 rows", "at least one", id="blank lines only"),
        pytest.param(b"\xef\xbb\xbf", "0 rows", "at least one", id="a mark only"),
    ],
)
def test_the_mend_is_told(file: Path, content: str | bytes, message: str, hint: str) -> None:
    error = refused(file, content)
    assert message in error.message
    assert hint in (error.hint or "")


@pytest.mark.parametrize(
    ("first", "second", "lines"),
    [
        pytest.param('"a"', '"a"', (1, 2), id="O-B15 the same"),
        pytest.param("1", '"1"', (1, 2), id="O-B16 number and text"),
        pytest.param('"1"', "1", (1, 2), id="text and number"),
        pytest.param('"\\u0061"', '"a"', (1, 2), id="escaped"),
        pytest.param('"\\ud83d"', '"\\ud83e"', (1, 2), id="equal once surrogates are replaced"),
    ],
)
def test_duplicate_ids(file: Path, first: str, second: str, lines: tuple[int, int]) -> None:
    rest = ',"request":"q","response":"x"}'
    other = '{"id":"other"' + rest
    error = refused(file, f'{{"id":{first}{rest}\n{{"id":{second}{rest}\n{other}\n')
    assert error.where is not None
    assert (error.where.line, error.where.key) == (lines[1], "id")
    assert f"line {lines[0]} already" in error.message
    far = refused(file, f'\n{{"id":{first}{rest}\n' + other + f'\n\n{{"id":{second}{rest}')
    assert far.where is not None
    assert far.where.line == 5
    assert "line 2 already" in far.message


def test_ids_that_look_alike_differ(file: Path) -> None:
    ids = ["a", "A", " a", "é", "e\u0301", 10, "010", -10, 10**25]
    rows = read_rows(file, "\n".join(row_line(id=item) for item in ids))
    assert [each.id for each in rows] == [str(item) for item in ids]


@pytest.mark.parametrize(
    ("fields", "key", "message"),
    [
        ({"id": None}, "id", "is null"),
        ({"id": ""}, "id", "is empty"),
        ({"id": True}, "id", "is true or false"),
        ({"id": 1.5}, "id", "is a fraction"),
        ({"id": {"a": 1}}, "id", "is an object"),
        ({"request": None}, "request", "is null"),
        ({"request": " \n"}, "request", "is empty"),
        ({"response": ""}, "response", "is empty"),
        ({"response": "\u3000\u200b"}, "response", "is empty"),
        ({"response": None}, "response", "is null"),
        ({"response": []}, "response", "is empty"),
        ({"response": [{"role": "assistant", "content": ""}]}, "response", "is empty"),
        ({"source": 5}, "source", "holds a number"),
        ({"source": [{"title": "t"}]}, "source", "no text"),
        ({"model": 5}, "model", "is a number"),
        ({"labels": [4]}, "labels", "is a list"),
        ({"labels": {"tone": "good"}}, "labels.tone", "is text"),
        ({"labels": {"tone": True}}, "labels.tone", "is true or false"),
        ({"labels": {"tone": [4, [5]]}}, "labels.tone", "is a list"),
        ({"meta": "x"}, "meta", "is text"),
        ({"lables": {"tone": 4}}, "lables", "did you mean `labels`"),
        ({"label": 4}, "label", "did you mean `labels`"),
        ({"labels.tone": 4}, "labels.tone", "did you mean `labels`"),
        ({"sorce": "x"}, "sorce", "did you mean `source`"),
        ({"sour\nce": "x"}, "'sour\\nce'", "did you mean `source`"),
        ({"Model": "x"}, "Model", "did you mean `model`"),
    ],
)
def test_fields_that_are_not_as_declared(file: Path, fields: dict[str, object], key: str, message: str) -> None:
    error = refused(file, f"{B}\n{row_line(**fields)}")
    assert error.where is not None
    assert (error.where.line, error.where.key) == (2, key)
    assert message in error.message


@pytest.mark.parametrize("field", ["id", "request", "response"])
def test_missing_fields(file: Path, field: str) -> None:
    record = json.loads(A)
    record["zz"] = record.pop(field)
    error = refused(file, f"{B}\n{json.dumps(record)}")
    assert error.where is not None
    assert (error.where.line, error.where.key) == (2, field)
    assert "`zz`" in error.message


def test_a_misspelt_required_field_is_told(file: Path) -> None:
    error = refused(file, A.replace("response", "respones"))
    assert "did you mean `respones`?" in error.message


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"source": None},
        pytest.param({"source": ""}, id="O-B17 empty source"),
        {"source": " \n"},
        {"source": []},
        {"source": ["", " "]},
        {"source": [{"text": ""}]},
        {"reference": "r"},
    ],
)
def test_a_rubric_that_needs_a_source_gets_one(file: Path, fields: dict[str, object]) -> None:
    good = row_line(id="z", source="s")
    error = refused(file, f"{good}\n{row_line(**fields)}", needs_source=True)
    assert error.where is not None
    assert (error.where.line, error.where.key) == (2, "source")
    assert len(read_rows(file, f"{good}\n{row_line(**fields)}")) == 2


def test_near_names_of_present_fields_are_kept(file: Path) -> None:
    (only,) = read_rows(file, row_line(labels={"tone": 4}, label="good", response_id="r1", topic="x"))
    assert only.extra == {"label": "good", "response_id": "r1", "topic": "x"}


def test_pairwise_fields_are_kept(file: Path) -> None:
    (only,) = read_rows(file, row_line(response_a="1", response_b="2"))
    assert only.extra == {"response_a": "1", "response_b": "2"}


def test_lone_surrogates_are_replaced_and_flagged(file: Path) -> None:
    file.write_text(
        f'{B}\n{{"id":"a","request":"q","response":"cut \\ud83d","meta":{{"k":"\\udc00"}}}}', encoding="utf-8"
    )
    dataset = open_dataset(file)
    assert dataset.scan().flagged == {"surrogates_replaced": 1}
    clean, mended = dataset.rows()
    assert clean.flags == ()
    assert mended.flags == ("surrogates_replaced",)
    assert (mended.response, mended.meta) == ("cut \ufffd", {"k": "\ufffd"})


def test_a_line_above_the_limit_of_fields_is_fine(file: Path) -> None:
    (only,) = read_rows(file, row_line(response="x" * 3_000_000))
    assert len(only.response) == 3_000_000
