from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentanvil.errors import DatasetError
from tests.fakes.dataset_files import read_rows, row_line

A = '{"id":"a","request":"q","response":"hi"}'
B = '{"id":"b","request":"q","response":"ho"}'


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "rows.jsonl"


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("“naïve” ✓", id="O-B02 not the locale's codec"),
        pytest.param("one\u0085two", id="O-B03 NEL"),
        pytest.param("x\u2028y\u2029z", id="O-B04 line and paragraph separators"),
        pytest.param("a\x0bb\x0cc\x1cd\x1de\x1ef", id="other characters that splitlines() cuts at"),
        pytest.param("\ufeffinside stays", id="a mark inside a text"),
        pytest.param("<p>Hello {{user.name}}</p>", id="O-B06 template"),
        pytest.param("{# todo #}{% endraw %}^{{O}rel {%- if", id="O-B07 template blocks"),
        pytest.param("{answer.__class__} {0} {", id="O-B08 str.format"),
        pytest.param('line1\nline2 "q" \\ end', id="O-B09 newline and quotes"),
        pytest.param("The marker <|endoftext|> ends it", id="O-B19 special token"),
        pytest.param("file:///etc/hostname", id="O-H09 path"),
        pytest.param("https://127.0.0.1:9/x", id="URL"),
        pytest.param("\x00 nul", id="an escaped NUL"),
    ],
)
def test_text_arrives_as_it_is(file: Path, text: str) -> None:
    for ascii_only in (True, False):
        record = {"id": "a", "request": text, "response": text, "source": text, "file_name": "../../x"}
        (only,) = read_rows(file, json.dumps(record, ensure_ascii=ascii_only))
        assert (only.request, only.response, only.source) == (text, text, (text,))
        assert only.extra == {"file_name": "../../x"}


@pytest.mark.parametrize(
    "item",
    ["some/dir/x", "../../up", "CON", "a b", "<b>", "=1+1", "ключ", "x" * 5000],
    ids=lambda item: f"O-H10 {item[:12]}",
)
def test_any_text_is_an_id(file: Path, item: str) -> None:
    assert [each.id for each in read_rows(file, row_line(id=item))] == [item]


TEXTS = st.text(min_size=1).filter(lambda text: text.strip().strip("\u200b\u200c\u200d\u2060\ufeff\u00ad") != "")
EXTRAS = st.dictionaries(
    st.sampled_from(["topic", "tags", "n", "деталь"]),
    st.none() | st.booleans() | st.integers() | st.text() | st.lists(st.text()),
)


@st.composite
def records(draw: st.DrawFn) -> list[dict[str, object]]:
    ids = draw(st.lists(st.integers().map(str) | TEXTS, unique=True, min_size=1, max_size=6))
    return [
        {"id": item, "request": draw(TEXTS), "response": draw(TEXTS), "meta": draw(EXTRAS)} | draw(EXTRAS)
        for item in ids
    ]


@given(records(), st.sampled_from(["\n", "\r\n", "\n\n", "\r\n \r\n"]), st.booleans())
def test_rows_come_back_as_they_were_written(
    tmp_path_factory: pytest.TempPathFactory, written: list[dict[str, object]], end: str, ascii_only: bool
) -> None:
    file = tmp_path_factory.mktemp("trip") / "rows.jsonl"
    lines = [json.dumps(record, ensure_ascii=ascii_only) for record in written]
    rows = read_rows(file, end.join(lines))
    assert [each.index for each in rows] == list(range(len(written)))
    for each, record in zip(rows, written, strict=True):
        assert {"id": each.id, "request": each.request, "response": each.response, "meta": each.meta} | dict(
            each.extra
        ) == record
        assert each.flags == ()


def read_or_refuse(file: Path, content: bytes) -> None:
    with suppress(DatasetError):
        read_rows(file, content)


@given(st.binary(max_size=200) | st.binary(max_size=60).map(lambda noise: A.encode() + b"\n" + noise))
def test_any_bytes_are_read_or_refused(tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
    read_or_refuse(tmp_path_factory.mktemp("noise") / "rows.jsonl", content)


ALMOST_JSON = st.sampled_from('{}[]",:\\ \n') | st.sampled_from([A, B, '"id"', "1", "null", "\\ud83d"])


@given(st.lists(ALMOST_JSON, max_size=30))
def test_almost_json_is_read_or_refused(tmp_path_factory: pytest.TempPathFactory, parts: list[str]) -> None:
    read_or_refuse(tmp_path_factory.mktemp("almost") / "rows.jsonl", "".join(parts).encode())
