"""Labels files: what may stand in them, how raters keep their names, and how each fault is told."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentanvil.dataset import LabelsAsked, LabelsFile, read_labels
from agentanvil.errors import DatasetError

SCORES = LabelsAsked({"accuracy": (1, 5), "coverage": (1, 5), "overall": (1, 5)})
GATE = LabelsAsked({"accuracy": (1, 5), "overall": (1, 5)}, booleans=True)
PAIRS = LabelsAsked({"accuracy": (-4, 4), "winner": (-1, 1)}, winners=True)


def read(folder: Path, text: str | bytes, asked: LabelsAsked = SCORES, name: str = "labels.csv") -> LabelsFile:
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return read_labels(path, asked)


def read_json(folder: Path, *lines: dict[str, Any], asked: LabelsAsked = SCORES) -> LabelsFile:
    return read(folder, "".join(f"{json.dumps(line)}\n" for line in lines), asked, "labels.jsonl")


def refusal(folder: Path, text: str | bytes, asked: LabelsAsked = SCORES, name: str = "labels.csv") -> DatasetError:
    with pytest.raises(DatasetError) as caught:
        read(folder, text, asked, name)
    return caught.value


def test_a_line_an_item(tmp_path: Path) -> None:
    found = read(tmp_path, "id,accuracy,coverage\na,5,4\n1,3.5,\n")
    assert found.items["a"].ratings == {"accuracy": (("", 5.0),), "coverage": (("", 4.0),)}
    assert found.items["1"].ratings == {"accuracy": (("", 3.5),)}
    assert (found.raters, found.counts, found.blank) == (("",), {"accuracy": 2, "coverage": 1}, 0)
    assert not found.weighted


def test_a_line_an_item_and_rater(tmp_path: Path) -> None:
    found = read(tmp_path, "id,rater,accuracy\na,bob,5\nb,bob,1\na,ann,4\n")
    assert found.items["a"].ratings == {"accuracy": (("ann", 4.0), ("bob", 5.0))}
    assert found.raters == ("ann", "bob")


def test_a_column_a_rater(tmp_path: Path) -> None:
    found = read(tmp_path, "id,accuracy.bob,accuracy.ann\na,5,4\nb,,2\n")
    assert found.items["a"].ratings == {"accuracy": (("ann", 4.0), ("bob", 5.0))}
    assert found.items["b"].ratings == {"accuracy": (("ann", 2.0),)}


def test_json_lines_by_one_rater_by_several_and_by_place(tmp_path: Path) -> None:
    found = read_json(
        tmp_path,
        {"id": 1, "rater": "ann", "accuracy": 5, "coverage": None},
        {"id": "b", "accuracy": {"bob": 2, "ann": 1}},
        {"id": "c", "labels": {"accuracy": [4, None, 3]}},
    )
    assert found.items["1"].ratings == {"accuracy": (("ann", 5.0),)}
    assert found.items["b"].ratings == {"accuracy": (("ann", 1.0), ("bob", 2.0))}
    # The second of three raters gave none; the third is still the third.
    assert found.items["c"].ratings == {"accuracy": (("1", 4.0), ("3", 3.0))}


def test_what_a_person_is_shown_beside_the_labels_is_passed_over(tmp_path: Path) -> None:
    text = 'id,request,response,comment,labels.accuracy\na,"What, then?",So,unsure,5\n'
    assert read(tmp_path, text).items["a"].ratings == {"accuracy": (("", 5.0),)}


@pytest.mark.parametrize(
    "text",
    [
        b"\xef\xbb\xbfid,accuracy\r\na,5\r\n",
        b'"id","accuracy"\n"a","5"\n\n',
        b"id,accuracy\na, 5 ",
    ],
)
def test_how_spreadsheets_write_it(tmp_path: Path, text: bytes) -> None:
    assert read(tmp_path, text).items["a"].ratings == {"accuracy": (("", 5.0),)}


def test_a_gate_has_booleans_and_scores(tmp_path: Path) -> None:
    found = read(tmp_path, "id,accuracy\na,TRUE\nb,false\nc,1\nd,5\n", GATE)
    labels = [found.items[name].ratings["accuracy"][0][1] for name in "abcd"]
    assert labels == [True, False, 1.0, 5.0]
    assert [isinstance(label, bool) for label in labels] == [True, True, False, False]


def test_pairs_have_winners_and_signed_numbers(tmp_path: Path) -> None:
    found = read(tmp_path, "id,winner,accuracy\nx,a,2\ny,Tie,-4\nz,-1,0\n", PAIRS)
    assert [found.items[name].ratings["winner"][0][1] for name in "xyz"] == [1, 0, -1]
    assert "0.5 is no winner" in str(refusal(tmp_path, "id,winner\nx,0.5\n", PAIRS))


def test_weights_are_one_an_item(tmp_path: Path) -> None:
    found = read(tmp_path, "id,rater,weight,accuracy\na,ann,2.5,5\na,bob,2.5,4\nb,ann,1,3\n")
    assert [found.items[name].weight for name in "ab"] == [2.5, 1]
    assert found.weighted


def test_unfinished_lines_are_counted(tmp_path: Path) -> None:
    found = read(tmp_path, "id,accuracy\na,5\nb,\nc, \n")
    assert (list(found.items), found.blank) == (["a"], 2)


@pytest.mark.parametrize(
    ("text", "place", "says"),
    [
        ("id,acuracy\na,5\n", ":2: acuracy", "did you mean `accuracy`"),
        ("id,Accuracy\na,5\n", ":2: Accuracy", "did you mean `accuracy`"),
        ("id,tone\na,5\n", ":2: tone", "is no dimension of the run"),
        ("id,accuracy\na,5\na,4\n", ":3: id", "`a` is labelled on line 2 already"),
        ("id,rater,accuracy\na,ann,5\nb,ann,2\na,ann,5\n", ":4: id", "by `ann` on line 2"),
        ("id,accuracy\na,nan\n", ":2: accuracy", "is not a number"),
        ("id,accuracy\na,Infinity\n", ":2: accuracy", "is not a number"),
        ("id,accuracy\na,1e999\n", ":2: accuracy", "too large"),
        ("id,accuracy\na,6\n", ":2: accuracy", "6 is not on the scale 1 to 5"),
        ("id,accuracy\na,0\n", ":2: accuracy", "0 is not on the scale 1 to 5"),
        ("id,accuracy\na,good\n", ":2: accuracy", "`good` is not a number"),
        ("id,accuracy\n,5\n", ":2: id", "is empty"),
        ("accuracy\n5\n", ":2: id", "missing"),
        ("id,accuracy\na,5,4\n", ":2", "3 cells, the header 2"),
        ("id,accuracy\n", "", "no line with a label"),
        ("id,accuracy\na,\n", "", "1 line(s), none of them with a label"),
        ("", "", "the file is empty"),
        ("id,weight,accuracy\na,0,5\n", ":2: weight", "is no weight"),
        ("id,weight,accuracy\na,2,5\nb,,5\n", ":3: weight", "has no weight, line 2 has one"),
        ("id,rater,weight,accuracy\na,x,2,5\na,y,3,5\n", ":3: weight", "is 3, on an earlier line of this item 2"),
        ("id,rater,accuracy.ann\na,bob,5\n", ":2: accuracy.ann", "names a rater"),
        ("id;accuracy\na;5\n", ":1", "one column"),
    ],
)
def test_each_fault_is_told_with_its_place(tmp_path: Path, text: str, place: str, says: str) -> None:
    error = refusal(tmp_path, text)
    assert says in str(error)
    assert str(error).startswith(f"{tmp_path / 'labels.csv'}{place}: ")


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ('{"id": "a", "accuracy": NaN}', "NaN"),
        ('{"id": "a", "accuracy": true}', "true or false"),
        ('{"id": "a", "accuracy": "5"}', "is text"),
        ('{"id": "a", "accuracy": [[5]]}', "holds a list"),
        ('{"id": "a", "accuracy": {"x": {}}}', "holds an object"),
        ('{"id": "a", "rater": "x", "accuracy": [5, 4]}', "the line names its rater"),
        ('{"id": "a", "rater": 1.5, "accuracy": 5}', "a rater's name is text"),
        ('{"id": 1.5, "accuracy": 5}', "a fraction"),
        ('{"id": "a", "weight": [2, 3], "accuracy": 5}', "is no weight"),
        ('{"id": "a", "id": "b", "accuracy": 5}', "twice"),
        ("[1]", "a list instead of an object"),
        ("nonsense", "line"),
    ],
)
def test_json_lines_are_read_as_strictly(tmp_path: Path, line: str, says: str) -> None:
    assert says in str(refusal(tmp_path, line, name="labels.jsonl"))


def test_files_that_are_none(tmp_path: Path) -> None:
    assert "names no format" in str(refusal(tmp_path, "id\n", name="labels.xlsx"))
    assert "UTF-16" in str(refusal(tmp_path, "id,accuracy".encode("utf-16")))
    for path in (tmp_path, tmp_path / "none.csv"):
        with pytest.raises(DatasetError):
            read_labels(path, SCORES)


RATERS = st.sampled_from(["ann", "bob", "cyd"])


@given(
    st.dictionaries(st.tuples(st.sampled_from("abcdef"), RATERS), st.integers(1, 5), min_size=1),
    st.randoms(use_true_random=False),
)
def test_every_form_and_order_of_lines_reads_the_same(
    tmp_path_factory: pytest.TempPathFactory, labels: dict[tuple[str, str], int], random: Any
) -> None:
    folder = tmp_path_factory.mktemp("labels")
    lines = [f"{item},{rater},{label}" for (item, rater), label in labels.items()]
    random.shuffle(lines)
    long = read(folder, "\n".join(["id,rater,accuracy", *lines]))
    wide: dict[str, dict[str, int]] = {}
    for (item, rater), label in labels.items():
        wide.setdefault(item, {})[rater] = label
    by_name = read_json(folder, *({"id": item, "accuracy": given} for item, given in wide.items()))
    assert long.items == by_name.items
    assert long.counts == {"accuracy": len(labels)}
