"""What is written for raters: the sheet, its guide, and the labels file that comes of it."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from syrupy.assertion import SnapshotAssertion

from agentanvil.dataset import LabelsAsked, read_labels
from agentanvil.dataset.label_lines import read_label_lines
from agentanvil.dataset.sheet import SheetForm
from agentanvil.errors import DatasetError
from agentanvil.report import AtomicText
from agentanvil.report.cells import cell_text
from agentanvil.report.labels_file import NewLine, new_lines, write_labels
from agentanvil.report.sheet import SheetTexts, write_sheet
from agentanvil.report.sheet_guide import sheet_guide
from agentanvil.rubric import Mode, parse_rubric

SCORES = SheetForm.of("absolute", ["accuracy"], (1, 5))
PAIRS = SheetForm.of("pairwise", ["accuracy"], (1, 5))
RUBRIC = """\
version: 1
id: support
scale: {min: 1, max: 5}
rules: [Numbers are read in the units of the request.]
gate: {accuracy: 3}
dimensions:
  - id: accuracy
    question: Is each claim true?
    scope: {in: [claims of fact], out: [{what: how it is said, judged_by: tone}, {what: spelling}]}
    anchors: {5: no error, 3: exactly one error, 1: two or more errors}
  - id: tone
    question: Is it polite?
    anchors: {5: polite throughout, 1: rude}
  - {id: short, check: {type: max_words, limit: 50}}
"""


def written(folder: Path, form: SheetForm, codes: Sequence[str], *texts: SheetTexts) -> list[dict[str, str]]:
    file = AtomicText(folder / "sheet.csv")
    write_sheet(file, form, codes, texts)
    file.commit()
    content = (folder / "sheet.csv").read_bytes()
    assert content.startswith(b"\xef\xbb\xbf")
    return list(csv.DictReader(content.decode("utf-8-sig").splitlines(keepends=True)))


def test_rows_stand_in_their_places_and_unused_columns_are_left_out(tmp_path: Path) -> None:
    texts = [SheetTexts(1, "q1", "", "", ("r1",)), SheetTexts(0, "q0", "", "", ("r0",))]
    assert written(tmp_path, SCORES, ["x-1", "x-2"], *texts) == [
        {"id": "x-1", "request": "q0", "response": "r0", "accuracy": "", "note": ""},
        {"id": "x-2", "request": "q1", "response": "r1", "accuracy": "", "note": ""},
    ]


def test_pairs_with_sources_and_expected_answers(tmp_path: Path) -> None:
    texts = [SheetTexts(0, "q", "", "42", ("one", "two")), SheetTexts(1, "q", "src", "", ("one", "two"))]
    found = written(tmp_path, PAIRS, ["x-1", "x-2"], *texts)
    assert list(found[0]) == ["id", "request", "source", "expected", "response_a", "response_b", "winner", "note"]
    assert [row["source"] for row in found] == ["", "src"]
    assert [row["expected"] for row in found] == ["42", ""]


def test_formulas_are_neutralised_and_long_texts_cut_with_a_mark(tmp_path: Path) -> None:
    (row,) = written(tmp_path, SCORES, ["x-1"], SheetTexts(0, '=HYPERLINK("x")', "\t+1", "", ("a" * 40_000,)))
    assert row["request"] == '\'=HYPERLINK("x")'
    assert row["source"] == "'\t+1"
    assert row["response"].endswith("… [cut: 40000 characters in all]")
    assert len(row["response"]) <= 32_767


TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)


@given(st.lists(st.tuples(TEXT, TEXT), min_size=1, max_size=5), st.randoms(use_true_random=False))
def test_every_text_comes_back_whatever_is_in_it(
    tmp_path_factory: pytest.TempPathFactory, texts: list[tuple[str, str]], rng: Any
) -> None:
    places = list(range(len(texts)))
    rng.shuffle(places)
    path = tmp_path_factory.mktemp("sheet") / "sheet.csv"
    file = AtomicText(path)
    rows = (SheetTexts(place, q, "", "", (r,)) for place, (q, r) in zip(places, texts, strict=True))
    write_sheet(file, SCORES, [f"x-{n}" for n in range(len(texts))], rows)
    file.commit()
    with path.open(encoding="utf-8-sig", newline="") as opened:
        found = list(csv.reader(opened))[1:]
    assert [[cell_text(cell) for cell in found[place][1:3]] for place in places] == [list(pair) for pair in texts]


@pytest.mark.parametrize("mode", ["absolute", "gate", "pairwise"])
def test_the_guide(mode: Mode, snapshot: SnapshotAssertion) -> None:
    rubric = replace(parse_rubric(RUBRIC, "support.yaml"), mode=mode)
    form = SheetForm.of(mode, [dimension.id for dimension in rubric.judged], (1, 5))
    assert sheet_guide(rubric, form, "sheet.csv") == snapshot


ASKED = LabelsAsked({"accuracy": (1, 5), "coverage": (1, 5)})


def extended(path: Path, asked: LabelsAsked, weights: dict[str, float], *lines: NewLine) -> Any:
    there = read_label_lines(path)
    new = new_lines(there.kind, lines, str(path))
    file = AtomicText(path)
    write_labels(file, there.kind, [*(line for _, line in there.lines), *new], weights)
    file.commit()
    return read_labels(path, asked)


@pytest.mark.parametrize("name", ["labels.csv", "labels.jsonl"])
def test_a_new_labels_file(tmp_path: Path, name: str) -> None:
    lines = [
        NewLine("i 1", "ann", {"accuracy": 4.0, "coverage": 2.5}, "=odd\r\none"),
        NewLine("i 1", "bob", {"accuracy": 5.0}),
        NewLine("2", "ann", {"coverage": 1.0}),
    ]
    found = extended(tmp_path / name, ASKED, {"i 1": 2.0, "2": 1 / 3}, *lines)
    assert found.items["i 1"].ratings == {"accuracy": (("ann", 4), ("bob", 5)), "coverage": (("ann", 2.5),)}
    assert (found.items["i 1"].weight, found.items["2"].weight) == (2, pytest.approx(1 / 3))


@pytest.mark.parametrize("name", ["labels.csv", "labels.jsonl"])
def test_booleans_and_winners(tmp_path: Path, name: str) -> None:
    gate = LabelsAsked({"accuracy": (1, 5)}, booleans=True)
    found = extended(
        tmp_path / name, gate, {}, NewLine("1", "a", {"accuracy": True}), NewLine("2", "a", {"accuracy": 4})
    )
    assert [found.items[name].ratings["accuracy"][0][1] for name in "12"] == [True, 4]
    assert found.items["1"].ratings["accuracy"][0][1] is True
    path = tmp_path / f"pairs-{name}"
    lines = [NewLine(f"i{n}", "a", {"winner": n}) for n in (1.0, -1.0, 0.0)]
    found = extended(path, LabelsAsked({"winner": (-1, 1)}, winners=True), {}, *lines)
    assert [item.ratings["winner"][0][1] for item in found.items.values()] == [1, -1, 0]


def test_lines_that_were_there_keep_all_they_say(tmp_path: Path) -> None:
    path = tmp_path / "labels.csv"
    path.write_text("\ufeffid,accuracy.bob,request,labels.coverage\na,5,=why,3\nb,,,\n", encoding="utf-8")
    found = extended(path, ASKED, {"a": 3.0, "c": 2.0}, NewLine("c", "ann", {"accuracy": 1.0}))
    rows = list(csv.DictReader(path.read_text(encoding="utf-8").splitlines()))
    assert rows[0]["request"] == "=why"
    assert (rows[0]["accuracy.bob"], rows[0]["labels.coverage"], rows[0]["weight"]) == ("5", "3", "3")
    assert rows[1]["weight"] == "1"
    assert found.items["a"].ratings == {"accuracy": (("bob", 5),), "coverage": (("", 3),)}
    assert found.items["c"].weight == 2


def test_json_lines_keep_what_no_other_file_could_hold(tmp_path: Path) -> None:
    path = tmp_path / "labels.jsonl"
    huge = 10**30
    path.write_text(f'{{"id": 7, "accuracy": {{"bob": 2}}, "request": [{huge}, "\\ud800"]}}\n', encoding="utf-8")
    found = extended(path, ASKED, {"7": 4.0}, NewLine("=1", "ann", {"accuracy": 1.0}))
    assert str(huge) in path.read_text(encoding="utf-8")
    assert {name: item.weight for name, item in found.items.items()} == {"7": 4, "=1": 1}


@pytest.mark.parametrize(("item", "rater"), [("=1", "ann"), ("a", "@ann"), ("-5", "ann")])
def test_what_a_spreadsheet_would_change_cannot_be_an_id_or_a_rater_in_csv(item: str, rater: str) -> None:
    line = NewLine(item, rater, {"accuracy": 1.0})
    with pytest.raises(DatasetError, match="cannot stand in a CSV file"):
        new_lines("csv", [line], "labels.csv")
    assert new_lines("jsonl", [line], "labels.jsonl")[0]["id"] == item


def test_a_file_of_no_known_format(tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match="names no format"):
        read_label_lines(tmp_path / "labels.txt")
