from __future__ import annotations

import io
import json
import os
from itertools import islice
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentanvil.dataset import Dataset, DatasetInfo, open_dataset, parse_map, spool_stdin
from agentanvil.dataset.candidates import MAX_MODELS
from agentanvil.errors import DatasetError


def line(item: object, **fields: object) -> str:
    return json.dumps({"id": item, "request": "q", "response": "r"} | fields)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "rows.jsonl"
    path.write_text(f"{line('a')}\n{line('b')}\n", encoding="utf-8")
    return path


def opened(path: Path) -> Dataset:
    return open_dataset(path)


def test_a_scan_tells_what_the_file_holds(file: Path) -> None:
    file.write_text(
        "\n".join(
            [
                line("a", labels={"tone": 4, "style": [3, 4]}, model="m2"),
                "",
                line("b", labels={"tone": None}, model="m1"),
                line("c", labels={"tone": 2}, gold="x", response="cut \ud83d"),
                " ",
            ]
        ),
        encoding="utf-8",
    )
    dataset = opened(file)
    info = dataset.scan()
    assert info == DatasetInfo(
        name="rows",
        rows=3,
        hash=info.hash,
        blank_lines=2,
        labelled={"tone": 2, "style": 1},
        hidden_fields=("gold",),
        models=("m1", "m2"),
        candidates={("m2",): 1, ("m1",): 1},
        flagged={"surrogates_replaced": 1},
    )
    assert (dataset.name, dataset.path) == ("rows", str(file))
    assert [(row.index, row.line) for row in dataset.rows()] == [(0, 1), (1, 3), (2, 4)]


def test_the_hash_covers_bytes_and_mapping(tmp_path: Path) -> None:
    def hashed(name: str, content: str, *maps: str) -> str:
        path = tmp_path / name
        path.write_text(content, encoding="utf-8", newline="")
        return open_dataset(path, parse_map(maps)).scan().hash

    text = line("a", topic="t") + "\n"
    assert hashed("one.jsonl", text) == hashed("two.ndjson", text)
    different = {
        hashed("one.jsonl", text),
        hashed("one.jsonl", line("b", topic="t") + "\n"),
        hashed("one.jsonl", text + "\n"),
        hashed("one.jsonl", text, "request=topic"),
        hashed("one.jsonl", text, "response=topic"),
    }
    assert len(different) == 5


def test_rows_are_lazy_and_can_be_read_again(file: Path) -> None:
    dataset = opened(file)
    assert [row.id for row in islice(dataset.rows(), 1)] == ["a"]
    assert [row.id for row in dataset.rows()] == [row.id for row in dataset.rows()] == ["a", "b"]


def test_lines_appended_after_the_scan_are_left_out(file: Path) -> None:
    dataset = opened(file)
    dataset.scan()
    with file.open("a", encoding="utf-8") as more:
        more.write(line("c") + "\n")
    assert [row.id for row in dataset.rows()] == ["a", "b"]


def test_a_touched_file_is_the_same_file(file: Path) -> None:
    dataset = opened(file)
    dataset.scan()
    os.utime(file, ns=(1, 1))
    assert len(list(dataset.rows())) == 2


@pytest.mark.parametrize("content", [line("a") + "\n", f"{line('a')}\n{line('x')}\n", ""])
def test_a_changed_file_is_refused(file: Path, content: str) -> None:
    dataset = opened(file)
    dataset.scan()
    file.write_text(content, encoding="utf-8")
    os.utime(file, ns=(1, 1))
    with pytest.raises(DatasetError, match="changed after it was validated"):
        list(dataset.rows())


def test_a_file_that_shrinks_while_it_is_read_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text("\n".join(line(number, meta={"pad": "x" * 1000}) for number in range(1000)), encoding="utf-8")
    rows = opened(path).rows()
    next(rows)
    os.truncate(path, 500_000)
    with pytest.raises(DatasetError):
        list(rows)


def test_a_file_that_went_away_is_told(file: Path) -> None:
    dataset = opened(file)
    file.unlink()
    with pytest.raises(DatasetError, match="cannot be opened"):
        dataset.scan()


def test_duplicates_far_apart_are_found_among_many(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    ids = [f"r{number}" for number in range(3000)]
    path.write_text("\n".join(map(line, [*ids, "r17", "r5", "r17"])), encoding="utf-8")
    with pytest.raises(DatasetError, match="`r17` stands on line 18 already") as caught:
        opened(path).scan()
    assert caught.value.where is not None
    assert caught.value.where.line == 3001


@given(st.lists(st.integers(0, 12), min_size=1, max_size=12))
def test_ids_are_refused_just_when_one_repeats(tmp_path_factory: pytest.TempPathFactory, ids: list[int]) -> None:
    path = tmp_path_factory.mktemp("ids") / "rows.jsonl"
    path.write_text("\n".join(map(line, ids)), encoding="utf-8")
    if len(set(ids)) == len(ids):
        assert opened(path).scan().rows == len(ids)
    else:
        with pytest.raises(DatasetError, match="already"):
            opened(path).scan()


def test_model_names_do_not_pile_up(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text("\n".join(line(n, model=f"m{n}") for n in range(MAX_MODELS + 50)), encoding="utf-8")
    assert len(opened(path).scan().models) == MAX_MODELS


@pytest.mark.parametrize(
    "name", ["rows.jsonl", "rows.ndjson", "rows.json", "ROWS.JSONL", "a.b.jsonl", "[x] {y} ü.jsonl"]
)
def test_json_lines_by_ending(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_text(line("a"), encoding="utf-8")
    assert opened(path).scan().rows == 1


def test_csv_by_ending(tmp_path: Path) -> None:
    path = tmp_path / "ROWS.CSV"
    path.write_text("id,request,response\na,q,r\n", encoding="utf-8")
    assert opened(path).scan().rows == 1


@pytest.mark.parametrize(
    "name", ["rows", "rows.txt", "rows.parquet", "rows.xlsx", "rows.jsonl.gz", "rows.yaml", ".jsonl"]
)
def test_other_endings_are_refused(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_text(line("a"), encoding="utf-8")
    with pytest.raises(DatasetError) as caught:
        opened(path)
    assert ".jsonl" in (caught.value.hint or "")
    assert caught.value.where is not None
    assert caught.value.where.file == str(path)


def test_what_is_no_file_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "rows.jsonl"
    folder.mkdir()
    with pytest.raises(DatasetError, match="is a folder"):
        opened(folder)
    with pytest.raises(DatasetError, match="cannot be opened: No such file"):
        opened(tmp_path / "none.jsonl")
    with pytest.raises(DatasetError, match="cannot be opened"):
        opened(Path("nul\0.jsonl"))


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="the platform has no named pipes")
def test_a_pipe_is_refused_without_being_read(tmp_path: Path) -> None:
    pipe = tmp_path / "rows.jsonl"
    os.mkfifo(pipe)
    with pytest.raises(DatasetError, match="more than once") as caught:
        opened(pipe)
    assert "`-`" in (caught.value.hint or "")


def test_standard_input_is_kept_for_a_second_pass() -> None:
    with spool_stdin(io.BytesIO(f"{line('a')}\n{line('b')}".encode())) as path:
        dataset = open_dataset(path, stdin=True)
        assert dataset.scan().name == "stdin"
        assert (dataset.name, dataset.path) == ("stdin", "-")
        assert [row.id for row in dataset.rows()] == ["a", "b"]
        if os.name == "posix":
            assert path.parent.stat().st_mode & 0o077 == 0
    assert not path.exists()


def test_errors_on_standard_input_name_it() -> None:
    with spool_stdin(io.BytesIO(b"{}")) as path, pytest.raises(DatasetError) as caught:
        open_dataset(path, stdin=True).scan()
    assert str(caught.value).startswith("stdin:1: id: missing")
    with spool_stdin(io.BytesIO(b"")) as path, pytest.raises(DatasetError, match="0 rows"):
        open_dataset(path, stdin=True).scan()


class BrokenStream(io.BytesIO):
    def read(self, size: int | None = -1, /) -> bytes:
        raise OSError(5, "Input/output error")


def test_standard_input_that_fails_is_told() -> None:
    with pytest.raises(DatasetError, match="Input/output error"), spool_stdin(BrokenStream()):
        pass
