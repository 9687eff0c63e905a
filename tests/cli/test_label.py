"""`anvil label` as a person and as a program meet it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.fakes.command import anvil
from tests.fakes.raters import fill, read_weights
from tests.fakes.runs import Runs, recording, rows, verdict
from tests.fakes.verdicts import small_rubric, write_rows


def test_a_round_of_labelling_tells_what_was_drawn_and_what_comes_next(tmp_path: Path) -> None:
    replies = [{"id": f"item-{n}", "reply": verdict(5 if n else 1)} for n in range(8)]
    Runs(tmp_path, recording(tmp_path, *replies), *rows(8)).grade()
    said = anvil(
        "label", "rows.jsonl", "--rubric", "joint.yaml", "--run", "run", "--next", "4", "--out", "s.csv", cwd=tmp_path
    )
    assert (said.code, said.out) == (0, b"")
    for words in (
        "4 of 8 rows without a label were drawn",
        "a category with few labels     1",
        "key: s.key.json (keep it beside the sheet, and from the raters)",
        "then: anvil label rows.jsonl --rubric joint.yaml --read s.csv --labels LABELS.csv --rater NAME",
    ):
        assert words in said.err
    fill(tmp_path / "s.csv", lambda *_: {"accuracy": 4})
    said = anvil(
        *("label", "rows.jsonl", "--rubric", "joint.yaml", "--read", "s.csv", "--labels", "l.csv", "--rater", "Ann O."),
        cwd=tmp_path,
    )
    assert said.code == 0
    assert "Ann O. labelled 4 row(s), 4 of them in part; 0 left empty" in said.err
    assert "then: anvil calibrate run --labels l.csv" in said.err
    assert len(read_weights(tmp_path / "l.csv")) == 4


def test_machine_output_stands_alone_and_the_rubric_may_be_anvil_yamls(tmp_path: Path) -> None:
    write_rows(tmp_path, *rows(5))
    small_rubric(tmp_path)
    (tmp_path / "anvil.yaml").write_text("rubric: joint.yaml\n", encoding="utf-8")
    said = anvil("label", "rows.jsonl", "--next", "9", "--format", "json", cwd=tmp_path)
    found = json.loads(said.out)
    assert (said.code, said.err) == (0, "")
    assert (found["rows"], found["eligible"], found["reasons"]) == (5, 5, {"random": 5})
    assert (tmp_path / found["sheet"]).exists()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--rubric", "joint.yaml"), "give --next N"),
        (("--rubric", "joint.yaml", "--next", "2", "--read", "s.csv"), "give --next N"),
        (("--next", "2"), "no rubric given"),
        (("--rubric", "joint.yaml", "--next", "2", "--rater", "x"), "--rater means nothing without --read"),
        (("--rubric", "joint.yaml", "--read", "s.csv", "--random", "0.5"), "--random means nothing without --next"),
        (("--rubric", "joint.yaml", "--read", "s.csv", "--labels", "l.csv"), "--read needs --labels FILE and --rater"),
        (("--rubric", "joint.yaml", "--read", "s.csv", "--labels", "l.csv", "--rater", "x"), "s.key.json"),
        (("--rubric", "joint.yaml", "--next", "2", "--labels", "none.csv"), "none.csv"),
    ],
)
def test_what_cannot_be_meant_ends_with_2(tmp_path: Path, words: tuple[str, ...], message: str) -> None:
    write_rows(tmp_path, *rows(2))
    small_rubric(tmp_path)
    said = anvil("label", "rows.jsonl", *words, cwd=tmp_path)
    assert said.code == 2
    assert message in said.err
    assert "Traceback" not in said.err
    assert not list(tmp_path.glob("*.csv"))
