"""Files of several systems, joined by id."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from agentanvil.dataset import Asked, Dataset, JoinedDataset, open_dataset
from agentanvil.errors import DatasetError


def file(folder: Path, name: str, rows: list[dict[str, object]]) -> Dataset:
    path = folder / f"{name}.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return open_dataset(path, asked=Asked())


def rows(prefix: str, *ids: str, **more: object) -> list[dict[str, object]]:
    return [{"id": name, "request": f"q {name}", "response": f"{prefix} {name}", **more} for name in ids]


def test_rows_are_paired_by_id_whatever_their_order(tmp_path: Path) -> None:
    joined = JoinedDataset(
        file(tmp_path, "old", rows("old", "x", "y", "z")), [file(tmp_path, "new", rows("new", "z", "x", "y"))]
    )
    info = joined.scan()
    assert (info.name, info.rows) == ("old-vs-new", 3)
    pairs = [(row.index, row.id, row.response, row.rival.response) for row in joined.rows() if row.rival]
    assert pairs == [(0, "x", "old x", "new x"), (1, "y", "old y", "new y"), (2, "z", "old z", "new z")]


def test_systems_are_called_by_their_model_or_else_by_their_file(tmp_path: Path) -> None:
    joined = JoinedDataset(
        file(tmp_path, "old", rows("old", "x", model="gpt-x")),
        [file(tmp_path, "new", rows("new", "x")), file(tmp_path, "third", rows("third", "x"))],
    )
    assert [(row.id, row.model, row.rival.model) for row in joined.rows() if row.rival] == [
        ("x vs new", "gpt-x", "new"),
        ("x vs third", "gpt-x", "third"),
    ]
    assert joined.scan().rows == 2


def test_what_the_same_raters_graded_on_both_sides_becomes_a_difference(tmp_path: Path) -> None:
    joined = JoinedDataset(
        file(tmp_path, "old", rows("old", "x", labels={"tone": [5, 3], "safety": 4, "only": 1})),
        [file(tmp_path, "new", rows("new", "x", labels={"tone": [2, 4], "safety": [4, 4]}))],
    )
    (row,) = joined.rows()
    assert row.labels == {"tone": (3.0, -1.0)}
    assert joined.scan().labelled == {"tone": 1}


@pytest.mark.parametrize(
    ("old", "new", "said", "where"),
    [
        (("x", "y"), ("x",), "the id `y` has no partner", "old.jsonl"),
        (("x",), ("x", "y"), "the id `y` has no partner", "new.jsonl"),
        (("x",), ("y",), "the id `x` has no partner", "old.jsonl"),
    ],
)
def test_an_id_without_partner_is_named(
    tmp_path: Path, old: tuple[str, ...], new: tuple[str, ...], said: str, where: str
) -> None:
    joined = JoinedDataset(file(tmp_path, "old", rows("old", *old)), [file(tmp_path, "new", rows("new", *new))])
    with pytest.raises(DatasetError, match=said) as caught:
        joined.scan()
    assert where in str(caught.value.where)


def test_two_answers_to_two_requests_are_no_pair(tmp_path: Path) -> None:
    other = [{"id": "x", "request": "another question", "response": "r"}]
    joined = JoinedDataset(file(tmp_path, "old", rows("old", "x")), [file(tmp_path, "new", other)])
    with pytest.raises(DatasetError, match="answers another request") as caught:
        joined.scan()
    assert caught.value.where is not None
    assert (caught.value.where.line, caught.value.where.key) == (1, "request")


def test_another_partner_is_another_dataset(tmp_path: Path) -> None:
    first = file(tmp_path, "old", rows("old", "x"))
    one = JoinedDataset(first, [file(tmp_path, "new", rows("new", "x"))]).scan().hash
    two = JoinedDataset(first, [file(tmp_path, "newer", rows("newer", "x"))]).scan().hash
    assert one != two


def test_two_settings_of_one_model_are_two_systems(tmp_path: Path) -> None:
    files = [file(tmp_path, name, rows(name, "x", model=model)) for name, model in zip("abc", "mmk", strict=True)]
    joined = JoinedDataset(files[0], files[1:])
    joined.scan()
    named = [(row.model, row.rival.model) for row in joined.rows() if row.rival]
    assert named == [("m (a)", "m (b)"), ("m (a)", "k")]


def test_a_model_among_many_is_one_system_in_every_file(tmp_path: Path) -> None:
    one = [*rows("one", "x", model="m"), *rows("one", "y", model="k")]
    other = [*rows("other", "x", model="k"), *rows("other", "y", model="m")]
    joined = JoinedDataset(file(tmp_path, "one", one), [file(tmp_path, "other", other)])
    joined.scan()
    assert [(row.model, row.rival.model) for row in joined.rows() if row.rival] == [("m", "k"), ("k", "m")]


def test_pairs_that_would_share_an_id_are_refused(tmp_path: Path) -> None:
    files = [file(tmp_path, name, rows(name, "q", "q vs b")) for name in ("a", "b", "b vs b")]
    with pytest.raises(DatasetError, match="`q vs b vs b` stands on line 1 already"):
        JoinedDataset(files[0], files[1:]).scan()


def test_files_of_one_name_are_numbered_past_any_name(tmp_path: Path) -> None:
    (folder := tmp_path / "x").mkdir()
    others = [file(folder, "rows", rows("o", "q")), file(tmp_path, "rows (2)", rows("p", "q"))]
    joined = JoinedDataset(file(tmp_path, "rows", rows("a", "q")), others)
    joined.scan()
    assert [row.id for row in joined.rows()] == ["q vs rows (2)", "q vs rows (2) (3)"]
