"""Rows with two responses, and the labels that go with them and with gates."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from agentanvil.dataset import Asked, Row, open_dataset, parse_map
from agentanvil.errors import DatasetError

PAIRS = Asked(pairs=True)


def read(folder: Path, *rows: dict[str, Any] | str, asked: Asked = PAIRS, maps: tuple[str, ...] = ()) -> list[Row]:
    path = folder / "rows.jsonl"
    path.write_text("".join(f"{row if isinstance(row, str) else json.dumps(row)}\n" for row in rows), encoding="utf-8")
    dataset = open_dataset(path, parse_map(maps), asked)
    dataset.scan()
    return list(dataset.rows())


def pair(**changes: Any) -> dict[str, Any]:
    return {"id": "p", "request": "q", "response_a": "one", "response_b": "two"} | changes


def test_a_pair_is_read_with_its_models(tmp_path: Path) -> None:
    (row,) = read(tmp_path, pair(model_a="m1", model_b="m2", note="kept"))
    assert (row.response, row.model) == ("one", "m1")
    assert row.rival is not None
    assert (row.rival.response, row.rival.model) == ("two", "m2")
    assert row.extra == {"note": "kept"}


def test_other_names_are_mapped(tmp_path: Path) -> None:
    other = {"id": "p", "request": "q", "out": ["one", "two"], "who": {"b": "m2"}}
    maps = ("response_a=out.0", "response_b=out.1", "model_b=who.b")
    (row,) = read(tmp_path, other, maps=maps)
    assert row.rival is not None
    assert (row.response, row.rival.response, row.rival.model) == ("one", "two", "m2")


@pytest.mark.parametrize(
    ("given", "read_as"),
    [
        ("a", (1.0,)),
        ("B", (-1.0,)),
        ("tie", (0.0,)),
        (["a", "b", None, "tie"], (1.0, -1.0, 0.0)),
        ({"zoe": "a", "ann": "b"}, (-1.0, 1.0)),
        (-2, (-2.0,)),
    ],
)
def test_labels_of_pairs(tmp_path: Path, given: object, read_as: tuple[float, ...]) -> None:
    (row,) = read(tmp_path, pair(labels={"winner": given}))
    assert row.labels == {"winner": read_as}


@pytest.mark.parametrize("given", ["first", "A wins", "", True, [["a"]]])
def test_what_names_no_winner_is_refused(tmp_path: Path, given: object) -> None:
    with pytest.raises(DatasetError) as caught:
        read(tmp_path, pair(), pair(id="q", labels={"winner": given}))
    assert caught.value.where is not None
    assert (caught.value.where.line, caught.value.where.key) == (2, "labels.winner")


def test_a_gate_s_labels_are_booleans_and_stay_so(tmp_path: Path) -> None:
    row = {"id": "p", "request": "q", "response": "r", "labels": {"safe": [True, False], "score": 4}}
    (found,) = read(tmp_path, row, asked=Asked(booleans=True))
    assert found.labels == {"safe": (True, False), "score": (4.0,)}
    assert [type(label) for label in found.labels["safe"]] == [bool, bool]
    with pytest.raises(DatasetError, match="--mode gate"):
        read(tmp_path, row, asked=Asked())


@pytest.mark.parametrize(
    ("row", "asked", "hint"),
    [
        (pair(), Asked(), "--mode pairwise"),
        ({"id": "p", "request": "q", "response": "r"}, PAIRS, "--vs"),
        ({"id": "p", "request": "q", "response_a": "r"}, PAIRS, "response_b"),
        (pair(response_b=" "), PAIRS, "empty"),
        ({"id": "p", "request": "q", "response_a": "r", "response_B": "s"}, PAIRS, "response_b"),
    ],
)
def test_a_row_that_is_no_pair_says_what_to_do(tmp_path: Path, row: dict[str, Any], asked: Asked, hint: str) -> None:
    with pytest.raises(DatasetError) as caught:
        read(tmp_path, row, asked=asked)
    assert hint in str(caught.value)
